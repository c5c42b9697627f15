// Risk profiles where a sanitizer should look: threads, strides, weights, omitted rows, and
// states that nobody wrote.
#include "calibrant/means/means.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "calibrant/rows/check.hpp"
#include "calibrant/rows/spans.hpp"
#include "calibrant/runtime/isa.hpp"
#include "expect.hpp"
#include "fuzz.hpp"

using namespace calibrant;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

const std::vector<double> powers = {1.0,   0.0,      -2.0 / 3.0, 0.5,      -2.0,
                                    300.0, infinity, -infinity,  -1.0 / 3, 1e-250};

struct Rows {
    std::vector<std::int8_t> labels;
    std::vector<double> p, weight;
};

Rows make_rows(std::size_t n, bool with_missing) {
    fuzz::Numbers numbers;
    Rows rows;
    for (std::size_t i = 0; i < n; ++i) {
        rows.labels.push_back(static_cast<std::int8_t>(numbers.below(2)));
        const double p = numbers.unit();
        rows.p.push_back(numbers.below(9) == 0 ? std::ldexp(p, -40) : p);
        rows.weight.push_back(static_cast<double>(numbers.below(4)));
        if (with_missing && numbers.below(10) == 0) rows.p.back() = missing;
        if (with_missing && numbers.below(10) == 0) rows.weight.back() = missing;
    }
    return rows;
}

RiskProfile updated(const Column* labels, const Column& p, const Column* weight, bool omit) {
    Events events;
    events.y_true = labels;
    events.y_proba = p;
    events.sample_weight = weight;
    events.omit_missing = omit;
    RiskProfile profile(powers, 1e-12);
    profile.update(events, 0, nullptr);
    return profile;
}

void any_number_of_threads_and_any_isa() {
    for (const std::size_t n : {0U, 1U, 511U, 512U, 513U, 8192U, 8193U, 50001U}) {
        for (const bool omit : {false, true}) {
            const Rows rows = make_rows(n, omit);
            const Column labels = column_of(std::span(rows.labels));
            const Column p = column_of(std::span(rows.p));
            const Column weights = column_of(std::span(rows.weight));
            for (const Column* weight : {static_cast<const Column*>(nullptr), &weights}) {
                std::string expected;
                for (const Isa each : available_isas()) {
                    for (const int threads : {1, 2, 5}) {
                        set_isa(each);
                        set_num_threads(threads);
                        const std::string state = updated(&labels, p, weight, omit).to_bytes();
                        if (expected.empty()) expected = state;
                        expect::equal(state, expected);
                    }
                }
            }
        }
    }
    set_num_threads(0);
}

// Every third value backwards, misaligned, or all the same one.
void strided_columns() {
    const Rows rows = make_rows(3000, false);
    std::vector<double> wide(3 * rows.p.size());
    for (std::size_t i = 0; i < rows.p.size(); ++i) wide[3 * i] = rows.p[rows.p.size() - 1 - i];
    const Column labels = column_of(std::span(rows.labels));
    const Column plain = column_of(std::span(rows.p));
    const std::string expected = updated(&labels, plain, nullptr, false).to_bytes();

    Column backwards = column_of(std::span(wide));
    backwards.stride *= -3;
    backwards.size = rows.p.size();
    backwards.data += (wide.size() - 3) * sizeof(double);
    expect::equal(updated(&labels, backwards, nullptr, false).to_bytes(), expected);

    std::vector<std::byte> packed(rows.p.size() * 9 + 1);
    for (std::size_t i = 0; i < rows.p.size(); ++i) {
        std::memcpy(packed.data() + 1 + 9 * i, &rows.p[i], sizeof(double));
    }
    Column misaligned = plain;
    misaligned.data = packed.data() + 1;
    misaligned.stride = 9;
    expect::equal(updated(&labels, misaligned, nullptr, false).to_bytes(), expected);

    const std::vector<double> half = {0.5};
    Column constant = column_of(std::span(half));
    constant.stride = 0;
    constant.size = 100000;
    const RiskProfile same = updated(nullptr, constant, nullptr, false);
    expect::equal(same.count(), 100000U);
    for (std::size_t i = 0; i < powers.size(); ++i) expect::equal(same.mean(i), 0.5);
}

void batches_and_merges() {
    const Rows rows = make_rows(5000, false);
    const Column p = column_of(std::span(rows.p));
    const std::string whole = updated(nullptr, p, nullptr, false).to_bytes();
    fuzz::Numbers numbers;
    RiskProfile total(powers, 1e-12);
    for (std::size_t begin = 0; begin < rows.p.size();) {
        Column part = p;
        part.data += begin * sizeof(double);
        part.size = std::min(numbers.below(700), rows.p.size() - begin);
        RiskProfile batch =
            RiskProfile::from_bytes(updated(nullptr, part, nullptr, false).to_bytes());
        batch.merge(total);
        total = batch;
        begin += part.size;
    }
    expect::equal(total.to_bytes(), whole);
    total.merge(total);
    expect::equal(total.count(), 10000U);
    for (std::size_t i = 0; i < powers.size(); ++i) {
        expect::equal(total.mean(i), RiskProfile::from_bytes(whole).mean(i));
    }
}

void bad_rows_are_rejected() {
    Rows rows = make_rows(20000, false);
    rows.p[12345] = 1.5;
    const Column p = column_of(std::span(rows.p));
    expect::throws<InvalidInput>([&] { updated(nullptr, p, nullptr, false); }, "12345");
    expect::throws<InvalidInput>([&] { updated(nullptr, p, nullptr, true); }, "12345");
    rows.p[12345] = missing;
    expect::throws<InvalidInput>([&] { updated(nullptr, p, nullptr, false); }, "12345");
    expect::equal(updated(nullptr, p, nullptr, true).omitted(), 1U);
    rows.p[12345] = 0.5;
    rows.weight[17] = -1.0;
    const Column weight = column_of(std::span(rows.weight));
    expect::throws<InvalidInput>([&] { updated(nullptr, p, &weight, false); }, "17");
    expect::throws<InvalidInput>([] { (void)RiskProfile(powers, 0.0).mean(0); },
                                 "at least one row");
}

void damaged_states() {
    const Rows rows = make_rows(100, false);
    const Column p = column_of(std::span(rows.p));
    const RiskProfile original = updated(nullptr, p, nullptr, false);
    fuzz::damaged_states_are_rejected_or_round_trip(original, 4000, [](RiskProfile& read, int) {
        for (std::size_t i = 0; i < read.powers().size(); ++i) {
            (void)read.mean(i);
            (void)read.log_mean(i);
            (void)read.mean_ratio(i, read);
        }
    });
}

}  // namespace

int main() {
    any_number_of_threads_and_any_isa();
    strided_columns();
    batches_and_merges();
    bad_rows_are_rejected();
    damaged_states();
    return expect::summary();
}
