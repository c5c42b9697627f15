

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/grouped/grouped_accumulators.hpp"
#include "bindings/grouped/grouped_runs.hpp"
#include "bindings/rows/event_inputs.hpp"
#include "bindings/runtime/gil.hpp"
#include "grouped/add_events.hpp"
#include "grouped/grouped_events.hpp"

namespace calibrant::bindings {
namespace {

std::optional<Score> score_of(const ScoreSums& parameters, const std::string& name) {
    std::optional<Score> found;
    if (name == "brier") found = Score::brier;
    if (name == "log") found = Score::log;
    if (name == "spherical") found = Score::spherical;
    return found && parameters.scores().has(*found) ? found : std::nullopt;
}

// NaN where no row has weight.
std::vector<double> means_of(const GroupedParts<ScoreSums>& parts, Score score) {
    constexpr std::size_t chunk = 1024;
    std::vector<double> means(parts.size());
    const auto mean = [&](std::size_t group) {
        if (const CellWords* const cells = parts.only_cells(group)) {
            return CellLayout<ScoreSums>::mean(cells, score);
        }
        const ScoreSums sums = parts.group(group);
        return sums.has_weight() ? sums.mean(score) : std::numeric_limits<double>::quiet_NaN();
    };
    (void)for_each_chunk(means.size(), chunk, workers_for(means.size(), 2 * chunk), nullptr,
                         [&](std::size_t, std::size_t begin, std::size_t end) {
                             for (std::size_t i = begin; i < end; ++i) means[i] = mean(i);
                             return true;
                         });
    return means;
}

// Merging a group may take as long as so many rows.
constexpr std::size_t groups_worth = 100;

// Of a core accumulator.
template <class State>
class GroupsOf : public GroupedAccumulators {
public:
    static constexpr bool of_events =
        requires(State state, const Events& events) { add_events(state, events, nullptr); };
    static constexpr bool of_rows =
        requires(const State& state, const Groups& groups, const py::tuple& arguments) {
            parts_of_rows(state, groups, 0, arguments);
        };

    GroupsOf(const py::object& empty, GroupedParts<State> parts)
        : GroupedAccumulators(empty), parts_(std::move(parts)) {}

    void update(const py::object& y_true, const py::object& y_proba,
                const py::object& sample_weight, bool omit_missing, const Groups& groups,
                std::uint64_t rows_before) override {
        if constexpr (of_events) {
            if (y_true.is_none()) throw py::type_error("y_true must be an array, got None");
            const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
            const GroupCodes codes = codes_of_rows(groups, n_keys(), inputs.events().size());
            without_gil(inputs.n_values(), [&] {
                update_groups(parts_, inputs.events(), codes, rows_before, poll_signals,
                              [](State& part, const Events& events, Poll poll) {
                                  add_events(part, events, poll);
                              });
            });
        } else {
            GroupedAccumulators::update(y_true, y_proba, sample_weight, omit_missing, groups,
                                        rows_before);
        }
    }
    void update_runs(std::size_t first, const Starts& starts, const Seen& seen,
                     const py::tuple& arguments) override {
        if constexpr (of_events || of_rows) {
            GroupedAccumulators::update_runs(first, starts, seen, arguments);
        } else {
            const GroupStarts of_groups(starts.data(), starts.data() + starts.size());
            if (of_groups.empty() || of_groups.front() != 0 || !std::ranges::is_sorted(of_groups)) {
                throw py::index_error("starts of groups must begin with 0, and not fall");
            }
            parts_.grow_to(n_keys());
            const RowsSeen before(seen.data(), seen.data() + seen.size());
            parts_.add(parts_by_run(parts_.parameters(), of_groups, before, arguments), first);
        }
    }
    void update_rows(const Groups& groups, const py::tuple& arguments) override {
        if constexpr (of_rows) {
            parts_.add(parts_of_rows(parts_.parameters(), groups, n_keys(), arguments));
        } else {
            GroupedAccumulators::update_rows(groups, arguments);
        }
    }
    [[nodiscard]] const char* takes() const override {
        return of_events ? "events" : of_rows ? "rows" : "runs";
    }
    void append(const py::object& state) override { parts_.append(state.cast<const State&>()); }

protected:
    [[nodiscard]] std::unique_ptr<GroupedAccumulators> make_empty() const override {
        return std::make_unique<GroupsOf>(empty(), GroupedParts<State>(parts_.parameters()));
    }
    [[nodiscard]] std::unique_ptr<GroupedAccumulators> copy_groups() const override {
        return std::make_unique<GroupsOf>(empty(), GroupedParts<State>(parts_));
    }
    void merge_groups(GroupedAccumulators& batch, const Numbers& places) override {
        GroupedParts<State>& other = dynamic_cast<GroupsOf&>(batch).parts_;
        other.grow_to(places.size());  // of no rows
        const bool all_are_new = parts_.size() == 0 && std::ranges::count(places, npos) == 0;
        if (all_are_new) {
            parts_ = std::move(other);
            return;
        }
        without_gil(places.size() * groups_worth,
                    [&] { parts_.merge(other, places, poll_signals); });
    }
    void keep_groups(const Numbers& numbers) override { parts_.keep(numbers); }
    [[nodiscard]] Counts group_counts() const override { return sized(parts_.counts()); }
    [[nodiscard]] Counts group_omitted() const override { return sized(parts_.omitted()); }
    [[nodiscard]] py::object merged_groups(const Numbers& numbers) const override {
        return py::cast(
            without_gil(numbers.size() * groups_worth, [&] { return parts_.merged(numbers); }));
    }
    [[nodiscard]] std::optional<std::vector<double>> group_means(
        const std::string& score) const override {
        if constexpr (std::is_same_v<State, ScoreSums>) {
            if (const auto found = score_of(parts_.parameters(), score)) {
                return with_ieee_environment([&] { return means_of(parts_, *found); });
            }
        }
        return std::nullopt;
    }

private:
    [[nodiscard]] Counts sized(Counts counts) const {
        counts.resize(n_keys());  // a batch without rows has no groups
        return counts;
    }

    GroupedParts<State> parts_;
};

// Of any accumulator: the Python objects of its state.
class GroupsOfObjects : public GroupedAccumulators {
public:
    using GroupedAccumulators::GroupedAccumulators;

    [[nodiscard]] const char* takes() const override { return "states"; }
    void append(const py::object& state) override {
        (void)sum_of({nothing(), state});  // it rejects other parameters
        states_.push_back(state);
    }

protected:
    [[nodiscard]] std::unique_ptr<GroupedAccumulators> make_empty() const override {
        return std::make_unique<GroupsOfObjects>(empty());
    }
    [[nodiscard]] std::unique_ptr<GroupedAccumulators> copy_groups() const override {
        auto made = std::make_unique<GroupsOfObjects>(empty());
        for (const py::object& state : states_) made->states_.push_back(state.attr("copy")());
        return made;
    }
    void merge_groups(GroupedAccumulators& batch, const Numbers& places) override {
        const auto& theirs = dynamic_cast<GroupsOfObjects&>(batch).states_;
        std::vector<py::object> merged = states_;
        merged.resize(n_keys());
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (places[i] == npos) continue;
            py::object& mine = merged[places[i]];
            mine = mine ? sum_of({mine, theirs[i]}) : theirs[i];
        }
        states_ = std::move(merged);
    }
    void keep_groups(const Numbers& numbers) override {
        std::vector<py::object> kept;
        for (const std::size_t number : numbers) kept.push_back(states_[number]);
        states_ = std::move(kept);
    }
    [[nodiscard]] Counts group_counts() const override { return counts_of("n"); }
    [[nodiscard]] Counts group_omitted() const override { return counts_of("n_omitted"); }
    [[nodiscard]] py::object merged_groups(const Numbers& numbers) const override {
        std::vector<py::object> states = {nothing()};
        for (const std::size_t number : numbers) states.push_back(states_[number]);
        return sum_of(states);
    }

private:
    [[nodiscard]] py::object nothing() const { return empty().attr("_state"); }
    [[nodiscard]] static py::object sum_of(const std::vector<py::object>& states) {
        py::object sum = states.front().attr("copy")();
        for (std::size_t i = 1; i < states.size(); ++i) sum.attr("merge")(states[i]);
        return sum;
    }
    [[nodiscard]] Counts counts_of(const char* name) const {
        Counts counts;
        for (const py::object& state : states_) {
            counts.push_back(py::getattr(state, name, py::int_(0)).cast<std::uint64_t>());
        }
        return counts;
    }

    std::vector<py::object> states_;
};

template <class... States>
std::unique_ptr<GroupedAccumulators> groups_of_one_of(const py::object& empty) {
    std::unique_ptr<GroupedAccumulators> groups;
    const py::object state = empty.attr("_state");
    const auto try_one = [&]<class State>(const State*) {
        if (groups || !py::isinstance<State>(state)) return;
        groups = std::make_unique<GroupsOf<State>>(empty,
                                                   GroupedParts<State>(state.cast<const State&>()));
    };
    (try_one(static_cast<const States*>(nullptr)), ...);
    return groups ? std::move(groups) : std::make_unique<GroupsOfObjects>(empty);
}

}  // namespace

std::unique_ptr<GroupedAccumulators> grouped_accumulators(const py::object& empty) {
    return groups_of_one_of<ScoreSums, RiskProfile, Reliability, Spiegelhalter, Assessment,
                            ScoreTable, Scorecard, Intervals, PredictionSets, PairedScores, Ranks>(
        empty);
}

}  // namespace calibrant::bindings
