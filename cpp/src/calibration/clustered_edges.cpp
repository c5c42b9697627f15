#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "calibrant/calibration/bins.hpp"
#include "calibrant/numeric/double_double.hpp"
#include "calibrant/rows/check.hpp"
#include "ordering/sorted_scores.hpp"

namespace calibrant {
namespace {

// Sums over the scores before each distinct one. Sums of squares are taken from the nearer end of
// [0, 1], so that clusters of scores next to 1 are told apart as well as those next to 0.
class ClusterCosts {
public:
    ClusterCosts(const SortedScores& sorted, Poll poll) {
        sorted.for_each_score(poll, [&](double score, UInt128 units, UInt128) {
            const DoubleDouble w = wide(units);
            const auto append = [&](std::vector<DoubleDouble>& sums, DoubleDouble term) {
                sums.push_back(sums.back() + term);
            };
            const double beyond = score - 1.0;
            const auto times = [](DoubleDouble a, double x) { return a * DoubleDouble{x, 0.0}; };
            append(weight_, w);
            append(low_.first, times(w, score));
            append(low_.second, times(times(w, score), score));
            append(high_.first, times(w, beyond));
            append(high_.second, times(times(w, beyond), beyond));
            scores.push_back(score);
        });
    }

    // Of the distinct scores [begin, end): the weighted sum of squares about their mean.
    [[nodiscard]] double operator()(std::size_t begin, std::size_t end) const {
        const Sums& sums = scores[begin] >= 0.5 ? high_ : low_;
        const double w = between(weight_, begin, end);
        const double first = between(sums.first, begin, end);
        const double cost = between(sums.second, begin, end) - first * (first / w);
        return cost > 0.0 ? cost : 0.0;
    }

    std::vector<double> scores;

private:
    struct Sums {
        std::vector<DoubleDouble> first{DoubleDouble{}}, second{DoubleDouble{}};
    };

    [[nodiscard]] static double between(const std::vector<DoubleDouble>& sums, std::size_t begin,
                                        std::size_t end) {
        return (sums[end].high - sums[begin].high) + (sums[end].low - sums[begin].low);
    }

    std::vector<DoubleDouble> weight_{DoubleDouble{}};
    Sums low_, high_;
};

// The least sum of squares of the first `end` scores in k clusters, for one k after the other. The
// best begin of the last cluster does not fall as `end` rises, so that each is looked for between
// those of two others (Wang and Song 2011, with the divide and conquer of Grønlund et al. 2017).
class Layers {
public:
    Layers(const ClusterCosts& costs, std::size_t n_bins, Poll poll)
        : costs_(costs), n_(costs.scores.size()), best_(n_ + 1), before_(n_ + 1) {
        begins_.assign(n_bins, std::vector<std::uint32_t>(n_ + 1));
        for (std::size_t end = 1; end <= n_; ++end) best_[end] = costs_(0, end);
        // One worker: the layers come in order.
        (void)for_each_chunk(n_bins - 1, 1, 1, poll,
                             [&](std::size_t, std::size_t layer, std::size_t) {
                                 k_ = layer + 1;
                                 std::swap(best_, before_);
                                 fill(k_ + 1, n_, k_, n_ - 1);
                                 return true;
                             });
    }

    // Where the k-th cluster of those of the first `end` scores begins.
    [[nodiscard]] std::size_t begin_of(std::size_t k, std::size_t end) const {
        return begins_[k][end];
    }

private:
    // For ends in [first, last], with begins in [least, most].
    void fill(std::size_t first, std::size_t last, std::size_t least, std::size_t most) {
        if (first > last) return;
        const std::size_t end = first + (last - first) / 2;
        double found = std::numeric_limits<double>::infinity();
        std::size_t begin = least;
        for (std::size_t i = least; i <= std::min(most, end - 1); ++i) {
            const double cost = before_[i] + costs_(i, end);
            if (cost < found) {
                found = cost;
                begin = i;
            }
        }
        best_[end] = found;
        begins_[k_][end] = static_cast<std::uint32_t>(begin);
        if (end > first) fill(first, end - 1, least, begin);
        fill(end + 1, last, begin, most);
    }

    const ClusterCosts& costs_;
    std::size_t n_, k_ = 0;
    std::vector<double> best_, before_;
    std::vector<std::vector<std::uint32_t>> begins_;
};

}  // namespace

std::vector<double> clustered_edges(const ScoredRows& rows, std::size_t n_bins, Poll poll) {
    const SortedScores sorted(rows, poll);
    const ClusterCosts costs(sorted, poll);
    const std::vector<double>& scores = costs.scores;
    if (scores.empty()) return equal_width_edges(n_bins);
    const std::size_t clusters = std::min(n_bins, scores.size());
    if (scores.size() > most_clustered_cells / clusters) {
        throw InvalidInput(
            "clusters need n_bins times the number of distinct scores to be at most 2^26, got " +
            std::to_string(clusters) + " times " + std::to_string(scores.size()) +
            "; use strategy='quantile', or round the scores");
    }
    std::vector<double> edges(n_bins + 1, 1.0);
    edges[0] = 0.0;
    if (clusters == scores.size()) {
        for (std::size_t k = 1; k < clusters; ++k) edges[k] = scores[k];
        return edges;
    }
    const Layers layers(costs, clusters, poll);
    for (std::size_t k = clusters - 1, end = scores.size(); k > 0; --k) {
        end = layers.begin_of(k, end);
        edges[k] = scores[end];
    }
    return edges;
}

}  // namespace calibrant
