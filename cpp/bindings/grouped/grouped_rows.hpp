// The rows that accumulators of groups take: how the arguments of an update become rows, which the
// arguments must outlive.
#pragma once

#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "bindings/rows/draw_inputs.hpp"
#include "bindings/rows/event_inputs.hpp"
#include "bindings/rows/interval_inputs.hpp"
#include "bindings/rows/set_inputs.hpp"
#include "calibrant/intervals/intervals.hpp"
#include "calibrant/intervals/prediction_sets.hpp"
#include "calibrant/ranks/ranks.hpp"
#include "calibrant/scores/comparison.hpp"
#include "grouped/add_events.hpp"

namespace calibrant::bindings {

// Of accumulators of events. The first four arguments; others say what the accumulator knows.
template <class State>
class RowsOfUpdate {
public:
    static constexpr const char* name = "y_proba";  // for messages
    explicit RowsOfUpdate(const py::tuple& arguments)
        : inputs_(outcomes(arguments[0]), arguments[1], arguments[2], arguments[3].cast<bool>()) {}
    [[nodiscard]] const Events& rows() const { return inputs_.events(); }
    [[nodiscard]] std::size_t size() const { return rows().size(); }
    [[nodiscard]] std::size_t n_values() const { return inputs_.n_values(); }
    void add(State& state, const Events& rows, std::uint64_t, std::uint64_t rows_before,
             Poll poll) const {
        add_events(state, rows, rows_before, poll);
    }

private:
    static py::object outcomes(const py::object& y_true) {
        if (y_true.is_none()) throw py::type_error("y_true must be an array, got None");
        return y_true;
    }
    EventInputs inputs_;
};

template <>
class RowsOfUpdate<Intervals> {
public:
    static constexpr const char* name = "y_true";
    explicit RowsOfUpdate(const py::tuple& arguments) : inputs_(read(arguments)) {}
    [[nodiscard]] const IntervalRows& rows() const { return inputs_.rows(); }
    [[nodiscard]] std::size_t size() const { return rows().size(); }
    [[nodiscard]] std::size_t n_values() const { return inputs_.n_values(); }
    void add(Intervals& state, const IntervalRows& rows, std::uint64_t, std::uint64_t,
             Poll poll) const {
        state.update(rows, 0, poll);
    }

private:
    static IntervalInputs read(const py::tuple& arguments) {
        using Bounds = std::tuple<py::object, py::object, bool>;
        const auto [lower, upper, is_pair] = arguments[1].cast<Bounds>();
        return {arguments[0],
                lower,
                upper,
                is_pair,
                arguments[2],
                arguments[3].cast<bool>(),
                arguments[4].cast<bool>()};
    }
    IntervalInputs inputs_;
};

template <>
class RowsOfUpdate<PredictionSets> {
public:
    static constexpr const char* name = "y_true";
    explicit RowsOfUpdate(const py::tuple& arguments)
        : inputs_(arguments[0], arguments[1].cast<std::string>(), arguments[2], arguments[3],
                  arguments[4], arguments[5].cast<bool>()) {}
    [[nodiscard]] const SetRows& rows() const { return inputs_.rows(); }
    [[nodiscard]] std::size_t size() const { return rows().size; }
    [[nodiscard]] std::size_t n_values() const { return inputs_.n_values(); }
    void add(PredictionSets& state, const SetRows& rows, std::uint64_t, std::uint64_t,
             Poll poll) const {
        state.update(rows, 0, poll);
    }

private:
    SetInputs inputs_;
};

template <>
class RowsOfUpdate<PairedScores> {
public:
    static constexpr const char* name = "y_true";
    explicit RowsOfUpdate(const py::tuple& arguments)
        : first_name_(arguments[5].cast<std::string>()),
          second_name_(arguments[6].cast<std::string>()),
          first_(arguments[0], arguments[1], arguments[3], arguments[4].cast<bool>(),
                 first_name_.c_str()),
          second_(arguments[0], arguments[2], arguments[3], arguments[4].cast<bool>(),
                  second_name_.c_str()),
          rows_{first_.events(), second_.events()} {}
    [[nodiscard]] const PairedRows& rows() const { return rows_; }
    [[nodiscard]] std::size_t size() const { return first_.events().size(); }
    [[nodiscard]] std::size_t n_values() const { return 2 * first_.n_values(); }
    void add(PairedScores& state, const PairedRows& rows, std::uint64_t, std::uint64_t,
             Poll poll) const {
        state.update(rows, 0, poll);
    }

private:
    std::string first_name_, second_name_;
    EventInputs first_, second_;
    PairedRows rows_;
};

// Ties are broken by the number of the pair, in its group or as it was given.
template <>
class RowsOfUpdate<Ranks> {
public:
    static constexpr const char* name = "draws";
    explicit RowsOfUpdate(const py::tuple& arguments)
        : first_pair_(arguments[2].cast<std::optional<std::uint64_t>>()),
          inputs_(arguments[0], arguments[1], py::none(), arguments[3].cast<bool>()) {}
    [[nodiscard]] const DrawRows& rows() const { return inputs_.rows(); }
    [[nodiscard]] std::size_t size() const { return rows().size(); }
    [[nodiscard]] std::size_t n_values() const { return inputs_.n_values(); }
    void add(Ranks& state, const DrawRows& rows, std::uint64_t rows_of_group, std::uint64_t,
             Poll poll) const {
        state.update(rows, first_pair_.value_or(rows_of_group), poll);
    }

private:
    std::optional<std::uint64_t> first_pair_;
    DrawInputs inputs_;
};

}  // namespace calibrant::bindings
