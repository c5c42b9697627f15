#include "cumulative/cell_parts.hpp"

#include <algorithm>
#include <bit>

#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"
#include "kernels/score_cells.hpp"

namespace calibrant {
namespace {

// One thread's sums of rows in cells that are cut.
class PartWorker {
public:
    PartWorker(const CellParts& parts, const CellSet& cut)
        : parts_(parts), cut_(cut), sums_(parts.size()) {}

    void add(const ShownRows& rows) {
        kernels().places(rows.score, rows.n, cell_, offset_);
        std::size_t found = 0;
        for (std::size_t i = 0; i < rows.n; ++i) {
            if (i % rows_per_prefetch == 0) {
                prefetch(rows.ahead, i / rows_per_prefetch, block_rows / rows_per_prefetch);
            }
            row_[found] = static_cast<std::uint32_t>(i);
            found += cut_[cell_[i]];
        }
        for (std::size_t k = 0; k < found; ++k) {
            const std::uint32_t cell = cell_[row_[k]];
            const std::uint64_t position = CellPosition::of(cell, offset_[row_[k]]);
            part_[k] = parts_.of(cell, position);
            rest_[k] = position & ((std::uint64_t{1} << parts_.shift(cell)) - 1);
            __builtin_prefetch(&sums_[part_[k]], 1);
            if (k >= rows_behind) add_row(k - rows_behind, rows.hit);
        }
        for (std::size_t k = found - std::min(found, rows_behind); k < found; ++k) {
            add_row(k, rows.hit);
        }
    }

    // Of a part of that cell.
    [[nodiscard]] RowSums sums(std::uint32_t cell, std::size_t part) const {
        const Sums& found = sums_[part];
        const UInt128 start = UInt128{part - parts_.first(cell)} << parts_.shift(cell);
        const auto offsets = [&](std::uint64_t n, std::uint64_t rests) {
            return CellPosition::offsets(cell, n, start * n + rests);
        };
        return {found.n, found.hits, offsets(found.n, found.rests),
                offsets(found.hits, found.hit_rests)};
    }

private:
    static constexpr std::size_t rows_behind = 16;

    // A rest is the position from where the part begins. Parts of a cell with n rows are at most
    // 2^46 most_rows_per_part / n units wide, so sums of rests stay below 2^64.
    static_assert(CellParts::most_rows_per_part <= std::uint64_t{1} << (64 - CellPosition::bits));
    struct alignas(32) Sums {
        std::uint64_t n, hits, rests, hit_rests;
    };

    void add_row(std::size_t k, const std::int32_t* hits) {
        const auto hit = static_cast<std::uint64_t>(hits[row_[k]]);
        Sums& sums = sums_[part_[k]];
        ++sums.n;
        sums.hits += hit;
        sums.rests += rest_[k];
        sums.hit_rests += rest_[k] & -hit;
    }

    const CellParts& parts_;
    const CellSet& cut_;
    std::vector<Sums> sums_;
    alignas(64) std::uint32_t cell_[block_rows];
    alignas(64) std::int64_t offset_[block_rows];
    std::uint32_t row_[block_rows];
    std::size_t part_[block_rows];
    std::uint64_t rest_[block_rows];
};

// What is looked for, and the cells that it is in.
struct Wanted {
    const CellParts& parts;
    CellSet cells;
    std::vector<std::uint8_t> of_part;

    Wanted(const CellParts& all, const std::vector<std::size_t>& chosen)
        : parts(all), cells(n_score_cells, 0), of_part(all.size(), 0) {
        for (const std::size_t part : chosen) of_part[part] = 1;
        for (std::size_t cell = 0; cell < n_score_cells; ++cell) {
            const auto begin = of_part.begin();
            const auto first = static_cast<std::ptrdiff_t>(parts.first(cell));
            const auto end = static_cast<std::ptrdiff_t>(parts.first(cell + 1));
            cells[cell] = std::find(begin + first, begin + end, 1) != begin + end ? 1 : 0;
        }
    }
};

// Most rows are in cells that are not wanted, and that is quickly seen.
void gather(const ShownRows& rows, const Wanted& wanted, std::vector<ScoreKey>& keys) {
    alignas(64) std::uint32_t cell[block_rows];
    ScoreKey found[block_rows];
    kernels().cells(rows.score, rows.n, cell);
    std::size_t n = 0;
    for (std::size_t i = 0; i < rows.n; ++i) {
        if (i % rows_per_prefetch == 0) {
            prefetch(rows.ahead, i / rows_per_prefetch, block_rows / rows_per_prefetch);
        }
        found[n] = ScoreKey::of(rows.score[i], rows.hit[i] != 0);
        n += wanted.cells[cell[i]];
    }
    for (std::size_t k = 0; k < n; ++k) {
        if (wanted.of_part[wanted.parts.of(found[k].score())] != 0) keys.push_back(found[k]);
    }
}

}  // namespace

CellParts::CellParts() : size_(n_score_cells) {
    for (std::uint32_t cell = 0; cell < n_score_cells; ++cell) {
        cuts_[cell] = {cell, CellPosition::bits};
    }
}

CellParts::CellParts(const CellSet& cut, const std::vector<Cell>& cells,
                     std::uint64_t rows_per_part) {
    const std::uint64_t rows = std::clamp<std::uint64_t>(rows_per_part, 1, most_rows_per_part);
    constexpr std::uint64_t last = CellPosition::most_below + CellPosition::width - 1;
    for (std::uint32_t cell = 0; cell < n_score_cells; ++cell) {
        const auto parts = static_cast<int>(std::bit_width(cut[cell] * cells[cell].n / rows));
        const int shift = CellPosition::bits - parts;
        cuts_[cell] = {static_cast<std::uint32_t>(size_), shift};
        size_ += static_cast<std::size_t>(last >> shift) + 1;
    }
}

std::vector<RowSums> sums_of_parts(const CellParts& parts, const CellSet& cut,
                                   const std::vector<Cell>& cells, const Rereader& rows) {
    std::vector<PartWorker> team;
    team.reserve(rows.workers);
    for (std::size_t k = 0; k < rows.workers; ++k) team.emplace_back(parts, cut);
    rows.show(cut, [&](std::size_t worker, const ShownRows& shown) { team[worker].add(shown); });
    std::vector<RowSums> sums(parts.size());
    for (std::uint32_t cell = 0; cell < n_score_cells; ++cell) {
        const std::size_t first = parts.first(cell);
        if (cut[cell] == 0) {
            sums[first] = cells[cell];
            continue;
        }
        RowSums together;
        for (std::size_t part = first; part < parts.first(cell + 1); ++part) {
            for (const PartWorker& worker : team) sums[part].add(worker.sums(cell, part));
            together.add(sums[part]);
        }
        if (!(together == cells[cell])) reject_changed_rows();
    }
    return sums;
}

SortedScores sorted_rows_of(const CellParts& parts, const std::vector<std::size_t>& chosen,
                            const Rereader& rows, Poll poll) {
    const Wanted wanted(parts, chosen);
    std::vector<std::vector<ScoreKey>> found(rows.workers);
    rows.show(wanted.cells, [&](std::size_t worker, const ShownRows& shown) {
        gather(shown, wanted, found[worker]);
    });
    return {found, poll};
}

void reject_changed_rows() { throw InvalidInput("the arrays changed while they were being read"); }

}  // namespace calibrant
