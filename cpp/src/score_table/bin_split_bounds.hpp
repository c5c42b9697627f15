// Bounds on sums over a chain of bins whose neighbours may hold some rows of each other.
//
// Bin k holds an amount that is known plus its share of the groups at its two ends. A group is
// what is known of some rows as a whole, not how they are divided between the bins before and
// after it (and the bins inside it, where several cuts fall into one group). A sum of functions
// of the bins, each convex in the bin's amount, is
//     at most its greatest value over the corners of all divisions, found exactly by dynamic
//     programming along the chain;
//     at least the least value over all divisions of any linear functions below them. With
//     several such functions to choose from per bin, the choice with the greatest bound is found
//     in the same way; for sums of absolute values, slopes -1 and 1 make it exact.
// For a concave function, bound its negative. Nothing is rounded outwards here.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "calibrant/score_table/score_bounds.hpp"

namespace calibrant {

// f >= slope * amount + constant.
struct LinearBound {
    double slope = 0.0, constant = 0.0;
};

namespace detail {

// What a corner of a group's divisions gives to the bins before, inside and after.
struct Division {
    double left = 0.0, right = 0.0, inside = 0.0;
};

[[nodiscard]] inline std::vector<Division> corners(const Chain& chain, std::size_t group) {
    if (group == Chain::none) return {{}};
    const Chain::Group& g = chain.groups[group];
    if (!g.several) {
        return {{g.least_left, g.amount() - g.least_left, 0.0},
                {g.most_left, g.amount() - g.most_left, 0.0}};
    }
    std::vector<Division> all;
    for (int up = 0; up < 3; ++up) {
        for (int down = 0; down < 3; ++down) {
            std::array<double, 3> at{};
            at[static_cast<std::size_t>(up)] += g.positive;
            at[static_cast<std::size_t>(down)] -= g.negative;
            // Inside, the two parts may be in bins of their own.
            const double inside = (up == 2 ? g.positive : 0.0) + (down == 2 ? g.negative : 0.0);
            all.push_back({at[0], at[1], inside});
        }
    }
    return all;
}

}  // namespace detail

// cost(k, amount): convex in the amount, and not above |amount| for bins inside groups.
template <class Cost>
[[nodiscard]] double greatest_sum(const Chain& chain, const Cost& cost) {
    std::vector<detail::Division> before = detail::corners(chain, Chain::none);
    std::vector<double> best{0.0};
    for (std::size_t k = 0; k < chain.bins.size(); ++k) {
        const Chain::Bin& bin = chain.bins[k];
        if (bin.inside) continue;
        std::vector<detail::Division> after = detail::corners(chain, bin.right);
        std::vector<double> next(after.size(), -std::numeric_limits<double>::infinity());
        for (std::size_t b = 0; b < after.size(); ++b) {
            for (std::size_t a = 0; a < before.size(); ++a) {
                const double amount = bin.amount + before[a].right + after[b].left;
                next[b] = std::max(next[b], best[a] + cost(k, amount));
            }
            next[b] += after[b].inside;
        }
        best = std::move(next);
        before = std::move(after);
    }
    return *std::max_element(best.begin(), best.end());
}

// options(k) -> the LinearBounds to choose from. inside(slope, weight) -> the constant with
// which that slope bounds the functions of the bins inside a group of that weight, together.
template <class Options, class Inside>
[[nodiscard]] double least_sum(const Chain& chain, const Options& options, const Inside& inside) {
    std::vector<LinearBound> before;
    std::vector<double> best;
    for (std::size_t k = 0; k < chain.bins.size(); ++k) {
        const Chain::Bin& bin = chain.bins[k];
        if (bin.inside) continue;
        const std::vector<LinearBound> here = options(k);
        std::vector<double> next;
        for (const LinearBound& bound : here) {
            double most = best.empty() ? 0.0 : -std::numeric_limits<double>::infinity();
            for (std::size_t a = 0; a < best.size(); ++a) {
                double shared = 0.0;
                if (bin.left != Chain::none) {
                    const Chain::Group& g = chain.groups[bin.left];
                    const auto [low, high] = std::minmax(before[a].slope, bound.slope);
                    const double step = before[a].slope - bound.slope;
                    const double flattest = std::clamp(0.0, low, high);
                    shared = g.several
                                 ? g.positive * low - g.negative * high + inside(flattest, g.weight)
                                 : bound.slope * g.amount() +
                                       step * (step > 0.0 ? g.least_left : g.most_left);
                }
                most = std::max(most, best[a] + shared);
            }
            next.push_back(most + bound.slope * bin.amount + bound.constant);
        }
        best = std::move(next);
        before = here;
    }
    return *std::max_element(best.begin(), best.end());
}

}  // namespace calibrant
