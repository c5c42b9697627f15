// From a Python argument to a Column, without a copy wherever there is a way.
//
// An exact np.ndarray is read here, in well under a microsecond. Everything else is
// first turned by calibrant._input into an ndarray or into Arrow's C structs.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <string>
#include <utility>

#include "calibrant/rows/column.hpp"

namespace calibrant::bindings {

namespace py = pybind11;

enum class Shape { vector, matrix, vector_or_matrix };

// What the values are for; the remedy in an error message depends on it.
enum class Holds { numbers, labels, votes };

// A column, and whatever keeps its memory alive. It holds a Python object: make it
// and free it with the GIL held. In between, the Column needs no GIL.
class Input {
public:
    Input(const Column& column, bool is_matrix, py::object owner)
        : column_(column), is_matrix_(is_matrix), owner_(std::move(owner)) {}

    [[nodiscard]] const Column& column() const noexcept { return column_; }
    [[nodiscard]] std::size_t size() const noexcept { return column_.size; }
    // Tells shape (n, 1) from shape (n,).
    [[nodiscard]] bool is_matrix() const noexcept { return is_matrix_; }

private:
    Column column_;
    bool is_matrix_;
    py::object owner_;
};

// Throws a TypeError for what does not hold real numbers, and a ValueError for a
// shape other than expected; both name the argument. Values are not read.
[[nodiscard]] Input as_column(py::handle value, const char* name, Shape expected,
                              Holds holds = Holds::numbers);

// Throws the TypeError of as_column for values of a type that is not a number's.
[[noreturn]] void reject_type(const char* name, Holds holds, const std::string& found,
                              bool is_text);

}  // namespace calibrant::bindings
