// The calibration errors of ScoreBounds.
#include <algorithm>
#include <cmath>
#include <vector>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/score_table/score_bounds.hpp"
#include "score_table/bin_split_bounds.hpp"

namespace calibrant {
namespace {

struct Range {
    double low = 0.0, high = 0.0;
};

// What a group can give to the bin before it, or to the one after.
Range share_of(const Chain& chain, std::size_t group, bool before) {
    if (group == Chain::none) return {};
    const Chain::Group& g = chain.groups[group];
    if (g.several) return {-g.negative, g.positive};
    if (before) return {g.least_left, g.most_left};
    return {g.amount() - g.most_left, g.amount() - g.least_left};
}

Range amount_of(const Chain& chain, const Chain::Bin& bin) {
    if (bin.inside) {
        const Chain::Group& g = chain.groups[bin.left];
        return {-g.negative, g.positive};
    }
    const Range left = share_of(chain, bin.left, false);
    const Range right = share_of(chain, bin.right, true);
    return {bin.amount + left.low + right.low, bin.amount + left.high + right.high};
}

double largest_of(Range range) { return std::max(std::fabs(range.low), std::fabs(range.high)); }

double nearest_zero(Range range) { return std::max({range.low, -range.high, 0.0}); }

// frequency - mean score; 0 where the bin has no weight.
double gap_of(const Reliability::Bin& bin) {
    return bin.weight.is_zero() ? 0.0 : mean(difference(bin.hits, bin.scores), bin.weight);
}

}  // namespace

// The shares of bins and groups add up to 1, each with an error of a few units in its last place,
// and a sum over the bins adds one such error per bin: together less than the slack.
Bounds ScoreBounds::widened(double value, double low, double high) const {
    const double slack = (static_cast<double>(chain_.bins.size()) + 16.0) * 0x1p-49;
    low = std::max(low - slack, 0.0);
    high = std::min(high + slack, 1.0);
    return {std::clamp(value, low, high), low, high};
}

Bounds ScoreBounds::mean_gap() const {
    const double value = likely_.mean_gap();
    if (certain()) return {value, value, value};
    const std::vector<LinearBound> signs{{-1.0, 0.0}, {1.0, 0.0}};
    const double low = least_sum(
        chain_, [&](std::size_t) -> const auto& { return signs; },
        [](double, double) { return 0.0; });
    const double high =
        greatest_sum(chain_, [](std::size_t, double amount) { return std::fabs(amount); });
    return widened(value, low, high);
}

// x^2 / w is at least 2 g x - g^2 w for every g, here the likely gap, with equality at g = x / w;
// and at most |x|, because |x| <= w.
Bounds ScoreBounds::root_mean_square_gap() const {
    const double value = likely_.root_mean_square_gap(false);
    if (certain()) return {value, value, value};
    const double low = least_sum(
        chain_,
        [&](std::size_t k) {
            const double g = std::clamp(gap_of(likely_.table()[k]), -1.0, 1.0);
            return std::vector<LinearBound>{{2.0 * g, -g * g * chain_.bins[k].most_weight}};
        },
        [](double slope, double weight) { return -0.25 * slope * slope * weight; });
    std::vector<bool> square;
    for (const Chain::Bin& bin : chain_.bins) {
        square.push_back(bin.least_weight > 0.0 &&
                         largest_of(amount_of(chain_, bin)) <= bin.least_weight);
    }
    const double high = greatest_sum(chain_, [&](std::size_t k, double amount) {
        return square[k] ? amount * amount / chain_.bins[k].least_weight : std::fabs(amount);
    });
    const Bounds squares = widened(value * value, low, high);
    const double least = std::sqrt(squares.low) * (1.0 - share_slack);
    const double most = std::min(std::sqrt(squares.high) * (1.0 + share_slack), 1.0);
    return {std::clamp(value, least, most), least, most};
}

// Bin by bin: the bin that decides may differ between divisions, but each stays in its range.
Bounds ScoreBounds::largest_gap() const {
    const double value = likely_.largest_gap();
    if (certain()) return {value, value, value};
    double low = 0.0;
    double high = 0.0;
    for (std::size_t k = 0; k < chain_.bins.size(); ++k) {
        const Chain::Bin& bin = chain_.bins[k];
        if (bin.left == Chain::none && bin.right == Chain::none) {
            const double gap = std::fabs(gap_of(likely_.table()[k]));
            low = std::max(low, gap);
            high = std::max(high, gap);
            continue;
        }
        const Range amount = amount_of(chain_, bin);
        const double most = largest_of(amount);
        const double rounding = share_slack * (std::fabs(bin.amount) + bin.most_weight);
        const double least = (nearest_zero(amount) - rounding) / bin.most_weight;
        low = std::max(low, least * (1.0 - share_slack));
        const bool bounded = most + rounding < bin.reach * bin.least_weight;
        high = std::max(high, bounded ? (most + rounding) / bin.least_weight : bin.reach);
    }
    return {std::clamp(value, low, high), low, high};
}

}  // namespace calibrant
