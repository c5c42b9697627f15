#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "calibrant/intervals/intervals.hpp"
#include "kernels/kernels.hpp"
#include "numeric/wide_product.hpp"
#include "ordering/sorted_scores.hpp"
#include "rows/interval_blocks.hpp"

namespace calibrant {

namespace {

// Groups that are filled in the order of widths, with everything counted in units of weight.
class EqualCounts {
public:
    EqualCounts(UInt128 total, std::size_t n_groups, int unit_exponent)
        : total_(total), n_groups_(n_groups), unit_exponent_(unit_exponent) {}

    // Widths from least to largest, none of which but the last may end a group.
    void add(double least, double largest, UInt128 weight, UInt128 covered) {
        bool begins = below_ == 0;
        // below / total >= k / n_groups: group k has ended.
        while (k_ < n_groups_ && !product_less(below_, n_groups_, k_, total_)) {
            ++k_;
            begins = true;
        }
        if (begins) {
            close();
            strata_.emplace_back();
        }
        strata_.back().see(least);
        strata_.back().see(largest);
        below_ += weight;
        weight_ += weight;
        covered_ += covered;
    }

    [[nodiscard]] std::vector<Stratum> finish() {
        close();
        return std::move(strata_);
    }

private:
    void close() {
        if (weight_ == 0) return;
        strata_.back().weight.add(static_cast<Int128>(weight_), unit_exponent_);
        strata_.back().covered.add(static_cast<Int128>(covered_), unit_exponent_);
        weight_ = covered_ = 0;
    }

    UInt128 total_;
    std::size_t n_groups_;
    int unit_exponent_;
    UInt128 below_ = 0, weight_ = 0, covered_ = 0;
    std::size_t k_ = 1;
    std::vector<Stratum> strata_;
};

// All widths of one level and whether they cover, sorted. The other levels are read, too: they may
// be bad, or have missing values.
SortedScores sorted_widths(const IntervalRows& rows, std::size_t level, Poll poll) {
    const std::size_t workers = workers_of(rows);
    const bool weighted = rows.sample_weight != nullptr;
    ScoreKeys keys(rows.size(), weighted, workers);
    for_each_block(rows, workers, 0, poll,
                   [&](std::size_t worker, std::size_t row, const IntervalBlock& block) {
                       FoundRows& found = keys.found(worker);
                       for (std::size_t i = 0; i < block.n(); ++i) {
                           const bool covered = block.excess(level)[i] == 0.0;
                           const auto key = ScoreKey::of(block.width(level)[i], covered);
                           keys.put(found, row + i, key, weighted ? block.weight()[i] : 1.0);
                       }
                       keys.leave_out(row + block.n(), block.omitted());
                   });
    return {std::move(keys), poll};
}

std::vector<Stratum> strata_by_sort(const IntervalRows& rows, std::size_t level,
                                    std::size_t n_groups, Poll poll) {
    const SortedScores sorted = sorted_widths(rows, level, poll);
    UInt128 total = 0;
    sorted.for_each_score(poll, [&](double, UInt128 weight, UInt128) { total += weight; });
    EqualCounts groups(total, n_groups, sorted.unit_exponent());
    sorted.for_each_score(poll, [&](double width, UInt128 weight, UInt128 covered) {
        groups.add(width, width, weight, covered);
    });
    return groups.finish();
}

constexpr std::size_t n_cells = std::size_t{1} << 13;

// Cells of widths, of equal size in terms of the bits between the least and the largest width of a
// sample; the first and the last hold what lies beyond. Widths are not negative, so their bits rise
// with them.
class CellGrid {
public:
    explicit CellGrid(const std::vector<double>& sample) {
        if (sample.empty()) return;
        const auto [least, largest] = std::minmax_element(sample.begin(), sample.end());
        low_ = std::bit_cast<std::uint64_t>(*least);
        const std::uint64_t span = std::bit_cast<std::uint64_t>(*largest) - low_;
        shift_ = std::max(static_cast<int>(std::bit_width(span)) - 13, 0);
    }

    [[nodiscard]] std::size_t of(double width) const {
        const auto bits = std::bit_cast<std::uint64_t>(width);
        const std::uint64_t cell = bits < low_ ? 0 : (bits - low_) >> shift_;
        return static_cast<std::size_t>(std::min<std::uint64_t>(cell, n_cells - 1));
    }

private:
    std::uint64_t low_ = 0;
    int shift_ = 50;
};

// A grid for each level, from some blocks of rows; whether those are bad is seen later.
std::vector<CellGrid> grids_of(const IntervalRows& rows) {
    constexpr std::size_t blocks = 8;
    std::vector<std::vector<double>> sample(rows.n_levels());
    IntervalBlock block(rows);
    for (std::size_t k = 0; k < blocks; ++k) {
        const std::size_t begin = (rows.size() - block_rows) / blocks * k;
        if (!block.load(rows, begin, block_rows)) continue;
        for (std::size_t level = 0; level < rows.n_levels(); ++level) {
            const double* const width = block.width(level);
            sample[level].insert(sample[level].end(), width, width + block.n());
        }
    }
    return {sample.begin(), sample.end()};
}

struct Cell {
    double least = std::numeric_limits<double>::infinity();
    double largest = -std::numeric_limits<double>::infinity();
    std::uint64_t rows = 0, covered = 0;

    void see(double width) {
        least = width < least ? width : least;
        largest = width > largest ? width : largest;
    }
    void merge(const Cell& other) {
        least = std::min(least, other.least);
        largest = std::max(largest, other.largest);
        rows += other.rows;
        covered += other.covered;
    }
};

// The cells of one level, and the keys of those in which a group ends.
class WidthCells {
public:
    WidthCells(const CellGrid& grid, std::vector<Cell> cells, std::size_t n_groups)
        : grid_(grid), cells_(std::move(cells)), wanted_(n_cells) {
        for (const Cell& cell : cells_) total_ += cell.rows;
        std::uint64_t below = 0;
        std::size_t k = 1;  // the next group to end
        const auto end_of = [&] {
            const UInt128 product = static_cast<UInt128>(k) * total_;
            return static_cast<std::uint64_t>((product + n_groups - 1) / n_groups);
        };
        for (std::size_t c = 0; c < n_cells; ++c) {
            const Cell& cell = cells_[c];
            if (cell.rows == 0) continue;
            while (k < n_groups && end_of() <= below) ++k;
            const bool cut = k < n_groups && end_of() < below + cell.rows;
            wanted_[c] = cut && cell.least < cell.largest ? 1 : 0;
            below += cell.rows;
        }
    }

    [[nodiscard]] bool wants(double width) const { return wanted_[grid_.of(width)] != 0; }

    // `keys` are those of all widths that are wanted.
    [[nodiscard]] std::vector<Stratum> strata(const std::vector<std::vector<ScoreKey>>& keys,
                                              std::size_t n_groups, Poll poll) const {
        EqualCounts groups(total_, n_groups, 0);
        std::size_t c = 0;
        const auto add_cells_before = [&](std::size_t end) {
            for (; c < end; ++c) {
                const Cell& cell = cells_[c];
                if (cell.rows == 0 || wanted_[c] != 0) continue;
                groups.add(cell.least, cell.largest, cell.rows, cell.covered);
            }
        };
        const SortedScores sorted(keys, poll);
        sorted.for_each_score(poll, [&](double width, UInt128 rows, UInt128 covered) {
            add_cells_before(grid_.of(width));
            groups.add(width, width, rows, covered);
        });
        add_cells_before(n_cells);
        return groups.finish();
    }

private:
    CellGrid grid_;
    std::vector<Cell> cells_;
    std::vector<std::uint8_t> wanted_;
    std::uint64_t total_ = 0;
};

std::vector<std::vector<Stratum>> strata_by_cells(const IntervalRows& rows, std::size_t n_groups,
                                                  Poll poll) {
    const std::size_t workers = workers_of(rows);
    const std::size_t levels = rows.n_levels();
    const std::vector<CellGrid> grids = grids_of(rows);
    std::vector<std::vector<Cell>> counted(workers * levels, std::vector<Cell>(n_cells));
    for_each_block(rows, workers, 0, poll,
                   [&](std::size_t worker, std::size_t, const IntervalBlock& block) {
                       for (std::size_t level = 0; level < levels; ++level) {
                           Cell* const cells = counted[worker * levels + level].data();
                           const double* const width = block.width(level);
                           const double* const excess = block.excess(level);
                           for (std::size_t i = 0; i < block.n(); ++i) {
                               Cell& cell = cells[grids[level].of(width[i])];
                               cell.see(width[i]);
                               ++cell.rows;
                               cell.covered += excess[i] == 0.0 ? 1 : 0;
                           }
                       }
                   });
    std::vector<WidthCells> cells;
    for (std::size_t level = 0; level < levels; ++level) {
        std::vector<Cell> all = std::move(counted[level]);
        for (std::size_t worker = 1; worker < workers; ++worker) {
            const std::vector<Cell>& part = counted[worker * levels + level];
            for (std::size_t c = 0; c < n_cells; ++c) {
                if (part[c].rows > 0) all[c].merge(part[c]);
            }
        }
        cells.emplace_back(grids[level], std::move(all), n_groups);
    }
    counted.clear();

    std::vector<std::vector<std::vector<ScoreKey>>> kept(
        levels, std::vector<std::vector<ScoreKey>>(workers));
    for_each_block(rows, workers, 0, poll,
                   [&](std::size_t worker, std::size_t, const IntervalBlock& block) {
                       for (std::size_t level = 0; level < levels; ++level) {
                           const double* const width = block.width(level);
                           for (std::size_t i = 0; i < block.n(); ++i) {
                               if (!cells[level].wants(width[i])) continue;
                               const bool covered = block.excess(level)[i] == 0.0;
                               kept[level][worker].push_back(ScoreKey::of(width[i], covered));
                           }
                       }
                   });
    std::vector<std::vector<Stratum>> result;
    for (std::size_t level = 0; level < levels; ++level) {
        result.push_back(cells[level].strata(kept[level], n_groups, poll));
        kept[level].clear();
    }
    return result;
}

// For fewer rows, a sort is faster than a histogram; of many levels, the histograms are large.
constexpr std::size_t rows_worth_cells = 65536;
constexpr std::size_t levels_worth_cells = 64;

}  // namespace

std::vector<std::vector<Stratum>> coverage_by_width(const IntervalRows& rows, std::size_t n_groups,
                                                    Poll poll) {
    if (rows.sample_weight == nullptr && rows.size() >= rows_worth_cells &&
        rows.n_levels() <= levels_worth_cells) {
        return strata_by_cells(rows, n_groups, poll);
    }
    std::vector<std::vector<Stratum>> result;
    for (std::size_t level = 0; level < rows.n_levels(); ++level) {
        result.push_back(strata_by_sort(rows, level, n_groups, poll));
    }
    return result;
}

}  // namespace calibrant
