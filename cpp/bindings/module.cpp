#include "register.hpp"
#include "unlocked.hpp"

#include <pybind11/pybind11.h>

namespace py = pybind11;

PYBIND11_MODULE(_core, m) {
    using namespace calibrant::bindings;
    m.doc() = "The compiled core of calibrant; use the functions of the package instead.";
    remember_main_thread();
    register_config(m);  // first: it refuses a wrong environment

    py::module_ testing = m.def_submodule("_testing", "For the tests of calibrant only.");
    register_testing(testing);
    register_inputs(testing);
}
