#include "calibrant/scorecard.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <string>
#include <tuple>
#include <vector>

#include "event_inputs.hpp"
#include "group_inputs.hpp"
#include "register.hpp"
#include "register_accumulator.hpp"

namespace calibrant::bindings {
namespace {

// (value, low, high, reason)
using Numbers = std::tuple<double, double, double, std::string>;

Numbers numbers_of(const Estimate& estimate) {
    return {estimate.value, estimate.low, estimate.high, estimate.reason};
}

// Reading takes some 400 replicates of every bin.
std::size_t work_of(const Scorecard& self) { return Scorecard::n_replicates * self.n_bins(); }

py::dict estimates(const Scorecard& self, double confidence_level, double normal_quantile) {
    const Scorecard card = self;  // another thread may update self meanwhile
    const auto found = run_unlocked(work_of(card), [&] {
        return card.estimates(confidence_level, normal_quantile, poll_signals);
    });
    py::dict result;
    for (const NamedEstimate& named : found) {
        result[named.name] = py::cast(numbers_of(named.estimate));
    }
    return result;
}

std::vector<Scorecard> by_group(const Scorecard& parameters, const py::object& y_true,
                                const py::object& y_proba, const py::object& sample_weight,
                                bool omit_missing, const Groups& groups, std::size_t n_groups) {
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const GroupCodes codes = group_codes(groups, n_groups, inputs.events().size());
    const GroupedRows rows{inputs.events(), codes.of_row, n_groups};
    return run_unlocked(inputs.n_values(),
                        [&] { return scorecards_by_group(parameters, rows, poll_signals); });
}

}  // namespace

void register_scorecard(py::module_& m) {
    using namespace py::literals;
    register_accumulator<Scorecard>(m, "Scorecard", "All headline numbers of the same rows.")
        .def(py::init<std::size_t, double>(), "n_bins"_a, "q_lim"_a)
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
        .def("by_group", &by_group, "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a,
             "groups"_a.noconvert(), "n_groups"_a)
        .def_property_readonly("n_bins", &Scorecard::n_bins)
        .def_property_readonly("q_lim", &Scorecard::q_lim)
        .def_property_readonly("n_omitted", &Scorecard::omitted)
        .def_property_readonly("columns", &Scorecard::columns)
        .def_property_readonly("has_weight",
                               [](const Scorecard& self) { return !self.weight().is_zero(); })
        .def("require_weight", &Scorecard::require_weight)
        .def("estimates", &estimates, "confidence_level"_a, "normal_quantile"_a)
        .def(
            "class_frequencies",
            [](const Scorecard& self, double normal_quantile) {
                const auto found =
                    run_standard([&] { return self.class_frequencies(normal_quantile); });
                std::vector<Numbers> result;
                for (const Estimate& estimate : found) result.push_back(numbers_of(estimate));
                return result;
            },
            "normal_quantile"_a);
}

}  // namespace calibrant::bindings
