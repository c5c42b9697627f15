#include "score_table/score_walk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"
#include "kernels/score_cells.hpp"
#include "rows/scored_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {
namespace {

using WeightedKey = SortedScores::WeightedKey;

ExactSum scaled(const ExactSum& sum, double factor) {
    ExactSum by;
    by.add(factor);
    return sum * by;
}

// The sum of w s (1 - s) over a cell is at least that of the chord from its least to its greatest
// score, and at most that of the tangent at m: s (1 - s) <= s - 2 m s + m^2.
ExactSum under_chord(const ScoreTable::Sums& sums, double least, double greatest) {
    ExactSum result = difference(sums.scores, scaled(sums.scores, least));
    result.subtract(scaled(sums.scores, greatest));
    result.merge(scaled(scaled(sums.weight, least), greatest));
    return result;
}

ExactSum under_tangent(const ScoreTable::Sums& sums, double m) {
    ExactSum result = difference(sums.scores, scaled(sums.scores, 2.0 * m));
    result.merge(scaled(scaled(sums.weight, m), m));
    return result;
}

// The most that the variance of a cell may be.
ExactSum most_variance(const ScoreTable::Cell& cell, const ScoreTable::Sums& sums) {
    const bool tie = cell.least == cell.greatest;
    return under_tangent(sums, tie ? cell.least : mean(sums.scores, sums.weight));
}

// As SortedScores chooses it.
WeightUnit unit_of(const ScoreTable& table) {
    const ScoreTable::Weights& weights = table.weights();
    if (weights.n == 0) return WeightUnit(0);
    const auto all = table.filled();
    const bool ones = std::any_of(all.begin(), all.end(),
                                  [](const ScoreTable::Cell* cell) { return cell->ones != 0; });
    const auto lowest_bit =
        static_cast<int>(ones ? std::min<std::int64_t>(weights.lowest_bit, 0) : weights.lowest_bit);
    return WeightUnit::for_weights(ones ? std::max(weights.largest, 1.0) : weights.largest,
                                   lowest_bit);
}

bool less(const ExactSum& a, const ExactSum& b) { return difference(b, a).value().high > 0.0; }

}  // namespace

ScoreWalk::ScoreWalk(const ScoreTable& table)
    : n_(table.count()), omitted_(table.omitted()), unit_(unit_of(table)) {
    struct Step {
        const ScoreTable::Cell* cell;
        ExactSum begin, up, down;  // before the cell, and how far it may take the walk
    };
    std::vector<Step> steps;
    ExactSum place;
    for (const ScoreTable::Cell* cell : table.filled()) {
        if (cell->n == 0) continue;
        ScoreTable::Sums sums;
        table.add_to(sums, *cell);
        weight_.merge(sums.weight);
        const bool tie = cell->least == cell->greatest;
        least_variance_.merge(under_chord(sums, cell->least, cell->greatest));
        greatest_variance_.merge(most_variance(*cell, sums));
        const ExactSum begin = place;
        place.merge(sums.hits);
        place.subtract(sums.scores);
        edges_.see(place);
        if (tie) continue;
        const ExactSum rise = difference(sums.hits, sums.hit_scores);
        ExactSum up = begin;
        up.merge(rise);
        steps.push_back({cell, begin, std::move(up), difference(place, rise)});
    }
    WalkTests counted;
    counted.weight = weight_;
    counted.n = n_;
    counted.require_weight();
    reach_ = edges_;
    for (Step& step : steps) {
        if (!less(edges_.highest, step.up) && !less(step.down, edges_.lowest)) continue;
        reach_.see(step.up);
        reach_.see(step.down);
        turns_.push_back({step.cell->cell, step.cell->n, step.cell->zeros, std::move(step.begin)});
    }
}

Bounds ScoreWalk::bounds(const ExactSum& low, const ExactSum& high) const {
    const double value = in_sigmas(low, greatest_variance_);
    const bool certain = !less(low, high) && !less(least_variance_, greatest_variance_);
    if (certain) return {value, value, value};
    const double most = in_sigmas(high, least_variance_);
    const double infinity = std::numeric_limits<double>::infinity();
    return {value, std::max(std::nextafter(value, 0.0), 0.0), std::nextafter(most, infinity)};
}

// The laws are good to 1e-15, and so their bounds are widened by more.
TestBounds ScoreWalk::with_pvalues(const Bounds& x, TestResult (*result)(double)) {
    const double slack = x.low == x.high ? 0.0 : 0x1p-48;
    const TestResult at = result(x.value), least = result(x.high), most = result(x.low);
    return {x,
            {at.pvalue, least.pvalue * (1.0 - slack), std::min(1.0, most.pvalue * (1.0 + slack))},
            {at.log_pvalue, least.log_pvalue * (1.0 + slack), most.log_pvalue * (1.0 - slack)}};
}

TestBounds ScoreWalk::ks_test() const { return with_pvalues(ks(), ks_result); }
TestBounds ScoreWalk::kuiper_test() const { return with_pvalues(kuiper(), kuiper_result); }

Bounds ScoreWalk::ks() const { return bounds(largest_distance(edges_), largest_distance(reach_)); }
Bounds ScoreWalk::kuiper() const { return bounds(range(edges_), range(reach_)); }

Differences cumulative_differences(const ScoreTable& table) {
    std::vector<ScoreTable::Sums> up_to;  // the end of each cell
    Differences result;
    WalkTests tests;
    for (auto* column : {&result.fractions, &result.scores, &result.values}) column->push_back(0.0);
    for (const ScoreTable::Cell* cell : table.filled()) {
        if (cell->n == 0) continue;
        ScoreTable::Sums sums;
        table.add_to(sums, *cell);
        tests.variance.merge(most_variance(*cell, sums));
        if (!up_to.empty()) sums.merge(up_to.back());
        up_to.push_back(std::move(sums));
        result.scores.push_back(cell->greatest);
    }
    result.n = tests.n = table.count();
    result.omitted = table.omitted();
    if (!up_to.empty()) tests.weight = up_to.back().weight;
    tests.require_weight();
    result.sigma = tests.sigma();
    for (const ScoreTable::Sums& sums : up_to) {
        result.fractions.push_back(mean(sums.weight, tests.weight));
        result.values.push_back(mean(difference(sums.hits, sums.scores), tests.weight));
    }
    return result;
}

std::uint64_t ScoreWalk::rows_in_turns() const {
    std::uint64_t n = 0;
    for (const Turn& turn : turns_) n += turn.n;
    return n;
}

WalkRefiner::WalkRefiner(const ScoreTable& table, std::uint64_t most_rows)
    : walk_(table), wanted_(n_score_cells, 0) {
    const std::uint64_t needed = walk_.rows_in_turns();
    if (needed > most_rows) {
        throw InvalidInput("refining needs " + std::to_string(needed) +
                           " rows in memory, more than max_rows=" + std::to_string(most_rows));
    }
    for (const ScoreWalk::Turn& turn : walk_.turns()) wanted_[turn.cell] = 1;
}

WalkRefiner::Batch WalkRefiner::read(const ScoredRows& rows, Poll poll) const {
    const bool weighted = rows.events.sample_weight != nullptr;
    const std::size_t workers = workers_for(rows.size(), chunks_per_worker * chunk_rows(rows));
    std::vector<Batch> of_worker(workers);
    for_each_block(
        rows, workers, poll, [&](std::size_t worker, std::size_t, const ScoredBlock& block) {
            Batch& batch = of_worker[worker];
            const double* const weights = weighted ? block.weight() : nullptr;
            batch.n += block.n();
            batch.omitted += block.omitted();
            batch.variance.add(block.score(), weights, block.n());
            alignas(64) std::uint32_t cell[block_rows];
            kernels().cells(block.score(), block.n(), cell);
            for (std::size_t i = 0; i < block.n(); ++i) {
                const double weight = weighted ? weights[i] : 1.0;
                if (wanted_[cell[i]] == 0 || weight == 0.0) continue;
                batch.rows.push_back({ScoreKey::of(block.score()[i], block.hit()[i] != 0), weight});
            }
        });
    Batch all = std::move(of_worker[0]);
    for (std::size_t i = 1; i < workers; ++i) {
        const Batch& part = of_worker[i];
        all.rows.insert(all.rows.end(), part.rows.begin(), part.rows.end());
        all.variance.merge(part.variance);
        all.n += part.n;
        all.omitted += part.omitted;
    }
    return all;
}

void WalkRefiner::add(Batch&& batch) {
    const std::uint64_t n = checked_add(seen_.n, batch.n);
    if (n > walk_.n_) {
        throw InvalidInput("refining needs the rows of the table, which are " +
                           std::to_string(walk_.n_) + ", got " + std::to_string(n));
    }
    if (seen_.rows.size() + batch.rows.size() > walk_.rows_in_turns()) {
        throw InvalidInput("refining needs the rows of the table, got others");
    }
    ScoreVariance variance = seen_.variance;
    variance.merge(batch.variance);
    seen_.rows.insert(seen_.rows.end(), batch.rows.begin(), batch.rows.end());
    seen_.variance = std::move(variance);
    seen_.n = n;
    seen_.omitted += batch.omitted;
}

bool WalkRefiner::same_variance(const ExactSum& variance) const {
    // ScoreVariance leaves out squares, of less than this share.
    ExactSum most = walk_.greatest_variance_;
    most.merge(scaled(most, 0x1p-300));
    return !less(variance, walk_.least_variance_) && !less(most, variance);
}

WalkTests WalkRefiner::tests() const {
    if (seen_.n != walk_.n_) {
        throw InvalidInput("refining needs all rows of the table, which are " +
                           std::to_string(walk_.n_) + ", got " + std::to_string(seen_.n));
    }
    WalkTests tests{walk_.edges_, seen_.variance.total(), walk_.weight_, seen_.n, seen_.omitted};
    std::vector<WeightedKey> rows = seen_.rows;
    std::sort(rows.begin(), rows.end(),
              [](const WeightedKey& a, const WeightedKey& b) { return a.key.bits < b.key.bits; });
    std::size_t i = 0;
    bool same = same_variance(tests.variance);
    for (const ScoreWalk::Turn& turn : walk_.turns()) {
        Walk inside(walk_.unit_.exponent());
        const std::size_t begin = i;
        while (i < rows.size() && cell_of_score(rows[i].key.score()) == turn.cell) {
            const double score = rows[i].key.score();
            UInt128 weight = 0, hits = 0;
            for (; i < rows.size() && rows[i].key.score() == score; ++i) {
                const UInt128 units = walk_.unit_.count(rows[i].weight);
                weight += units;
                hits += rows[i].key.hit() ? units : 0;
            }
            inside.step(score, weight, hits);
        }
        same = same && i - begin == turn.n;
        tests.extremes.see(turn.begin, inside.extremes());
    }
    if (!same) throw InvalidInput("refining needs the rows of the table, got others");
    return tests;
}

}  // namespace calibrant
