// The loops of grouped_cells.hpp, one table an instruction set (kernels.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace calibrant {

// What a row adds to the cell of its group, and a cell itself: integers, of which the first counts
// rows in its lower bits. All fit while a cell has less than 2 most_cell_rows of them.
template <std::size_t n>
struct alignas(n * sizeof(std::uint64_t)) CellWords {
    std::uint64_t at[n];
};
inline constexpr std::uint64_t most_cell_rows = std::uint64_t{1} << 11;
inline constexpr int row_bits = 16;    // of the first word; the others are for another sum
inline constexpr int upper_half = 32;  // of a word that counts two things

[[nodiscard]] constexpr std::uint64_t rows_of_cell(std::uint64_t first_word) {
    return first_word & ((std::uint64_t{1} << row_bits) - 1);
}

// Rows between asking for a cell and using it: as long as the memory takes. Loops that add rows to
// cells read so many numbers of cells beyond the last row.
inline constexpr std::size_t cells_ahead = 24;

// Rows at a time: their words stay in a first-level cache beside all that they are made of.
inline constexpr std::size_t most_cell_block = 128;

struct GroupCellKernels {
    // Terms on grids of kernels.hpp as multiples: of each score the high and the low part, after
    // the rows and, in the upper half, those of label 1, and after the rows with q = 0.
    void (*of_scores)(const double* const* high, const double* const* low,
                      const std::int32_t* label, const double* q, std::size_t n,
                      CellWords<8>* words);
    // The same of y_proba of shape (n,), with terms that are found on the way.
    void (*of_binary)(const double* p, const std::int32_t* label, const double* q,
                      const double* log_high, const double* log_low, std::size_t n,
                      CellWords<8>* words);
    // Of q, log q and q^(-2/3) as RiskBlock has them, after the rows and those with q = 0, which
    // have no terms. Returns whether some q is positive but below least_gridded; its words mean
    // nothing.
    bool (*of_risk)(const double* q, std::size_t n, CellWords<8>* words);
    // Rows and, above row_bits, the high part of the variance on the score_grid, its low part, then
    // both of the excess: half a line of the cache. Returns whether some row is fine; its words
    // mean nothing.
    bool (*of_spiegelhalter)(const double* p, const std::int32_t* hit, std::size_t n,
                             CellWords<4>* words);
    // Rows and hits, and the score in units of 2^-40 and 2^-80. Returns as of_risk does.
    bool (*of_bins)(const double* score, const std::int32_t* hit, std::size_t n,
                    CellWords<4>* words);

    // code[i] per_group + bin[i], or negative where the code is; a null bin stands for zeros.
    // Returns the largest code, or -1.
    std::int32_t (*of_codes)(const std::int32_t* code, const std::uint32_t* bin, std::size_t n,
                             std::int64_t per_group, std::int64_t* cell);
    // Adds words[i] to cells[cell[i]], if that is not negative, for i = 0, 1, ... until a cell has
    // most_cell_rows. Returns how many were looked at.
    std::size_t (*add_8)(const CellWords<8>* words, const std::int64_t* cell, std::size_t n,
                         CellWords<8>* cells);
    std::size_t (*add_4)(const CellWords<4>* words, const std::int64_t* cell, std::size_t n,
                         CellWords<4>* cells);
};

}  // namespace calibrant
