// Scored rows: what calibration compares, (score, hit, weight), read block by block from labels
// and probabilities and checked on the way.
//
//   binary       the probability of label 1; hit where the label is 1
//   of_class     the probability of one class; hit where the label is that class (y_proba of
//                shape (n,) gives class 0 the double nearest to 1 - p)
//   pairs        all classes of a row, one after the other as with of_class
//   top_label    the largest probability of the row, the first of equals; hit where the label
//                is its class (y_proba of shape (n,): the larger of p and the double nearest to
//                1 - p, class 1 from p = 1/2 on)
//
// Scores of pairs and of_class are clipped to [q_lim, 1 - q_lim].
#pragma once

#include <cstddef>

#include "calibrant/rows/events.hpp"

namespace calibrant {

enum class Scoring { binary, of_class, top_label, pairs };

struct ScoredRows {
    Events events;
    Scoring scoring = Scoring::binary;
    std::size_t of_class = 0;
    double q_lim = 0.0;

    [[nodiscard]] std::size_t size() const { return events.size(); }  // before pairing
    [[nodiscard]] std::size_t scores_per_event() const {
        return scoring == Scoring::pairs ? events.n_classes() : 1;
    }
};

[[nodiscard]] inline ScoredRows binary_or_top_label(const Events& events) {
    return {events, events.is_matrix ? Scoring::top_label : Scoring::binary};
}

// The rows of one class of a matrix against the rest, of which nothing but its column is read if it
// can be found without those before it. `events` must outlive them.
[[nodiscard]] ScoredRows rows_of_class(const Events& events, std::size_t of_class);

}  // namespace calibrant
