#include "kernels/loops/box_loops.hpp"
#include "kernels/rooms.hpp"

namespace calibrant {
namespace CALIBRANT_KERNELS {

void add_intervals(Kernels& table) { table.boxes = &box_kernels; }

}  // namespace CALIBRANT_KERNELS
}  // namespace calibrant
