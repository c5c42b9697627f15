#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "bindings/register.hpp"
#include "bindings/rows/interval_inputs.hpp"
#include "bindings/state/register_accumulator.hpp"
#include "calibrant/intervals/coverage_hsic.hpp"
#include "calibrant/rows/check.hpp"

namespace calibrant::bindings {
namespace {

HsicEstimator estimator_from(const std::string& name) {
    if (name == "biased") return HsicEstimator::biased;
    if (name == "gretton") return HsicEstimator::gretton;
    if (name == "unbiased") return HsicEstimator::unbiased;
    throw InvalidInput("estimator must be 'biased', 'gretton' or 'unbiased', got '" + name + "'");
}

// Per level (hsic, covered, least width, most width).
py::list as_list(const std::vector<CoverageHsicValue>& values) {
    py::list list;
    for (const CoverageHsicValue& value : values) {
        list.append(py::make_tuple(value.hsic, value.covered, value.least_width, value.most_width));
    }
    return list;
}

}  // namespace

void register_coverage_hsic(py::module_& m) {
    using namespace py::literals;
    m.def(
        "coverage_hsic",
        [](const py::object& y_true, const py::object& lower, const py::object& upper, bool is_pair,
           bool omit_missing, bool swap_crossed, double width_bandwidth, double coverage_bandwidth,
           const std::string& estimator) {
            const HsicEstimator kind = estimator_from(estimator);
            const IntervalInputs inputs(y_true, lower, upper, is_pair, py::none(), omit_missing,
                                        swap_crossed);
            CoverageHsicValues values{};
            without_gil(inputs.n_values(), [&] {
                values = coverage_hsic(inputs.rows(), {width_bandwidth, coverage_bandwidth}, kind,
                                       poll_signals);
            });
            return py::make_tuple(as_list(values.levels), values.n, values.omitted,
                                  inputs.rows().has_levels);
        },
        "y_true"_a, "lower"_a, "upper"_a, "is_pair"_a, "omit_missing"_a, "swap_crossed"_a,
        "width_bandwidth"_a, "coverage_bandwidth"_a, "estimator"_a,
        "Values a level, n, n_omitted, and whether there is an axis of levels.");

    register_accumulator<CoverageHsic>(m, "CoverageHSIC",
                                       "Widths in boxes, covered and uncovered ones apart.")
        .def(py::init([](double width, double coverage, std::uint64_t max_boxes) {
                 return with_ieee_environment(
                     [&] { return CoverageHsic({width, coverage}, max_boxes); });
             }),
             "width_bandwidth"_a, "coverage_bandwidth"_a, "max_boxes"_a)
        .def(
            "update",
            [](CoverageHsic& self, const py::object& y_true, const py::object& lower,
               const py::object& upper, bool is_pair, bool omit_missing, bool swap_crossed) {
                const IntervalInputs inputs(y_true, lower, upper, is_pair, py::none(), omit_missing,
                                            swap_crossed);
                const std::uint64_t before = self.count() + self.omitted();
                update_aside(self, inputs.n_values(), [&](CoverageHsic& batch) {
                    batch.update(inputs.rows(), before, poll_signals);
                });
            },
            "y_true"_a, "lower"_a, "upper"_a, "is_pair"_a, "omit_missing"_a, "swap_crossed"_a,
            "Add one batch of rows.")
        .def(
            "values",
            [](const CoverageHsic& self, const std::string& estimator) {
                const HsicEstimator kind = estimator_from(estimator);
                return as_list(with_ieee_environment([&] { return self.values(kind); }));
            },
            "estimator"_a, "Per level: hsic, covered rows, least and most width.")
        .def_property_readonly(
            "bandwidths",
            [](const CoverageHsic& self) {
                return py::make_tuple(self.bandwidths().width, self.bandwidths().coverage);
            },
            "Of widths and of coverage.")
        .def_property_readonly("max_boxes", &CoverageHsic::max_boxes, "The most boxes it may have.")
        .def_property_readonly("n_boxes", &CoverageHsic::n_boxes, "Boxes with rows.")
        .def_property_readonly("n_levels", &CoverageHsic::n_levels, "0 before the first rows.")
        .def_property_readonly("n_omitted", &CoverageHsic::omitted,
                               "Rows dropped because a value was missing.");
}

}  // namespace calibrant::bindings
