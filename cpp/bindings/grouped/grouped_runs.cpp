#include "bindings/grouped/grouped_runs.hpp"

#include <pybind11/stl.h>

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>

#include "bindings/rows/draw_inputs.hpp"
#include "bindings/rows/event_inputs.hpp"
#include "bindings/rows/interval_inputs.hpp"
#include "bindings/rows/set_inputs.hpp"
#include "bindings/runtime/gil.hpp"
#include "intervals/intervals_by_group.hpp"
#include "partition/group_runs.hpp"
#include "partition/partitioned_events.hpp"

namespace calibrant::bindings {
namespace {

void require_rows(const GroupStarts& starts, std::size_t rows) {
    if (starts.empty() || starts.back() != rows) throw py::index_error("no such rows");
}

template <class State, class View, class Add>
PartsOfGroups<State> run(const State& empty, const GroupStarts& starts, std::size_t n_values,
                         const View& view, const Add& add) {
    return without_gil(n_values, [&] {
        return parts_of_runs(empty, starts, view, poll_signals,
                             [&](State& part, std::size_t group, View& of_thread, Poll poll) {
                                 const std::size_t begin = starts[group];
                                 add(part, group, begin, starts[group + 1] - begin, of_thread,
                                     poll);
                             });
    });
}

}  // namespace

PartsOfGroups<Intervals> parts_of_rows(const Intervals& empty, const Groups& groups,
                                       std::size_t n_groups, const py::tuple& arguments) {
    using Bounds = std::tuple<py::object, py::object, bool>;
    const auto [y_true, bounds, sample_weight, omit_missing, swap_crossed] =
        arguments.cast<std::tuple<py::object, Bounds, py::object, bool, bool>>();
    const auto& [lower, upper, is_pair] = bounds;
    const IntervalInputs inputs(y_true, lower, upper, is_pair, sample_weight, omit_missing,
                                swap_crossed);
    const auto codes = codes_of_rows(groups, n_groups, inputs.rows().size(), "y_true");
    return without_gil(inputs.n_values(),
                       [&] { return parts_by_group(empty, inputs.rows(), codes, poll_signals); });
}

PartsOfGroups<PredictionSets> parts_by_run(const PredictionSets& empty, const GroupStarts& starts,
                                           const RowsSeen&, const py::tuple& arguments) {
    const auto [y_true, form, arrays, sample_weight, left_out, omit_missing] =
        arguments
            .cast<std::tuple<py::object, std::string, py::list, py::object, py::object, bool>>();
    const SetInputs inputs(y_true, form, arrays, sample_weight, left_out, omit_missing);
    const SetRows& all = inputs.rows();
    require_rows(starts, all.size);
    return without_gil(inputs.n_values(),
                       [&] { return parts_by_group(empty, all, starts, poll_signals); });
}

PartsOfGroups<PairedScores> parts_by_run(const PairedScores& empty, const GroupStarts& starts,
                                         const RowsSeen&, const py::tuple& arguments) {
    const auto [y_true, first, second, sample_weight, omit_missing, first_name, second_name] =
        arguments.cast<std::tuple<py::object, py::object, py::object, py::object, bool, std::string,
                                  std::string>>();
    const EventInputs one(y_true, first, sample_weight, omit_missing, first_name.c_str());
    const EventInputs other(y_true, second, sample_weight, omit_missing, second_name.c_str());
    require_rows(starts, one.events().size());
    using View = std::pair<EventView, EventView>;
    return run(empty, starts, one.n_values(),
               View(EventView(one.events()), EventView(other.events())),
               [&](PairedScores& part, std::size_t, std::size_t begin, std::size_t n, View& of,
                   Poll poll) {
                   part.update(PairedRows{of.first.at(begin, n), of.second.at(begin, n)}, 0, poll);
               });
}

PartsOfGroups<Ranks> parts_by_run(const Ranks& empty, const GroupStarts& starts,
                                  const RowsSeen& seen, const py::tuple& arguments) {
    const auto [draws, truth, first_pair, omit_missing] =
        arguments.cast<std::tuple<py::object, py::object, std::optional<std::uint64_t>, bool>>();
    const DrawInputs inputs(draws, truth, py::none(), omit_missing);
    const DrawRows& all = inputs.rows();
    require_rows(starts, all.size());
    if (seen.size() + 1 != starts.size()) throw py::index_error("one number for each group");
    return run(empty, starts, inputs.n_values(), all,
               [&, first = first_pair](Ranks& part, std::size_t group, std::size_t begin,
                                       std::size_t n, DrawRows& of, Poll poll) {
                   of.draws = stretch_of(all.draws, begin, n);
                   of.truth = stretch_of(all.truth, begin, n);
                   part.update(of, first.value_or(seen[group]), poll);
               });
}

}  // namespace calibrant::bindings
