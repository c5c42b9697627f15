// The rows of the energy and variogram scores: an outcome and draws in several coordinates.
#pragma once

#include <cstddef>
#include <vector>

#include "calibrant/ensemble_scores/ensemble_scores.hpp"

namespace calibrant {

struct EnsemblePoints {
    std::size_t n = 0, dimension = 1;
    std::vector<double> y;      // by coordinate
    std::vector<double> draws;  // coordinate k of draw i at [k * n + i]
    int exponent = 0;

    // Throws InvalidInput at the first value that is not finite, or is not when divided by its
    // coordinate's scale, if there is one.
    void load(const EnsembleRows& rows, std::size_t row, const double* scale);

    // Multiplies all values by 2^-exponent, where the squares of distances could overflow or
    // vanish.
    void rescale();

    [[nodiscard]] const double* coordinate(std::size_t k) const { return draws.data() + k * n; }

private:
    std::vector<double> row_;
};

// The exact sum of n values, all finite, rounded to a double up to 2^-90: for few values without
// the cost of an ExactSum. The order of values does not matter.
[[nodiscard]] double exact_sum(const double* values, std::size_t n);

}  // namespace calibrant
