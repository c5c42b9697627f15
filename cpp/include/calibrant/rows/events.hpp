// Events: rows of (outcome, the probabilities given to it, weight), views of the caller's arrays.
// They are read block by block and checked on the way.
//
// Binary: y_proba has shape (n,) and is the probability of label 1, so q = p where the label
// is 1 and the double nearest to 1 - p where it is 0. Multiclass: y_proba has shape (n, k) and
// q = p[label]; every one of the k values must lie in [0, 1]. Without y_true the
// probabilities are taken as they are. q is then clipped to [q_lim, 1 - q_lim]. A y_proba of
// width 0 stands for labels without probabilities.
#pragma once

#include <cstddef>
#include <cstdint>

#include "calibrant/rows/column.hpp"

namespace calibrant {

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

// How many rows there were. zeros: of positive weight with q = 0, where they are counted.
struct RowCounts {
    std::uint64_t n = 0, omitted = 0, zeros = 0;
};

}  // namespace calibrant
