// Per bin of scores, the exact sums that the parts of the Brier score are made of: of weights w,
// and of w times hit y, score s, s y and s^2.
//
// Like Reliability, with two more sums; for calibration errors alone that one is faster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/calibration/bins.hpp"
#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

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

}  // namespace calibrant
