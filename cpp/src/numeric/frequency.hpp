// A frequency and its confidence interval: weight of the rows that count, over weight of all. A
// weight counts as so many rows.
//
//     wilson           the frequencies that a score test would not reject (Wilson 1927)
//     corrected        Wilson's with a correction for continuity (Newcombe 1998, method 4), which
//                      holds for rare events, too: below one row of weight all of [0, 1]
//     clopper_pearson  those that neither of two one-sided binomial tests of half the error would
//                      reject (Clopper and Pearson 1934): never below the level, often above
//
// The latter are quantiles of beta distributions, found by Newton's method on the continued
// fraction, good to about 2e-14 of themselves. Its length grows like the root of the weight; from
// 2^40 rows on Wilson's interval is given, from which they then differ by less than 1e-11. Only
// + - * /, sqrt and our own log and exp are used: the same bits on every machine.
#pragma once

#include "calibrant/numeric/sum.hpp"

namespace calibrant {

struct Frequency {
    double value, low, high;
};

// 0 <= part <= whole, whole > 0. normal_quantile cuts off `tail` = (1 - level) / 2 of a normal
// distribution.
[[nodiscard]] Frequency wilson(const ExactSum& part, const ExactSum& whole, double normal_quantile);
[[nodiscard]] Frequency wilson(double frequency, double rows, double normal_quantile);
[[nodiscard]] Frequency corrected_wilson(double frequency, double rows, double normal_quantile);
[[nodiscard]] Frequency clopper_pearson(const ExactSum& part, const ExactSum& whole, double tail,
                                        double normal_quantile);

// The p-value of the hypothesis that a row counts with the probability `rate`, 0 < rate < 1: twice
// the smaller binomial tail, at most 1. It is at most 2 tail where Clopper and Pearson's interval
// leaves the rate out. And the least that any part of the whole has.
struct FrequencyTest {
    double pvalue, least_pvalue;
};
[[nodiscard]] FrequencyTest frequency_test(const ExactSum& part, const ExactSum& whole,
                                           double rate);

}  // namespace calibrant
