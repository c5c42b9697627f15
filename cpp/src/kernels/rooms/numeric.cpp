#include "kernels/loops/elementary_loops.hpp"
#include "kernels/loops/sum_loops.hpp"
#include "kernels/rooms.hpp"

namespace calibrant {
namespace CALIBRANT_KERNELS {

void add_numeric(Kernels& table) {
    table.sum = sum;
    table.products = products;
    table.sum_products = sum_products;
    table.sum_terms = sum_terms;
    table.log = log_of;
    table.exp = exp_of;
    table.power = power_of;
}

}  // namespace CALIBRANT_KERNELS
}  // namespace calibrant
