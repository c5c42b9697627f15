// The two ways to find the edges of bins from rows.
#pragma once

#include <cstddef>
#include <vector>

#include "calibrant/calibration/bins.hpp"
#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant::bindings {

// equal_count_edges or clustered_edges.
using EdgesOfRows = std::vector<double> (*)(const ScoredRows& rows, std::size_t n_bins, Poll poll);
[[nodiscard]] inline EdgesOfRows edges_by(bool clustered) {
    return clustered ? clustered_edges : equal_count_edges;
}

}  // namespace calibrant::bindings
