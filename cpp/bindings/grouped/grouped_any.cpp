#include "bindings/grouped/grouped_any.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/grouped/grouped_runs.hpp"
#include "bindings/rows/event_inputs.hpp"
#include "bindings/runtime/gil.hpp"
#include "grouped/add_events.hpp"
#include "grouped/grouped_events.hpp"
#include "ordering/grouped_scores.hpp"
#include "partition/group_runs.hpp"

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

template <class State>
class PartsOf : public AnyParts {
public:
    static constexpr bool of_events =
        requires(State state, const Events& events) { add_events(state, events, nullptr); };
    static constexpr bool of_rows =
        requires(const State& state, const Groups& groups, const py::tuple& arguments) {
            parts_of_rows(state, groups, 0, arguments);
        };

    explicit PartsOf(GroupedParts<State> parts) : parts_(std::move(parts)) {}

    void update(const py::object& y_true, const py::object& y_proba,
                const py::object& sample_weight, bool omit_missing, const Groups& groups,
                std::size_t n_groups, std::uint64_t rows_before) override {
        if constexpr (of_events) {
            if (y_true.is_none()) throw py::type_error("y_true must be an array, got None");
            const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
            const GroupCodes codes = codes_of_rows(groups, n_groups, inputs.events().size());
            without_gil(inputs.n_values(), [&] {
                update_groups(parts_, inputs.events(), codes, rows_before, poll_signals,
                              [](State& part, const Events& events, Poll poll) {
                                  add_events(part, events, poll);
                              });
            });
        } else {
            throw py::type_error("these accumulators take no events");
        }
    }

    void update_runs(std::size_t first, const Places& starts, const Seen& seen,
                     const py::tuple& arguments) override {
        if constexpr (of_events || of_rows) {
            throw py::type_error("these accumulators take no runs");
        } else {
            const GroupStarts of_groups(starts.data(), starts.data() + starts.size());
            if (of_groups.empty() || of_groups.front() != 0 || !std::ranges::is_sorted(of_groups)) {
                throw py::index_error("starts of groups must begin with 0, and not fall");
            }
            const RowsSeen before(seen.data(), seen.data() + seen.size());
            parts_.add(parts_by_run(parts_.parameters(), of_groups, before, arguments), first);
        }
    }
    void update_rows(const Groups& groups, std::size_t n_groups,
                     const py::tuple& arguments) override {
        if constexpr (of_rows) {
            parts_.add(parts_of_rows(parts_.parameters(), groups, n_groups, arguments));
        } else {
            throw py::type_error("these accumulators take events or runs");
        }
    }
    [[nodiscard]] const char* takes() const override {
        return of_events ? "events" : of_rows ? "rows" : "runs";
    }
    void grow_to(std::size_t n_groups) override { parts_.grow_to(n_groups); }

    void merge(const AnyParts& other, const Places& places, const py::object& totals) override {
        const auto* const alike = dynamic_cast<const PartsOf*>(&other);
        if (alike == nullptr) throw py::type_error("cannot merge groups of another kind");
        const std::vector<std::size_t> to(places.data(), places.data() + places.size());
        without_gil(to.size() * groups_worth,
                    [&] { parts_.merge(alike->parts_, to, poll_signals); });
        totals_ = totals;
    }
    void append(const py::object& group) override { parts_.append(group.cast<const State&>()); }
    [[nodiscard]] std::unique_ptr<AnyParts> empty() const override {
        return std::make_unique<PartsOf>(GroupedParts<State>(parts_.parameters()));
    }
    [[nodiscard]] std::unique_ptr<AnyParts> copy() const override {
        auto copied = std::make_unique<PartsOf>(GroupedParts<State>(parts_));
        copied->totals_ = totals_;
        return copied;
    }
    [[nodiscard]] py::object group(std::size_t index) const override {
        if (index >= parts_.size()) throw py::index_error("no such group");
        return py::cast(with_ieee_environment([&] { return parts_.group(index); }));
    }
    [[nodiscard]] py::object means(const std::string& score) const override {
        if constexpr (std::is_same_v<State, ScoreSums>) {
            if (const auto found = score_of(parts_.parameters(), score)) {
                return with_ieee_environment([&] { return array_of(means_of(parts_, *found)); });
            }
        }
        return py::none();
    }
    [[nodiscard]] py::array_t<std::uint64_t> counts() const override {
        return array_of(parts_.counts());
    }
    [[nodiscard]] py::array_t<std::uint64_t> omitted() const override {
        return array_of(parts_.omitted());
    }
    [[nodiscard]] std::size_t size() const override { return parts_.size(); }

private:
    GroupedParts<State> parts_;
};

template <class... States>
std::unique_ptr<AnyParts> parts_of_one_of(const py::object& parameters) {
    std::unique_ptr<AnyParts> parts;
    const auto try_one = [&]<class State>(const State*) {
        if (parts || !py::isinstance<State>(parameters)) return;
        parts =
            std::make_unique<PartsOf<State>>(GroupedParts<State>(parameters.cast<const State&>()));
    };
    (try_one(static_cast<const States*>(nullptr)), ...);
    return parts;
}

}  // namespace

std::unique_ptr<AnyParts> grouped_parts(const py::object& parameters) {
    return parts_of_one_of<ScoreSums, RiskProfile, Reliability, Spiegelhalter, Assessment,
                           ScoreTable, Scorecard, Intervals, PredictionSets, PairedScores, Ranks>(
        parameters);
}

}  // namespace calibrant::bindings
