#include <pybind11/pybind11.h>

#include "calibrant/version.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_core, m) {
    m.doc() = "The compiled core of calibrant; use the functions of the package instead.";
    m.attr("__version__") = calibrant::version();
}
