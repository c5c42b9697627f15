#include "calibrant/compat.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "calibrant/sorted_scores.hpp"

namespace calibrant {
namespace {

constexpr std::size_t chunk = std::size_t{1} << 14;

// Cells of equal width for scores up to 1, and one for all beyond.
class Cells {
public:
    explicit Cells(std::size_t n)
        : count_(std::size_t{1} << std::clamp<int>(static_cast<int>(std::bit_width(n)) - 7, 4, 16)),
          scale_(static_cast<double>(count_)) {}

    [[nodiscard]] std::size_t size() const { return count_ + 1; }
    [[nodiscard]] std::size_t of(double score) const {
        return score < 1.0 ? static_cast<std::size_t>(score * scale_) : count_;
    }

private:
    std::size_t count_;
    double scale_;
};

struct Cell {
    double start = 0.0;  // the walk before its rows
    double sum = 0.0;    // of label - score
    double rise = 0.0;   // of the positive ones, for scores up to 1
    std::size_t rows = 0;
    bool candidate = false;

    [[nodiscard]] double end() const { return start + sum; }
    [[nodiscard]] double most() const { return start + rise; }
    [[nodiscard]] double least() const { return end() - rise; }
};

void see(WalkRange& range, double place) {
    range.highest = std::max(range.highest, place);
    range.lowest = std::min(range.lowest, place);
}

// The range over the ends of cells; marks those in which the walk may leave it. Returns how many
// rows these have.
std::size_t mark_candidates(std::vector<Cell>& cells, WalkRange& range) {
    double place = 0.0;
    for (Cell& cell : cells) {
        cell.start = place;
        place = cell.end();
        if (cell.rows > 0) see(range, place);
    }
    std::size_t rows = 0;
    for (Cell& cell : cells) {
        const bool beyond_one = &cell == &cells.back();
        cell.candidate = cell.rows > 1 &&
                         (beyond_one || cell.most() > range.highest || cell.least() < range.lowest);
        rows += cell.candidate ? cell.rows : 0;
    }
    return rows;
}

}  // namespace

WalkRange walk_range(const std::uint8_t* labels, const double* scores, std::size_t n, Poll poll) {
    const Cells cell_of(n);
    std::vector<Cell> cells(cell_of.size());
    const std::unique_ptr<std::uint32_t[]> codes(new std::uint32_t[n]);
    // One worker, so that each cell adds up its rows in their order.
    for_each_chunk(n, chunk, 1, poll, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const double hit = labels[i];
            const std::size_t code = cell_of.of(scores[i]);
            codes[i] = static_cast<std::uint32_t>(code);
            Cell& cell = cells[code];
            cell.sum += hit - scores[i];
            cell.rise += hit * (1.0 - scores[i]);
            ++cell.rows;
        }
        return true;
    });
    constexpr double infinity = std::numeric_limits<double>::infinity();
    WalkRange range{-infinity, infinity, false};
    ScoreKeys keys(mark_candidates(cells, range), false, 1);
    std::vector<std::uint8_t> candidate(cells.size());
    for (std::size_t k = 0; k < cells.size(); ++k) candidate[k] = cells[k].candidate ? 1 : 0;
    std::size_t at = 0;
    for_each_chunk(n, chunk, 1, poll, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            if (candidate[codes[i]] == 0) continue;
            keys.put(keys.found(0), at++, ScoreKey::of(scores[i], labels[i] != 0), 1.0);
        }
        return true;
    });
    std::size_t current = cells.size();
    double place = 0.0;
    const SortedScores sorted(std::move(keys), poll);
    sorted.for_each_score(poll, [&](double score, UInt128 rows, UInt128 hits) {
        if (hits != 0 && hits != rows) range.depends_on_ties = true;
        if (const std::size_t cell = cell_of.of(score); cell != current) {
            current = cell;
            place = cells[cell].start;
        }
        const double step = (hits != 0 ? 1.0 : 0.0) - score;
        see(range, place + step);
        place += static_cast<double>(rows) * step;
        see(range, place);
    });
    return range;
}

bool sort_labelled(const std::uint8_t* labels, const double* scores, std::size_t n,
                   std::uint8_t* sorted_labels, double* sorted_scores, Poll poll) {
    const std::size_t workers = workers_for(n, 4 * chunk);
    ScoreKeys keys(n, false, workers);
    for_each_chunk(n, chunk, workers, poll,
                   [&](std::size_t worker, std::size_t begin, std::size_t end) {
                       FoundRows& found = keys.found(worker);
                       for (std::size_t i = begin; i < end; ++i) {
                           keys.put(found, i, ScoreKey::of(scores[i], labels[i] != 0), 1.0);
                       }
                       return true;
                   });
    const SortedScores sorted(std::move(keys), poll);
    bool mixed = false;
    std::size_t at = 0;
    sorted.for_each_score(poll, [&](double score, UInt128 rows, UInt128 hits) {
        const auto count = static_cast<std::size_t>(rows);
        const auto zeros = count - static_cast<std::size_t>(hits);
        mixed |= zeros != 0 && zeros != count;
        std::fill_n(sorted_scores + at, count, score);
        std::fill_n(sorted_labels + at, zeros, std::uint8_t{0});
        std::fill_n(sorted_labels + at + zeros, count - zeros, std::uint8_t{1});
        at += count;
    });
    return mixed;
}

bool largest_columns(const double* matrix, std::size_t n, std::size_t k, std::int64_t* column,
                     double* value, Poll poll) {
    std::atomic<bool> clean = true;
    const std::size_t rows = std::max<std::size_t>(chunk / k, 1);
    const std::size_t workers = workers_for(n, 4 * rows);
    for_each_chunk(n, rows, workers, poll, [&](std::size_t, std::size_t begin, std::size_t end) {
        bool any_nan = false;
        for (std::size_t i = begin; i < end; ++i) {
            const double* const row = matrix + i * k;
            double best = row[0];
            std::size_t at = 0;
            any_nan |= row[0] != row[0];
            for (std::size_t j = 1; j < k; ++j) {
                any_nan |= row[j] != row[j];
                at = row[j] > best ? j : at;
                best = std::max(best, row[j]);
            }
            column[i] = static_cast<std::int64_t>(at);
            value[i] = best;
        }
        if (any_nan) clean = false;
        return true;
    });
    return clean;
}

}  // namespace calibrant
