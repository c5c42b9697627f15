#include "calibrant/cumulative/cumulative.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"
#include "numeric/quotients.hpp"
#include "ordering/sorted_scores.hpp"
#include "rows/scored_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {
namespace {

// Fewer are sorted sooner than cells are cleared and looked through.
constexpr std::size_t least_in_cells = std::size_t{1} << 16;
// More could overflow a cell's sum of squares.
constexpr std::size_t most_in_cells = std::size_t{1} << 35;

void walk_sorted(const SortedScores& sorted, Poll poll, WalkTests& tests) {
    Walk walk(sorted.unit_exponent());
    UInt128 weight = 0;
    sorted.for_each_score(poll, [&](double score, UInt128 units, UInt128 hits) {
        walk.step(score, units, hits);
        weight += units;
    });
    tests.extremes = walk.extremes();
    // Halves, as the sum may need all 128 bits.
    tests.weight.add(static_cast<Int128>(weight >> 1), sorted.unit_exponent() + 1);
    tests.weight.add(static_cast<Int128>(weight & 1), sorted.unit_exponent());
    tests.n = sorted.count();
    tests.omitted = sorted.omitted();
    tests.require_weight();
}

// Divides by the weight of all rows, and rounds once.
class Shares {
public:
    Shares(UInt128 total, Differences& result)
        : weight_(wide(total)), few_(total >> 40 == 0), result_(result) {
        std::fill_n(weights_, block_rows, weight_.high);
    }

    void add(UInt128 so_far, DoubleDouble place) {
        if (!few_) {
            result_.fractions.push_back((wide(so_far) / weight_).high);
            result_.values.push_back((place / weight_).high);
            return;
        }
        // Whole numbers of so few bits have no quotient close to half way between two doubles.
        result_.fractions.push_back(static_cast<double>(static_cast<std::uint64_t>(so_far)) /
                                    weight_.high);
        high_[n_] = place.high;
        low_[n_] = place.low;
        if (++n_ == block_rows) finish();
    }

    void finish() {
        alignas(64) double high[block_rows], low[block_rows];
        const bool good = quotients(high_, low_, weights_, n_, high, low);
        for (std::size_t i = 0; i < n_; ++i) {
            const DoubleDouble place{high_[i], low_[i]};
            result_.values.push_back(good ? high[i] + low[i] : (place / weight_).high);
        }
        n_ = 0;
    }

private:
    DoubleDouble weight_;
    bool few_;
    Differences& result_;
    std::size_t n_ = 0;
    alignas(64) double high_[block_rows], low_[block_rows], weights_[block_rows];
};

}  // namespace

ExactSum score_variance(const ScoredRows& rows, Poll poll) {
    const std::size_t workers = workers_for(rows.size(), chunks_per_worker * chunk_rows(rows));
    const bool weighted = rows.events.sample_weight != nullptr;
    std::vector<ScoreVariance> of_worker(workers);
    for_each_block(
        rows, workers, poll, [&](std::size_t worker, std::size_t, const ScoredBlock& block) {
            of_worker[worker].add(block.score(), weighted ? block.weight() : nullptr, block.n());
        });
    ScoreVariance total;
    for (const ScoreVariance& part : of_worker) total.merge(part);
    return total.total();
}

WalkTests sorted_walk_tests(const ScoredRows& rows, Poll poll) {
    WalkTests tests;
    walk_sorted(SortedScores(rows, poll), poll, tests);
    tests.variance = score_variance(rows, poll);
    return tests;
}

void walk_sorted_rows(const ScoredRows& rows, Poll poll, WalkTests& tests) {
    tests.weight = {};
    walk_sorted(SortedScores(rows, poll), poll, tests);
}

bool worth_cells(const ScoredRows& rows) {
    return rows.events.sample_weight == nullptr && rows.size() >= least_in_cells &&
           rows.size() <= most_in_cells;
}

WalkTests walk_tests(const ScoredRows& rows, Poll poll) {
    if (!worth_cells(rows)) return sorted_walk_tests(rows, poll);
    WalkTests tests;
    if (!cell_walk_tests(rows, poll, tests)) walk_sorted_rows(rows, poll, tests);
    tests.require_weight();
    return tests;
}

Differences cumulative_differences(const ScoredRows& rows, bool by_label, Poll poll) {
    const SortedScores sorted(rows, poll);
    WalkTests tests;
    UInt128 total = 0, all_hits = 0;
    std::size_t n_scores = 0;
    sorted.for_each_score(poll, [&](double, UInt128 units, UInt128 hits) {
        total += units;
        all_hits += hits;
        ++n_scores;
    });
    Differences result;
    result.n = tests.n = sorted.count();
    result.omitted = sorted.omitted();
    tests.weight.add(static_cast<Int128>(total >> 1), sorted.unit_exponent() + 1);
    tests.weight.add(static_cast<Int128>(total & 1), sorted.unit_exponent());
    tests.require_weight();
    tests.variance = score_variance(rows, poll);
    result.sigma = tests.sigma();
    for (auto* column : {&result.fractions, &result.scores, &result.values}) {
        column->reserve(n_scores + 1);
        column->push_back(0.0);
    }
    const UInt128 misses = total - all_hits;
    Walk walk(sorted.unit_exponent());
    UInt128 so_far = 0;
    Shares shares(total, result);
    sorted.for_each_score(poll, [&](double score, UInt128 units, UInt128 hits) {
        const auto beyond = [&](UInt128 x) { return x > misses ? x - misses : UInt128{0}; };
        const UInt128 counted = by_label ? beyond(so_far + units) - beyond(so_far) : hits;
        walk.step(score, units, counted);
        so_far += units;
        result.scores.push_back(score);
        shares.add(so_far, walk.place_in_units());
    });
    shares.finish();
    return result;
}

}  // namespace calibrant
