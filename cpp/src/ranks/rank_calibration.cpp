#include "calibrant/ranks/rank_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>

#include "kernels/elementary.hpp"
#include "numeric/binomial.hpp"
#include "ranks/rank_bands.hpp"

namespace calibrant {
namespace {

// Values of gamma are equal if they differ by less than this part of themselves.
constexpr double tie = 1e-9;
constexpr double log_two = 0.6931471805599453;
constexpr double log_least_pvalue = -621.0;  // 1e-270
// From here on 1 - inside would lose digits.
constexpr double nearly_all = 0.999;

double real(std::int64_t x) { return static_cast<double>(x); }

Binomial law_at(std::int64_t n, const RankGrid& grid, std::size_t i) {
    return {n, grid.cuts[i], grid.n_ranks};
}

// Calls work(i) for each cut, and stops on Ctrl-C.
template <class Work>
void for_each_cut(const RankGrid& grid, Poll poll, Work&& work) {
    for_each_chunk(grid.cuts.size(), 1, 1, poll, [&](std::size_t, std::size_t i, std::size_t) {
        work(i);
        return true;
    });
}

BandLows lows_of(std::int64_t n, const RankGrid& grid, double gamma, Poll poll) {
    BandLows low(grid.cuts.size());
    for_each_cut(grid, poll, [&](std::size_t i) {
        low[i] = law_at(n, grid, i).lower_quantile(0.5 * gamma * (1.0 - tie));
    });
    return low;
}

// The values of gamma that a single count can have, as far as the search needs them.
class GammaTable {
public:
    GammaTable(std::int64_t n, const RankGrid& grid, double least, double largest, Poll poll)
        : rows_(grid.cuts.size()) {
        for_each_cut(grid, poll, [&](std::size_t i) {
            LowerTail tail(law_at(n, grid, i), calibrant::log(0.5 * least));
            Row& row = rows_[i];
            row.first = tail.r();
            for (;; tail.next()) {
                row.gammas.push_back(least * tail.value());
                if (row.gammas.back() >= largest || tail.r() == n) break;
            }
        });
    }

    [[nodiscard]] BandLows lows(double gamma) const {
        BandLows low;
        for (const Row& row : rows_) low.push_back(row.first + row.place(gamma));
        return low;
    }

    // The least value that is in the band of this level, and the largest one that is not.
    [[nodiscard]] double at_least(double gamma) const {
        double least = std::numeric_limits<double>::infinity();
        for (const Row& row : rows_) least = std::min(least, row.gamma(row.place(gamma)));
        return least;
    }
    [[nodiscard]] double below(double gamma) const {
        double largest = 0.0;
        for (const Row& row : rows_) {
            if (row.place(gamma) > 0) largest = std::max(largest, row.gamma(row.place(gamma) - 1));
        }
        return largest;
    }

private:
    struct Row {
        std::int64_t first = 0;
        std::vector<double> gammas;

        [[nodiscard]] std::ptrdiff_t place(double gamma) const {
            const auto found = std::lower_bound(gammas.begin(), gammas.end(), gamma * (1.0 - tie));
            return std::min(found, gammas.end() - 1) - gammas.begin();
        }
        [[nodiscard]] double gamma(std::ptrdiff_t place) const {
            return gammas[static_cast<std::size_t>(place)];
        }
    };
    std::vector<Row> rows_;
};

// The band that has this gamma and coverage, with the bounds of n ranks.
RankBand band_for(std::int64_t n, const RankGrid& grid, double gamma, double coverage, Poll poll) {
    return {gamma, coverage, lows_of(n, grid, gamma, poll)};
}

// P(R leaves the band), for n <= most_exact.
RankTest outside_test(double statistic, std::int64_t n, const RankGrid& grid, const BandLows& low,
                      Poll poll) {
    std::vector<double> log_tails;
    for_each_cut(grid, poll, [&](std::size_t i) {
        if (low[i] > 0) log_tails.push_back(law_at(n, grid, i).log_cdf(std::min(low[i] - 1, n)));
    });
    if (log_tails.empty()) return {statistic, 0.0, -std::numeric_limits<double>::infinity()};
    const double largest = *std::max_element(log_tails.begin(), log_tails.end());
    if (largest < log_least_pvalue) {
        double sum = 0.0;
        for (const double tail : log_tails) sum += 2.0 * calibrant::exp(tail - largest);
        const double log_pvalue = largest + calibrant::log(sum);
        return {statistic, calibrant::exp(log_pvalue), log_pvalue};
    }
    const double inside = inside_probability(n, grid, low, poll);
    const double pvalue = inside < nearly_all
                              ? 1.0 - inside
                              : outside_probability(n, grid, low, calibrant::exp(largest), poll);
    return {statistic, pvalue, calibrant::log(pvalue)};
}

// ln gamma(R).
double log_gamma_of(std::int64_t n, const RankGrid& grid, const std::vector<std::int64_t>& below,
                    Poll poll) {
    double least = std::numeric_limits<double>::infinity();
    for_each_cut(grid, poll, [&](std::size_t i) {
        const Binomial law = law_at(n, grid, i);
        const double away = real(below[i]) - law.mean();
        // The other tail is more than a half, and not needed.
        if (away <= 1.0) least = std::min(least, log_two + law.log_cdf(below[i]));
        if (away >= -1.0) {
            least = std::min(least, log_two + law.failures().log_cdf(n - below[i]));
        }
    });
    return least;
}

}  // namespace

RankBand rank_band(std::int64_t n, const RankGrid& grid, double gamma, Poll poll) {
    const std::int64_t tabulated = std::min(n, most_exact);
    const BandLows low = lows_of(tabulated, grid, gamma, poll);
    return band_for(n, grid, gamma, inside_probability(tabulated, grid, low, poll), poll);
}

RankBand simultaneous_rank_band(std::int64_t n, const RankGrid& grid, double prob, Poll poll) {
    const std::int64_t tabulated = std::min(n, most_exact);
    double high = 1.0 - prob;
    const RankBand pointwise = rank_band(n, grid, high, poll);
    if (pointwise.coverage >= prob) return pointwise;
    // By Bonferroni's inequality, a band that is wide enough.
    double low = high / real(static_cast<std::int64_t>(grid.cuts.size()));
    const GammaTable table(tabulated, grid, low * (1.0 - tie), high, poll);
    const auto coverage_of = [&](double gamma) {
        return inside_probability(tabulated, grid, table.lows(gamma), poll);
    };
    double low_coverage = coverage_of(low), high_coverage = pointwise.coverage;
    low = table.at_least(low);
    for (bool halve = false; table.below(high) > low * (1.0 + 2.0 * tie); halve = !halve) {
        // Coverage is a staircase along a smooth curve: steps along its chord and halves by turns.
        const double chord =
            std::clamp((low_coverage - prob) / (low_coverage - high_coverage), 0.02, 0.98);
        const double middle = low + (high - low) * (halve ? 0.5 : chord);
        const double coverage = coverage_of(middle);
        if (coverage >= prob) {
            low = table.at_least(middle);
            low_coverage = coverage;
        } else {
            high = middle;
            high_coverage = coverage;
        }
    }
    return band_for(n, grid, std::min(low, 1.0 - prob), low_coverage, poll);
}

RankTest rank_gamma_test(std::int64_t n, const RankGrid& grid,
                         const std::vector<std::int64_t>& below, Poll poll) {
    const double log_gamma = log_gamma_of(n, grid, below, poll);
    const std::int64_t tabulated = std::min(n, most_exact);
    BandLows low(grid.cuts.size());  // of what is less extreme than R
    for_each_cut(grid, poll, [&](std::size_t i) {
        LowerTail tail(law_at(tabulated, grid, i), log_gamma - log_two + tie);
        while (tail.value() <= 1.0 && tail.r() < tabulated) tail.next();
        low[i] = tail.r();
    });
    return outside_test(calibrant::exp(log_gamma), tabulated, grid, low, poll);
}

RankTest rank_ks_test(std::int64_t n, const RankGrid& grid, const std::vector<std::int64_t>& below,
                      Poll poll) {
    std::int64_t distance = 0;  // n n_ranks D, a whole number
    for (std::size_t i = 0; i < grid.cuts.size(); ++i) {
        distance = std::max(distance, std::abs(below[i] * grid.n_ranks - grid.cuts[i] * n));
    }
    const double statistic = real(distance) / (real(n) * real(grid.n_ranks));
    if (distance == 0) return {statistic, 1.0, 0.0};
    const std::int64_t tabulated = std::min(n, most_exact);
    if (tabulated < n) {
        const double shrunk = real(distance) * std::sqrt(real(tabulated) / real(n));
        distance = static_cast<std::int64_t>(shrunk);
    }
    BandLows low(grid.cuts.size());
    for (std::size_t i = 0; i < grid.cuts.size(); ++i) {
        const std::int64_t bound = grid.cuts[i] * tabulated - distance;  // R n_ranks > bound
        low[i] = bound < 0 ? 0 : bound / grid.n_ranks + 1;
    }
    return outside_test(statistic, tabulated, grid, low, poll);
}

}  // namespace calibrant
