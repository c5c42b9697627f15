// Which score of a row is meant, as Python says it, and the rows scored that way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bindings/rows/event_inputs.hpp"
#include "calibrant/calibration/bins.hpp"
#include "calibrant/rows/scored_rows.hpp"

namespace calibrant::bindings {

// What `scoring` may be besides a class, which needs y_proba of shape (n, k).
inline constexpr std::int64_t scoring_either = -1;     // binary for (n,), top label for (n, k)
inline constexpr std::int64_t scoring_binary = -2;     // shape (n,) only
inline constexpr std::int64_t scoring_top_label = -3;  // shape (n, k) only

// How edges are found from rows: equal_count_edges or clustered_edges.
using EdgesOfRows = std::vector<double> (*)(const ScoredRows& rows, std::size_t n_bins, Poll poll);
[[nodiscard]] inline EdgesOfRows edges_by(bool clustered) {
    return clustered ? clustered_edges : equal_count_edges;
}

// Valid as long as the inputs. Throws where y_true is missing or the shape does not fit.
[[nodiscard]] ScoredRows scored(const EventInputs& inputs, std::int64_t scoring);

}  // namespace calibrant::bindings
