#include "scorecards/scorecard_bootstrap.hpp"

#include <algorithm>
#include <cmath>

#include "calibrant/numeric/double_double.hpp"
#include "kernels/elementary.hpp"
#include "numeric/frequency.hpp"
#include "numeric/poisson_bootstrap.hpp"

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

// What a replicate needs to know of a bin: per kind its weight, and the probability of none.
struct BinLaw {
    std::size_t index;
    double score;
    double misses, no_misses, hits, no_hits;
};

// How far frequencies are moved to their anchors, in standard errors.
constexpr double standard_errors_moved = 1.0;

BinLaw law_near(double anchor, const BinnedIntervals::Bin& bin) {
    const double hits = bin.frequency * bin.rows;
    const double smooth = (hits + 1.0) / (bin.rows + 2.0);
    const double step = standard_errors_moved * std::sqrt(smooth * (1.0 - smooth) / bin.rows);
    const double moved = bin.frequency > anchor ? std::max(anchor, bin.frequency - step)
                                                : std::min(anchor, bin.frequency + step);
    const double moved_hits = moved * bin.rows;
    const double moved_misses = (1.0 - moved) * bin.rows;
    return {bin.index, bin.score, moved_misses, exp(-moved_misses), moved_hits, exp(-moved_hits)};
}

BinnedErrors without_noise(const std::vector<BinLaw>& laws) {
    std::vector<Share> bins;
    for (const BinLaw& law : laws) {
        const double all = law.misses + law.hits;
        bins.push_back({law.hits, all, all * law.score});
    }
    return errors_of(bins);
}

BinnedErrors resampled_errors(std::size_t replicate, const std::vector<BinLaw>& laws) {
    std::vector<Share> bins;
    for (const BinLaw& law : laws) {
        RandomStream of_misses(replicate, 2 * law.index), of_hits(replicate, 2 * law.index + 1);
        const double hits = of_hits.poisson(law.hits, law.no_hits);
        const double all = hits + of_misses.poisson(law.misses, law.no_misses);
        bins.push_back({hits, all, all * law.score});
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

std::vector<HitsLaw> laws_of_hits(const Scorecard& card) {
    std::vector<HitsLaw> result;
    for (std::size_t k = 0; k < card.n_bins(); ++k) {
        const Reliability::Bin& bin = card.reliability().table()[k];
        const Scorecard::OutcomeSums& of = card.outcomes()[k];
        if (bin.weight.is_zero()) continue;
        // s (1 - s) is s - s^2 of a miss, and (1 - s) - (1 - s)^2 of a hit.
        ExactSum variance = difference(bin.scores, of.miss_squares);
        variance.merge(bin.hits);
        variance.subtract(of.hit_squares);
        for (int i = 0; i < 2; ++i) variance.subtract(of.hit_scores);
        const double of_scores = bin.scores.to_double();
        const double moved = std::floor(std::max(of_scores - variance.to_double(), 0.0));
        const double rest = of_scores - moved;
        result.push_back({k, bin.weight.to_double(), of_scores, moved, rest, exp(-rest)});
    }
    return result;
}

BinnedErrors calibrated_errors(std::size_t replicate, const std::vector<HitsLaw>& laws) {
    std::vector<Share> bins;
    for (const HitsLaw& law : laws) {
        RandomStream random(replicate, 2 * most_bins + law.bin);  // no bin above has this index
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

std::vector<BinnedErrors> excess(const std::vector<BinLaw>& laws, Poll poll) {
    std::vector<BinnedErrors> result = replicates(laws, resampled_errors, poll);
    const BinnedErrors exact = without_noise(laws);
    for (BinnedErrors& errors : result) {
        errors.ece -= exact.ece;
        errors.rel -= exact.rel;
        errors.res -= exact.res;
    }
    return result;
}

double at_score(const BinnedIntervals::Bin& bin, double) { return bin.score; }
double at_frequency(const BinnedIntervals::Bin&, double frequency) { return frequency; }
double itself(double distance) { return distance; }
double square(double distance) { return distance * distance; }

// What one row adds in a bin of this mean score that had none, on average.
double unseen_square(double score, double) { return score * (1.0 - score); }
double unseen_distance(double score, double) { return std::sqrt(score * (1.0 - score)); }
double unseen_resolution(double score, double frequency) {
    return score * (1.0 - score) + square(score - frequency);
}

// Unless a bin that holds this share of the rows would have been seen, with a probability of
// 1 - tail, bins may be without rows by chance.
constexpr double least_share = 0x1p-11;

}  // namespace

BinnedIntervals::BinnedIntervals(const Scorecard& card, const BinnedErrors& found,
                                 IntervalLevel level, Poll poll)
    : found_(found), level_(level), n_bins_(card.n_bins()) {
    const ExactSum& weight = card.weight();
    ExactSum hits;
    for (const Reliability::Bin& bin : card.reliability().table()) hits.merge(bin.hits);
    frequency_ = mean(hits, weight);
    rows_ = std::min(weight.to_double(), most_weight);
    for (std::size_t k = 0; k < n_bins_; ++k) {
        const Reliability::Bin& sums = card.reliability().table()[k];
        if (sums.weight.is_zero()) continue;
        Bin bin{};
        bin.index = k;
        bin.hits = sums.hits;
        bin.weight = sums.weight;
        bin.share = mean(bin.weight, weight);
        bin.rows = bin.share * rows_;
        bin.frequency = mean(bin.hits, bin.weight);
        bin.score = mean(sums.scores, bin.weight);
        const Frequency limits = corrected_wilson(bin.frequency, bin.rows, level.normal_quantile);
        bin.low = limits.low;
        bin.high = limits.high;
        bins_.push_back(bin);
    }
    if (rows_ >= most_weight) return;
    std::vector<BinLaw> by_score, by_frequency;
    for (const Bin& bin : bins_) {
        by_score.push_back(law_near(bin.score, bin));
        by_frequency.push_back(law_near(frequency_, bin));
    }
    near_scores_ = excess(by_score, poll);
    near_frequency_ = excess(by_frequency, poll);
    calibrated_ = replicates(laws_of_hits(card), calibrated_errors, poll);
}

double BinnedIntervals::upper_end(double value, double (*anchor)(const Bin&, double),
                                  double (*of_distance)(double),
                                  double (*unseen)(double, double)) const {
    double within = 0.0, between = 0.0;  // variances times z^2, and of f between rows
    double first = 0.0, second = 0.0;    // moments of f in bins without rows
    std::size_t next = 0;
    for (std::size_t k = 0; k < n_bins_; ++k) {
        if (next == bins_.size() || bins_[next].index != k) {
            const double middle = (static_cast<double>(k) + 0.5) / static_cast<double>(n_bins_);
            const double f = unseen(middle, frequency_);
            first += f;
            second += f * f;
            continue;
        }
        const Bin& bin = bins_[next++];
        const double at = anchor(bin, frequency_);
        const double f = of_distance(std::fabs(bin.frequency - at));
        const double most =
            of_distance(std::max(std::fabs(bin.low - at), std::fabs(bin.high - at)));
        within += bin.share * bin.share * (most - f) * (most - f);
        between += bin.share * (f - value) * (f - value);
    }
    const auto empty = static_cast<double>(n_bins_ - bins_.size());
    if (empty != 0.0) {
        first *= 0.5 / empty / rows_;
        second *= 0.5 / empty / rows_;
    }
    between += second;
    const double z = level_.normal_quantile;
    const double size = value + first;
    const double shift = size > 0.0 ? 0.5 * z * z * between / size / rows_ : 0.0;
    const double reach = std::sqrt(shift * shift + z * z * between / rows_ + within);
    return std::clamp(value + shift + reach, value, std::max(value, 1.0));
}

Estimate BinnedIntervals::error(double BinnedErrors::* number, double (*of_distance)(double),
                                double (*unseen)(double, double)) const {
    const double value = found_.*number;
    double low = 0.0;
    if (!calibrated_.empty()) {
        const std::vector<double> values = sorted(calibrated_, number);
        const auto as_large = values.end() - std::lower_bound(values.begin(), values.end(), value);
        const double chance =
            static_cast<double>(as_large + 1) / static_cast<double>(values.size() + 1);
        if (chance <= 1.0 - level_.confidence_level) {
            const double noise = quantile(sorted(near_scores_, number), 1.0 - level_.tail());
            low = std::clamp(value - noise, 0.0, value);
        }
    }
    return {value, low, upper_end(value, at_score, of_distance, unseen), ""};
}

Estimate BinnedIntervals::ece() const { return error(&BinnedErrors::ece, itself, unseen_distance); }
Estimate BinnedIntervals::rel() const { return error(&BinnedErrors::rel, square, unseen_square); }

Estimate BinnedIntervals::res() const {
    const double value = found_.res;
    double low = 0.0;
    if (!near_frequency_.empty()) {
        const double level = 1.0 - level_.tail();
        const double noise = std::max(quantile(sorted(near_frequency_, &BinnedErrors::res), level),
                                      quantile(sorted(near_scores_, &BinnedErrors::res), level));
        low = std::clamp(value - noise, 0.0, value);
    }
    return {value, low, upper_end(value, at_frequency, square, unseen_resolution), ""};
}

Estimate BinnedIntervals::mce() const {
    double low = 0.0, high = 0.0;
    const double tail = level_.tail() / static_cast<double>(bins_.size());
    for (const Bin& bin : bins_) {
        high = std::max({high, std::fabs(bin.low - bin.score), std::fabs(bin.high - bin.score)});
        if (std::max(bin.low - bin.score, bin.score - bin.high) <= low) continue;  // wider below
        const Frequency limits =
            clopper_pearson(bin.hits, bin.weight, tail, level_.normal_quantile);
        low = std::max({low, limits.low - bin.score, bin.score - limits.high});
    }
    if (least_share * rows_ <
        -log(level_.tail())) {  // the probability of no row is exp(-share rows)
        std::size_t next = 0;
        for (std::size_t k = 0; k < n_bins_; ++k) {
            if (next < bins_.size() && bins_[next].index == k) {
                ++next;
                continue;
            }
            const auto n = static_cast<double>(n_bins_);
            const double left = static_cast<double>(k) / n;
            high = std::max({high, static_cast<double>(k + 1) / n, 1.0 - left});
        }
    }
    const double value = found_.mce;
    return {value, std::min(low, value), std::clamp(high, value, std::max(value, 1.0)), ""};
}

}  // namespace calibrant
