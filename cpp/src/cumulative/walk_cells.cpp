#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "calibrant/cumulative/cumulative.hpp"
#include "cumulative/cell_parts.hpp"
#include "cumulative/cell_sums.hpp"
#include "cumulative/walk_turns.hpp"
#include "kernels/kernels.hpp"
#include "kernels/score_cells.hpp"
#include "ordering/concordance.hpp"
#include "ordering/grouped_scores.hpp"
#include "rows/event_blocks.hpp"
#include "rows/scored_blocks.hpp"

namespace calibrant {
namespace {

ShownRows shown(const ScoredRows& rows, std::size_t row, const ScoredBlock& block) {
    const std::size_t next = row + block.events() + block.omitted();
    return {block.score(), block.hit(), block.n(), next_block(rows.events, next)};
}

// Rows with the same outcome; the scores as bits.
template <class See>
void show_bits(std::span<const std::uint64_t> scores, bool hit, const See& see) {
    alignas(64) double score[block_rows];
    alignas(64) std::int32_t hits[block_rows];
    std::fill_n(hits, std::min(block_rows, scores.size()), hit ? 1 : 0);
    for (std::size_t begin = 0; begin < scores.size(); begin += block_rows) {
        const std::size_t n = std::min(block_rows, scores.size() - begin);
        std::memcpy(score, &scores[begin], n * sizeof(double));
        see(ShownRows{score, hits, n, {}});
    }
}

// The walk's way from the sums of all cells to its extremes.
class CellWalk {
public:
    CellWalk(const CellTotals& totals, const WalkLimits& limits)
        : totals_(totals), limits_(limits), ties_(n_score_cells, 0) {
        for (std::uint32_t cell = cells::tail; cell < n_score_cells; ++cell) {
            ties_[cell] = totals.cells[cell].is_one_tie() ? 1 : 0;
        }
        ties_[0] = totals.low.n == 0 ? 1 : 0;
    }

    [[nodiscard]] std::vector<CellCount> counts() const {
        std::vector<CellCount> result;
        result.reserve(std::min<std::uint64_t>(n_score_cells, totals_.n));
        for (std::size_t k = 0; k < n_score_cells; ++k) {
            const Cell& cell = totals_.cells[k];
            if (cell.n != 0) result.push_back({cell.n, cell.hits, ties_[k] != 0});
        }
        return result;
    }

    // False where cell_walk_tests is.
    [[nodiscard]] bool find_extremes(const Rereader& rows, Poll poll, Extremes& extremes) const {
        const std::uint64_t low = n_low();
        if (low > totals_.n / limits_.rows_per_sorted) return false;
        CellParts parts;
        std::vector<RowSums> sums(totals_.cells.begin(), totals_.cells.end());
        WalkTurns turns(parts, sums, ties_);
        if (turns.n + low > totals_.n / limits_.rows_per_gathered) {
            const CellSet cut = turns.cells();
            if (n_crowded(cut) + low > totals_.n / limits_.rows_per_sorted) return false;
            parts = CellParts(cut, totals_.cells,
                              std::max(limits_.rows_per_part, turns.n / limits_.most_parts));
            sums = sums_of_parts(parts, cut, totals_.cells, rows);
            turns = WalkTurns(parts, sums, ties_);
            if (turns.n + low > totals_.n / limits_.rows_per_sorted) return false;
        }
        extremes = extremes_of(parts, sums, turns, rows, poll);
        return true;
    }

private:
    // Of the two lowest cells, unless all scores there are 0.
    [[nodiscard]] std::uint64_t n_low() const {
        return totals_.low.n == 0 ? 0 : totals_.cells[0].n + totals_.cells[1].n;
    }

    [[nodiscard]] std::uint64_t n_crowded(const CellSet& chosen) const {
        std::uint64_t n = 0;
        for (std::size_t k = cells::tail; k < n_score_cells; ++k) {
            if (chosen[k] != 0 && totals_.cells[k].is_crowded()) n += totals_.cells[k].n;
        }
        return n;
    }

    [[nodiscard]] Extremes extremes_of(const CellParts& parts, const std::vector<RowSums>& sums,
                                       const WalkTurns& turns, const Rereader& rows,
                                       Poll poll) const {
        std::vector<std::size_t> chosen;
        if (n_low() != 0) chosen = {parts.first(0), parts.first(1)};
        for (const auto& turn : turns.turns) chosen.push_back(turn.part);

        Walk first;  // through the two lowest cells
        if (n_low() == 0) first.step(0.0, totals_.cells[0].n, totals_.cells[0].hits);
        std::vector<Walk> inside(turns.turns.size());
        std::vector<std::uint64_t> found(parts.size(), 0);
        std::size_t k = 0;
        sorted_rows_of(parts, chosen, rows, poll)
            .for_each_score(poll, [&](double score, UInt128 n, UInt128 hits) {
                const std::size_t part = parts.of(score);
                found[part] += static_cast<std::uint64_t>(n);
                if (part < parts.first(cells::tail)) {
                    first.step(score, n, hits);
                    return;
                }
                while (turns.turns[k].part < part) ++k;
                inside[k].step(score, n, hits);
            });
        for (const std::size_t part : chosen) {
            if (found[part] != sums[part].n) reject_changed_rows();
        }

        Extremes extremes = first.extremes();
        const ExactSum start = first.place();
        const auto after = [&](const WalkSum& sum) {
            ExactSum place = start;
            sum.add_to(place, -Walk::grid);
            return place;
        };
        extremes.see(after(turns.highest));
        extremes.see(after(turns.lowest));
        for (k = 0; k < inside.size(); ++k) {
            extremes.see(after(turns.turns[k].begin), inside[k].extremes());
        }
        return extremes;
    }

    const CellTotals& totals_;
    WalkLimits limits_;
    CellSet ties_;
};

bool tests_of_cells(const CellTotals& totals, const Rereader& rows, Poll poll,
                    const WalkLimits& limits, WalkTests& tests, std::vector<CellCount>* counts) {
    tests.n = totals.n;
    tests.omitted = totals.omitted;
    tests.variance = totals.variance();
    tests.weight.add(static_cast<Int128>(totals.n), 0);
    const CellWalk walk(totals, limits);
    if (counts != nullptr) *counts = walk.counts();
    return walk.find_extremes(rows, poll, tests.extremes);
}

}  // namespace

bool cell_walk_tests(const ScoredRows& rows, Poll poll, WalkTests& tests,
                     std::vector<CellCount>* counts, const WalkLimits& limits) {
    const std::size_t workers = workers_for(rows.size(), limits.rows_per_worker);
    CellTotals totals;
    {
        std::vector<CellWorker> team(workers);
        for_each_block(rows, workers, poll,
                       [&](std::size_t worker, std::size_t row, const ScoredBlock& block) {
                           team[worker].omit(block.omitted());
                           team[worker].add(shown(rows, row, block));
                       });
        for (const CellWorker& worker : team) worker.finish_into(totals);
    }
    const auto show = [&](const CellSet&, const SeeRows& see) {
        for_each_block(rows, workers, poll,
                       [&](std::size_t worker, std::size_t row, const ScoredBlock& block) {
                           see(worker, shown(rows, row, block));
                       });
    };
    return tests_of_cells(totals, {workers, show}, poll, limits, tests, counts);
}

bool cell_walk_tests(const BucketedScores& buckets, std::size_t workers, Poll poll,
                     WalkTests& tests, std::vector<CellCount>* counts, Concordance& pairs,
                     const WalkLimits& limits) {
    CellTotals totals;
    {
        std::vector<CellWorker> team(workers);
        pairs = buckets.count_concordant(poll, [&](std::size_t worker, auto misses, auto hits) {
            const auto see = [&](const ShownRows& rows) { team[worker].add(rows); };
            show_bits(misses, false, see);
            show_bits(hits, true, see);
        });
        for (const CellWorker& worker : team) worker.finish_into(totals);
    }
    const auto show = [&](const CellSet& wanted, const SeeRows& see) {
        buckets.for_each_page(wanted, poll, [&](std::size_t worker, auto scores, bool hit) {
            show_bits(scores, hit, [&](const ShownRows& rows) { see(worker, rows); });
        });
    };
    return tests_of_cells(totals, {workers, show}, poll, limits, tests, counts);
}

}  // namespace calibrant
