// Where a walk (walk.hpp) may reach its extremes, from the sums of rows in parts of score cells.
//
// The walk is known at each edge between parts. Inside a part it cannot rise by more than the hits'
// sum of 1 - s, nor fall by more than the others' sum of s; unless that leads beyond all edges,
// the part holds no extreme. Nor does one whose rows have the same score, as they move together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/cumulative/walk.hpp"
#include "cumulative/cell_parts.hpp"

namespace calibrant {

// The walk over all cells but the two lowest, from 0 on.
struct WalkTurns {
    struct Turn {
        std::uint32_t cell;
        std::size_t part;
        WalkSum begin;  // the walk before it
    };
    std::vector<Turn> turns;  // in order
    WalkSum highest, lowest;  // at edges
    std::uint64_t n = 0;      // rows in those parts

    WalkTurns(const CellParts& parts, const std::vector<RowSums>& sums, const CellSet& ties);

    [[nodiscard]] CellSet cells() const;
};

}  // namespace calibrant
