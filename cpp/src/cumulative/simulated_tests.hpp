// p-values of the tests of calibration by simulation, for rows that are few or whose events are:
// there the limit laws of tails.hpp do not hold. Given the scores s, everything about the outcomes
// is known under the hypothesis: y is 1 with probability s, independently. So outcomes are drawn
// B times, and p = (1 + those whose statistic is at least as far out) / (B + 1), which is at most
// alpha with a probability of at most alpha, for any number of rows.
//
// The draw of a row is a function of the seed, the simulation and the rank of the row by score, so
// that neither the order of rows nor threads can change a result. Equal scores have equal laws: it
// does not matter which rank among them a row has. A draw is right to 2^-64. Statistics are
// computed on a grid of 2^-44, and one that is nearer than rounding may have moved it counts as
// equal.
//
// A weight is a number of repetitions: a row of weight 2 is two rows, with outcomes of their own.
// Cost: some 7 ns for each row and simulation, on several threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "calibrant/cumulative/cumulative.hpp"
#include "calibrant/cumulative/spiegelhalter.hpp"
#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

inline constexpr std::uint64_t most_simulated_rows = 200'000;
inline constexpr std::uint64_t most_simulated_draws = std::uint64_t{1} << 32;

struct Simulations {
    std::uint32_t number;  // at least 1
    std::uint64_t seed;
};

struct SimulatedWalkTests {
    TestResult ks, kuiper;
    WalkTests walk;
};

// Rows are binary, of_class or top_label. Throw as for_each_chunk does, and InvalidInput at a bad
// row, at a weight that is no whole number, where no row has weight, and beyond the limits.
[[nodiscard]] SimulatedWalkTests simulated_walk_tests(const ScoredRows& rows,
                                                      const Simulations& simulations, Poll poll);
[[nodiscard]] double simulated_spiegelhalter(const ScoredRows& rows, Alternative alternative,
                                             const Simulations& simulations, Poll poll);

}  // namespace calibrant
