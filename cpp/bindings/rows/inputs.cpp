#include "bindings/rows/inputs.hpp"

#include <pybind11/gil_safe_call_once.h>

#include <bit>
#include <optional>
#include <string>
#include <string_view>

#include "bindings/rows/arrow.hpp"
#include "calibrant/rows/check.hpp"

namespace calibrant::bindings {
namespace {

bool is_exact_ndarray(py::handle value) {
    return Py_TYPE(value.ptr()) == py::detail::npy_api::get().PyArray_Type_;
}

std::optional<Dtype> dtype_of(char kind, py::ssize_t item) {
    switch (kind) {
        case 'b':
            return Dtype::boolean;
        case 'i':
            if (item == 1) return Dtype::int8;
            if (item == 2) return Dtype::int16;
            if (item == 4) return Dtype::int32;
            if (item == 8) return Dtype::int64;
            break;
        case 'u':
            if (item == 1) return Dtype::uint8;
            if (item == 2) return Dtype::uint16;
            if (item == 4) return Dtype::uint32;
            if (item == 8) return Dtype::uint64;
            break;
        case 'f':
            if (item == 2) return Dtype::float16;
            if (item == 4) return Dtype::float32;
            if (item == 8) return Dtype::float64;
            break;
        default:
            break;
    }
    return std::nullopt;
}

// Types that other packages register may claim any kind and mean another encoding.
bool is_built_in(int type_number) {
    constexpr int float16_number = 23;
    return type_number <= py::detail::npy_api::NPY_LONGDOUBLE_ || type_number == float16_number;
}

std::string shape_text(const py::array& array) {
    std::string text = "(";
    for (py::ssize_t i = 0; i < array.ndim(); ++i) {
        if (i > 0) text += ", ";
        text += std::to_string(array.shape(i));
    }
    return text + (array.ndim() == 1 ? ",)" : ")");
}

bool fits(Shape expected, py::ssize_t ndim) {
    return (ndim == 1 && expected != Shape::matrix) || (ndim == 2 && expected != Shape::vector);
}

[[noreturn]] void reject_shape(const char* name, Shape expected, const std::string& found) {
    const char* const wanted = expected == Shape::vector   ? "(n,)"
                               : expected == Shape::matrix ? "(n, k)"
                                                           : "(n,) or (n, k)";
    throw InvalidInput(std::string(name) + " must have shape " + wanted + ", got shape " + found);
}

Input from_ndarray(py::array array, const char* name, Shape expected, Holds holds) {
    const py::dtype type = array.dtype();
    const auto dtype =
        is_built_in(type.num()) ? dtype_of(type.kind(), type.itemsize()) : std::nullopt;
    if (!dtype) {
        const bool is_text = std::string_view("OSUT").find(type.kind()) != std::string_view::npos;
        reject_type(name, holds, "dtype " + std::string(py::str(type)), is_text);
    }
    const py::ssize_t ndim = array.ndim();
    if (!fits(expected, ndim)) reject_shape(name, expected, shape_text(array));

    const char order = type.byteorder();  // '=' and '|' are native
    Column column;
    column.data = static_cast<const std::byte*>(array.data());
    column.size = static_cast<std::size_t>(array.shape(0));
    column.stride = array.strides(0);
    if (ndim == 2) {
        column.width = static_cast<std::size_t>(array.shape(1));
        column.column_stride = array.strides(1);
    }
    column.dtype = *dtype;
    column.swapped = order == (std::endian::native == std::endian::little ? '>' : '<');
    return {column, ndim == 2, std::move(array)};
}

// The Python half of this file: what knows about other libraries' objects.
py::object resolve(py::handle value, const char* name) {
    PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> storage;
    const py::object& function =
        storage
            .call_once_and_store_result(
                [] { return py::object(py::module_::import("calibrant._input").attr("resolve")); })
            .get_stored();
    return function(value, name);
}

}  // namespace

void reject_type(const char* name, Holds holds, const std::string& found, bool is_text) {
    const std::string start = std::string(name) + " must hold ";
    if (holds == Holds::numbers) throw py::type_error(start + "real numbers, got " + found);
    const char* const remedy =
        is_text && holds == Holds::labels
            ? "; pass labels= to name the classes, in the order of their codes"
            : "";
    throw py::type_error(start + "integer class codes, got " + found + remedy);
}

Input as_column(py::handle value, const char* name, Shape expected, Holds holds) {
    if (is_exact_ndarray(value))
        return from_ndarray(py::reinterpret_borrow<py::array>(value), name, expected, holds);

    py::object resolved = resolve(value, name);
    if (is_exact_ndarray(resolved))
        return from_ndarray(py::reinterpret_steal<py::array>(resolved.release()), name, expected,
                            holds);

    Input input = py::isinstance<py::tuple>(resolved)
                      ? read_arrow_array(py::reinterpret_borrow<py::tuple>(resolved), name, holds)
                      : read_arrow_stream(resolved, name, holds);
    if (!fits(expected, input.is_matrix() ? 2 : 1)) {
        const std::string width =
            input.is_matrix() ? " " + std::to_string(input.column().width) : "";
        reject_shape(name, expected, "(" + std::to_string(input.size()) + "," + width + ")");
    }
    return input;
}

}  // namespace calibrant::bindings
