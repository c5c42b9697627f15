// What the ROC curves of rows and of tables share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/roc/roc.hpp"

namespace calibrant {

inline constexpr double no_area = std::numeric_limits<double>::quiet_NaN();

// Throws InvalidInput, naming what is asked for, if no row has weight.
void require_rows(const char* what, std::uint64_t n, bool has_weight);
// The same if there is no pair of a hit and a miss.
void require_pairs(std::uint64_t n, bool has_hits, bool has_misses);

// The root of DeLong's variance: of each kind the weighted mean of (V - area)^2 over its rows less
// one. NaN where a kind has no more than one row.
[[nodiscard]] double delong_error(DoubleDouble hits_square, const ExactSum& hits,
                                  DoubleDouble misses_square, const ExactSum& misses);

// So many points after the first, at which no row is called positive.
[[nodiscard]] RocCurve empty_curve(std::size_t points, bool has_predicted);
void thin(RocCurve& curve, std::size_t max_points);

}  // namespace calibrant
