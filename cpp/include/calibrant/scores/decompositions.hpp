// The Brier score in parts. With W the weight of all rows and o = H / W the share of the hits;
// per bin W_k, its frequency o_k of hits, its mean score s_k:
//
//   Murphy   score = reliability - resolution + uncertainty
//                    + within-bin variance - within-bin covariance     (Stephenson et al. 2008)
//            sum_k W_k (s_k - o_k)^2 / W,  sum_k W_k (o_k - o)^2 / W,  o (1 - o),
//            sum w (s - s_k)^2 / W,  2 sum w (s - s_k) (y - o_k) / W
//   CORP     score = miscalibration - discrimination + uncertainty     (Dimitriadis et al. 2021)
//            where the score of the isotonic fit of y on s is uncertainty - discrimination. With
//            the blocks of the fit as bins: miscalibration = reliability + variance - covariance,
//            discrimination = resolution.
//
// Bias correction (Ferro and Fricker 2012): with A = sum_k W_k o_k (1 - o_k) / (W_k - 1) / W and
// B = o (1 - o) / (W - 1), reliability - A, resolution - A + B and uncertainty + B; a weight is a
// number of rows here. A bin of less than two rows says nothing about its variance: it adds nothing
// to A, and is counted. Corrected parts may be negative.
//
// Every bin's part is a quotient of exact integers, taken with 100 bits; these are added in the
// order of the bins. Parts that are sums of squares have full relative accuracy.
#pragma once

#include <cstdint>
#include <vector>

#include "calibrant/calibration/bins.hpp"
#include "calibrant/numeric/double_double.hpp"
#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

// Per bin of scores, the exact sums that these are made of: of weights w, and of w times hit y,
// score s, s y and s^2. Like Reliability, with two more sums.
class BrierBins {
public:
    struct Bin {
        ExactSum weight, hits, scores, hit_scores, squares;
    };

    explicit BrierBins(Bins bins);
    [[nodiscard]] BrierBins empty() const { return BrierBins(bins_); }

    // As Reliability::update.
    void update(const ScoredRows& rows, std::uint64_t rows_before, Poll poll);

    [[nodiscard]] const std::vector<Bin>& table() const { return table_; }
    // Over all bins, of weights and of hits alone.
    [[nodiscard]] Bin total() const;

private:
    friend class BrierBinsWorker;

    Bins bins_;
    std::vector<Bin> table_;
};

struct MurphyTerms {
    DoubleDouble reliability, resolution, uncertainty, variance, covariance;
    std::uint64_t uncorrected_bins = 0;  // with rows, but less than two

    void add(const MurphyTerms& other);
};

struct CorpTerms {
    DoubleDouble miscalibration, discrimination, uncertainty;

    void add(const CorpTerms& other);
};

// Both throw InvalidInput where no row has weight; bias correction needs a weight of at least 2.
[[nodiscard]] MurphyTerms murphy_terms(const BrierBins& bins, bool bias_corrected);
// Reads the rows twice. Throws as for_each_chunk does, and InvalidInput at a bad row.
[[nodiscard]] CorpTerms corp_terms(const ScoredRows& rows, Poll poll);

}  // namespace calibrant
