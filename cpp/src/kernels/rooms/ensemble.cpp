#include "kernels/loops/ensemble_loops.hpp"
#include "kernels/rooms.hpp"

namespace calibrant {
namespace CALIBRANT_KERNELS {

void add_ensemble(Kernels& table) { table.ensemble = &ensemble_kernels; }

}  // namespace CALIBRANT_KERNELS
}  // namespace calibrant
