// Columns from the Arrow C data interface, which pyarrow, polars and pandas speak
// through PyCapsules. https://arrow.apache.org/docs/format/CDataInterface.html
//
// Booleans, integers and floats are read, as vectors or as lists of equal lengths
// (matrices). Nulls stay missing values. An array in one piece is read in place;
// several chunks are gathered into one buffer of the same type.
#pragma once

#include <cstdint>

#include "bindings/rows/inputs.hpp"

namespace calibrant::bindings {

// The binary interface, fixed by the specification: layout and order matter.
struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    std::int64_t flags;
    std::int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    std::int64_t length;
    std::int64_t null_count;  // -1: not counted
    std::int64_t offset;
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
    int (*get_next)(ArrowArrayStream*, ArrowArray* out);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};

// The pair of capsules that __arrow_c_array__ returns.
[[nodiscard]] Input read_arrow_array(const py::tuple& capsules, const char* name, Holds holds);

// The capsule that __arrow_c_stream__ returns.
[[nodiscard]] Input read_arrow_stream(const py::object& capsule, const char* name, Holds holds);

}  // namespace calibrant::bindings
