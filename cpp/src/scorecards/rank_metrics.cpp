#include "scorecards/rank_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "calibrant/cumulative/cumulative.hpp"
#include "calibrant/numeric/double_double.hpp"
#include "calibrant/roc/roc.hpp"
#include "kernels/kernels.hpp"
#include "numeric/frequency.hpp"
#include "ordering/concordance.hpp"
#include "ordering/grouped_scores.hpp"
#include "ordering/sorted_scores.hpp"
#include "roc/roc_parts.hpp"
#include "rows/workers.hpp"
#include "score_table/score_walk.hpp"

namespace calibrant {
namespace {

// Of the pairs that are not ties, the share in one cell up to which cells will do.
constexpr double most_undecided = 0x1p-10;

Bounds known(double value) { return {value, value, value}; }

// Rows that count as tied.
struct Step {
    double hits, misses;
};

DoubleDouble single(double x) { return {x, 0.0}; }

// Weights of the kinds, and DeLong's standard error of the area, of steps in ascending order of
// their scores.
void add_delong(const std::vector<Step>& steps, RankMetrics& result) {
    DoubleDouble hits, misses, won;
    for (const Step& step : steps) {
        won = won + single(step.hits) * (misses + single(0.5 * step.misses));
        hits = hits + single(step.hits);
        misses = misses + single(step.misses);
    }
    result.hits = hits.high;
    result.misses = misses.high;
    if (!(hits.high > 1.0 && misses.high > 1.0)) return;
    const DoubleDouble area = won / (hits * misses);
    if (std::isnan(area.high)) return;  // weights too large for doubles
    DeLong variance(hits, misses, area);
    for (const Step& step : steps) variance.add(single(step.hits), single(step.misses));
    const auto exact = [](DoubleDouble x) {
        ExactSum sum;
        sum.add(x.high);
        sum.add(x.low);
        return sum;
    };
    result.area_error = variance.standard_error(exact(hits), exact(misses));
}

// Of an area, if the scores of each kind are exponential.
double hanley_mcneil_variance(double area, double hits, double misses) {
    const double square = area * area;
    const double both_hits = area / (2.0 - area) - square;
    const double both_misses = 2.0 * square / (1.0 + area) - square;
    return (area * (1.0 - area) + (hits - 1.0) * both_hits + (misses - 1.0) * both_misses) / hits /
           misses;
}

// Everything but the variance from scores in ascending order.
class InOrder {
public:
    explicit InOrder(int unit_exponent) : unit_exponent_(unit_exponent), walk_(unit_exponent) {
        pairs_.unit_exponent = unit_exponent;
    }

    void add(double score, UInt128 weight, UInt128 hits) {
        const UInt128 misses = weight - hits;
        walk_.step(score, weight, hits);
        if (hits != 0) pairs_.add_pairs(hits, 2 * pairs_.misses + misses);
        pairs_.hits += hits;
        pairs_.misses += misses;
        steps_.push_back({rows(hits), rows(misses)});
    }

    [[nodiscard]] RankMetrics metrics(ExactSum variance) const {
        RankMetrics result;
        if (steps_.empty()) return result;
        WalkTests tests;
        tests.extremes = walk_.extremes();
        tests.variance = std::move(variance);
        result.ks = known(tests.ks());
        result.kuiper = known(tests.kuiper());
        result.area = known(pairs_.area());
        add_delong(steps_, result);
        return result;
    }

private:
    [[nodiscard]] double rows(UInt128 units) const {
        const double high = wide(units).high;
        return unit_exponent_ == 0 ? high : std::ldexp(high, unit_exponent_);
    }

    int unit_exponent_;
    Walk walk_;
    Concordance pairs_;
    std::vector<Step> steps_;
};

// Most scores are those of one row, and are added to the variance block by block.
class SingleScores {
public:
    void add(double score, ScoreVariance& variance) {
        score_[n_] = score;
        if (++n_ == block_rows) finish(variance);
    }
    void finish(ScoreVariance& variance) {
        if (n_ != 0) variance.add(score_, nullptr, n_);
        n_ = 0;
    }

private:
    std::size_t n_ = 0;
    alignas(64) double score_[block_rows];
};

RankMetrics sorted_rank_metrics(const ScoredRows& rows, Poll poll) {
    const SortedScores sorted(rows, poll);
    InOrder all(sorted.unit_exponent());
    UInt128 weight = 0;
    sorted.for_each_score(poll, [&](double score, UInt128 units, UInt128 hits) {
        all.add(score, units, hits);
        weight += units;
    });
    WalkTests counted;
    counted.weight.add(weight != 0 ? 1.0 : 0.0);
    counted.n = sorted.count();
    counted.require_weight();
    return all.metrics(score_variance(rows, poll));
}

void add_cell_error(const std::vector<CellCount>& cells, const Concordance& pairs,
                    RankMetrics& result) {
    result.hits = static_cast<double>(pairs.hits);
    result.misses = static_cast<double>(pairs.misses);
    std::vector<Step> steps;
    steps.reserve(cells.size());
    double undecided = 0.0;
    for (const CellCount& cell : cells) {
        const Step step{static_cast<double>(cell.hits), static_cast<double>(cell.n - cell.hits)};
        steps.push_back(step);
        if (!cell.tie) undecided += step.hits * step.misses;
    }
    const double all = static_cast<double>(pairs.hits) * static_cast<double>(pairs.misses);
    if (!(undecided > most_undecided * all)) add_delong(steps, result);
}

}  // namespace

Bounds RankMetrics::area_interval(double normal_quantile) const {
    constexpr double few = 30.0;  // of the rarer kind
    const double rarer = std::min(hits, misses);
    if (std::isnan(area_error) || !(rarer >= 2.0)) return {area.value, none, none};
    const double inside = (area.value * rarer + 0.5) / (rarer + 1.0);
    const double delong = area_error * area_error;
    const double more = hanley_mcneil_variance(inside, hits, misses) - delong;
    const double variance = delong + std::max(more, 0.0) * std::min(few / rarer, 1.0);
    const double rows = inside * (1.0 - inside) / variance;
    return {area.value, wilson(area.low, rows, normal_quantile).low,
            wilson(area.high, rows, normal_quantile).high};
}

RankMetrics rank_metrics(const ScoredRows& rows, Poll poll) {
    if (!worth_cells(rows)) return sorted_rank_metrics(rows, poll);
    WalkTests tests;
    std::vector<CellCount> cells;
    Concordance pairs;
    const std::size_t workers = workers_for(rows.size(), WalkLimits().rows_per_worker);
    bool walked = false;
    if (auto buckets = BucketedScores::worth_making(rows, workers)) {
        buckets->fill(rows, poll);
        walked = cell_walk_tests(*buckets, workers, poll, tests, &cells, pairs);
    } else {
        walked = cell_walk_tests(rows, poll, tests, &cells);
        pairs = count_concordant(rows, poll);
    }
    RankMetrics result;
    add_cell_error(cells, pairs, result);
    const bool crowded = std::isnan(result.area_error) && pairs.hits > 1 && pairs.misses > 1;
    if (crowded) return sorted_rank_metrics(rows, poll);
    if (!walked) walk_sorted_rows(rows, poll, tests);
    tests.require_weight();
    result.ks = known(tests.ks());
    result.kuiper = known(tests.kuiper());
    result.area = known(pairs.area());
    return result;
}

std::vector<RankMetrics> rank_metrics(const GroupedScores& scores, Poll poll) {
    std::vector<RankMetrics> result(scores.groups());
    for_each_chunk(scores.groups(), 1, workers_for(scores.population(), chunk_values), poll,
                   [&](std::size_t, std::size_t group, std::size_t) {
                       const int unit = scores.unit_exponent();
                       InOrder all(unit);
                       ScoreVariance variance;
                       SingleScores singles;
                       scores.for_each_score(group,
                                             [&](double score, const GroupedScores::Sums& sums) {
                                                 all.add(score, sums.weight, sums.hits);
                                                 if (unit == 0 && sums.weight == 1) {
                                                     singles.add(score, variance);
                                                 } else {
                                                     variance.add(score, sums.weight, unit);
                                                 }
                                             });
                       singles.finish(variance);
                       result[group] = all.metrics(variance.total());
                       return true;
                   });
    return result;
}

RankMetrics rank_metrics(const ScoreTable& table) {
    const ScoreWalk walk(table);
    RankMetrics result;
    result.ks = walk.ks();
    result.kuiper = walk.kuiper();
    std::vector<Step> steps;
    bool hits = false, misses = false;
    for (const ScoreTable::Cell* cell : table.filled()) {
        ScoreTable::Sums sums;
        table.add_to(sums, *cell);
        ExactSum of_misses = sums.weight;
        of_misses.subtract(sums.hits);
        steps.push_back({sums.hits.to_double(), of_misses.to_double()});
        hits = hits || !sums.hits.is_zero();
        misses = misses || !of_misses.is_zero();
    }
    if (hits && misses) {
        result.area = roc_auc(table);
        add_delong(steps, result);
    }
    return result;
}

}  // namespace calibrant
