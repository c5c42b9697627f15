#include "kernels/loops/dependence_loops.hpp"
#include "kernels/rooms.hpp"

namespace calibrant {
namespace CALIBRANT_KERNELS {

void add_dependence(Kernels& table) { table.dependence = &dependence_kernels; }

}  // namespace CALIBRANT_KERNELS
}  // namespace calibrant
