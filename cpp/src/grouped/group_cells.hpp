// Cells: sums of the rows of a group as a few integers, for accumulators whose terms are multiples
// of a grid. A cell is half a line of the cache, so that rows can be added in the order in which
// they come. What does not fit (weights, terms too fine for the grid, more rows than the
// integers have room for) goes to an accumulator besides (grouped_parts.hpp).
//
// The sums are the same as those of the accumulator itself, to the last bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "calibrant/calibration/calibration.hpp"
#include "calibrant/cumulative/spiegelhalter.hpp"
#include "calibrant/means/means.hpp"
#include "calibrant/rows/events.hpp"
#include "calibrant/scores/scores.hpp"
#include "kernels/group_cell_kernels.hpp"

namespace calibrant {

// Those of a kind of accumulator, if it has any:
//     suit(state, events)         whether the rows can be added to them
//     columns(events)             what all groups must have in common; 0 for nothing
//     per_row(state)              how many a row adds to, neighbours: one or two
//     per_group(state, columns)   how many there are
//     with_rows(per_group)        how many of these, the first ones, count each row once
//     add_to(state, columns, cells)   adds their rows to an accumulator without rows
template <class State>
struct CellLayout {
    static constexpr bool exists = false;
};

// Brier and log score, rows, those of class 1 and those with q = 0; the spherical score in a second
// cell, if there is one. Of more than two classes the rows are counted in further cells.
template <>
struct CellLayout<ScoreSums> {
    static constexpr bool exists = true;
    static bool suit(const ScoreSums&, const Events& events) {
        return events.sample_weight == nullptr && events.y_proba.width <= most_columns;
    }
    static std::size_t columns(const Events& events);
    static std::size_t per_row(const ScoreSums& state) {
        return state.scores().has(Score::spherical) ? 2 : 1;
    }
    static std::size_t per_group(const ScoreSums& state, std::size_t columns) {
        return per_row(state) + (columns > 2 ? (columns + 3) / 4 : 0);
    }
    static std::size_t with_rows(std::size_t) { return 1; }
    static void add_to(ScoreSums& state, std::size_t columns, const CellWords* cells,
                       std::uint64_t omitted);
    [[nodiscard]] static double mean(const CellWords* cells, Score score);

private:
    // The Brier score of k columns is at most k + 1, for which 52 bits of 2 most_cell_rows terms
    // in units of 2^-30 have room.
    static constexpr std::size_t most_columns = 500;
};

// Rows, those with q = 0, then high and low parts of q; of log q and q^(-2/3) in a second cell.
template <>
struct CellLayout<RiskProfile> {
    static constexpr bool exists = true;
    static bool suit(const RiskProfile& state, const Events& events);
    static std::size_t columns(const Events&) { return 0; }
    static std::size_t per_row(const RiskProfile&) { return 2; }
    static std::size_t per_group(const RiskProfile&, std::size_t) { return 2; }
    static std::size_t with_rows(std::size_t) { return 1; }
    static void add_to(RiskProfile& state, std::size_t columns, const CellWords* cells,
                       std::uint64_t omitted);
};

// Rows and the high part of the variance, its low part, then both parts of the excess.
template <>
struct CellLayout<Spiegelhalter> {
    static constexpr bool exists = true;
    static bool suit(const Spiegelhalter&, const Events& events) {
        return events.sample_weight == nullptr;
    }
    static std::size_t columns(const Events&) { return 0; }
    static std::size_t per_row(const Spiegelhalter&) { return 1; }
    static std::size_t per_group(const Spiegelhalter&, std::size_t) { return 1; }
    static std::size_t with_rows(std::size_t) { return 1; }
    static void add_to(Spiegelhalter& state, std::size_t columns, const CellWords* cells,
                       std::uint64_t omitted);
};

// Of each bin: rows, hits, then the high and the low part of the scores.
template <>
struct CellLayout<Reliability> {
    static constexpr bool exists = true;
    static bool suit(const Reliability& state, const Events& events) {
        return events.sample_weight == nullptr && state.bins().size() <= most_bins_of_group;
    }
    static std::size_t columns(const Events&) { return 0; }
    static std::size_t per_row(const Reliability&) { return 1; }
    static std::size_t per_group(const Reliability& state, std::size_t) {
        return state.bins().size();
    }
    static std::size_t with_rows(std::size_t per_group) { return per_group; }
    static void add_to(Reliability& state, std::size_t columns, const CellWords* cells,
                       std::uint64_t omitted);

private:
    static constexpr std::size_t most_bins_of_group = 1000;
};

}  // namespace calibrant
