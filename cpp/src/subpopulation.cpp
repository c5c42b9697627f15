#include "calibrant/subpopulation.hpp"

#include <cmath>
#include <utility>

#include "calibrant/check.hpp"
#include "calibrant/double_double.hpp"
#include "calibrant/wide_product.hpp"

namespace calibrant {
namespace {

using Sums = GroupedScores::Sums;

Sums operator-(const Sums& a, const Sums& b) { return {a.weight - b.weight, a.hits - b.hits}; }

// a b - c d; the difference itself is exact.
DoubleDouble difference(UInt128 a, UInt128 b, UInt128 c, UInt128 d) {
    WideProduct more = wide_product(a, b), less = wide_product(c, d);
    const bool negative = more < less;
    if (negative) std::swap(more, less);
    const UInt128 high = more.high - less.high - (more.low < less.low ? 1 : 0);
    const DoubleDouble upper = wide(high);
    const DoubleDouble size =
        DoubleDouble{upper.high * 0x1p128, upper.low * 0x1p128} + wide(more.low - less.low);
    return negative ? DoubleDouble{-size.high, -size.low} : size;
}

// s > (a + b) / 2, without rounding.
bool is_above_middle(double s, double a, double b) {
    const double sum = a + b;
    if (2.0 * s != sum) return 2.0 * s > sum;
    const double b_part = sum - a;
    return (a - (sum - b_part)) + (b - b_part) < 0.0;  // what the rounding of the sum lost
}

// The walk of one group, in units of weight.
class GroupWalk {
public:
    GroupWalk(const GroupedScores& scores, std::size_t group) : scores_(scores), group_(group) {}

    // Calls visit(score, weight so far, place of the walk) after each distinct score.
    template <class Visit>
    void for_each_step(const Visit& visit) {
        Sums group;
        std::size_t place = 0;
        bool any = false;
        const auto finish = [&](std::size_t end) {
            const Sums below = scores_.below(end);
            step(group, below - window_begin_);
            window_begin_ = below;
            visit(scores_.score(place), weight_, place_);
        };
        scores_.for_each_score(group_, [&](const Sums& sums, std::size_t at) {
            if (any) finish(middle(place, at));
            any = true;
            group = sums;
            place = at;
        });
        if (any) finish(scores_.population());
    }

    [[nodiscard]] UInt128 weight() const { return weight_; }

    [[nodiscard]] double in_sigmas(DoubleDouble distance) const {
        if (variance_.high == 0.0) return 0.0;
        const std::int64_t unit = scores_.unit_exponent();
        return over_root(scaled(distance, unit), scaled(variance_, unit));
    }

    // sqrt(variance) / weight, as variance / sqrt(variance weight^2).
    [[nodiscard]] double sigma() const {
        if (variance_.high == 0.0) return 0.0;
        const std::int64_t unit = scores_.unit_exponent();
        const DoubleDouble w = wide(weight_);
        // Each factor for itself, as the product may be too large for a double.
        const Scaled size = scaled(w, unit), spread = scaled(variance_, unit);
        const DoubleDouble product = DoubleDouble{size.high, size.low} *
                                     DoubleDouble{size.high, size.low} *
                                     DoubleDouble{spread.high, spread.low};
        return over_root(spread, scaled(product, 2 * size.exponent + spread.exponent));
    }

private:
    // Where the window of the score at `place` ends, that of the score at `next` begins.
    [[nodiscard]] std::size_t middle(std::size_t place, std::size_t next) const {
        const double a = scores_.score(place), b = scores_.score(next);
        while (place < next) {
            const std::size_t half = place + (next - place) / 2;
            if (is_above_middle(scores_.score(half), a, b)) {
                next = half;
            } else {
                place = half + 1;
            }
        }
        return next;
    }

    void step(const Sums& group, const Sums& window) {
        const DoubleDouble whole = wide(window.weight);
        place_ = place_ + difference(group.hits, window.weight, group.weight, window.hits) / whole;
        weight_ += group.weight;
        const DoubleDouble rate = wide(window.hits) / whole;
        const DoubleDouble misses = wide(window.weight - window.hits) / whole;
        variance_ = variance_ + wide(group.weight) * rate * misses * rest_of(group, window);
    }

    // f: min(1, (V - w) / (V - 1 row)).
    [[nodiscard]] DoubleDouble rest_of(const Sums& group, const Sums& window) const {
        constexpr DoubleDouble all{1.0, 0.0};
        if (window.weight == group.weight) return {};
        const double row = std::ldexp(1.0, -scores_.unit_exponent());
        const DoubleDouble whole = wide(window.weight);
        if (!(whole.high > row)) return all;
        const DoubleDouble share =
            wide(window.weight - group.weight) / (whole - DoubleDouble{row, 0.0});
        return all < share ? all : share;
    }

    const GroupedScores& scores_;
    std::size_t group_;
    Sums window_begin_;
    UInt128 weight_ = 0;
    DoubleDouble place_, variance_;
};

SubpopulationTests tests_of(const GroupedScores& scores, std::size_t group) {
    GroupWalk walk(scores, group);
    DoubleDouble highest, lowest;
    walk.for_each_step([&](double, UInt128, DoubleDouble place) {
        if (highest < place) highest = place;
        if (place < lowest) lowest = place;
    });
    const DoubleDouble below{-lowest.high, -lowest.low};
    SubpopulationTests result;
    result.ks = walk.in_sigmas(highest < below ? below : highest);
    result.kuiper = walk.in_sigmas(highest + below);
    result.n = scores.rows_of(group);
    result.tested = walk.weight() != 0;
    if (result.tested) result.sigma = walk.sigma();
    return result;
}

}  // namespace

std::vector<SubpopulationTests> subpopulation_tests(const GroupedScores& scores, Poll poll) {
    std::vector<SubpopulationTests> result(scores.groups());
    for_each_chunk(scores.groups(), 1, workers_for(scores.population(), chunk_values), poll,
                   [&](std::size_t, std::size_t group, std::size_t) {
                       result[group] = tests_of(scores, group);
                       return true;
                   });
    return result;
}

Differences subpopulation_differences(const GroupedScores& scores, std::size_t group) {
    Differences result;
    for (auto* column : {&result.fractions, &result.scores, &result.values}) {
        column->push_back(0.0);
    }
    GroupWalk walk(scores, group);
    std::vector<DoubleDouble> weights, places;
    walk.for_each_step([&](double score, UInt128 weight, DoubleDouble place) {
        result.scores.push_back(score);
        weights.push_back(wide(weight));
        places.push_back(place);
    });
    if (places.empty()) throw InvalidInput("subset needs a row with positive weight, got none");
    for (std::size_t k = 0; k < places.size(); ++k) {
        result.fractions.push_back((weights[k] / weights.back()).high);
        result.values.push_back((places[k] / weights.back()).high);
    }
    result.sigma = walk.sigma();
    result.n = scores.rows_of(group);
    result.omitted = scores.omitted();
    return result;
}

}  // namespace calibrant
