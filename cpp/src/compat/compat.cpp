#include "compat/compat.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/kernels.hpp"
#include "ordering/sort_keys.hpp"
#include "ordering/sorted_scores.hpp"

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

// The range over the ends of cells; marks those in which the walk may leave it.
void mark_candidates(std::vector<Cell>& cells, WalkRange& range) {
    double place = 0.0;
    for (Cell& cell : cells) {
        cell.start = place;
        place = cell.end();
        if (cell.rows > 0) see(range, place);
    }
    for (Cell& cell : cells) {
        const bool beyond_one = &cell == &cells.back();
        cell.candidate = cell.rows > 1 &&
                         (beyond_one || cell.most() > range.highest || cell.least() < range.lowest);
    }
}

// A comparison of a width that is known is a few instructions, and others are calls. Most texts
// differ in their beginning, which is looked at first.
template <std::size_t fixed_width>
bool same_text_of(const std::uint8_t* rows, std::size_t n, std::size_t given_width,
                  const std::uint8_t* text, std::uint8_t* same) {
    const std::size_t width = fixed_width != 0 ? fixed_width : given_width;
    for (std::size_t i = 0; i < n; ++i, rows += width) {
        if constexpr (fixed_width != 0) {
            std::uint32_t differing = 0;
            for (std::size_t at = 0; at < fixed_width; at += sizeof(std::uint32_t)) {
                std::uint32_t of_row = 0, of_text = 0;
                std::memcpy(&of_row, rows + at, sizeof of_row);
                std::memcpy(&of_text, text + at, sizeof of_text);
                differing |= of_row ^ of_text;
            }
            same[i] = differing == 0 ? 1 : 0;
        } else {
            same[i] = rows[0] == text[0] && std::memcmp(rows, text, width) == 0 ? 1 : 0;
        }
    }
    return true;
}

// Calls visit(i) for each of n rows, on several threads.
template <class Visit>
void for_each_of(std::size_t n, Poll poll, const Visit& visit) {
    for_each_chunk(n, chunk, workers_for(n, 4 * chunk), poll,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                       for (std::size_t i = begin; i < end; ++i) visit(i);
                       return true;
                   });
}

bool all_finite(const double* values, std::size_t n, Poll poll) {
    std::atomic<bool> clean = true;
    for_each_chunk(n, chunk, workers_for(n, 4 * chunk), poll,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                       for (std::size_t i = begin; i < end; i += block_rows) {
                           double low = 0.0, high = 0.0;
                           kernels().range(values + i, std::min(block_rows, end - i), &low, &high);
                           // NaN is beyond infinity.
                           if (!std::isfinite(low) || !std::isfinite(high)) clean = false;
                       }
                       return true;
                   });
    return clean;
}

// hits / rows is the least mean so far. Segments are compared with it exactly, by whole numbers:
// of the rows (j, k], rows * hits(j, k] - hits * (k - j) is negative if their mean is less. If some
// is, the least such number gives a better mean, and the same is done with that, until none is;
// this takes a few rounds (Dinkelbach 1967).
void lower_mean(const std::uint8_t* covered, std::size_t n, std::size_t least_rows,
                SlabMean& mean) {
    while (true) {
        const auto hits = static_cast<std::int64_t>(mean.hits);
        const auto rows = static_cast<std::int64_t>(mean.rows);
        struct Place {
            std::int64_t value = 0;
            std::size_t row = 0;
            std::uint64_t hits = 0;
        } start, trailing, end;  // the highest place to start from, least_rows behind; and the end
        std::int64_t least = 0;
        SlabMean found = mean;
        for (std::size_t k = 0; k < n; ++k) {
            end.value += (covered[k] != 0 ? rows : 0) - hits;
            end.hits += covered[k] != 0 ? 1U : 0U;
            if (k + 1 < least_rows) continue;
            if (trailing.value > start.value) start = trailing;
            const std::int64_t value = end.value - start.value;
            if (value < least) {
                least = value;
                found = {end.hits - start.hits, k + 1 - start.row};
            }
            const bool hit = covered[trailing.row] != 0;
            trailing.value += (hit ? rows : 0) - hits;
            trailing.hits += hit ? 1U : 0U;
            ++trailing.row;
        }
        if (least == 0) return;
        mean = found;
    }
}

}  // namespace

SlabMean worst_slab(const std::uint8_t* covered, std::size_t slabs, std::size_t n,
                    std::size_t least_rows, SlabMean mean, Poll poll) {
    const std::size_t workers = workers_for(slabs * n, 4 * chunk);
    std::vector<SlabMean> best(workers, mean);
    for_each_chunk(slabs, 1, std::min(workers, slabs), poll,
                   [&](std::size_t worker, std::size_t begin, std::size_t end) {
                       for (std::size_t i = begin; i < end; ++i) {
                           lower_mean(covered + i * n, n, least_rows, best[worker]);
                       }
                       return true;
                   });
    for (const SlabMean& other : best) {
        if (other.hits * mean.rows < mean.hits * other.rows) mean = other;
    }
    return mean;
}

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
    mark_candidates(cells, range);
    std::vector<std::vector<ScoreKey>> keys(1);
    std::vector<std::uint8_t> candidate(cells.size());
    for (std::size_t k = 0; k < cells.size(); ++k) candidate[k] = cells[k].candidate ? 1 : 0;
    for_each_chunk(n, chunk, 1, poll, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            if (candidate[codes[i]] == 0) continue;
            keys[0].push_back(ScoreKey::of(scores[i], labels[i] != 0));
        }
        return true;
    });
    std::size_t current = cells.size();
    double place = 0.0;
    const SortedScores sorted(keys, poll);
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

Sorted sort_labelled(const std::uint8_t* labels, const double* scores, std::size_t n,
                     std::uint8_t* sorted_labels, double* sorted_scores, Poll poll) {
    if (!all_finite(scores, n, poll)) return Sorted::not_at_all;
    LargeArray<ScoreKey> keys(n);
    for_each_of(n, poll, [&](std::size_t i) { keys[i] = ScoreKey::of(scores[i], labels[i] != 0); });
    std::size_t size = n;
    const LargeArray<ScoreKey> sorted = sorted_by_key(std::move(keys), size, poll);
    std::atomic<bool> mixed = false;
    for_each_of(n, poll, [&](std::size_t i) {
        sorted_scores[i] = sorted[i].score();
        sorted_labels[i] = sorted[i].hit() ? 1 : 0;
        if (i > 0 && (sorted[i].bits ^ sorted[i - 1].bits) == 1) mixed = true;
    });
    return mixed ? Sorted::with_ties : Sorted::fully;
}

Sorted sort_pairs(const double* keys, const std::uint64_t* values, std::size_t n,
                  double* sorted_keys, std::uint64_t* sorted_values, Poll poll) {
    struct Pair {
        ScoreKey key;
        std::uint64_t value;
    };
    if (!all_finite(keys, n, poll)) return Sorted::not_at_all;
    // The bits of doubles in their order: those of negative ones are complements.
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    LargeArray<Pair> pairs(n);
    for_each_of(n, poll, [&](std::size_t i) {
        const auto bits = std::bit_cast<std::uint64_t>(keys[i] + 0.0);
        pairs[i] = {{(bits & sign) != 0 ? ~bits : bits | sign}, values[i]};
    });
    std::size_t size = n;
    const LargeArray<Pair> sorted = sorted_by_key(std::move(pairs), size, poll);
    std::atomic<bool> tied = false;
    for_each_of(n, poll, [&](std::size_t i) {
        const std::uint64_t bits = sorted[i].key.bits;
        sorted_keys[i] = std::bit_cast<double>((bits & sign) != 0 ? bits & ~sign : ~bits);
        sorted_values[i] = sorted[i].value;
        if (i > 0 && bits == sorted[i - 1].key.bits) tied = true;
    });
    return tied ? Sorted::with_ties : Sorted::fully;
}

void cumulative_walk(const std::uint8_t* labels, const double* scores, std::size_t n, double* walk,
                     Poll poll) {
    double place = 0.0;
    const auto rows = static_cast<double>(n);
    for_each_chunk(n, chunk, 1, poll, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            place += static_cast<double>(labels[i]) - scores[i];
            walk[i] = place / rows;
        }
        return true;
    });
}

double mean_accuracy(const std::uint8_t* labels, std::size_t n, Poll poll) {
    double total = 0.0;
    std::uint64_t hits = 0;
    for_each_chunk(n, chunk, 1, poll, [&](std::size_t, std::size_t begin, std::size_t end) {
        double part = 0.0;
        for (std::size_t i = begin; i < end; ++i) {
            hits += labels[n - 1 - i];
            part += static_cast<double>(hits) / static_cast<double>(i + 1);
        }
        total += part;
        return true;
    });
    return total / static_cast<double>(n);
}

CurveEnd curve_up_to(const std::uint8_t* labels, const double* scores, std::size_t n,
                     double most_false, Poll poll) {
    std::uint64_t false_before = 0, true_before = 0, rows = 0, hits = 0;
    Int128 twice_area = 0;
    bool beyond = false;
    for_each_chunk(n, chunk, 1, poll, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end && !beyond; ++i) {
            const std::size_t at = n - 1 - i;
            hits += labels[at];
            ++rows;
            if (at > 0 && scores[at - 1] == scores[at]) continue;
            beyond = static_cast<double>(rows - hits) > most_false;
            if (beyond) break;
            twice_area += static_cast<Int128>(rows - hits - false_before) * (hits + true_before);
            false_before = rows - hits;
            true_before = hits;
        }
        return !beyond;
    });
    return {static_cast<double>(false_before), static_cast<double>(true_before),
            static_cast<double>(rows - hits), static_cast<double>(hits),
            static_cast<double>(twice_area)};
}

void same_text(const std::uint8_t* rows, std::size_t n, std::size_t width, const std::uint8_t* text,
               std::uint8_t* same, Poll poll) {
    const std::size_t workers = workers_for(n, 4 * chunk);
    for_each_chunk(n, chunk, workers, poll, [&](std::size_t, std::size_t begin, std::size_t end) {
        const std::uint8_t* const from = rows + begin * width;
        switch (width) {  // four bytes a character
            case 4:
                return same_text_of<4>(from, end - begin, width, text, same + begin);
            case 8:
                return same_text_of<8>(from, end - begin, width, text, same + begin);
            case 12:
                return same_text_of<12>(from, end - begin, width, text, same + begin);
            case 16:
                return same_text_of<16>(from, end - begin, width, text, same + begin);
            default:
                return same_text_of<0>(from, end - begin, width, text, same + begin);
        }
    });
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
