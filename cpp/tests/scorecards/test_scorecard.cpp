// Scorecards where a sanitizer should look: buffers of groups, omitted rows, classes, and states
// that nobody wrote.
#include "calibrant/scorecards/scorecard.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "calibrant/rows/check.hpp"
#include "calibrant/rows/spans.hpp"
#include "expect.hpp"
#include "fuzz.hpp"

using namespace calibrant;

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

struct Rows {
    Rows(std::size_t n, std::size_t width, bool with_missing, std::size_t n_groups) {
        fuzz::Numbers numbers;
        for (std::size_t i = 0; i < n; ++i) {
            labels.push_back(static_cast<std::int8_t>(numbers.below(width == 1 ? 2 : width)));
            weights.push_back(0.5 * static_cast<double>(numbers.below(4)));
            groups.push_back(static_cast<std::int32_t>(numbers.below(n_groups)));
            for (std::size_t j = 0; j < width; ++j) {
                const double value = numbers.unit();
                p.push_back(numbers.below(9) == 0 ? std::ldexp(value, -900) : value);
            }
            if (!with_missing) continue;
            if (numbers.below(10) == 0) p.back() = missing;
            if (numbers.below(10) == 0) groups.back() = -1;
        }
        y_true = column_of(std::span(labels));
        sample_weight = column_of(std::span(weights));
        events.y_true = &y_true;
        events.y_proba = column_of(std::span(p), width);
        events.is_matrix = width > 1;
        events.omit_missing = with_missing;
    }
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;

    std::vector<std::int8_t> labels;
    std::vector<double> p, weights;
    std::vector<std::int32_t> groups;
    Column y_true, sample_weight;
    Events events;
};

void groups_merged_are_the_whole() {
    for (const std::size_t width : {1U, 3U, 70U}) {
        for (const std::size_t n_groups : {1U, 5U, 900U}) {
            Rows rows(4001, width, false, n_groups);
            for (const bool weighted : {false, true}) {
                if (weighted) rows.events.sample_weight = &rows.sample_weight;
                Scorecard whole(7, 0.0, false);
                whole.update(rows.events, 0, nullptr);
                const Scorecard parameters(7, 0.0, false);
                const auto found = scorecards_by_group(
                    parameters, {rows.events, rows.groups.data(), n_groups}, 0.95, nullptr);
                expect::equal(found.size(), n_groups + 1);
                expect::equal(found.back().card.to_bytes(), whole.to_bytes());
                Scorecard merged = parameters;
                for (std::size_t g = 0; g < n_groups; ++g) merged.merge(found[g].card);
                expect::equal(merged.to_bytes(), whole.to_bytes());
            }
        }
    }
}

void rows_without_a_group_are_omitted() {
    const Rows rows(3000, 1, true, 4);
    const auto found = scorecards_by_group(Scorecard(7, 0.0, false),
                                           {rows.events, rows.groups.data(), 4}, 0.95, nullptr);
    expect::equal(found.size(), 5U);
    std::uint64_t seen = 0, omitted = 0;
    for (std::size_t g = 0; g < 4; ++g) {
        seen += found[g].card.count();
        omitted += found[g].card.omitted();
    }
    const Scorecard& all = found.back().card;
    expect::equal(all.count(), seen);
    expect::equal(all.count() + all.omitted(), 3000U);
    expect::that(all.omitted() > omitted + 100, "a tenth of the rows");
}

void damaged_states() {
    for (const std::size_t width : {1U, 3U}) {
        const Rows rows(100, width, false, 1);
        Scorecard original(3, 1e-12, true);
        original.update(rows.events, 0, nullptr);
        fuzz::damaged_states_are_rejected_or_round_trip(original, 3000,
                                                        [](Scorecard& read, int accepted) {
                                                            if (accepted % 20 == 0)
                                                                (void)read.result(0.95, nullptr);
                                                        });
    }
}

}  // namespace

int main() {
    groups_merged_are_the_whole();
    rows_without_a_group_are_omitted();
    damaged_states();
    return expect::summary();
}
