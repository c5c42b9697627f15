// How likely counts of ranks stay within a band.
//
// n ranks, each uniform on the n_ranks values 0, ..., n_ranks - 1, and R_k those below k. A band
// gives bounds for R_k at cuts k: low[i] <= R_cuts[i] <= n - low[last - i]. Cuts and bands are
// symmetric, as the law of R is.
//
// A Poisson process of rate n is, given that it ends at n, such an R, and its steps do not depend
// on where it is. So the distribution of the paths inside the band is carried from cut to cut by a
// convolution with one Poisson law, and in the end conditioned on n (Khmaladze and
// Shinjikashvili 2001). By symmetry half of the cuts suffice. Exact but for rounding: absolute
// errors are about 1e-13. Time: cuts x width of the band x sqrt(n / n_ranks).
//
// The bits are those of any instruction set.
#pragma once

#include <cstdint>

#include "calibrant/ranks/rank_calibration.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

// The probability that R stays within the band at all cuts.
[[nodiscard]] double inside_probability(std::int64_t n, const RankGrid& grid, const BandLows& low,
                                        Poll poll);

// The probability that it leaves the band at some cut, as the sum of the probabilities to do so
// first at each of them: good to about 1e-9 of itself, however small. It must be known to be
// `least` at least, which must be above 1e-280.
[[nodiscard]] double outside_probability(std::int64_t n, const RankGrid& grid, const BandLows& low,
                                         double least, Poll poll);

}  // namespace calibrant
