// Blocks of events, checked: as the probability q that was given to the outcome (EventBlock), or as
// they are, labels and probabilities (OutcomeBlock).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/rows/events.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {

[[nodiscard]] inline double clipped(double q, double q_lim) {
    const double raised = q < q_lim ? q_lim : q;
    return raised > 1.0 - q_lim ? 1.0 - q_lim : raised;
}

struct EventBlock {
    alignas(64) double q[block_rows];
    alignas(64) double weight[block_rows];  // filled only where there are weights
    std::size_t n = 0;
    std::size_t omitted = 0;
};

// For what needs more than q. p holds rows of y_proba.width values, copied: what was checked is
// what is used, even if another thread writes to the array meanwhile.
struct OutcomeBlock {
    explicit OutcomeBlock(const Events& events);

    std::size_t most_rows;
    std::vector<double> p;
    alignas(64) std::int32_t label[block_rows];
    alignas(64) double weight[block_rows];  // filled only where there are weights
    std::size_t n = 0;
    std::size_t omitted = 0;
};

// Fills block with rows [begin, begin + count), count <= block_rows. Returns false, and leaves
// the block unspecified, if one of them is bad.
[[nodiscard]] bool load_events(const Events& events, std::size_t begin, std::size_t count,
                               double q_lim, EventBlock& block);

// The same with count <= block.most_rows, for events that have labels.
[[nodiscard]] bool load_outcomes(const Events& events, std::size_t begin, std::size_t count,
                                 OutcomeBlock& block);

// Labels and weights alone of a matrix without missing values; the caller reads and checks the
// probabilities.
[[nodiscard]] bool load_classes(const Events& events, std::size_t begin, std::size_t count,
                                OutcomeBlock& block);

// Where the probabilities and labels of the block from `begin` on lie, as far as they lie side by
// side.
[[nodiscard]] PrefetchHint next_block(const Events& events, std::size_t begin);

// Throws InvalidInput for the first bad row in [begin, end), which is known to hold one.
[[noreturn]] void reject_events(const Events& events, std::size_t begin, std::size_t end,
                                std::uint64_t rows_before);

}  // namespace calibrant
