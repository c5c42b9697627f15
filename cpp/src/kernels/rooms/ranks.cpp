#include "kernels/loops/convolution_loops.hpp"
#include "kernels/loops/rank_loops.hpp"
#include "kernels/rooms.hpp"

namespace calibrant {
namespace CALIBRANT_KERNELS {

void add_ranks(Kernels& table) {
    table.ranks = &rank_kernels;
    table.convolve = convolve;
}

}  // namespace CALIBRANT_KERNELS
}  // namespace calibrant
