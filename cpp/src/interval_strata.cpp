#include "calibrant/intervals.hpp"
#include "calibrant/sorted_scores.hpp"
#include "calibrant/wide_product.hpp"

namespace calibrant {

std::vector<std::vector<Stratum>> coverage_by_group(const IntervalRows& rows, std::size_t n_groups,
                                                    Poll poll) {
    const std::size_t workers = workers_of(rows);
    const std::size_t levels = rows.n_levels();
    std::vector<std::vector<StratumTally>> team(
        workers, std::vector<StratumTally>(levels, StratumTally(n_groups)));
    for_each_block(rows, workers, 0, poll,
                   [&](std::size_t worker, std::size_t, const IntervalBlock& block) {
                       for (std::size_t level = 0; level < levels; ++level) {
                           const double* const excess = block.excess(level);
                           const double* const width = block.width(level);
                           StratumTally& tally = team[worker][level];
                           for (std::size_t i = 0; i < block.n(); ++i) {
                               const auto group = static_cast<std::size_t>(block.group()[i]);
                               const bool covered = excess[i] == 0.0;
                               if (rows.sample_weight != nullptr) {
                                   tally.add(group, width[i], covered, block.weight()[i]);
                               } else {
                                   tally.add(group, width[i], covered);
                               }
                           }
                       }
                   });
    std::vector<std::vector<Stratum>> result(levels, std::vector<Stratum>(n_groups));
    for (auto& of_worker : team) {
        for (std::size_t level = 0; level < levels; ++level) {
            of_worker[level].finish_into(result[level]);
        }
    }
    return result;
}

namespace {

// The widths of one level and whether they cover, sorted.
SortedScores sorted_widths(const IntervalRows& rows, std::size_t level, Poll poll) {
    IntervalRows of_level = rows;
    of_level.lower = {rows.lower[level]};
    of_level.upper = {rows.upper[level]};
    const std::size_t workers = workers_of(of_level);
    const bool weighted = rows.sample_weight != nullptr;
    ScoreKeys keys(rows.size(), weighted, workers);
    for_each_block(of_level, workers, 0, poll,
                   [&](std::size_t worker, std::size_t row, const IntervalBlock& block) {
                       ScoreKeys::Found& found = keys.found(worker);
                       for (std::size_t i = 0; i < block.n(); ++i) {
                           const bool covered = block.excess(0)[i] == 0.0;
                           const auto key = ScoreKey::of(block.width(0)[i], covered);
                           keys.put(found, row + i, key, weighted ? block.weight()[i] : 1.0);
                       }
                       keys.leave_out(row + block.n(), block.omitted());
                   });
    return {std::move(keys), poll};
}

}  // namespace

std::vector<Stratum> coverage_by_width(const IntervalRows& rows, std::size_t level,
                                       std::size_t n_groups, Poll poll) {
    const SortedScores sorted = sorted_widths(rows, level, poll);
    UInt128 total = 0;
    sorted.for_each_score(poll, [&](double, UInt128 weight, UInt128) { total += weight; });

    std::vector<Stratum> strata;
    UInt128 below = 0, weight_of_group = 0, covered_of_group = 0;
    std::size_t k = 0;  // groups that have ended
    const auto finish = [&] {
        if (weight_of_group == 0) return;
        strata.back().weight.add(static_cast<Int128>(weight_of_group), sorted.unit_exponent());
        strata.back().covered.add(static_cast<Int128>(covered_of_group), sorted.unit_exponent());
        weight_of_group = covered_of_group = 0;
    };
    sorted.for_each_score(poll, [&](double width, UInt128 weight, UInt128 covered) {
        // below / total >= (k + 1) / n_groups: another group ends before this width.
        bool begins = below == 0;
        while (k + 1 < n_groups && !product_less(below, n_groups, k + 1, total)) {
            ++k;
            begins = true;
        }
        if (begins) {
            finish();
            strata.emplace_back();
        }
        strata.back().see(width);
        below += weight;
        weight_of_group += weight;
        covered_of_group += covered;
    });
    finish();
    return strata;
}

}  // namespace calibrant
