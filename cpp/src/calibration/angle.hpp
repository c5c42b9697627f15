// How far the angle of calibrated probabilities strays from 45 degrees by chance alone: simulated
// from the bins of an assessment.
//
// If the scores are right, the true pairs of a bin are a sum of coins whose mean is the sum of the
// scores; here a Poisson number moved by a whole number, with that mean and nearly the variance.
// The frequencies of the source follow, too high and too low by chance as those of the data are:
// that is what makes a source of many bins and few events look better than the model. The scores of
// a bin are taken to be its mean; what their spread adds to the model's is taken to be the same in
// all samples, that of the data. Where bins are mirrored, as those of all pairs of two
// classes are, so are their true pairs; else they are drawn bin by bin and scaled to the events.
#pragma once

#include <span>

namespace calibrant {

// Of each bin: the weight of its pairs, their mean score (anything where there are none), and the
// weight of the true pairs.
struct AngleBin {
    double weight, mean_score, true_weight;
};

// The quantile of |tan(angle - 45 degrees)| at `level`, of 399 samples: a function of the arguments
// alone. NaN where all scores are equal. model_spread: decisiveness less robustness.
[[nodiscard]] double angle_deviation(std::span<const AngleBin> bins, double model_spread,
                                     double level);

}  // namespace calibrant
