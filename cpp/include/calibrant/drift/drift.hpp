// Tests of whether the rows of two accumulators, a and b, come from one law.
//
// If they do, every split of all rows into sides of these sizes is as likely as the one that was
// seen, given the rows. So the law of a statistic under the hypothesis follows from the rows of
// both sides together, without any standard error of one side alone:
//
//   means      b's mean less a's has the variance S^2 (1/n_a + 1/n_b), S^2 that of all rows, and
//              the skewness g = skewness of the terms * (N - 2 n_b) / sqrt(N n_a n_b). The tail is
//              that of the gamma law with this skewness, at the change less half a step: half a row
//              of a frequency; else g / 2, half the step of a Poisson law with this skewness. The
//              skewness of the terms is read off the scores, if they say it; else it is the
//              greatest that the sums which are kept leave possible.
//   the others are functions of the rows per cell, a group of neighbouring scores, of hits and of
//              misses. Cells are split at random, 999 times, with the same random numbers for
//              the same rows. A p-value is a rank. Beyond the tail_rank'th of the replicates the
//              tail is exponential, with the mean excess of these, at the change without its most
//              telling row: a tail that falls faster, as those of sums do, is below it.
//
// p-values are two-sided, twice that of the smaller tail; that of the curve has one side. Weights
// mean repetition; those of a cell are rounded to rows so that their cumulative sums are.
// Everything is a function of the two states.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "calibrant/calibration/calibration.hpp"
#include "calibrant/score_table/score_table.hpp"
#include "calibrant/scorecards/scorecard.hpp"

namespace calibrant {

// NaN stands for what there is not.
struct DriftTest {
    const char* name;
    const char* method;  // "moments" of means, else "permutation"
    double statistic;    // of means: the change over its standard deviation; else the change
    double pvalue;
    double expected;  // the mean of the change under the hypothesis
    double reach;     // its distance from there, with the probability confidence_level; of means 0
    std::string reason;       // why there is no p-value
    std::string no_interval;  // why no interval of the change holds
};

struct DriftTests {
    std::vector<DriftTest> tests;
    double
        least_pvalue;  // of a frequency of hits, if the smaller side had had all of them, or none
};

// These throw as merge does, and InvalidInput where a side has no weight. A table is read in
// n_bins bins of equal width.
[[nodiscard]] DriftTests drift_tests(const Scorecard& a, const Scorecard& b,
                                     double confidence_level, Poll poll);
[[nodiscard]] DriftTests drift_tests(const ScoreTable& a, const ScoreTable& b, std::size_t n_bins,
                                     double confidence_level, Poll poll);
[[nodiscard]] DriftTests drift_tests(const Reliability& a, const Reliability& b,
                                     double confidence_level, Poll poll);

}  // namespace calibrant
