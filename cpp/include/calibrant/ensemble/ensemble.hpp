// Ensemble confidence: probabilities of classes from the votes of members (Muhlbaier, Topalis and
// Polikar 2005).
//
// Member t has a weight w_t, log(1 / beta_t) in the paper, and names a class for each row, or none.
// With F_j the sum of the weights of those that name class j, the confidence in j is
//   softmax   exp(F_j / temperature) / sum of the same over all classes
//   share     F_j / sum of F; weights must not be negative
// Where no vote has weight, both give 1 / n_classes.
//
// Infinite weights (beta = 0, a member that never erred) are the limit of one weight W of all such
// members that grows without bound: of the classes with the most of their votes, each share or the
// softmax of the finite weights decides. -infinity is -W.
//
// Weights are rounded once, to integers in units of 2^-62 of a bound on their sum; sums of votes
// are then exact, and so is the sum over classes. A result depends on no order: not of rows,
// members or classes. Error of F: half a unit a member, less than a sum of doubles has. Of the
// softmax, given F: 1.1 ulps; of the share: 1.5.
//
// Cost: one pass over the votes, and an exponential for each value of the result.
#pragma once

#include <cstddef>
#include <cstdint>

#include "calibrant/rows/column.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

enum class Combine : std::uint8_t { softmax, share };

inline constexpr std::size_t most_ensemble_classes = std::size_t{1} << 20;
inline constexpr double least_temperature = 1e-150;
inline constexpr double largest_temperature = 1e150;

struct Ensemble {
    Column votes;    // (n, members): class codes, or -1
    Column weights;  // (members,)
    std::size_t n_classes = 2;
    Combine combine = Combine::softmax;
    double temperature = 1.0;
    bool path = false;  // after each member, not only after the last
};

// Throws InvalidInput for parameters, or a number of weights, that cannot be.
void check_ensemble(const Ensemble& ensemble);

// Writes n x n_classes values, with `path` n x members x n_classes. Throws InvalidInput for
// votes or weights that are not as said above; then `out` holds nothing of use. The ensemble has
// been checked.
void ensemble_confidence(const Ensemble& ensemble, Poll poll, double* out);

}  // namespace calibrant
