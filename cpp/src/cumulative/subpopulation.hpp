// How the hits of a group of rows deviate from those of the whole population at like scores
// (M. Tygert, Cumulative deviation of a subpopulation from the full population, J. Big Data 8,
// 2021), by KS and Kuiper's tests of the walk of deviations.
//
// Around each distinct score of the group lies a window: the rows of the population whose nearest
// score in the group it is, the lower of two that are equally near. Rows outside the group's range
// belong to the outermost windows. With weight V and hits H of the population in a window, and w
// and h of the group, the walk moves by
//     h - w r,   r = H / V.
// If membership of the group says nothing about hits, then, given H, h is hypergeometric: the
// variance of a step is w r (1 - r) f, f = (V - w) / (V - 1). For untied scores w = f = 1, and
// this is Tygert's. Weights are numbers of rows; f is at most 1, as it might not be where they
// are below 1, and also where V <= 1, except that it is 0 where V = w.
//
// Steps are taken with 100 bits and added in the order of the scores: neither the order of rows
// nor threads can be seen in a result. A step without variance is 0, so that the statistics are 0
// where there is no variance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/cumulative/cumulative.hpp"
#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "ordering/grouped_scores.hpp"

namespace calibrant {

struct SubpopulationTests {
    TestResult ks{}, kuiper{};
    double sigma = 0.0;   // of the walk over the group's weight
    std::uint64_t n = 0;  // rows of the group
    bool tested = false;  // whether one of them has weight
};

// One for each group. Throws as GroupedScores does.
[[nodiscard]] std::vector<SubpopulationTests> subpopulation_tests(const GroupedScores& scores,
                                                                  Poll poll);

// The walk of one group over its weight. Throws InvalidInput if it has none.
[[nodiscard]] Differences subpopulation_differences(const GroupedScores& scores, std::size_t group);

}  // namespace calibrant
