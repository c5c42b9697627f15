#include "calibrant/intervals/intervals.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <tuple>
#include <vector>

#include "bindings/intervals/frequencies.hpp"
#include "bindings/register.hpp"
#include "bindings/rows/interval_inputs.hpp"
#include "bindings/state/register_accumulator.hpp"
#include "calibrant/rows/check.hpp"

namespace calibrant::bindings {
namespace {

// (lower, upper, is_pair), as _interval_bounds.py makes them.
using BoundColumns = std::tuple<py::object, py::object, bool>;

IntervalInputs inputs_of(const py::object& y_true, const BoundColumns& bounds,
                         const py::object& sample_weight, bool omit_missing, bool swap_crossed) {
    const auto& [lower, upper, is_pair] = bounds;
    return {y_true, lower, upper, is_pair, sample_weight, omit_missing, swap_crossed};
}

void update_intervals(Intervals& self, const py::object& y_true, const BoundColumns& bounds,
                      const py::object& sample_weight, bool omit_missing, bool swap_crossed) {
    const IntervalInputs inputs =
        inputs_of(y_true, bounds, sample_weight, omit_missing, swap_crossed);
    const std::uint64_t rows_before = self.count() + self.omitted();
    update_aside(self, inputs.n_values(),
                 [&](Intervals& batch) { batch.update(inputs.rows(), rows_before, poll_signals); });
}

// One list of groups per level.
std::vector<std::vector<Stratum>> strata_by_width(const py::object& y_true,
                                                  const BoundColumns& bounds,
                                                  const py::object& sample_weight,
                                                  bool omit_missing, bool swap_crossed,
                                                  std::size_t n_groups) {
    const IntervalInputs inputs =
        inputs_of(y_true, bounds, sample_weight, omit_missing, swap_crossed);
    return without_gil(inputs.n_values(),
                       [&] { return coverage_by_width(inputs.rows(), n_groups, poll_signals); });
}

std::vector<std::vector<Stratum>> strata_by_group(const py::object& y_true,
                                                  const BoundColumns& bounds,
                                                  const py::object& sample_weight,
                                                  bool omit_missing, bool swap_crossed,
                                                  const RowGroups& groups, std::size_t n_groups) {
    IntervalInputs inputs = inputs_of(y_true, bounds, sample_weight, omit_missing, swap_crossed);
    check_groups(groups, n_groups);
    inputs.set_groups(groups.data(), static_cast<std::size_t>(groups.size()));
    return without_gil(inputs.n_values(),
                       [&] { return coverage_by_group(inputs.rows(), n_groups, poll_signals); });
}

const Intervals::Level& level_of(const Intervals& self, std::size_t level) {
    if (level >= self.levels().size()) throw py::index_error("no such level");
    return self.levels()[level];
}

}  // namespace

void register_intervals(py::module_& m) {
    using namespace py::literals;
    py::class_<Stratum>(m, "Stratum", "A group of rows: its sizes, weight and covered weight.")
        .def_readonly("least", &Stratum::least)
        .def_readonly("largest", &Stratum::largest)
        .def_property_readonly(
            "weight",
            [](const Stratum& self) {
                return with_ieee_environment([&] { return self.weight.to_double(); });
            })
        .def(
            "merge", [](Stratum& self, const Stratum& other) { self.merge(Stratum(other)); },
            "other"_a)
        .def(
            "coverage",
            [](const Stratum& self, bool exact, double tail, double normal_quantile) {
                return frequency_of(self.covered, self.weight, exact, tail, normal_quantile);
            },
            "exact"_a, "tail"_a, "normal_quantile"_a);

    register_accumulator<Intervals>(m, "Intervals", "Sums of prediction intervals by level.")
        .def(py::init<std::vector<double>, std::vector<double>>(), "confidence_levels"_a,
             "width_edges"_a)
        .def("update", &update_intervals, "y_true"_a, "bounds"_a, "sample_weight"_a,
             "omit_missing"_a, "swap_crossed"_a)
        .def_property_readonly("n_omitted", &Intervals::omitted)
        .def_property_readonly("confidence_levels", &Intervals::confidence_levels)
        .def_property_readonly("width_edges", &Intervals::width_edges)
        .def_property_readonly("n_levels",
                               [](const Intervals& self) { return self.levels().size(); })
        .def_property_readonly(
            "weight",
            [](const Intervals& self) {
                return with_ieee_environment([&] { return self.weight().to_double(); });
            })
        .def_property_readonly("least_y", &Intervals::least_y)
        .def_property_readonly("largest_y", &Intervals::largest_y)
        .def("require_weight", &Intervals::require_weight)
        .def(
            "coverage",
            [](const Intervals& self, std::size_t level, bool exact, double tail,
               double normal_quantile) {
                (void)level_of(self, level);
                return frequency_of(self.covered(level), self.weight(), exact, tail,
                                    normal_quantile);
            },
            "level"_a, "exact"_a, "tail"_a, "normal_quantile"_a)
        .def(
            "coverage_test",  // (p-value, the least that there is)
            [](const Intervals& self, std::size_t level, double rate) {
                (void)level_of(self, level);
                self.require_weight();
                const FrequencyTest found = with_ieee_environment(
                    [&] { return frequency_test(self.covered(level), self.weight(), rate); });
                return py::make_tuple(found.pvalue, found.least_pvalue);
            },
            "level"_a, "rate"_a)
        .def(
            "outside",
            [](const Intervals& self, std::size_t level, bool exact, double tail,
               double normal_quantile) {
                const Intervals::Level& sums = level_of(self, level);
                const auto of = [&](const ExactSum& part) {
                    return frequency_of(part, self.weight(), exact, tail, normal_quantile);
                };
                return std::pair{of(sums.below), of(sums.above)};
            },
            "level"_a, "exact"_a, "tail"_a, "normal_quantile"_a)
        .def(
            "mean_width",
            [](const Intervals& self, std::size_t level) {
                (void)level_of(self, level);
                return with_ieee_environment([&] { return self.mean_width(level); });
            },
            "level"_a)
        .def(
            "width_range",
            [](const Intervals& self, std::size_t level) {
                const Intervals::Level& sums = level_of(self, level);
                return std::pair{sums.least_width, sums.largest_width};
            },
            "level"_a)
        .def(
            "score",
            [](const Intervals& self, std::size_t level, double confidence_level) {
                (void)level_of(self, level);
                return with_ieee_environment([&] { return self.score(level, confidence_level); });
            },
            "level"_a, "confidence_level"_a)
        .def(
            "criterion",
            [](const Intervals& self, std::size_t level, double confidence_level, double eta) {
                (void)level_of(self, level);
                return with_ieee_environment(
                    [&] { return self.criterion(level, confidence_level, eta); });
            },
            "level"_a, "confidence_level"_a, "eta"_a)
        .def(
            "by_width",
            [](const Intervals& self, std::size_t level) { return level_of(self, level).by_width; },
            "level"_a);

    m.def("coverage_by_width", &strata_by_width, "y_true"_a, "bounds"_a, "sample_weight"_a,
          "omit_missing"_a, "swap_crossed"_a, "n_groups"_a);
    m.def("coverage_by_group", &strata_by_group, "y_true"_a, "bounds"_a, "sample_weight"_a,
          "omit_missing"_a, "swap_crossed"_a, "groups"_a.noconvert(), "n_groups"_a);
}

}  // namespace calibrant::bindings
