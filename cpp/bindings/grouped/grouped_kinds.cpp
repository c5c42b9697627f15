

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/grouped/grouped_accumulators.hpp"
#include "bindings/grouped/grouped_rows.hpp"
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
    GroupsOf(const py::object& empty, GroupedParts<State> parts)
        : GroupedAccumulators(empty), parts_(std::move(parts)) {}

    void update(const Groups& codes, const py::tuple& arguments, const GroupedAccumulators& before,
                std::uint64_t rows_before) override {
        const RowsOfUpdate<State> taken(arguments);
        const auto groups = codes_of_rows(codes, n_keys(), taken.size(), RowsOfUpdate<State>::name);
        Counts rows_of_groups;
        if constexpr (std::is_same_v<State, Ranks>) rows_of_groups = before.rows_of(keys());
        rows_of_groups.resize(groups.size + 1);
        without_gil(taken.n_values(), [&] {
            update_groups(
                parts_, taken.rows(), taken.size(), groups, rows_before, poll_signals,
                [&](State& state, const auto& rows, std::size_t group, std::uint64_t seen,
                    Poll poll) { taken.add(state, rows, rows_of_groups[group], seen, poll); });
        });
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

    [[nodiscard]] bool are_updated() const override { return false; }
    void update(const Groups&, const py::tuple&, const GroupedAccumulators&,
                std::uint64_t) override {
        throw py::type_error("these accumulators are updated one by one");
    }
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
