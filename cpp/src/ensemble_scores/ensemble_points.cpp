#include "ensemble_scores/ensemble_points.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {
namespace {

void require_finite(const Column& column, const char* name, std::size_t row, const double* values) {
    for (std::size_t i = 0; i < column.width; ++i) {
        if (!std::isfinite(values[i])) {
            reject_not_finite(name, values[i], {row, i, 0, false}, column.dtype);
        }
    }
}

}  // namespace

void EnsemblePoints::load(const EnsembleRows& rows, std::size_t row, const double* scale) {
    n = rows.n_draws();
    dimension = rows.dimension;
    y.resize(dimension);
    draws.resize(n * dimension);
    row_.resize(n * dimension);
    load_row(rows.y_true, row, y.data());
    require_finite(rows.y_true, "y_true", row, y.data());
    load_row(rows.draws, row, row_.data());
    require_finite(rows.draws, "draws", row, row_.data());

    for (std::size_t k = 0; k < dimension; ++k) {
        const double divisor = scale != nullptr ? scale[k] : 1.0;
        y[k] /= divisor;
        bool is_finite = std::isfinite(y[k]);
        for (std::size_t i = 0; i < n; ++i) {
            draws[k * n + i] = row_[i * dimension + k] / divisor;
            is_finite = is_finite && std::isfinite(draws[k * n + i]);
        }
        if (is_finite) continue;
        throw InvalidInput("scale must not make values infinite, found " + number_text(divisor) +
                           " for coordinate " + std::to_string(k));
    }
    exponent = 0;
}

void EnsemblePoints::rescale() {
    double largest = 0.0;
    for (std::size_t k = 0; k < dimension; ++k) {
        for (std::size_t i = 0; i < n; ++i) {
            largest = std::max(largest, std::abs(coordinate(k)[i] - y[k]));
        }
    }
    if (largest == 0.0 || (largest > 0x1p-400 && largest < 0x1p400)) return;
    // A difference beyond the largest double is below twice that.
    exponent = std::isfinite(largest) ? std::ilogb(largest) : 1024;
    for (double& x : y) x = std::ldexp(x, -exponent);
    for (double& x : draws) x = std::ldexp(x, -exponent);
}

double exact_sum(const double* values, std::size_t n) {
    SumBlock block;
    double rest[block_rows];
    if (n <= block_rows && kernels().sum(values, n, &block, rest) && !block.rest_left) {
        const auto part = [&](int k, int bits) {
            return std::ldexp(static_cast<double>(block.sums[k]),
                              static_cast<int>(block.exponent) - bits);
        };
        return part(0, 40) + (part(1, 81) + part(2, 122));
    }
    ExactSum sum;
    for (std::size_t i = 0; i < n; i += block_rows) {
        sum.add_block(values + i, std::min(block_rows, n - i));
    }
    return sum.to_double();
}

}  // namespace calibrant
