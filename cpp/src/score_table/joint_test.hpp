// Spiegelhalter's test and the KS test of the same rows together: one p-value that holds for few
// rows and rare events, for the verdict on calibration.
//
// Under the hypothesis that the scores s are right, the hits h are independent coins with
// probabilities s, so all cumulants of a sum of g(s) (h - s) are known from the scores alone:
//
//     variance  sum g^2 s (1 - s),     third cumulant  sum g^3 s (1 - s)(1 - 2s).
//
// Spiegelhalter's numerator X = sum (1 - 2s)(h - s) is compared with the law of these cumulants
// (tails_of_events of gamma_tail.hpp).
//
// The KS statistic D is the largest |sum over scores up to t of (h - s)|. Its p-value is the larger
// of two: that of the Brownian law, and the bound
//
//     P(D >= d) <= 2 P(T - S >= d - ln 2) + 2 P(T - S <= -d + ln 2),  T = sum h, S = sum s,
//
// which holds for any number of rows: when the walk first reaches d, what remains of it is a sum of
// independent coins less its mean, whose median lies within ln 2 of 0 (Siegel 2001, Median bounds
// and their application). In the tail both agree for many events.
//
// The joint p-value is twice the smaller of the two (Bonferroni). Rows of weight w count as w rows.
// All is a function of the ScoreTable, so the same bits for any batches, merges and threads.
#pragma once

#include <vector>

#include "calibrant/score_table/score_table.hpp"

namespace calibrant {

struct JointTest {
    // Neighbours in the order of scores.
    struct Group {
        double weight, score, frequency;  // means
    };

    double weight = 0.0;
    double hits = 0.0, expected = 0.0;  // T and S
    double variance = 0.0;              // sum of s (1 - s)
    double spiegelhalter = 0.0;         // X over the root of its variance; 0 where that is 0
    double spiegelhalter_pvalue = 1.0;
    double ks = 0.0;  // D over the root of the variance; D where that is 0
    double ks_pvalue = 1.0;
    // Twice the smaller; and what it is at least, as a table knows the KS statistic within bounds.
    double pvalue = 1.0, least_pvalue = 1.0;
    bool impossible = false;  // a probability of 0 was given to the outcome
    // Up to 10, of nearly equal weight; equal scores are in one.
    std::vector<Group> groups;
};

// Throws InvalidInput where no row has weight; the table is not one of pairs.
[[nodiscard]] JointTest joint_test(const ScoreTable& table);

}  // namespace calibrant
