#include "scorecard_bootstrap.hpp"

#include <algorithm>
#include <cmath>

#include "calibrant/double_double.hpp"
#include "calibrant/elementary.hpp"
#include "poisson_bootstrap.hpp"

namespace calibrant {
namespace {

// Of larger weight, the noise is lost in the rounding of the value.
constexpr double most_weight = 0x1p900;

// Cells that a thread resamples before it looks for Ctrl-C.
constexpr std::size_t cells_at_once = 4096;

// A bin in terms of weights: hits, all rows, and the sum of scores.
struct Share {
    double hits, all, scores;
};

BinnedErrors errors_of(const std::vector<Share>& bins) {
    double hits = 0.0;
    double all = 0.0;
    for (const Share& bin : bins) {
        hits += bin.hits;
        all += bin.all;
    }
    BinnedErrors errors;
    for (const Share& bin : bins) {
        if (bin.all == 0.0) continue;
        const double gap = std::fabs(bin.hits - bin.scores) / bin.all;
        const double distance = bin.hits / bin.all - hits / all;
        const double share = bin.all / all;
        errors.ece += share * gap;
        errors.mce = std::max(errors.mce, gap);
        errors.rel += share * (gap * gap);
        errors.res += share * (distance * distance);
    }
    return errors;
}

// What a replicate needs to know of a cell: its weight, the probability that it has none, and
// mean and variance of its scores.
struct CellLaw {
    std::size_t index;
    double weight, none, mean, variance;
};

std::vector<CellLaw> laws_of_cells(const std::vector<Scorecard::Cell>& cells) {
    std::vector<CellLaw> result;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const Scorecard::Cell& cell = cells[i];
        if (cell.weight.is_zero()) continue;
        const double score = mean(cell.scores, cell.weight);
        const double gap = i % 2 == 0 ? score : 1.0 - score;
        const double variance = mean(cell.squares, cell.weight) - gap * gap;
        const double weight = cell.weight.to_double();
        result.push_back({i, weight, exp(-weight), score, std::max(variance, 0.0)});
    }
    return result;
}

BinnedErrors resampled_errors(std::size_t replicate, const std::vector<CellLaw>& cells) {
    std::vector<Share> bins;
    std::size_t last_bin = most_bins;
    for (const CellLaw& cell : cells) {
        if (cell.index / 2 != last_bin) bins.push_back({0.0, 0.0, 0.0});
        last_bin = cell.index / 2;
        RandomStream random(replicate, cell.index);
        const double weight = random.poisson(cell.weight, cell.none);
        const double noise = std::sqrt(weight * cell.variance) * random.normal();
        Share& bin = bins.back();
        bin.hits += cell.index % 2 == 0 ? 0.0 : weight;
        bin.all += weight;
        bin.scores += std::clamp(weight * cell.mean + noise, 0.0, weight);
    }
    return errors_of(bins);
}

// The number of hits of a bin if its scores are right: the sum of coins, each with its score for
// probability. A Poisson number moved by a whole number has its mean and, nearly, its variance.
struct HitsLaw {
    std::size_t bin;
    double all, scores;
    double moved, mean, none;  // of the Poisson number, and its probability of 0
};

std::vector<HitsLaw> laws_of_hits(const std::vector<Scorecard::Cell>& cells) {
    std::vector<HitsLaw> result;
    for (std::size_t k = 0; 2 * k < cells.size(); ++k) {
        const Scorecard::Cell& misses = cells[2 * k];
        const Scorecard::Cell& hits = cells[2 * k + 1];
        ExactSum all = misses.weight, scores = misses.scores;
        all.merge(hits.weight);
        scores.merge(hits.scores);
        if (all.is_zero()) continue;
        ExactSum variance = misses.scores;  // s (1 - s) is s - s^2, and (1 - s) - (1 - s)^2
        variance.subtract(misses.squares);
        variance.merge(hits.weight);
        variance.subtract(hits.scores);
        variance.subtract(hits.squares);
        const double of_scores = scores.to_double();
        const double moved = std::floor(std::max(of_scores - variance.to_double(), 0.0));
        const double rest = of_scores - moved;
        result.push_back({k, all.to_double(), of_scores, moved, rest, exp(-rest)});
    }
    return result;
}

BinnedErrors calibrated_errors(std::size_t replicate, const std::vector<HitsLaw>& laws) {
    std::vector<Share> bins;
    for (const HitsLaw& law : laws) {
        RandomStream random(replicate, 2 * most_bins + law.bin);  // no cell has this index
        const double hits = law.moved + random.poisson(law.mean, law.none);
        bins.push_back({std::min(hits, law.all), law.all, law.scores});
    }
    return errors_of(bins);
}

template <class Law, class Errors>
std::vector<BinnedErrors> replicates(const std::vector<Law>& laws, const Errors& errors,
                                     Poll poll) {
    std::vector<BinnedErrors> result(Scorecard::n_replicates);
    const std::size_t chunk = cells_at_once / std::min(laws.size(), cells_at_once);
    const std::size_t workers = workers_for(result.size(), 4 * chunk);
    (void)for_each_chunk(result.size(), chunk, workers, poll,
                         [&](std::size_t, std::size_t begin, std::size_t end) {
                             for (std::size_t r = begin; r < end; ++r) result[r] = errors(r, laws);
                             return true;
                         });
    return result;
}

std::vector<double> sorted(const std::vector<BinnedErrors>& errors, double BinnedErrors::* number) {
    std::vector<double> values;
    values.reserve(errors.size());
    for (const BinnedErrors& of_replicate : errors) values.push_back(of_replicate.*number);
    std::sort(values.begin(), values.end());
    return values;
}

double quantile(const std::vector<double>& values, double level) {
    const auto last = static_cast<double>(values.size() - 1);
    const double rank = level * static_cast<double>(values.size() + 1) - 1.0;
    const double inside = std::clamp(rank, 0.0, last);
    const auto below = static_cast<std::size_t>(inside);
    const auto above = std::min(below + 1, values.size() - 1);
    const double part = inside - static_cast<double>(below);
    return values[below] + part * (values[above] - values[below]);
}

}  // namespace

BinnedBootstrap::BinnedBootstrap(const std::vector<Scorecard::Cell>& cells, double weight,
                                 Poll poll) {
    if (weight >= most_weight) return;
    resampled_ = replicates(laws_of_cells(cells), resampled_errors, poll);
    calibrated_ = replicates(laws_of_hits(cells), calibrated_errors, poll);
}

Estimate BinnedBootstrap::interval(double value, double BinnedErrors::* number,
                                   double confidence_level) const {
    if (resampled_.empty()) return {value, value, value, ""};
    const std::vector<double> values = sorted(resampled_, number);
    const double tail = 0.5 * (1.0 - confidence_level);
    return {value, std::clamp(2.0 * value - quantile(values, 1.0 - tail), 0.0, 1.0),
            std::clamp(2.0 * value - quantile(values, tail), 0.0, 1.0), ""};
}

Estimate BinnedBootstrap::interval_of_error(double value, double BinnedErrors::* number,
                                            double confidence_level) const {
    Estimate result = interval(value, number, confidence_level);
    if (calibrated_.empty()) return result;
    const std::vector<double> values = sorted(calibrated_, number);
    const auto at_least = values.end() - std::lower_bound(values.begin(), values.end(), value);
    const double chance =
        static_cast<double>(at_least + 1) / static_cast<double>(values.size() + 1);
    if (chance > 1.0 - confidence_level) result.low = 0.0;
    return result;
}

}  // namespace calibrant
