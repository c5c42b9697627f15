#include "kernels/loops/distance_loops.hpp"
#include "kernels/loops/mmd_loops.hpp"
#include "kernels/rooms.hpp"

namespace calibrant {
namespace CALIBRANT_KERNELS {

void add_samples(Kernels& table) {
    table.distances = &distance_kernels;
    table.mmd = &mmd_kernels;
}

}  // namespace CALIBRANT_KERNELS
}  // namespace calibrant
