// What the ROC curves of rows and of tables share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/roc/roc.hpp"

namespace calibrant {

inline constexpr double no_area = std::numeric_limits<double>::quiet_NaN();

// Throws InvalidInput if there is no pair of a hit and a miss.
void require_pairs(std::uint64_t n, bool has_hits, bool has_misses);

// DeLong's standard error of an area (roc.hpp), over groups of tied rows in ascending order of
// their scores. Weights may be in any unit, one for hits and one for misses.
class DeLong {
public:
    // Of all rows.
    DeLong(DoubleDouble hits, DoubleDouble misses, DoubleDouble area);

    void add(DoubleDouble hits, DoubleDouble misses);

    // The root of the variance: of each kind the weighted mean of (V - area)^2 over its rows less
    // one. The arguments are the weights of all rows, in rows; NaN where a kind has no more than
    // one.
    [[nodiscard]] double standard_error(const ExactSum& hits, const ExactSum& misses) const;

private:
    DoubleDouble hits_, misses_, area_, per_hit_, per_miss_;
    DoubleDouble hits_above_, misses_below_, of_hits_, of_misses_;
};

// So many points after the first, at which no row is called positive.
[[nodiscard]] RocCurve empty_curve(std::size_t points, bool has_predicted);
void thin(RocCurve& curve, std::size_t max_points);

}  // namespace calibrant
