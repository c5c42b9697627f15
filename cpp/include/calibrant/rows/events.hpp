// Events: rows of (what happened, the probabilities given to it, weight), read block by block
// and checked on the way: as the probability q that was given to what happened (EventBlock),
// or as they are, labels and probabilities (OutcomeBlock).
//
// Binary: y_proba has shape (n,) and is the probability of label 1, so q = p where the label
// is 1 and the double nearest to 1 - p where it is 0. Multiclass: y_proba has shape (n, k) and
// q = p[label]; every one of the k values must lie in [0, 1]. Without y_true the
// probabilities are taken as they are. q is then clipped to [q_lim, 1 - q_lim]. A y_proba of
// width 0 stands for labels without probabilities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/kernels/kernels.hpp"
#include "calibrant/rows/column.hpp"

namespace calibrant {

[[nodiscard]] inline double clipped(double q, double q_lim) {
    const double raised = q < q_lim ? q_lim : q;
    return raised > 1.0 - q_lim ? 1.0 - q_lim : raised;
}

struct Events {
    const Column* y_true = nullptr;
    Column y_proba;
    bool is_matrix = false;         // y_proba has shape (n, k)
    std::size_t label_classes = 0;  // how many there are, where y_proba has fewer columns
    const Column* whole = nullptr;  // for messages: the matrix that y_proba is one column of
    const Column* sample_weight = nullptr;
    bool omit_missing = false;   // drop and count rows in which a value is missing
    bool may_be_omitted = true;  // for messages: the caller offers that choice
    const char* proba_name = "y_proba";

    [[nodiscard]] std::size_t size() const { return y_proba.size; }
    [[nodiscard]] std::size_t n_classes() const {
        if (label_classes != 0) return label_classes;
        return is_matrix ? y_proba.width : 2;
    }
};

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
