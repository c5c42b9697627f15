// Bounds on sums over a Chain of functions of a bin's hits and misses: bin_split_bounds.hpp with
// two moved amounts instead of one. Of frequency_estimate_bounds.cpp only.
//
// A group's division is a point of a polygon: so many hits and so many misses go to the bin before
// the cut, together at least `needed`. The functions are convex, so their sum is
//     at most its greatest value over the corners of all polygons, found exactly by dynamic
//     programming along the chain;
//     at least the least value, group by group, of linear functions below them.
//
// Rounding. Shares are rounded, and so are corners that are differences of them, by less than
// `rounding` of the group. The functions do not rise with hits or misses, or, where they do, by
// no more than what is added: so a greatest sum is taken of amounts made smaller by that much, a
// least sum of amounts made larger, and what then is left to cover by slack is the roundings of
// the functions and of the sum itself.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "score_table/bin_split_bounds.hpp"

namespace calibrant {
namespace {

struct Amount {
    double hits = 0.0, misses = 0.0;

    friend Amount operator+(Amount a, Amount b) { return {a.hits + b.hits, a.misses + b.misses}; }
    [[nodiscard]] double weight() const { return hits + misses; }
};

// slope.hits * hits + slope.misses * misses, which is not above the function.
using Slopes = Amount;

[[nodiscard]] inline double along(Slopes slopes, Amount amount) {
    return slopes.hits * amount.hits + slopes.misses * amount.misses;
}

struct HitDivision {
    Amount left, right;
    double inside_hits = 0.0;  // in bins inside the group, with all hits and all misses apart
};

enum class Outward { smaller, larger };

class Rounding {
public:
    Rounding(const Chain::Group& group, Outward outward)
        : rounding_((group.hits + group.misses) * 0x1p-50), outward_(outward) {}

    // Nothing and all are not differences.
    [[nodiscard]] double operator()(double amount, double all) const {
        if (amount <= 0.0) return 0.0;
        if (outward_ == Outward::smaller) {
            return std::max(amount == all ? amount * (1.0 - 0x1p-50) : amount - rounding_, 0.0);
        }
        return std::min(amount + rounding_, all * (1.0 + 0x1p-50));
    }

private:
    double rounding_;
    Outward outward_;
};

[[nodiscard]] inline HitDivision divided(const Chain::Group& g, Amount left, Outward outward) {
    const Rounding rounded(g, outward);
    const Amount right{g.hits - left.hits, g.misses - left.misses};
    return {{rounded(left.hits, g.hits), rounded(left.misses, g.misses)},
            {rounded(right.hits, g.hits), rounded(right.misses, g.misses)},
            0.0};
}

[[nodiscard]] inline std::vector<HitDivision> hit_corners(const Chain& chain, std::size_t group,
                                                          Outward outward) {
    if (group == Chain::none) return {{}};
    const Chain::Group& g = chain.groups[group];
    std::vector<HitDivision> all;
    if (!g.several) {
        const double more_hits = std::max(g.needed - g.misses, 0.0);
        const double more_misses = std::max(g.needed - g.hits, 0.0);
        for (const Amount left :
             {Amount{g.hits, g.misses}, Amount{g.hits, more_misses},
              Amount{std::min(g.needed, g.hits), more_misses},
              Amount{more_hits, std::min(g.needed, g.misses)}, Amount{more_hits, g.misses}}) {
            all.push_back(divided(g, left, outward));
        }
        return all;
    }
    for (std::size_t hits = 0; hits < 3; ++hits) {
        for (std::size_t misses = 0; misses < 3; ++misses) {
            std::array<Amount, 3> at{};
            const Rounding rounded(g, outward);
            at[hits].hits = rounded(g.hits, g.hits);
            at[misses].misses = rounded(g.misses, g.misses);
            all.push_back({at[0], at[1], at[2].hits});
        }
    }
    return all;
}

[[nodiscard]] inline Amount sure_amount(const Chain::Bin& bin, Outward outward) {
    const double scale = outward == Outward::smaller ? 1.0 - 0x1p-50 : 1.0 + 0x1p-50;
    return {bin.hits * scale, bin.misses * scale};
}

// f(amount): convex, f(0, misses) = 0 and f(x, 0) = x f(1, 0).
template <class F>
[[nodiscard]] double greatest_hit_sum(const Chain& chain, const F& f) {
    const double inside = f(Amount{1.0, 0.0});
    std::vector<HitDivision> before{{}};
    std::vector<double> best{0.0};
    for (const Chain::Bin& bin : chain.bins) {
        if (bin.inside) continue;
        std::vector<HitDivision> after = hit_corners(chain, bin.right, Outward::smaller);
        std::vector<double> next(after.size(), -std::numeric_limits<double>::infinity());
        for (std::size_t b = 0; b < after.size(); ++b) {
            const Amount with_after = sure_amount(bin, Outward::smaller) + after[b].left;
            for (std::size_t a = 0; a < before.size(); ++a) {
                next[b] = std::max(next[b], best[a] + f(with_after + before[a].right));
            }
            next[b] += after[b].inside_hits * inside;
        }
        best = std::move(next);
        before = std::move(after);
    }
    return *std::max_element(best.begin(), best.end());
}

// slopes[k] are those of bin k; of the bins inside a group those of the group's own frequency,
// inside[group].
[[nodiscard]] inline double least_hit_sum(const Chain& chain, const std::vector<Slopes>& slopes,
                                          const std::vector<Slopes>& inside) {
    double sum = 0.0;
    std::size_t before = 0;
    for (std::size_t k = 0; k < chain.bins.size(); ++k) {
        const Chain::Bin& bin = chain.bins[k];
        if (bin.inside) continue;
        sum += along(slopes[k], sure_amount(bin, Outward::larger));
        if (bin.left != Chain::none) {
            double least = std::numeric_limits<double>::infinity();
            for (const HitDivision& d : hit_corners(chain, bin.left, Outward::larger)) {
                const Chain::Group& g = chain.groups[bin.left];
                const Amount rest{d.inside_hits,
                                  g.several && d.left.misses == 0.0 && d.right.misses == 0.0
                                      ? g.misses * (1.0 + 0x1p-50)
                                      : 0.0};
                least = std::min(least, along(slopes[before], d.left) + along(slopes[k], d.right) +
                                            along(inside[bin.left], rest));
            }
            sum += least;
        }
        before = k;
    }
    return sum;
}

}  // namespace
}  // namespace calibrant
