// What all accumulators share on their way to Python, written once.
//
// A core accumulator T has
//     static constexpr Kind kind;
//     std::uint64_t count() const;                 rows so far
//     T empty() const;                             same parameters, no rows
//     void merge(const T&);                        all or nothing; merging itself is fine;
//                                                  std::invalid_argument if parameters differ
//     std::string to_bytes() const;                canonical: equal states, equal bytes
//     static T from_bytes(std::string_view);       CorruptState if anything is wrong
// and can be copied.
//
// Threads: every method runs under the GIL, or where there is none in a critical section, except
// the work of update_aside, which touches an accumulator of its own. So Python threads may share an
// accumulator. Methods that change it are not re-entrant (runtime/in_use.hpp).
#pragma once

#include "bindings/runtime/critical_section.hpp"
#include "bindings/runtime/gil.hpp"
#include "calibrant/state/bytes.hpp"

#include <pybind11/operators.h>
#include <pybind11/pybind11.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace calibrant::bindings {

template <class T>
concept CoreAccumulator =
    std::copy_constructible<T> && requires(T self, const T& other, std::string_view bytes) {
        { T::kind } -> std::convertible_to<Kind>;
        { other.count() } -> std::same_as<std::uint64_t>;
        { other.empty() } -> std::same_as<T>;
        { self.merge(other) } -> std::same_as<void>;
        { other.to_bytes() } -> std::same_as<std::string>;
        { T::from_bytes(bytes) } -> std::same_as<T>;
    };

// Adds a batch of rows: work(T& batch) fills an empty accumulator, without the GIL if
// there are many, and only then is it merged. If work throws or is interrupted, self is
// as it was; if other Python threads update self meanwhile, no row is lost.
template <CoreAccumulator T, class Work>
void update_aside(T& self, std::size_t rows, Work&& work) {
    T batch = self.empty();
    without_gil(rows, [&] { work(batch); });
    with_ieee_environment([&] { self.merge(batch); });
}

// A copy of the bytes in a bytes-like object: a copy, because others may write into a
// bytearray between the moment we verify its checksum and the moment we read it.
inline std::string copy_bytes(const py::object& bytes_like) {
    if (PyObject_CheckBuffer(bytes_like.ptr()) == 0) {
        throw py::type_error(std::string("state must be a bytes-like object, got ") +
                             Py_TYPE(bytes_like.ptr())->tp_name);
    }
    Py_buffer view;
    if (PyObject_GetBuffer(bytes_like.ptr(), &view, PyBUF_SIMPLE) != 0)
        throw py::error_already_set();
    const struct Release {
        Py_buffer* view;
        ~Release() { PyBuffer_Release(view); }
    } release{&view};
    return {static_cast<const char*>(view.buf), static_cast<std::size_t>(view.len)};
}

template <CoreAccumulator T>
LockedClass<T> register_accumulator(py::module_& m, const char* name, const char* doc) {
    using namespace py::literals;
    return LockedClass<T>(m, name, doc)
        .def(
            "merge",
            [](T& self, const T& other) { with_ieee_environment([&] { self.merge(other); }); },
            "other"_a, "Add the rows of another; this one keeps its parameters.")
        .def(
            "to_bytes", [](const T& self) { return py::bytes(self.to_bytes()); },
            "The state, as canonical bytes.")
        .def_static(
            "from_bytes",
            [](const py::object& state) {
                const std::string bytes = copy_bytes(state);
                return with_ieee_environment([&] { return restore<T>(bytes); });
            },
            "state"_a, "The accumulator whose to_bytes gave these bytes.")
        .def(
            "copy", [](const T& self) { return T(self); },
            "An independent accumulator with the same state.")
        .def(
            "__eq__",
            [](const T& self, const T& other) { return self.to_bytes() == other.to_bytes(); },
            py::is_operator())
        .def("__len__", &T::count)
        .def_property_readonly("n", &T::count, "Rows so far.");
}

}  // namespace calibrant::bindings
