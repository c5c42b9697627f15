#include "calibrant/intervals/prediction_sets.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <vector>

#include "bindings/intervals/frequencies.hpp"
#include "bindings/register.hpp"
#include "bindings/rows/set_inputs.hpp"
#include "bindings/state/register_accumulator.hpp"
#include "calibrant/rows/check.hpp"

namespace calibrant::bindings {
namespace {

void check_level(const PredictionSets& self, std::size_t level) {
    if (level >= self.n_levels()) throw py::index_error("no such level");
}

}  // namespace

void register_prediction_sets(py::module_& m) {
    using namespace py::literals;
    register_accumulator<PredictionSets>(m, "PredictionSets", "Coverage of sets by their size.")
        .def(py::init<>())
        .def(
            "update",
            [](PredictionSets& self, const py::object& y_true, const std::string& form,
               const py::list& arrays, const py::object& sample_weight, const py::object& groups,
               bool omit_missing) {
                const SetInputs inputs(y_true, form, arrays, sample_weight, groups, omit_missing);
                const std::uint64_t rows_before = self.count() + self.omitted();
                update_aside(self, inputs.n_values(), [&](PredictionSets& batch) {
                    batch.update(inputs.rows(), rows_before, poll_signals);
                });
            },
            "y_true"_a, "form"_a, "arrays"_a, "sample_weight"_a, "groups"_a, "omit_missing"_a)
        .def_property_readonly("n_omitted", &PredictionSets::omitted)
        .def_property_readonly("n_levels", &PredictionSets::n_levels)
        .def("require_weight", &PredictionSets::require_weight)
        .def(
            "total",
            [](const PredictionSets& self, std::size_t level) {
                check_level(self, level);
                return self.total(level);
            },
            "level"_a)
        .def(
            "by_size",
            [](const PredictionSets& self, std::size_t level) {
                check_level(self, level);
                return self.by_size(level);
            },
            "level"_a)
        .def(
            "equal_count_groups",
            [](const PredictionSets& self, std::size_t level, std::size_t n_groups) {
                check_level(self, level);
                return with_ieee_environment(
                    [&] { return self.equal_count_groups(level, n_groups); });
            },
            "level"_a, "n_groups"_a)
        .def(
            "mean_size",
            [](const PredictionSets& self, std::size_t level) {
                check_level(self, level);
                return with_ieee_environment([&] { return self.mean_size(level); });
            },
            "level"_a);

    m.def(
        "set_coverage_by_group",
        [](const py::object& y_true, const std::string& form, const py::list& arrays,
           const py::object& sample_weight, const RowGroups& groups, bool omit_missing,
           std::size_t n_groups) {
            check_groups(groups, n_groups);
            const SetInputs inputs(y_true, form, arrays, sample_weight, groups, omit_missing);
            return without_gil(inputs.n_values(), [&] {
                return coverage_by_group(inputs.rows(), n_groups, poll_signals);
            });
        },
        "y_true"_a, "form"_a, "arrays"_a, "sample_weight"_a, "groups"_a.noconvert(),
        "omit_missing"_a, "n_groups"_a);
}

}  // namespace calibrant::bindings
