#include "kernels/loops/ensemble_score_loops.hpp"
#include "kernels/rooms.hpp"

namespace calibrant {
namespace CALIBRANT_KERNELS {

void add_ensemble_scores(Kernels& table) { table.ensemble_scores = &ensemble_score_kernels; }

}  // namespace CALIBRANT_KERNELS
}  // namespace calibrant
