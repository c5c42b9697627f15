// Numbers of the core as NumPy arrays.
#pragma once

#include <pybind11/numpy.h>

#include <algorithm>
#include <vector>

#include "bindings/runtime/gil.hpp"

namespace calibrant::bindings {

namespace py = pybind11;

template <class Value>
py::array_t<Value> as_array(const std::vector<Value>& values) {
    py::array_t<Value> out(static_cast<py::ssize_t>(values.size()));  // throws without memory
    std::copy(values.begin(), values.end(), out.mutable_data());
    return out;
}

// value(bin) of each bin of an accumulator.
template <class Binned, class Value>
py::array_t<double> column_of(const Binned& self, const Value& value) {
    py::array_t<double> out(static_cast<py::ssize_t>(self.table().size()));
    double* at = out.mutable_data();  // NOLINT(misc-const-correctness): it is written through
    with_ieee_environment([&] {
        for (const auto& bin : self.table()) *at++ = value(bin);
    });
    return out;
}

}  // namespace calibrant::bindings
