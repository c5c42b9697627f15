#include "kernels/loops/score_cell_loops.hpp"
#include "kernels/rooms.hpp"

namespace calibrant {
namespace CALIBRANT_KERNELS {

void add_ordering(Kernels& table) {
    table.split = split;
    table.places = places;
    table.cells = cells_of;
}

}  // namespace CALIBRANT_KERNELS
}  // namespace calibrant
