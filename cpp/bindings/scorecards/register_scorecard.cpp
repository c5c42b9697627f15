#include "calibrant/scorecards/scorecard.hpp"

#include <pybind11/numpy.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bindings/calibration/reliability_bins.hpp"
#include "bindings/partition/group_inputs.hpp"
#include "bindings/register.hpp"
#include "bindings/rows/event_inputs.hpp"
#include "bindings/state/register_accumulator.hpp"
#include "ordering/grouped_scores.hpp"

namespace calibrant::bindings {
namespace {

py::object number_or_none(double x) {
    return std::isnan(x) ? py::object(py::none()) : py::object(py::float_(x));
}

// (value, low, high, method, reason)
py::tuple tuple_of(const Estimate& of) {
    return py::make_tuple(number_or_none(of.value), number_or_none(of.low), number_or_none(of.high),
                          of.method, of.reason);
}

// (rows by name, class frequencies, bins or None, n, omitted, columns)
py::tuple tuple_of(const Scorecard& card, const ScorecardResult& result) {
    const py::dict rows;
    for (const NamedEstimate& named : result.rows) rows[named.name] = tuple_of(named.estimate);
    py::list frequencies;
    for (const Estimate& estimate : result.class_frequencies) {
        frequencies.append(tuple_of(estimate));
    }
    py::object bins = py::none();
    if (!card.weight().is_zero()) bins = reliability_bins(card.reliability());
    return py::make_tuple(rows, frequencies, bins, card.count(), card.omitted(), card.columns());
}

py::tuple result_of(const Scorecard& self, double confidence_level) {
    // Another thread may update self meanwhile.
    const Scorecard card = self;  // NOLINT(performance-unnecessary-copy-initialization)
    const std::size_t work = Scorecard::n_replicates * card.n_bins();
    const ScorecardResult result =
        without_gil(work, [&] { return card.result(confidence_level, poll_signals); });
    return tuple_of(card, result);
}

Scorecard without_rows(std::size_t n_bins, double q_lim) {
    return with_ieee_environment([&] { return Scorecard(n_bins, q_lim, false); });
}

py::tuple result_of_rows(const py::object& y_true, const py::object& y_proba,
                         const py::object& sample_weight, bool omit_missing, std::size_t n_bins,
                         double q_lim, double confidence_level) {
    const Scorecard parameters = without_rows(n_bins, q_lim);
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const ScorecardOfRows found = without_gil(inputs.n_values(), [&] {
        return scorecard_of_rows(parameters, inputs.events(), confidence_level, poll_signals);
    });
    return tuple_of(found.card, found.result);
}

// Of each group, and last of all.
py::list results_by_group(const py::object& y_true, const py::object& y_proba,
                          const py::object& sample_weight, bool omit_missing, const Groups& groups,
                          std::size_t n_groups, std::size_t n_bins, double q_lim,
                          double confidence_level) {
    const Scorecard parameters = without_rows(n_bins, q_lim);
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const GroupCodes codes = codes_of_rows(groups, n_groups, inputs.events().size());
    const std::vector<ScorecardOfRows> found = without_gil(inputs.n_values(), [&] {
        return scorecards_by_group(parameters, {inputs.events(), codes.of_row, n_groups},
                                   confidence_level, poll_signals);
    });
    py::list results;
    for (const ScorecardOfRows& of : found) results.append(tuple_of(of.card, of.result));
    return results;
}

}  // namespace

void register_scorecard(py::module_& m) {
    using namespace py::literals;
    register_accumulator<Scorecard>(m, "Scorecard", "All headline numbers of the same rows.")
        .def(py::init([](std::size_t n_bins, double q_lim) {
                 return with_ieee_environment([&] { return Scorecard(n_bins, q_lim, true); });
             }),
             "n_bins"_a, "q_lim"_a)
        .def(
            "update",
            [](Scorecard& self, const py::object& y_true, const py::object& y_proba,
               const py::object& sample_weight, bool omit_missing) {
                if (y_true.is_none()) throw py::type_error("y_true must be an array, got None");
                const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
                const std::uint64_t rows_before = self.count() + self.omitted();
                update_aside(self, inputs.n_values(), [&](Scorecard& batch) {
                    batch.update(inputs.events(), rows_before, poll_signals);
                });
            },
            "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a)
        .def_property_readonly("n_bins", &Scorecard::n_bins)
        .def_property_readonly("q_lim", &Scorecard::q_lim)
        .def_property_readonly("n_omitted", &Scorecard::omitted)
        .def_property_readonly("columns", &Scorecard::columns)
        .def("require_weight", &Scorecard::require_weight)
        .def_property_readonly("has_table",
                               [](const Scorecard& self) { return self.table().has_value(); })
        .def("table", [](const Scorecard& self) { return self.table().value(); })
        .def("result", &result_of, "confidence_level"_a);
    m.def("scorecard", &result_of_rows, "y_true"_a, "y_proba"_a, "sample_weight"_a,
          "omit_missing"_a, "n_bins"_a, "q_lim"_a, "confidence_level"_a);
    m.def("scorecards_by_group", &results_by_group, "y_true"_a, "y_proba"_a, "sample_weight"_a,
          "omit_missing"_a, "groups"_a.noconvert(), "n_groups"_a, "n_bins"_a, "q_lim"_a,
          "confidence_level"_a);
}

}  // namespace calibrant::bindings
