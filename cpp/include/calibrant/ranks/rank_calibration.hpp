// Bands and tests for the counts R of ranks (rank_bands.hpp), which are uniform if the posterior is
// calibrated. With F_k the binomial law of R_k,
//
//     gamma(R) = 2 min over cuts k of min { P(R_k' <= R_k), P(R_k' >= R_k) },  R_k' ~ F_k
//
// (Sailynoja, Buerkner and Vehtari 2022), and the band of level gamma holds the paths of gamma(R)
// >= gamma. KS is D = max over cuts |R_k / n - k / n_ranks|. p-values are exact: they say how often
// calibrated ranks are as far out or further. Values of gamma that differ by less than 1e-9 of
// themselves count as equal, as rounding cannot tell them apart.
//
// Beyond `most_exact` ranks, gamma(R) and sqrt(n) D are looked up in the laws for `most_exact`,
// which then hardly change.
#pragma once

#include <cstdint>
#include <vector>

#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

// All cuts 1, ..., n_ranks - 1 if they are at most 1,000. Else 1,000 that are as evenly spaced as
// whole numbers can be: floor(j n_ranks / 1001) for j = 1, ..., 500, and as far from the other end.
struct RankGrid {
    explicit RankGrid(std::int64_t n_ranks);  // n_ranks >= 2

    std::int64_t n_ranks;
    std::vector<std::int64_t> cuts;
};

using BandLows = std::vector<std::int64_t>;

inline constexpr std::int64_t most_exact = 1'000'000;

struct RankBand {
    double gamma, coverage;
    BandLows low;
};

// The band of a level; gamma < 1.
[[nodiscard]] RankBand rank_band(std::int64_t n, const RankGrid& grid, double gamma, Poll poll);

// The narrowest of these bands that holds R with probability `prob`, but not narrower than that
// of level 1 - prob, which holds each R_k.
[[nodiscard]] RankBand simultaneous_rank_band(std::int64_t n, const RankGrid& grid, double prob,
                                              Poll poll);

// Where a p-value is below 1e-270, its logarithm is an upper bound (Bonferroni's).
struct RankTest {
    double statistic, pvalue, log_pvalue;
};

// `below` is R at the cuts. n times n_ranks < 2^62.
[[nodiscard]] RankTest rank_gamma_test(std::int64_t n, const RankGrid& grid,
                                       const std::vector<std::int64_t>& below, Poll poll);
[[nodiscard]] RankTest rank_ks_test(std::int64_t n, const RankGrid& grid,
                                    const std::vector<std::int64_t>& below, Poll poll);

}  // namespace calibrant
