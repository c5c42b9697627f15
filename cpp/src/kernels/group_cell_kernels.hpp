// The loops of grouped_cells.hpp, one table an instruction set (kernels.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace calibrant {

// What a row adds to the cell of its group, and a cell itself: integers, of which the first counts
// rows in its lowest bits. All fit while a cell has less than 2 most_cell_rows of them. A row may
// add to two neighbouring cells; then the first one counts it.
struct alignas(4 * sizeof(std::uint64_t)) CellWords {
    std::uint64_t at[4];
};
inline constexpr std::uint64_t most_cell_rows = std::uint64_t{1} << 11;
inline constexpr int count_bits = 12;  // of a count of rows, below another sum in the same word

// The count in the bits from `from` on, and the signed sum above them.
[[nodiscard]] constexpr std::uint64_t count_in(std::uint64_t word, int from = 0) {
    return (word >> from) & ((std::uint64_t{1} << count_bits) - 1);
}
[[nodiscard]] constexpr std::int64_t sum_above(std::uint64_t word, int counts) {
    return static_cast<std::int64_t>(word) >> (counts * count_bits);
}
[[nodiscard]] constexpr std::uint64_t rows_of_cell(const CellWords& cell) {
    return count_in(cell.at[0]);
}

// Rows between asking for a cell and using it: as long as the memory takes. Loops that add rows to
// cells read so many numbers of cells beyond the last row.
inline constexpr std::size_t cells_ahead = 24;

// Rows at a time: their words stay in a first-level cache beside all that they are made of.
inline constexpr std::size_t most_cell_block = 128;

struct GroupCellKernels {
    // Terms on grids of kernels.hpp as multiples, the high and the low part of each: rows below the
    // Brier score, those of label 1 and those with q = 0 below the log score. If there is a
    // spherical score, which may be null, each row has a second cell with it.
    void (*of_scores)(const double* const* high, const double* const* low,
                      const std::int32_t* label, const double* q, std::size_t n, CellWords* words);
    // The same of y_proba of shape (n,), with terms that are found on the way; the second has the
    // spherical score.
    void (*of_binary)(const double* p, const std::int32_t* label, const double* q,
                      const double* log_high, const double* log_low, std::size_t n,
                      CellWords* words);
    void (*of_binary_spherical)(const double* p, const std::int32_t* label, const double* q,
                                const double* log_high, const double* log_low, std::size_t n,
                                CellWords* words);
    // Rows, those with q = 0, and q; in a second cell log q and q^(-2/3), all as RiskBlock has
    // them, where a q of 0 has no terms. Returns whether some q is positive but below
    // least_gridded; its words mean nothing.
    bool (*of_risk)(const double* q, std::size_t n, CellWords* words);
    // Rows below the high part of the variance on the score_grid, its low part, then both of the
    // excess. Returns whether some row is fine; its words mean nothing.
    bool (*of_spiegelhalter)(const double* p, const std::int32_t* hit, std::size_t n,
                             CellWords* words);
    // Rows, hits, and the score in units of 2^-40 and 2^-80. Returns as of_risk does.
    bool (*of_bins)(const double* score, const std::int32_t* hit, std::size_t n, CellWords* words);

    // code[i] per_group + bin[i], or negative where the code is; a null bin stands for zeros.
    // Returns the largest code, or -1.
    std::int32_t (*of_codes)(const std::int32_t* code, const std::uint32_t* bin, std::size_t n,
                             std::int64_t per_group, std::int64_t* cell);
    // Adds words[i] to cells[cell[i]], if that is not negative, for i = 0, 1, ... until a cell has
    // most_cell_rows. Returns how many were looked at.
    std::size_t (*add)(const CellWords* words, const std::int64_t* cell, std::size_t n,
                       CellWords* cells);
    // The same of rows with two cells each, which go to cells[cell[i]] and the next.
    std::size_t (*add_pairs)(const CellWords* words, const std::int64_t* cell, std::size_t n,
                             CellWords* cells);
};

}  // namespace calibrant
