#include "calibrant/roc/roc.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "bindings/register.hpp"
#include "bindings/rows/arrays.hpp"
#include "bindings/rows/event_inputs.hpp"
#include "bindings/rows/scored_inputs.hpp"
#include "bindings/runtime/critical_section.hpp"
#include "bindings/runtime/gil.hpp"

namespace calibrant::bindings {
namespace {

py::dict as_dict(const RocCurve& curve) {
    using namespace py::literals;
    return py::dict("false_positive_rates"_a = as_array(curve.actual.false_positive),
                    "true_positive_rates"_a = as_array(curve.actual.true_positive),
                    "thresholds"_a = as_array(curve.thresholds), "auc"_a = curve.area,
                    "auc_standard_error"_a = curve.standard_error,
                    "predicted_false_positive_rates"_a = as_array(curve.predicted.false_positive),
                    "predicted_true_positive_rates"_a = as_array(curve.predicted.true_positive),
                    "predicted_auc"_a = curve.predicted_area, "n"_a = curve.n,
                    "n_omitted"_a = curve.omitted);
}

}  // namespace

void register_roc(py::module_& m) {
    using namespace py::literals;
    m.def(
        "roc_auc",
        [](const py::object& y_true, const py::object& y_proba, const py::object& sample_weight,
           bool omit_missing, std::int64_t scoring) {
            const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
            const ScoredRows rows = scored(inputs, scoring);
            const RocArea area =
                without_gil(inputs.n_values(), [&] { return roc_auc(rows, poll_signals); });
            return py::make_tuple(area.area, area.hits);
        },
        "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a, "scoring"_a);
    m.def(
        "roc_curve",
        [](const py::object& y_true, const py::object& y_proba, const py::object& sample_weight,
           bool omit_missing, std::int64_t scoring, std::optional<std::size_t> max_points) {
            const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
            const ScoredRows rows = scored(inputs, scoring);
            return as_dict(without_gil(inputs.n_values(), [&] {
                return roc_curve(rows, max_points.value_or(npos), poll_signals);
            }));
        },
        "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a, "scoring"_a, "max_points"_a);
    m.def("table_roc_curve",
          locked([](const ScoreTable& table, std::optional<std::size_t> max_points) {
              return as_dict(with_ieee_environment(
                  [&] { return roc_curve(table, max_points.value_or(npos)); }));
          }),
          "table"_a, "max_points"_a);
    m.def(
        "accuracy_rejection_auc",
        [](const py::object& y_true, const py::object& y_proba, const py::object& sample_weight,
           bool omit_missing) {
            const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
            ScoredRows rows = scored(inputs, scoring_either);
            rows.scoring = Scoring::top_label;
            return without_gil(inputs.n_values(),
                               [&] { return accuracy_rejection_auc(rows, poll_signals); });
        },
        "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a);
}

}  // namespace calibrant::bindings
