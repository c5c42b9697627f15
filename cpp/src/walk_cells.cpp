#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "calibrant/check.hpp"
#include "calibrant/cumulative.hpp"
#include "calibrant/kernels.hpp"
#include "calibrant/score_cells.hpp"
#include "calibrant/score_pairs.hpp"
#include "calibrant/sorted_scores.hpp"
#include "calibrant/wide_product.hpp"

namespace calibrant {
namespace {

// Gathering more than this share of the rows would not pay.
constexpr std::size_t rows_per_gathered = 8;
// While so many rows are looked at, as large a part of the next block is asked for.
constexpr std::size_t rows_per_prefetch = 16;

Ahead after(const ScoredRows& rows, std::size_t row, const ScoredBlock& block) {
    return next_block(rows.events, row + block.events() + block.omitted());
}

struct Cell {
    std::uint64_t n = 0, hits = 0;
    Int128 offsets = 0, hit_offsets = 0;
    UInt128 squares = 0;  // of offsets
};

// What the rows in one cell move the walk by, in the units of Walk.
struct Move {
    WalkSum total, up;  // all of it, and by the hits alone

    Move(std::uint32_t index, const Cell& cell) {
        const CellUnits units = units_of(index);
        const auto shift = static_cast<unsigned>(units.exponent + Walk::grid);
        const auto part = [&](std::uint64_t rows, Int128 offsets) {
            return static_cast<UInt128>(static_cast<Int128>(units.base) * rows + offsets);
        };
        const UInt128 all = part(cell.n, cell.offsets), hit = part(cell.hits, cell.hit_offsets);
        total.add(cell.hits, Walk::grid);
        if (units.of_complement) {
            total.subtract(cell.n, Walk::grid);
            total.add(all, shift);
            up.add(hit, shift);
        } else {
            total.subtract(all, shift);
            up.add(cell.hits, Walk::grid);
            up.subtract(hit, shift);
        }
    }
};

// Whether all rows have the same score: the mean of squares is the square of the mean.
bool is_one_tie(const Cell& cell) {
    const auto size = static_cast<UInt128>(cell.offsets < 0 ? -cell.offsets : cell.offsets);
    return wide_product(cell.n, cell.squares) == wide_product(size, size);
}

// Scores in the two lowest cells have no offsets. Zeros need none; the others are summed here.
struct LowScores {
    std::uint64_t n = 0;
    ExactSum scores;
    ScoreVariance variance;

    void add(const double* score, std::size_t count) {
        n += count;
        scores.add_block(score, count);
        variance.add(score, nullptr, count);
    }

    void merge(const LowScores& other) {
        n += other.n;
        scores.merge(other.scores);
        variance.merge(other.variance);
    }
};

// One thread's sums of its rows.
class CellWorker {
public:
    CellWorker() : counts_(n_score_cells) {}

    void add(const ScoredBlock& block, const Ahead& ahead) {
        omitted_ += block.omitted();
        add(block.score(), block.hit(), block.n(), ahead);
    }

    // All with the same outcome; the scores as bits.
    void add(std::span<const std::uint64_t> scores, bool hit) {
        alignas(64) double score[block_rows];
        alignas(64) std::int32_t hits[block_rows];
        std::fill_n(hits, block_rows, hit ? 1 : 0);
        for (std::size_t begin = 0; begin < scores.size(); begin += block_rows) {
            const std::size_t n = std::min(block_rows, scores.size() - begin);
            std::memcpy(score, &scores[begin], n * sizeof(double));
            add(score, hits, n, {});
        }
    }

    void finish_into(std::vector<Cell>& cells, LowScores& low, WalkTests& tests) {
        for (std::uint32_t cell = 0; cell < n_score_cells; ++cell) {
            add_to(cells[cell], counts_[cell]);
            if (!flushed_.empty()) add_to(cells[cell], flushed_[cell]);
        }
        low.merge(low_scores_);
        tests.n += n_;
        tests.omitted += omitted_;
    }

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

    void add(const double* score, const std::int32_t* hits, std::size_t n, const Ahead& ahead) {
        Counts* const all = counts_.data();
        n_ += n;
        kernels().places(score, n, cell_, offset_);
        std::fill_n(cell_ + n, rows_ahead, 0U);
        std::size_t n_low = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (i % rows_per_prefetch == 0)
                prefetch(ahead, i / rows_per_prefetch, block_rows / rows_per_prefetch);
            // All cells together are more than a second-level cache holds.
            __builtin_prefetch(&all[cell_[i + rows_ahead]], 1);
            const std::uint32_t cell = cell_[i];
            const std::int64_t offset = offset_[i];
            const std::int64_t hit = hits[i];
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

    static void add_to(Cell& cell, const Counts& counts) {
        cell.n += counts.rows();
        cell.hits += counts.hits();
        cell.offsets += counts.offsets;
        cell.hit_offsets += counts.hit_offsets;
        cell.squares += counts.squares();
    }

    static void add_to(Cell& cell, const Cell& other) {
        cell.n += other.n;
        cell.hits += other.hits;
        cell.offsets += other.offsets;
        cell.hit_offsets += other.hit_offsets;
        cell.squares += other.squares;
    }

    void flush(std::uint32_t cell) {
        if (flushed_.empty()) flushed_.resize(n_score_cells);
        add_to(flushed_[cell], counts_[cell]);
        counts_[cell] = {};
    }

    std::vector<Counts> counts_;
    std::vector<Cell> flushed_;
    LowScores low_scores_;
    std::uint64_t n_ = 0, omitted_ = 0;
    alignas(64) std::uint32_t cell_[block_rows + rows_ahead];
    alignas(64) std::int64_t offset_[block_rows];
    alignas(64) double low_[block_rows];
};

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

// The cells in which the walk may turn, and the walk at their beginning.
struct Turns {
    std::vector<std::uint32_t> cells;
    std::vector<WalkSum> begins;
    WalkSum highest, lowest;  // at edges
    std::uint64_t n = 0;      // rows

    explicit Turns(const std::vector<Cell>& all) {
        WalkSum edge;
        for_each_move(all, [&](std::uint32_t, const Move& move) {
            edge += move.total;
            if (highest < edge) highest = edge;
            if (edge < lowest) lowest = edge;
        });
        edge = {};
        for_each_move(all, [&](std::uint32_t index, const Move& move) {
            const WalkSum begin = edge;
            WalkSum up = begin, down = edge += move.total;
            up += move.up;
            down -= move.up;
            if (!(highest < up || down < lowest) || is_one_tie(all[index])) return;
            cells.push_back(index);
            begins.push_back(begin);
            n += all[index].n;
        });
    }

private:
    template <class Visit>
    static void for_each_move(const std::vector<Cell>& all, const Visit& visit) {
        for (std::uint32_t index = cells::tail; index < n_score_cells; ++index) {
            if (all[index].n != 0) visit(index, Move(index, all[index]));
        }
    }
};

void gather(const ScoredBlock& block, const std::uint8_t* wanted, const Ahead& ahead,
            std::vector<ScoreKey>& keys) {
    alignas(64) std::uint32_t cell[block_rows];
    ScoreKey found[block_rows];
    const double* const score = block.score();
    const std::int32_t* const hit = block.hit();
    const std::size_t count = block.n();
    kernels().cells(score, count, cell);
    std::size_t n = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (i % rows_per_prefetch == 0) {
            prefetch(ahead, i / rows_per_prefetch, block_rows / rows_per_prefetch);
        }
        found[n] = ScoreKey::of(score[i], hit[i] != 0);
        n += wanted[cell[i]];
    }
    keys.insert(keys.end(), found, found + n);
}

std::vector<std::vector<ScoreKey>> gather(const ScoredRows& rows,
                                          const std::vector<std::uint8_t>& wanted, Poll poll) {
    const std::size_t workers = workers_for(rows.size(), chunks_per_worker * chunk_rows(rows));
    std::vector<std::vector<ScoreKey>> of_worker(workers);
    for_each_block(rows, workers, poll,
                   [&](std::size_t worker, std::size_t row, const ScoredBlock& block) {
                       gather(block, wanted.data(), after(rows, row, block), of_worker[worker]);
                   });
    return of_worker;
}

// The keys of the rows in some cells, cell by cell, each sorted.
class Gathered {
public:
    // `find` says which rows are in the cells that it is told are wanted.
    template <class Find>
    Gathered(const std::vector<std::uint32_t>& chosen, const std::vector<Cell>& all,
             const Find& find, Poll poll)
        : ends_(n_score_cells, 0) {
        std::vector<std::uint8_t> wanted(n_score_cells, 0);
        std::size_t n = 0;
        for (const std::uint32_t cell : chosen) {
            wanted[cell] = 1;
            ends_[cell] = n;  // moves to the end as rows are put in
            n += all[cell].n;
        }
        keys_.resize(n);
        const std::vector<std::vector<ScoreKey>> found = find(wanted);
        require_as_many(chosen, all, found);
        for (const auto& keys : found) {
            for (const ScoreKey key : keys) keys_[ends_[cell_of_score(key.score())]++] = key;
        }
        for_each_chunk(chosen.size(), 1, workers_for(n, 4096), poll,
                       [&](std::size_t, std::size_t k, std::size_t) {
                           const std::size_t end = ends_[chosen[k]];
                           ScoreKey* const last = keys_.data() + end;
                           std::sort(last - all[chosen[k]].n, last,
                                     [](ScoreKey a, ScoreKey b) { return a.bits < b.bits; });
                           return true;
                       });
    }

    void walk(Walk& walk, std::uint32_t cell, std::size_t n) const {
        const std::size_t end = ends_[cell];
        for (std::size_t i = end - n; i < end;) {
            const double score = keys_[i].score();
            std::uint64_t rows = 0, hits = 0;
            for (; i < end && keys_[i].score() == score; ++i) {
                ++rows;
                hits += keys_[i].hit() ? 1U : 0U;
            }
            walk.step(score, rows, hits);
        }
    }

private:
    // The rows are read a second time, and somebody may have written to them.
    static void require_as_many(const std::vector<std::uint32_t>& chosen,
                                const std::vector<Cell>& all,
                                const std::vector<std::vector<ScoreKey>>& found) {
        std::vector<std::uint64_t> counts(n_score_cells, 0);
        for (const auto& keys : found) {
            for (const ScoreKey key : keys) ++counts[cell_of_score(key.score())];
        }
        for (const std::uint32_t cell : chosen) {
            if (counts[cell] != all[cell].n) {
                throw InvalidInput("the arrays changed while they were being read");
            }
        }
    }

    std::vector<std::size_t> ends_;
    std::vector<ScoreKey> keys_;
};

// The tests, from the sums of all cells; false where cell_walk_tests is.
template <class Find>
bool tests_of_cells(const std::vector<Cell>& cells, const LowScores& low, const Find& find,
                    Poll poll, WalkTests& tests, std::vector<CellCount>* counts) {
    CellVariance variance(low.variance.total());
    for (std::uint32_t cell = cells::tail; cell < n_score_cells; ++cell) {
        variance.add(cell, cells[cell]);
    }
    tests.variance = variance.total();
    tests.weight.add(static_cast<Int128>(tests.n), 0);

    for (std::size_t k = 0; counts != nullptr && k < n_score_cells; ++k) {
        const Cell& cell = cells[k];
        const bool tie = k == 0 ? low.n == 0 : k >= cells::tail && is_one_tie(cell);
        if (cell.n != 0) counts->push_back({cell.n, cell.hits, tie});
    }
    Turns turns(cells);
    const Cell& zeros = cells[0];
    const std::uint64_t n_low = low.n == 0 ? 0 : zeros.n + cells[1].n;
    if (turns.n + n_low > tests.n / rows_per_gathered) return false;
    std::vector<std::uint32_t> chosen = turns.cells;
    if (n_low != 0) chosen.insert(chosen.begin(), {0, 1});
    const Gathered gathered(chosen, cells, find, poll);

    Walk first;
    if (n_low == 0) {
        first.step(0.0, zeros.n, zeros.hits);
    } else {
        gathered.walk(first, 0, zeros.n);
        gathered.walk(first, 1, cells[1].n);
    }
    tests.extremes = first.extremes();
    const ExactSum start = first.place();
    const auto after = [&](const WalkSum& sum) {
        ExactSum place = start;
        sum.add_to(place, -Walk::grid);
        return place;
    };
    tests.extremes.see(after(turns.highest));
    tests.extremes.see(after(turns.lowest));
    for (std::size_t k = 0; k < turns.cells.size(); ++k) {
        Walk inside;
        gathered.walk(inside, turns.cells[k], cells[turns.cells[k]].n);
        tests.extremes.see(after(turns.begins[k]), inside.extremes());
    }
    return true;
}

}  // namespace

bool cell_walk_tests(const ScoredRows& rows, Poll poll, WalkTests& tests,
                     std::vector<CellCount>* counts) {
    const std::size_t workers = workers_for(rows.size(), chunks_per_worker * chunk_rows(rows));
    std::vector<Cell> cells(n_score_cells);
    LowScores low;
    {
        std::vector<CellWorker> team(workers);
        for_each_block(rows, workers, poll,
                       [&](std::size_t worker, std::size_t row, const ScoredBlock& block) {
                           team[worker].add(block, after(rows, row, block));
                       });
        for (CellWorker& worker : team) worker.finish_into(cells, low, tests);
    }
    const auto find = [&](const auto& wanted) { return gather(rows, wanted, poll); };
    return tests_of_cells(cells, low, find, poll, tests, counts);
}

bool cell_walk_tests(const BucketedScores& buckets, std::size_t workers, Poll poll,
                     WalkTests& tests, std::vector<CellCount>* counts, ScorePairs& pairs) {
    std::vector<Cell> cells(n_score_cells);
    LowScores low;
    {
        std::vector<CellWorker> team(workers);
        pairs = buckets.count_pairs(poll, [&](std::size_t worker, auto misses, auto hits) {
            team[worker].add(misses, false);
            team[worker].add(hits, true);
        });
        for (CellWorker& worker : team) worker.finish_into(cells, low, tests);
    }
    const auto find = [&](const auto& wanted) { return buckets.in_cells(wanted, poll); };
    return tests_of_cells(cells, low, find, poll, tests, counts);
}

}  // namespace calibrant
