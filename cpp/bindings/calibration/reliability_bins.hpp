// Bins as Python shows them.
#pragma once

#include <pybind11/pybind11.h>

#include "calibrant/calibration/calibration.hpp"

namespace calibrant::bindings {

// (edges, counts, weights, hits, mean scores, frequencies, rows, omitted rows).
[[nodiscard]] pybind11::tuple reliability_bins(const Reliability& self);

}  // namespace calibrant::bindings
