#include "cumulative/cell_sums.hpp"

#include <algorithm>
#include <utility>

#include "kernels/kernels.hpp"
#include "kernels/score_cells.hpp"
#include "numeric/wide_product.hpp"

namespace calibrant {
namespace {

// The sum of x - x^2 over cells, x = (base + offset) 2^exponent. Neighbours mostly share the
// exponent, and are added up before they go into the exact sum.
class CellVariance {
public:
    explicit CellVariance(ExactSum start) : total_(std::move(start)) {}

    void add(std::uint32_t index, const Cell& cell) {
        if (cell.n == 0) return;
        const CellUnits units = units_of(index);
        if (units.exponent != exponent_) flush();
        exponent_ = units.exponent;
        const Int128 n = cell.n, base = units.base;
        near_.add(static_cast<UInt128>(base * n + cell.offsets), 0);
        // base (base n + 2 offsets) + squares; below 2^152, and not negative, as offsets are
        // small beside the base.
        const auto factor = static_cast<UInt128>(base * n + 2 * cell.offsets);
        const auto positive = static_cast<UInt128>(base);
        squares_.add((factor & ~std::uint64_t{0}) * positive, 0);
        squares_.add((factor >> 64) * positive, 64);
        squares_.add(cell.squares, 0);
    }

    [[nodiscard]] ExactSum total() {
        flush();
        return total_;
    }

private:
    void flush() {
        WalkSum minus;
        minus -= squares_;
        near_.add_to(total_, exponent_);
        minus.add_to(total_, 2 * exponent_);
        near_ = squares_ = {};
    }

    ExactSum total_;
    std::int64_t exponent_ = 0;
    WalkSum near_, squares_;
};

}  // namespace

void RowSums::add(const RowSums& other) {
    n += other.n;
    hits += other.hits;
    offsets += other.offsets;
    hit_offsets += other.hit_offsets;
}

// The mean of squares is the square of the mean.
bool Cell::is_one_tie() const {
    const auto size = static_cast<UInt128>(offsets < 0 ? -offsets : offsets);
    return wide_product(n, squares) == wide_product(size, size);
}

bool Cell::is_crowded() const {
    constexpr double deviation = 0x1p45 / 32;
    const auto rows = static_cast<double>(n);
    const double mean = static_cast<double>(offsets) / rows;
    return static_cast<double>(squares) / rows - mean * mean < deviation * deviation;
}

void LowScores::add(const double* score, std::size_t count) {
    n += count;
    variance.add(score, nullptr, count);
}

void LowScores::merge(const LowScores& other) {
    n += other.n;
    variance.merge(other.variance);
}

ExactSum CellTotals::variance() const {
    CellVariance sum(low.variance.total());
    for (std::uint32_t cell = cells::tail; cell < n_score_cells; ++cell) {
        sum.add(cell, cells[cell]);
    }
    return sum.total();
}

void CellWorker::add(const ShownRows& rows) {
    Counts* const all = counts_.data();
    const double* const score = rows.score;
    n_ += rows.n;
    kernels().places(score, rows.n, cell_, offset_);
    std::fill_n(cell_ + rows.n, rows_ahead, 0U);
    std::size_t n_low = 0;
    for (std::size_t i = 0; i < rows.n; ++i) {
        if (i % rows_per_prefetch == 0)
            prefetch(rows.ahead, i / rows_per_prefetch, block_rows / rows_per_prefetch);
        // All cells together are more than a second-level cache holds.
        __builtin_prefetch(&all[cell_[i + rows_ahead]], 1);
        const std::uint32_t cell = cell_[i];
        const std::int64_t offset = offset_[i];
        const std::int64_t hit = rows.hit[i];
        const auto square = static_cast<UInt128>(static_cast<Int128>(offset) * offset);
        Counts& counts = all[cell];
        const auto low = static_cast<std::uint64_t>(square) + counts.squares_low;
        counts.squares_high_and_counts += static_cast<std::uint64_t>(square >> 64) +
                                          (low < counts.squares_low ? 1U : 0U) + one_row +
                                          (static_cast<std::uint64_t>(hit) << hits_at);
        counts.squares_low = low;
        counts.offsets += offset;
        counts.hit_offsets += offset & -hit;
        if ((counts.squares_high_and_counts & (rows_before_flush * one_row)) != 0) flush(cell);
        if (cell < cells::tail && score[i] > 0.0) low_[n_low++] = score[i];
    }
    if (n_low > 0) low_scores_.add(low_, n_low);
}

void CellWorker::finish_into(CellTotals& totals) const {
    for (std::uint32_t cell = 0; cell < n_score_cells; ++cell) {
        add_to(totals.cells[cell], counts_[cell]);
        if (flushed_.empty()) continue;
        totals.cells[cell].add(flushed_[cell]);
        totals.cells[cell].squares += flushed_[cell].squares;
    }
    totals.low.merge(low_scores_);
    totals.n += n_;
    totals.omitted += omitted_;
}

void CellWorker::add_to(Cell& cell, const Counts& counts) {
    cell.add(RowSums{counts.rows(), counts.hits(), counts.offsets, counts.hit_offsets});
    cell.squares += counts.squares();
}

void CellWorker::flush(std::uint32_t cell) {
    if (flushed_.empty()) flushed_.resize(n_score_cells);
    add_to(flushed_[cell], counts_[cell]);
    counts_[cell] = {};
}

}  // namespace calibrant
