// Columns as the core sees them: for what is computed in Python; and, in _core._testing, what the
// tests of the inputs need to see, and nobody else.
#include <pybind11/stl.h>

#include <optional>
#include <vector>

#include "bindings/register.hpp"
#include "bindings/rows/inputs.hpp"
#include "calibrant/rows/check.hpp"

namespace calibrant::bindings {
namespace {

py::array_t<double> load_numbers(py::handle value, const char* name, bool by_row) {
    const Input input = as_column(value, name, Shape::vector_or_matrix);
    const Column& column = input.column();
    std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(column.size)};
    if (input.is_matrix()) shape.push_back(static_cast<py::ssize_t>(column.width));
    py::array_t<double> out(shape);
    const py::gil_scoped_release unlocked;
    double* const values = out.mutable_data();
    for (std::size_t row = 0; by_row && row < column.size; ++row)
        load_row(column, row, values + row * column.width);
    if (!by_row && input.is_matrix()) load_block(column, 0, column.size, values);
    if (!by_row && !input.is_matrix()) load(column, 0, column.size, values);
    return out;
}

py::tuple shape_as_tuple(py::handle value) {
    const Input input = as_column(value, "value", Shape::vector_or_matrix);
    if (input.is_matrix()) return py::make_tuple(input.size(), input.column().width);
    return py::make_tuple(input.size());
}

py::array_t<std::int32_t> load_codes(py::handle value, const char* name) {
    const Input input = as_column(value, name, Shape::vector, Holds::labels);
    py::array_t<std::int32_t> out(static_cast<py::ssize_t>(input.size()));
    load_labels(input.column(), 0, input.size(), out.mutable_data());
    return out;
}

Input anything(py::handle value) { return as_column(value, "value", Shape::vector_or_matrix); }

Row place(std::size_t row, std::optional<std::size_t> column, std::uint64_t rows_before) {
    return {row, column, rows_before};
}

}  // namespace

void register_columns(py::module_& m) {
    using namespace py::literals;
    m.def(
        "numbers",
        [](py::handle value, const char* name) { return load_numbers(value, name, false); },
        "value"_a, "name"_a);
    m.def("shape_of", &shape_as_tuple, "value"_a);
}

void register_inputs(py::module_& m) {
    using namespace py::literals;
    m.def("load", &load_numbers, "value"_a, "name"_a = "y_proba", "by_row"_a = false);
    m.def("load_labels", &load_codes, "value"_a, "name"_a = "y_true");
    m.def("require_vector",
          [](py::handle value, const char* name) { (void)as_column(value, name, Shape::vector); });
    m.def("require_matrix",
          [](py::handle value, const char* name) { (void)as_column(value, name, Shape::matrix); });
    m.def("is_in_place",
          [](py::handle value) { return in_place(anything(value).column(), 0) != nullptr; });
    m.def("address", [](py::handle value) {
        return reinterpret_cast<std::uintptr_t>(anything(value).column().data);
    });
    m.def(
        "value_text",
        [](py::handle value, std::size_t row, std::size_t column) {
            return value_text(anything(value).column(), row, column);
        },
        "value"_a, "row"_a, "column"_a = 0);
    m.def(
        "reject_probability",
        [](py::handle value, std::size_t row, std::optional<std::size_t> column,
           std::uint64_t rows_before) {
            const Input input = anything(value);
            std::vector<double> values(input.column().width);
            load_row(input.column(), row, values.data());
            reject_probability("y_proba", values[column.value_or(0)],
                               place(row, column, rows_before), input.column().dtype);
        },
        "value"_a, "row"_a, "column"_a = py::none(), "rows_before"_a = 0);
    m.def("reject_weight",
          [](double value, std::size_t row) { reject_weight("sample_weight", value, {row}); });
    m.def("reject_not_finite",
          [](double value, std::size_t row) { reject_not_finite("intervals", value, {row}); });
    m.def("reject_label", [](py::handle value, std::size_t row, std::size_t n_classes) {
        reject_label("y_true", as_column(value, "y_true", Shape::vector).column(), {row},
                     n_classes);
    });
    m.def("require_same_length", [](std::size_t first, std::size_t second) {
        require_same_length("y_true", first, "y_proba", second);
    });
}

}  // namespace calibrant::bindings
