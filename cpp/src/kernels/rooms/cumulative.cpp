#include "kernels/loops/spiegelhalter_loops.hpp"
#include "kernels/rooms.hpp"

namespace calibrant {
namespace CALIBRANT_KERNELS {

void add_cumulative(Kernels& table) { table.spiegelhalter = spiegelhalter_kernels; }

}  // namespace CALIBRANT_KERNELS
}  // namespace calibrant
