// Rows made of foreign arrays, read, checked and summed. They are rejected with a message, or any
// two batches of them, merged, are to the bit what one pass over all of them is.
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "foreign.hpp"
#include "state_kinds.hpp"
#include "target.hpp"

using namespace calibrant;
using fuzz::require;

namespace {

// The rows [begin, begin + count) of the same array.
Column part_of(Column column, std::size_t begin, std::size_t count) {
    if (column.data != nullptr && column.dtype != Dtype::bits)
        column.data += static_cast<std::ptrdiff_t>(begin) * column.stride;
    column.bit_offset += begin * column.width;
    column.validity_offset += begin * column.width;
    column.size = count;
    return column;
}

// What two thirds of the rows and the others make, each apart, and what all make. `update` adds
// rows [begin, begin + count).
template <class State, class Update>
void add_both_ways(const State& parameters, std::size_t rows, const Update& update) {
    const std::size_t cut = rows - rows / 3;
    const auto batch = [&](std::size_t begin, std::size_t count) -> std::optional<State> {
        State state = parameters.empty();
        try {
            update(state, begin, count);
        } catch (const InvalidInput& error) {
            require(error.what()[0] != '\0', "a rejection says why");
            return std::nullopt;
        }
        return state;
    };
    const std::optional<State> whole = batch(0, rows);
    std::optional<State> merged = batch(0, cut);
    const std::optional<State> second = batch(cut, rows - cut);
    require(whole.has_value() == (merged.has_value() && second.has_value()),
            "rows are good, however they are split");
    if (!whole) return;
    merged->merge(*second);
    require(merged->to_bytes() == whole->to_bytes(), "batches give the same bits");
    require(restore<State>(whole->to_bytes()).to_bytes() == whole->to_bytes(), "they are read");
}

// Few, or more than the lanes of a kernel.
std::size_t some_classes(fuzz::Bytes& in) {
    const std::size_t n = in.below(80);
    return 2 + (n < 60 ? n % 4 : n);
}

// Labels, probabilities of one class or of several, weights.
class Labelled {
public:
    explicit Labelled(fuzz::Bytes& in)
        : rows_(fuzz::some_rows(in)),
          is_matrix_(in.flag()),
          y_true_(in, rows_, 1),
          y_proba_(in, rows_, is_matrix_ ? some_classes(in) : 1),
          weight_(in, rows_, 1) {
        has_weight_ = in.flag();
        omit_missing_ = in.flag();
    }

    [[nodiscard]] std::size_t rows() const { return rows_; }
    [[nodiscard]] bool is_matrix() const { return is_matrix_; }

    // Calls use(events) with some of the rows.
    template <class Use>
    void with_rows(std::size_t begin, std::size_t count, const Use& use) const {
        const Column y_true = part_of(y_true_.column(), begin, count);
        const Column weight = part_of(weight_.column(), begin, count);
        Events events;
        events.y_true = &y_true;
        events.y_proba = part_of(y_proba_.column(), begin, count);
        events.is_matrix = is_matrix_;
        events.sample_weight = has_weight_ ? &weight : nullptr;
        events.omit_missing = omit_missing_;
        use(events);
    }

private:
    std::size_t rows_;
    bool is_matrix_;
    fuzz::Foreign y_true_, y_proba_, weight_;
    bool has_weight_ = false, omit_missing_ = false;
};

template <class State>
void add_events(const State& parameters, const Labelled& rows) {
    add_both_ways(parameters, rows.rows(), [&](State& state, std::size_t begin, std::size_t count) {
        rows.with_rows(begin, count,
                       [&](const Events& events) { state.update(events, 0, nullptr); });
    });
}

template <class State>
void add_scored(const State& parameters, const Labelled& rows, Scoring scoring, double q_lim) {
    add_both_ways(parameters, rows.rows(), [&](State& state, std::size_t begin, std::size_t count) {
        rows.with_rows(begin, count, [&](const Events& events) {
            state.update(ScoredRows{events, scoring, 0, q_lim}, 0, nullptr);
        });
    });
}

void check_events(fuzz::Bytes& in) {
    const std::uint8_t which = in.byte();
    const double q_lim = in.flag() ? 0x1p-20 : 0.0;
    const Labelled rows(in);
    const Bins bins = Bins::equal_width(1 + which % 16);
    const Scoring scoring = which % 2 == 0     ? Scoring::top_label
                            : rows.is_matrix() ? Scoring::of_class
                                               : Scoring::binary;
    switch (which / 16 % 8) {
        case 0:
            return add_events(RiskProfile({0.0, 1.0, -2.0 / 3.0, 2.5}, q_lim), rows);
        case 1:
            return add_events(ScoreSums(ScoreSet(7), q_lim), rows);
        case 2:
            return add_events(Scorecard(1 + which % 16, q_lim, !rows.is_matrix()), rows);
        case 3:
            return add_scored(Reliability(bins), rows, scoring, 0.0);
        case 4:
            return add_scored(ScoreTable(), rows,
                              rows.is_matrix() ? Scoring::top_label : Scoring::binary, 0.0);
        case 5:
            return add_scored(Spiegelhalter(), rows, scoring, 0.0);
        case 6:
            return add_scored(Assessment(bins, q_lim, true), rows, Scoring::pairs, q_lim);
        default: {
            const Labelled others(in);
            if (others.rows() != rows.rows()) return;
            return add_both_ways(PairedScores(q_lim), rows.rows(),
                                 [&](PairedScores& state, std::size_t begin, std::size_t count) {
                                     rows.with_rows(begin, count, [&](const Events& first) {
                                         others.with_rows(begin, count, [&](Events second) {
                                             second.y_true = first.y_true;
                                             second.sample_weight = first.sample_weight;
                                             second.omit_missing = first.omit_missing;
                                             state.update({first, second}, 0, nullptr);
                                         });
                                     });
                                 });
        }
    }
}

void check_intervals(fuzz::Bytes& in) {
    const std::uint8_t which = in.byte();
    const std::size_t n = fuzz::some_rows(in);
    const std::size_t levels = 1 + in.below(3);
    const fuzz::Foreign y_true(in, n, 1), lower(in, n, levels), upper(in, n, levels),
        weight(in, n, 1);
    const auto update = [&](auto& state, std::size_t begin, std::size_t count) {
        const Column y = part_of(y_true.column(), begin, count);
        const Column w = part_of(weight.column(), begin, count);
        const Column low = part_of(lower.column(), begin, count);
        const Column high = part_of(upper.column(), begin, count);
        IntervalRows rows;
        rows.y_true = &y;
        for (std::size_t level = 0; level < levels; ++level) {
            rows.lower.push_back(column_at(low, level));
            rows.upper.push_back(column_at(high, level));
        }
        rows.sample_weight = (which & 1U) != 0 ? &w : nullptr;
        rows.omit_missing = (which & 2U) != 0;
        rows.swap_crossed = (which & 4U) != 0;
        rows.has_levels = levels > 1;
        state.update(rows, 0, nullptr);
    };
    if ((which & 24U) != 0) return add_both_ways(Intervals({}, {0.25, 1.0}), n, update);
    if ((which & 1U) == 0) return add_both_ways(CoverageHsic({1.0, 1.0}, 1 << 12), n, update);
}

void check_sets(fuzz::Bytes& in) {
    const std::uint8_t which = in.byte();
    const auto form = static_cast<SetForm>(which % 3);
    const std::size_t n = fuzz::some_rows(in);
    const std::size_t width = 1 + in.below(form == SetForm::masks ? 3 : 20);
    const std::size_t levels = form == SetForm::indicators ? 1 + in.below(2) : 1;
    const fuzz::Foreign y_true(in, n, 1), weight(in, n, 1);
    // As the bindings let them through: truth values, or words in the machine's order.
    std::vector<fuzz::Foreign> sets;
    for (std::size_t level = 0; level < levels; ++level) {
        sets.emplace_back(in, n, width,
                          form == SetForm::masks ? Dtype::uint64
                          : in.flag()            ? Dtype::bits
                                                 : Dtype::boolean);
    }
    Column masks = sets.front().column();
    if (form == SetForm::masks && (masks.swapped || masks.validity != nullptr)) return;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> codes;
    for (std::size_t i = 0; form == SetForm::lists && i < n; ++i) {
        for (std::size_t k = in.byte() % 4U; k > 0; --k)
            codes.push_back(static_cast<std::int8_t>(in.byte()));
        offsets.push_back(static_cast<std::int64_t>(codes.size()));
    }
    add_both_ways(PredictionSets(), n,
                  [&](PredictionSets& state, std::size_t begin, std::size_t count) {
                      const Column y = part_of(y_true.column(), begin, count);
                      const Column w = part_of(weight.column(), begin, count);
                      SetRows rows;
                      rows.form = form;
                      rows.size = count;
                      rows.y_true = &y;
                      for (const fuzz::Foreign& level : sets)
                          rows.indicators.push_back(part_of(level.column(), begin, count));
                      rows.masks = part_of(masks, begin, count);
                      if (form == SetForm::lists) {
                          rows.lists = side_by_side(offsets.data() + begin, count, 2, Dtype::int64);
                          rows.lists.stride = sizeof(std::int64_t);
                      }
                      rows.codes = codes.data();
                      rows.sample_weight = (which & 64U) != 0 ? &w : nullptr;
                      rows.omit_missing = (which & 128U) != 0;
                      state.update(rows, 0, nullptr);
                  });
}

void check_draws(fuzz::Bytes& in) {
    const std::uint8_t which = in.byte();
    const std::size_t n = fuzz::some_rows(in);
    const std::size_t n_draws = 1 + in.below(9);
    const fuzz::Foreign draws(in, n, n_draws), truth(in, n, 1), references(in, n, 1);
    // Ties are broken by the number of the pair in the stream.
    add_both_ways(Ranks(n_draws, 1, 7), n, [&](Ranks& state, std::size_t begin, std::size_t count) {
        const Column reference = part_of(references.column(), begin, count);
        DrawRows rows;
        rows.draws = part_of(draws.column(), begin, count);
        rows.truth = part_of(truth.column(), begin, count);
        rows.references = (which & 1U) != 0 ? &reference : nullptr;
        rows.omit_missing = (which & 2U) != 0;
        state.update(rows, begin, nullptr);
    });
}

void check_features(fuzz::Bytes& in) {
    const bool unit_length = in.flag();
    const std::size_t n = fuzz::some_rows(in);
    const std::size_t width = 1 + in.below(4);
    const fuzz::Foreign features(in, n, width);
    const auto update = [&](auto& state, std::size_t begin, std::size_t count) {
        state.update(part_of(features.column(), begin, count), 0, nullptr);
    };
    if (unit_length) return add_both_ways(Vendi(width), n, update);
    add_both_ways(Moments(width), n, update);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Bytes in(data, size);
    const std::uint8_t which = in.byte();
    switch (which % 8) {
        case 0:
            check_intervals(in);
            break;
        case 1:
            check_sets(in);
            break;
        case 2:
            check_draws(in);
            break;
        case 3:
            check_features(in);
            break;
        default:
            check_events(in);
    }
    return 0;
}
