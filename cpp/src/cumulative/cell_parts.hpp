// Score cells, some of them cut into parts of equal width: a partition of [0, 1] that is fine only
// where rows are many and a walk may turn. Parts are numbered in the order of their scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "calibrant/runtime/parallel.hpp"
#include "cumulative/cell_sums.hpp"
#include "kernels/score_cells.hpp"
#include "ordering/sorted_scores.hpp"

namespace calibrant {

// For each score cell, whether it is meant.
using CellSet = std::vector<std::uint8_t>;

// Rows that can be read again: shows those in wanted cells, and perhaps others, on several threads.
using SeeRows = std::function<void(std::size_t worker, const ShownRows& rows)>;
struct Rereader {
    std::size_t workers;
    std::function<void(const CellSet& wanted, const SeeRows& see)> show;
};

// A score in its cell: how many units it lies above the lowest that can be there.
struct CellPosition {
    static constexpr int bits = 46;
    static constexpr std::int64_t most_below = std::int64_t{1} << 37;  // the base, in units
    static constexpr std::int64_t width = std::int64_t{1} << 45;

    // Above 1/2 offsets are those of the complement, and never negative.
    static std::uint64_t of(std::uint32_t cell, std::int64_t offset) {
        const bool upper = cell > cells::middle;
        return static_cast<std::uint64_t>(upper ? width - 1 - offset : most_below + offset);
    }
    // The sum of n offsets, from that of their positions.
    static Int128 offsets(std::uint32_t cell, std::uint64_t n, UInt128 positions) {
        const auto sum = static_cast<Int128>(positions);
        return cell > cells::middle ? Int128{width - 1} * n - sum : sum - Int128{most_below} * n;
    }
};

class CellParts {
public:
    static constexpr std::uint64_t most_rows_per_part = std::uint64_t{1} << 18;

    // One part a cell.
    CellParts();
    // The cells that are meant are cut so that rows which are spread out evenly are
    // `rows_per_part` in each part, or most_rows_per_part.
    CellParts(const CellSet& cut, const std::vector<Cell>& cells, std::uint64_t rows_per_part);

    [[nodiscard]] std::size_t size() const { return size_; }
    // Those of a cell are [first(cell), first(cell + 1)).
    [[nodiscard]] std::size_t first(std::size_t cell) const {
        return cell < n_score_cells ? cuts_[cell].first : size_;
    }
    [[nodiscard]] int shift(std::uint32_t cell) const { return cuts_[cell].shift; }
    [[nodiscard]] std::size_t of(std::uint32_t cell, std::uint64_t position) const {
        return cuts_[cell].first + static_cast<std::size_t>(position >> cuts_[cell].shift);
    }
    [[nodiscard]] std::size_t of(double score) const {
        const ScorePlace place = place_of_score(score);
        return of(place.cell, CellPosition::of(place.cell, place.offset));
    }

private:
    struct Cut {
        std::uint32_t first;
        std::int32_t shift;  // a part is 2^shift units wide
    };
    std::vector<Cut> cuts_{n_score_cells};
    std::size_t size_ = 0;
};

// Sums of the rows in each part. Reads the rows in cells that are cut once more, and throws
// InvalidInput if these are not what they were.
[[nodiscard]] std::vector<RowSums> sums_of_parts(const CellParts& parts, const CellSet& cut,
                                                 const std::vector<Cell>& cells,
                                                 const Rereader& rows);

// The rows in the chosen parts, which are read once more.
[[nodiscard]] SortedScores sorted_rows_of(const CellParts& parts,
                                          const std::vector<std::size_t>& chosen,
                                          const Rereader& rows, Poll poll);

// Throws InvalidInput.
[[noreturn]] void reject_changed_rows();

}  // namespace calibrant
