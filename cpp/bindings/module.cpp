#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace calibrant::bindings {
void register_inputs(py::module_& core);
}

PYBIND11_MODULE(_core, m) {
    m.doc() = "The compiled core of calibrant; use the functions of the package instead.";
    calibrant::bindings::register_inputs(m);
}
