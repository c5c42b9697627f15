// Sorted scores against a map of rationals in units, for all kinds of skew, and any threads.
#include "ordering/sorted_scores.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "calibrant/rows/check.hpp"
#include "calibrant/rows/spans.hpp"
#include "expect.hpp"
#include "fuzz.hpp"
#include "kernels/score_cells.hpp"
#include "numeric/wide_product.hpp"

using namespace calibrant;

namespace {

using Table = std::vector<std::tuple<double, UInt128, UInt128>>;

struct Rows {
    std::vector<std::int8_t> labels;
    std::vector<double> p, weight;
};

enum class Shape { uniform, ties, one_value, near_zero, near_one, ends, steps };
constexpr Shape shapes[] = {Shape::uniform,  Shape::ties, Shape::one_value, Shape::near_zero,
                            Shape::near_one, Shape::ends, Shape::steps};

double score_of(Shape shape, fuzz::Numbers& numbers, std::size_t row) {
    const double u = numbers.unit();
    switch (shape) {
        case Shape::uniform:
            return u;
        case Shape::ties:
            return std::floor(u * 7.0) / 7.0;
        case Shape::one_value:
            return 0.25;
        case Shape::near_zero:
            return std::ldexp(u, -static_cast<int>(numbers.below(1080)));
        case Shape::near_one:
            return 1.0 - std::ldexp(u, -40);
        case Shape::ends:
            return numbers.below(2) == 0 ? (u < 0.5 ? -0.0 : 0.0) : 1.0;
        case Shape::steps:
            return static_cast<double>(row % 1024) / 1024.0;  // a periodic stream
    }
    return 0.0;
}

Rows make_rows(std::size_t n, Shape shape) {
    fuzz::Numbers numbers;
    Rows rows;
    for (std::size_t i = 0; i < n; ++i) {
        rows.labels.push_back(static_cast<std::int8_t>(numbers.below(2)));
        rows.p.push_back(score_of(shape, numbers, i));
        rows.weight.push_back(static_cast<double>(numbers.below(4)));
    }
    return rows;
}

// The unit is a sixteenth, so that it is not the one that integers have.
void use_sixteenths(Rows& rows) {
    for (double& weight : rows.weight) weight = (weight * 5.0) / 16.0;
}

ScoredRows scored(const Column& labels, const Column& p, const Column* weight, bool omit) {
    ScoredRows rows;
    rows.events.y_true = &labels;
    rows.events.y_proba = p;
    rows.events.sample_weight = weight;
    rows.events.omit_missing = omit;
    return rows;
}

Table table_of(const SortedScores& sorted) {
    Table table;
    sorted.for_each_score(nullptr, [&](double score, UInt128 weight, UInt128 hits) {
        table.emplace_back(score, weight, hits);
    });
    return table;
}

Table by_definition(const Rows& rows, bool weighted, double unit) {
    std::map<double, std::pair<UInt128, UInt128>> pools;
    for (std::size_t i = 0; i < rows.p.size(); ++i) {
        const double weight = weighted ? rows.weight[i] / unit : 1.0;
        if (!(weight > 0.0) || std::isnan(rows.p[i])) continue;
        auto& [all, hits] = pools[rows.p[i]];
        all += static_cast<UInt128>(weight);
        if (rows.labels[i] != 0) hits += static_cast<UInt128>(weight);
    }
    Table table;
    for (const auto& [score, pool] : pools) table.emplace_back(score, pool.first, pool.second);
    return table;
}

void equals_the_definition_for_any_threads() {
    for (const std::size_t n : {0U, 1U, 2U, 63U, 512U, 20000U, 300001U}) {
        for (const Shape shape : shapes) {
            Rows rows = make_rows(n, shape);
            use_sixteenths(rows);
            const Column labels = column_of(std::span(rows.labels));
            const Column p = column_of(std::span(rows.p));
            const Column weights = column_of(std::span(rows.weight));
            for (const Column* weight : {static_cast<const Column*>(nullptr), &weights}) {
                const Table expected = by_definition(rows, weight != nullptr, 1.0 / 16.0);
                for (const int threads : {1, 3}) {
                    set_num_threads(threads);
                    const SortedScores sorted(scored(labels, p, weight, false), nullptr);
                    expect::that(table_of(sorted) == expected, "differs from the definition");
                    expect::equal(sorted.count(), n);
                    if (n > 2) expect::equal(sorted.unit_exponent(), weight == nullptr ? 0 : -4);
                }
            }
        }
    }
    set_num_threads(0);
}

void omitted_rows_are_counted_and_gone() {
    Rows rows = make_rows(50000, Shape::uniform);
    for (std::size_t i = 0; i < rows.p.size(); i += 3) {
        rows.p[i] = std::numeric_limits<double>::quiet_NaN();
    }
    const Column labels = column_of(std::span(rows.labels));
    const Column p = column_of(std::span(rows.p));
    const SortedScores sorted(scored(labels, p, nullptr, true), nullptr);
    expect::that(table_of(sorted) == by_definition(rows, false, 1.0), "differs");
    expect::equal(sorted.omitted(), 16667U);
    expect::equal(sorted.count(), 33333U);
    expect::throws<InvalidInput>([&] { SortedScores(scored(labels, p, nullptr, false), nullptr); },
                                 "row 0");
}

// (weights, expected unit, expected counts)
void units_of_weights() {
    struct Case {
        std::vector<double> weight;
        int exponent;
        std::vector<UInt128> counts;
    };
    const double least = std::numeric_limits<double>::denorm_min();
    const double most = 0x1p1023;
    const UInt128 one = 1;
    for (const Case& each : std::vector<Case>{
             {{3.0, 6.0}, 0, {3, 6}},
             {{0.75, 1.0}, -2, {3, 4}},
             {{0x1p70, 1.0}, 0, {one << 70, 1}},
             {{0x1p79, 1.0}, 0, {one << 79, 1}},
             {{0x1p80, 1.0}, 1, {one << 79}},  // half a unit: to even, 0, and gone
             {{0x1p80, 3.0}, 1, {one << 79, 2}},
             {{least, 3 * least}, -1074, {1, 3}},
             {{most, least}, 1023, {1}},
         }) {
        std::vector<std::int8_t> y(each.weight.size(), 1);
        std::vector<double> scores;
        for (std::size_t i = 0; i < y.size(); ++i) scores.push_back(i == 0 ? 0.25 : 0.5);
        const Column labels = column_of(std::span(y));
        const Column p = column_of(std::span(scores));
        const Column weights = column_of(std::span(each.weight));
        const SortedScores sorted(scored(labels, p, &weights, false), nullptr);
        std::vector<UInt128> counts;
        for (const auto& [score, weight, hits] : table_of(sorted)) {
            counts.push_back(weight);
            expect::that(weight == hits, "all are hits");
        }
        const bool rounds = each.exponent == 1023;
        const int exponent = rounds ? 1023 - 79 : each.exponent;
        expect::equal(sorted.unit_exponent(), exponent);
        expect::that(rounds ? counts == std::vector<UInt128>{one << 79} : counts == each.counts,
                     "counts differ");
    }
}

// On one thread each pass takes longer than the 20 ms between polls.
void can_be_interrupted() {
    const Rows rows = make_rows(4000000, Shape::uniform);
    const Column labels = column_of(std::span(rows.labels));
    const Column p = column_of(std::span(rows.p));
    set_num_threads(1);
    bool stopped = false;
    try {
        SortedScores(scored(labels, p, nullptr, false), [] { return true; });
    } catch (const Interrupted&) {
        stopped = true;
    }
    expect::that(stopped, "was not stopped");
    set_num_threads(0);
}

void wide_products() {
    const UInt128 most = ~UInt128{0};
    // (2^128 - 1)^2 = 2^256 - 2^129 + 1
    expect::that(wide_product(most, most) == WideProduct{most - 1, 1}, "the largest product");
    const UInt128 big = UInt128{1} << 64;
    expect::that(wide_product(big + 3, big + 5) == WideProduct{1, 8 * big + 15}, "a middle carry");
    expect::that(product_less(most, most - 1, most, most), "one less");
    expect::that(!product_less(most, most, most, most), "equal");
    expect::that(!product_less(most, 3, 3, most), "equal, turned");
    expect::that(product_less(2, 3, 1, 7) && !product_less(2, 3, 1, 6), "small");
}

}  // namespace

int main() {
    equals_the_definition_for_any_threads();
    omitted_rows_are_counted_and_gone();
    units_of_weights();
    can_be_interrupted();
    wide_products();
    return expect::summary();
}
