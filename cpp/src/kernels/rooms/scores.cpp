#include "kernels/loops/score_loops.hpp"
#include "kernels/rooms.hpp"

namespace calibrant {
namespace CALIBRANT_KERNELS {

void add_scores(Kernels& table) { table.scores = score_kernels; }

}  // namespace CALIBRANT_KERNELS
}  // namespace calibrant
