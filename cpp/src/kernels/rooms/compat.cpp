#include "kernels/loops/plain_sum_loops.hpp"
#include "kernels/rooms.hpp"

namespace calibrant {
namespace CALIBRANT_KERNELS {

void add_compat(Kernels& table) { table.plain_sums = &plain_sum_kernels; }

}  // namespace CALIBRANT_KERNELS
}  // namespace calibrant
