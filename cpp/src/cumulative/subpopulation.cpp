#include "cumulative/subpopulation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/rows/check.hpp"
#include "numeric/wide_product.hpp"
#include "rows/workers.hpp"

namespace calibrant {
namespace {

using Sums = GroupedScores::Sums;

Sums operator-(const Sums& a, const Sums& b) { return {a.weight - b.weight, a.hits - b.hits}; }

// a b - c d; the difference itself is exact.
DoubleDouble difference(UInt128 a, UInt128 b, UInt128 c, UInt128 d) {
    if (((a | b | c | d) >> 31) == 0) {
        const auto product = [](UInt128 x, UInt128 y) {
            return static_cast<std::int64_t>(x) * static_cast<std::int64_t>(y);
        };
        const std::int64_t exact = product(a, b) - product(c, d);
        const DoubleDouble size = wide(static_cast<std::uint64_t>(std::abs(exact)));
        return exact < 0 ? DoubleDouble{-size.high, -size.low} : size;
    }
    WideProduct more = wide_product(a, b), less = wide_product(c, d);
    const bool negative = more < less;
    if (negative) std::swap(more, less);
    const UInt128 high = more.high - less.high - (more.low < less.low ? 1 : 0);
    const DoubleDouble upper = wide(high);
    const DoubleDouble size =
        DoubleDouble{upper.high * 0x1p128, upper.low * 0x1p128} + wide(more.low - less.low);
    return negative ? DoubleDouble{-size.high, -size.low} : size;
}

// Whether a score is above (a + b) / 2, without rounding and without a branch.
class AboveMiddle {
public:
    AboveMiddle(double a, double b) : sum_(a + b) {
        const double b_part = sum_ - a;
        rounded_up_ = (a - (sum_ - b_part)) + (b - b_part) < 0.0;
    }
    bool operator()(double s) const {
        return static_cast<int>(2.0 * s > sum_) |
               (static_cast<int>(2.0 * s == sum_) & static_cast<int>(rounded_up_));
    }

private:
    double sum_;
    bool rounded_up_;
};

// The walk of one group, in units of weight.
class GroupWalk {
public:
    GroupWalk(const GroupedScores& scores, std::size_t group)
        : scores_(&scores), next_(scores.begin(group)), end_(scores.end(group)) {}

    // Goes on to the scores of the group up to a place of the population, which is the last if it
    // is that of all. Calls visit(score, weight so far, place of the walk) after each distinct
    // score, once it is known which one follows.
    template <class Visit>
    void advance(std::size_t until, const Visit& visit) {
        while (next_ < end_ && scores_->place(next_) < until) {
            const std::size_t at = scores_->place(next_);
            const Sums sums = scores_->next_score(next_, end_);
            if (sums.weight == 0) continue;
            if (group_.weight != 0) finish(middle(at_, at), visit);
            group_ = sums;
            at_ = at;
        }
        if (until == scores_->population() && group_.weight != 0) finish(until, visit);
    }

    [[nodiscard]] UInt128 weight() const { return weight_; }

    [[nodiscard]] double in_sigmas(DoubleDouble distance) const {
        if (variance_.high == 0.0) return 0.0;
        const std::int64_t unit = scores_->unit_exponent();
        return over_root(scaled(distance, unit), scaled(variance_, unit));
    }

    // sqrt(variance) / weight, as variance / sqrt(variance weight^2).
    [[nodiscard]] double sigma() const {
        if (variance_.high == 0.0) return 0.0;
        const std::int64_t unit = scores_->unit_exponent();
        const DoubleDouble w = wide(weight_);
        // Each factor for itself, as the product may be too large for a double.
        const Scaled size = scaled(w, unit), spread = scaled(variance_, unit);
        const DoubleDouble product = DoubleDouble{size.high, size.low} *
                                     DoubleDouble{size.high, size.low} *
                                     DoubleDouble{spread.high, spread.low};
        return over_root(spread, scaled(product, 2 * size.exponent + spread.exponent));
    }

private:
    // The step of the score at hand, whose window ends there.
    template <class Visit>
    void finish(std::size_t end, const Visit& visit) {
        const Sums below = scores_->below(end);
        step(group_, below - window_begin_);
        window_begin_ = below;
        visit(scores_->score(at_), weight_, place_);
    }

    // Where the window of the score at `place` ends, that of the score at `next` begins.
    [[nodiscard]] std::size_t middle(std::size_t place, std::size_t next) const {
        const AboveMiddle is_above(scores_->score(place), scores_->score(next));
        while (place < next) {
            const std::size_t half = place + (next - place) / 2;
            const bool above = is_above(scores_->score(half));
            place = above ? place : half + 1;
            next = above ? half : next;
        }
        return next;
    }

    void step(const Sums& group, const Sums& window) {
        const DoubleDouble whole = wide(window.weight);
        const DoubleDouble rate = wide(window.hits) / whole;
        const DoubleDouble misses = wide(window.weight - window.hits) / whole;
        weight_ += group.weight;
        if (group.weight == 1 && scores_->unit_exponent() == 0) {  // the same, with f = 1
            place_ = group.hits != 0 ? place_ + misses : place_ - rate;
            if (window.weight != 1) variance_ = variance_ + rate * misses;
            return;
        }
        place_ = place_ + difference(group.hits, window.weight, group.weight, window.hits) / whole;
        variance_ = variance_ + wide(group.weight) * rate * misses * rest_of(group, window);
    }

    // f: min(1, (V - w) / (V - 1 row)).
    [[nodiscard]] DoubleDouble rest_of(const Sums& group, const Sums& window) const {
        constexpr DoubleDouble all{1.0, 0.0};
        if (window.weight == group.weight) return {};
        const double row = std::ldexp(1.0, -scores_->unit_exponent());
        const DoubleDouble whole = wide(window.weight);
        if (!(whole.high > row)) return all;
        const DoubleDouble share =
            wide(window.weight - group.weight) / (whole - DoubleDouble{row, 0.0});
        return all < share ? all : share;
    }

    const GroupedScores* scores_;
    std::size_t next_, end_;  // rows of the group
    std::size_t at_ = 0;      // the place of the score at hand
    Sums group_;              // of its rows
    Sums window_begin_;
    UInt128 weight_ = 0;
    DoubleDouble place_, variance_;
};

class GroupTests {
public:
    GroupTests(const GroupedScores& scores, std::size_t group) : walk_(scores, group) {}

    void advance(std::size_t until) {
        walk_.advance(until, [&](double, UInt128, DoubleDouble place) {
            if (highest_ < place) highest_ = place;
            if (place < lowest_) lowest_ = place;
        });
    }

    [[nodiscard]] SubpopulationTests tests(std::uint64_t n) const {
        const DoubleDouble below{-lowest_.high, -lowest_.low};
        SubpopulationTests result;
        result.ks = ks_result(walk_.in_sigmas(highest_ < below ? below : highest_));
        result.kuiper = kuiper_result(walk_.in_sigmas(highest_ + below));
        result.n = n;
        result.tested = walk_.weight() != 0;
        if (result.tested) result.sigma = walk_.sigma();
        return result;
    }

private:
    GroupWalk walk_;
    DoubleDouble highest_, lowest_;
};

}  // namespace

// All groups go on together from one part of the population to the next, which so stays in the
// cache; some hundred groups at a time, as each keeps where it is.
std::vector<SubpopulationTests> subpopulation_tests(const GroupedScores& scores, Poll poll) {
    constexpr std::size_t groups_at_a_time = 256;
    constexpr std::size_t rows_of_a_part = std::size_t{1} << 15;
    const std::size_t population = scores.population();
    std::vector<SubpopulationTests> result;
    for (std::size_t first = 0; first < scores.groups(); first += groups_at_a_time) {
        const std::size_t n = std::min(groups_at_a_time, scores.groups() - first);
        std::vector<GroupTests> of_group;
        for (std::size_t k = 0; k < n; ++k) of_group.emplace_back(scores, first + k);
        const std::size_t rows = scores.end(first + n - 1) - scores.begin(first);
        const std::size_t parts = rows / rows_of_a_part + 1;
        for (std::size_t part = 1; part <= parts; ++part) {
            const std::size_t until = part == parts ? population : population / parts * part;
            for_each_chunk(n, 1, workers_for(rows / parts, chunk_values), poll,
                           [&](std::size_t, std::size_t k, std::size_t) {
                               of_group[k].advance(until);
                               return true;
                           });
        }
        for (std::size_t k = 0; k < n; ++k) {
            result.push_back(of_group[k].tests(scores.rows_of(first + k)));
        }
    }
    return result;
}

Differences subpopulation_differences(const GroupedScores& scores, std::size_t group) {
    Differences result;
    for (auto* column : {&result.fractions, &result.scores, &result.values}) {
        column->push_back(0.0);
    }
    GroupWalk walk(scores, group);
    std::vector<DoubleDouble> weights, places;
    walk.advance(scores.population(), [&](double score, UInt128 weight, DoubleDouble place) {
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
