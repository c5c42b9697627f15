// ROC curves as dictionaries of arrays.
#pragma once

#include <pybind11/numpy.h>

#include "bindings/rows/arrays.hpp"
#include "calibrant/roc/roc.hpp"

namespace calibrant::bindings {

[[nodiscard]] inline py::dict as_dict(const RocCurve& curve) {
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

}  // namespace calibrant::bindings
