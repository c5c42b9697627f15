#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "bindings/register.hpp"
#include "bindings/rows/event_inputs.hpp"
#include "bindings/runtime/gil.hpp"
#include "calibrant/calibration/smooth.hpp"
#include "calibrant/rows/check.hpp"

namespace calibrant::bindings {

void register_smooth(py::module_& m) {
    using namespace py::literals;
    m.def(
        "smooth_calibration_error",
        [](const py::object& y_true, const py::object& y_proba, const py::object& sample_weight,
           bool omit_missing, bool on_logit_scale, std::optional<double> bandwidth) {
            const SmoothScale scale = on_logit_scale ? SmoothScale::logit : SmoothScale::unit;
            const double least = least_bandwidth(scale);
            if (bandwidth && !(*bandwidth >= least && *bandwidth <= 1.0)) {
                throw InvalidInput("bandwidth must lie in [" + number_text(least) + ", 1], got " +
                                   number_text(*bandwidth));
            }
            const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
            const Events& events = inputs.events();
            if (events.y_true == nullptr) throw py::type_error("y_true must be an array, got None");
            const ScoredRows rows = binary_or_top_label(events);
            return without_gil(inputs.n_values(), [&] {
                const SmoothResiduals residuals(rows, scale, poll_signals);
                return bandwidth ? residuals.error(*bandwidth) : residuals.error();
            });
        },
        "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a, "on_logit_scale"_a,
        "bandwidth"_a);
}

}  // namespace calibrant::bindings
