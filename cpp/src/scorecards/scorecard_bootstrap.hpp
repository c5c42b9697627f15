// Intervals of what depends on the rows only through sums per bin: binned errors, and the parts of
// the Brier score.
//
// Each number is a mean over the rows of a function f of their bin: of the distance |o - a| of the
// bin's frequency of hits o from an anchor a, or of its square. The anchor is the mean score for
// the errors, the frequency of all rows for resolution.
//
//   upper end   by the method of variance estimates recovery (Zou and Donner 2008): the distances
//               of each bin's own upper limit, from Wilson's corrected interval of o, are combined
//               like standard errors, and so is the variance of f between bins, which is taken to
//               be proportional to the mean of f. A bin without rows might have had half a row.
//               f is biased upwards; nothing is taken off for it.
//   lower end   by simulation: hits and misses of a bin are drawn as Poisson numbers, with
//               frequencies that are moved to their anchors by some standard errors (at most up to
//               them), which makes the bias largest. What is then in excess of the number without
//               noise, at its upper quantile, is taken off; for resolution the larger of the two
//               that come of both anchors. An error whose size is not among the
//               largest of those drawn with the scores as probabilities may be 0.
//
// The largest error lies between the largest of the bins' lower limits, which hold together
// (Clopper and Pearson 1934, Bonferroni), and the largest of their upper limits. A bin without rows
// may have the largest error: it counts as far as possible unless a bin that holds one row of 2,000
// would have been seen.
#pragma once

#include <vector>

#include "calibrant/calibration/calibration.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "calibrant/scorecards/scorecard.hpp"

namespace calibrant {

// Of score and hit.
struct BinnedErrors {
    double ece = 0.0, mce = 0.0, rel = 0.0, res = 0.0;
};

struct IntervalLevel {
    double confidence_level, normal_quantile;
    [[nodiscard]] double tail() const { return 0.5 * (1.0 - confidence_level); }
};

class BinnedIntervals {
public:
    // `found` are the numbers of the card, whose rows weigh at least 1.
    BinnedIntervals(const Scorecard& card, const BinnedErrors& found, IntervalLevel level,
                    Poll poll);

    [[nodiscard]] Estimate ece() const;
    [[nodiscard]] Estimate mce() const;
    [[nodiscard]] Estimate rel() const;
    [[nodiscard]] Estimate res() const;

    struct Bin {
        std::size_t index;
        ExactSum hits, weight;
        double share, rows, frequency, score;
        double low, high;  // of the frequency
    };

private:
    [[nodiscard]] double upper_end(double value, double (*anchor)(const Bin&, double),
                                   double (*of_distance)(double),
                                   double (*unseen)(double, double)) const;
    [[nodiscard]] Estimate error(double BinnedErrors::* number, double (*of_distance)(double),
                                 double (*unseen)(double, double)) const;

    BinnedErrors found_;
    IntervalLevel level_;
    std::size_t n_bins_;
    double rows_ = 0.0, frequency_ = 0.0;
    std::vector<Bin> bins_;
    // Excess over the numbers without noise: with frequencies near the scores, and near that of all
    std::vector<BinnedErrors> near_scores_, near_frequency_;
    std::vector<BinnedErrors> calibrated_;  // with hits as the scores say
};

}  // namespace calibrant
