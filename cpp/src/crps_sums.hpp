// What crps_ensemble and the sliced energy score share: from sorted draws to a score.
#pragma once

#include <cstddef>
#include <vector>

#include "calibrant/double_double.hpp"
#include "calibrant/ensemble_score_kernels.hpp"

namespace calibrant {

// U and A of ensemble_scores.hpp.
struct CrpsTerms {
    DoubleDouble outer, distance;
};

[[nodiscard]] CrpsTerms terms_of_lane(const CrpsLanes& sums, std::size_t lane);

// Of n draws; NaN or infinite where the terms are.
[[nodiscard]] double crps_of_terms(const CrpsTerms& terms, std::size_t n, double fair_share);

// Of one row of n >= 1 finite draws, which are sorted where they are: values has room for a
// multiple of double_lanes.
[[nodiscard]] double crps_of_row(double* values, std::size_t n, double y, double fair_share,
                                 std::vector<double>& scratch);

}  // namespace calibrant
