#include "kernels/loops/group_cell_loops.hpp"
#include "kernels/rooms.hpp"

namespace calibrant {
namespace CALIBRANT_KERNELS {

void add_grouped(Kernels& table) { table.group_cells = &group_cell_kernels; }

}  // namespace CALIBRANT_KERNELS
}  // namespace calibrant
