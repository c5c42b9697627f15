// What the rows in each score cell add up to: the first pass of walk_cells.cpp. All sums are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "calibrant/cumulative/walk.hpp"
#include "calibrant/numeric/sum.hpp"
#include "kernels/kernels.hpp"
#include "kernels/score_cells.hpp"

namespace calibrant {

// While so many rows are looked at, as large a part of the next block is asked for.
inline constexpr std::size_t rows_per_prefetch = 16;

// At most block_rows rows, and the memory that is read after them.
struct ShownRows {
    const double* score;
    const std::int32_t* hit;
    std::size_t n;
    PrefetchHint ahead;
};

// Of some rows of one cell, in its units (units_of).
struct RowSums {
    std::uint64_t n = 0, hits = 0;
    Int128 offsets = 0, hit_offsets = 0;

    void add(const RowSums& other);
    friend bool operator==(const RowSums&, const RowSums&) = default;
};

struct Cell : RowSums {
    UInt128 squares = 0;  // of offsets

    // Whether all rows have the same score. Not for the two lowest cells.
    [[nodiscard]] bool is_one_tie() const;
    // Whether most lie so close together that parts of the cell would not tell them apart: their
    // standard deviation is less than 1/32 of its width.
    [[nodiscard]] bool is_crowded() const;
};

// Scores in the two lowest cells have no offsets. Zeros need none; the others are summed here.
struct LowScores {
    std::uint64_t n = 0;
    ScoreVariance variance;

    void add(const double* score, std::size_t count);
    void merge(const LowScores& other);
};

struct CellTotals {
    std::vector<Cell> cells{n_score_cells};
    LowScores low;
    std::uint64_t n = 0, omitted = 0;

    // The sum of s (1 - s).
    [[nodiscard]] ExactSum variance() const;
};

// One thread's sums of its rows.
class CellWorker {
public:
    CellWorker() : counts_(n_score_cells) {}

    void add(const ShownRows& rows);
    void omit(std::size_t rows) { omitted_ += rows; }
    void finish_into(CellTotals& totals) const;

private:
    static constexpr std::size_t rows_ahead = 16;
    // Offsets are below 2^46 and so the squares of 2^11 of them below 2^103: the upper half of
    // their sum has room for a count of rows and one of hits.
    static constexpr std::uint64_t rows_before_flush = std::uint64_t{1} << 11;
    static constexpr int rows_at = 40, hits_at = 52;
    static constexpr std::uint64_t one_row = std::uint64_t{1} << rows_at;
    struct alignas(32) Counts {
        std::int64_t offsets, hit_offsets;
        std::uint64_t squares_low, squares_high_and_counts;

        [[nodiscard]] std::uint64_t rows() const {
            return (squares_high_and_counts >> rows_at) & ((std::uint64_t{1} << 12) - 1);
        }
        [[nodiscard]] std::uint64_t hits() const { return squares_high_and_counts >> hits_at; }
        [[nodiscard]] UInt128 squares() const {
            return (UInt128{squares_high_and_counts & (one_row - 1)} << 64) | squares_low;
        }
    };

    static void add_to(Cell& cell, const Counts& counts);
    void flush(std::uint32_t cell);

    std::vector<Counts> counts_;
    std::vector<Cell> flushed_;
    LowScores low_scores_;
    std::uint64_t n_ = 0, omitted_ = 0;
    alignas(64) std::uint32_t cell_[block_rows + rows_ahead];
    alignas(64) std::int64_t offset_[block_rows];
    alignas(64) double low_[block_rows];
};

}  // namespace calibrant
