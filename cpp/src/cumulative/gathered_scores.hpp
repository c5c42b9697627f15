// The rows in some parts of score cells, each part sorted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/cumulative/walk.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "cumulative/cell_parts.hpp"
#include "ordering/sorted_scores.hpp"

namespace calibrant {

class GatheredScores {
public:
    // Reads the rows in those parts once more, and throws InvalidInput if they are not as many as
    // `sums` has; else as for_each_chunk does.
    GatheredScores(const CellParts& parts, const std::vector<std::size_t>& chosen,
                   const std::vector<RowSums>& sums, const Rereader& rows, Poll poll);

    // Goes on with the walk through a part that was chosen.
    void walk(Walk& walk, std::size_t part) const;

private:
    struct Range {
        std::size_t begin = 0, end = 0;
    };
    void put(const CellParts& parts, const std::vector<RowSums>& sums,
             const std::vector<std::vector<ScoreKey>>& found);

    std::vector<Range> ranges_;  // of all parts
    std::vector<ScoreKey> keys_;
};

}  // namespace calibrant
