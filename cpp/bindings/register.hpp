// One line per concept: what module.cpp calls.
#pragma once

#include <pybind11/pybind11.h>

namespace calibrant::bindings {

void register_config(pybind11::module_& m);
void register_testing(pybind11::module_& m);

}  // namespace calibrant::bindings
