#include "kernels/loops/smooth_loops.hpp"
#include "kernels/rooms.hpp"

namespace calibrant {
namespace CALIBRANT_KERNELS {

void add_calibration(Kernels& table) { table.smooth = smooth; }

}  // namespace CALIBRANT_KERNELS
}  // namespace calibrant
