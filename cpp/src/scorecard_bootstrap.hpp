// Intervals of what depends on the rows only through sums per bin: binned errors, and the parts of
// the Brier score. See scorecard.hpp.
#pragma once

#include <vector>

#include "calibrant/parallel.hpp"
#include "calibrant/scorecard.hpp"

namespace calibrant {

// Of score and hit.
struct BinnedErrors {
    double ece = 0.0, mce = 0.0, rel = 0.0, res = 0.0;
};

class BinnedBootstrap {
public:
    // The cells of a Scorecard, and the weight of all of them.
    BinnedBootstrap(const std::vector<Scorecard::Cell>& cells, double weight, Poll poll);

    // The basic bootstrap: 2 value - quantiles, since resampling adds to the bias that the value
    // has already. Cut at 0 and 1.
    [[nodiscard]] Estimate interval(double value, double BinnedErrors::* number,
                                    double confidence_level) const;

    // The same for an error, which is 0 for right probabilities: 0 is the end of its range, where a
    // bootstrap fails, and so it is in the interval unless a test rejects that they are right.
    [[nodiscard]] Estimate interval_of_error(double value, double BinnedErrors::* number,
                                             double confidence_level) const;

private:
    std::vector<BinnedErrors> resampled_;
    std::vector<BinnedErrors> calibrated_;  // with hits as the scores say; none without the former
};

}  // namespace calibrant
