#include "calibrant/roc/roc.hpp"

#include <pybind11/stl.h>

#include <cstdint>
#include <optional>

#include "bindings/register.hpp"
#include "bindings/roc/roc_curves.hpp"
#include "bindings/rows/event_inputs.hpp"
#include "bindings/rows/scored_inputs.hpp"
#include "bindings/runtime/gil.hpp"

namespace calibrant::bindings {
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
