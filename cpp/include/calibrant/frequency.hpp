// A frequency and its confidence interval: weight of the rows that count, over weight of all. A
// weight counts as so many rows.
//
//     wilson           the frequencies that a score test would not reject (Wilson 1927)
//     clopper_pearson  those that neither of two one-sided binomial tests of half the error would
//                      reject (Clopper and Pearson 1934): never below the level, often above
//
// The latter are quantiles of beta distributions, found by Newton's method on the continued
// fraction, good to about 2e-14 of themselves. Its length grows like the root of the weight; from
// 2^40 rows on Wilson's interval is given, from which they then differ by less than 1e-11. Only
// + - * /, sqrt and our own log and exp are used: the same bits on every machine.
#pragma once

#include "calibrant/sum.hpp"

namespace calibrant {

struct Frequency {
    double value, low, high;
};

// 0 <= part <= whole, whole > 0. normal_quantile cuts off `tail` = (1 - level) / 2 of a normal
// distribution.
[[nodiscard]] Frequency wilson(const ExactSum& part, const ExactSum& whole, double normal_quantile);
[[nodiscard]] Frequency clopper_pearson(const ExactSum& part, const ExactSum& whole, double tail,
                                        double normal_quantile);

}  // namespace calibrant
