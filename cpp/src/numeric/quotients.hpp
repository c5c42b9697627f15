// Quotients with about 104 bits, a block at a time: DoubleDouble is not for loops over data.
#pragma once

#include <cstddef>

#include "kernels/kernels.hpp"

namespace calibrant {

// high + low = (a + a_low) / b, with `high` that of a alone; n <= block_rows, and a_low nullptr for
// zeros. Returns false, with nothing said, if some are so large or small that they might not be.
[[nodiscard]] inline bool quotients(const double* a, const double* a_low, const double* b,
                                    std::size_t n, double* high, double* low) {
    alignas(64) double product[block_rows], error[block_rows];
    for (std::size_t i = 0; i < n; ++i) high[i] = a[i] / b[i];
    if (!kernels().products(high, b, n, product, error)) return false;
    // What is left of a is a double.
    for (std::size_t i = 0; i < n; ++i) low[i] = (a[i] - product[i]) - error[i];
    for (std::size_t i = 0; a_low != nullptr && i < n; ++i) low[i] += a_low[i];
    for (std::size_t i = 0; i < n; ++i) low[i] /= b[i];
    return true;
}

}  // namespace calibrant
