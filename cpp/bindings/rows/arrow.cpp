#include "bindings/rows/arrow.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calibrant/rows/check.hpp"

namespace calibrant::bindings {
namespace {

// A struct that the producer fills in for us, and that we must then release.
template <class Struct>
struct Released : Struct {
    Released() : Struct{} {}
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;
    ~Released() {
        if (this->release != nullptr) this->release(this);
    }
};

using Arrays = std::list<Released<ArrowArray>>;

enum class Nesting { none, fixed_list, list, large_list };

struct Layout {
    Dtype dtype = Dtype::float64;
    Nesting nesting = Nesting::none;
    std::size_t width = 1;  // of a fixed_list
};

// The values of one array, where they are.
struct Chunk {
    const std::byte* data = nullptr;
    std::size_t first = 0;  // value
    std::size_t rows = 0;
    std::size_t width = 1;
    const std::uint8_t* value_validity = nullptr;  // bit `first + i` for value i
    const std::uint8_t* row_validity = nullptr;    // of lists
    std::size_t first_row = 0;

    [[nodiscard]] std::size_t values() const { return rows * width; }
    [[nodiscard]] bool is_valid(std::size_t value) const {
        const auto bit = [](const std::uint8_t* bits, std::size_t i) {
            return bits == nullptr || ((bits[i / 8] >> (i % 8)) & 1U) != 0;
        };
        return bit(value_validity, first + value) &&
               (row_validity == nullptr || bit(row_validity, first_row + value / width));
    }
};

struct Gathered {
    std::vector<std::byte> data;
    std::vector<std::uint8_t> validity;
};

std::optional<Dtype> dtype_of(std::string_view format) {
    if (format.size() != 1) return std::nullopt;
    switch (format[0]) {
        case 'b':
            return Dtype::bits;
        case 'c':
            return Dtype::int8;
        case 'C':
            return Dtype::uint8;
        case 's':
            return Dtype::int16;
        case 'S':
            return Dtype::uint16;
        case 'i':
            return Dtype::int32;
        case 'I':
            return Dtype::uint32;
        case 'l':
            return Dtype::int64;
        case 'L':
            return Dtype::uint64;
        case 'e':
            return Dtype::float16;
        case 'f':
            return Dtype::float32;
        case 'g':
            return Dtype::float64;
        default:
            return std::nullopt;
    }
}

// Structures are checked as far as they can be: a buffer's length is not part of them.
void require_well_formed(bool condition, const char* name) {
    if (!condition) throw InvalidInput(std::string(name) + " is malformed Arrow data");
}

template <class Struct>
Struct* from_capsule(py::handle capsule, const char* kind, const char* name) {
    auto* const pointer = static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), kind));
    if (pointer == nullptr) throw py::error_already_set();
    if (pointer->release == nullptr)
        throw InvalidInput(std::string(name) + " is Arrow data that was released before");
    return pointer;
}

// The object that keeps `resource` alive.
template <class Resource>
py::object owner_of(std::unique_ptr<Resource> resource) {
    py::capsule owner(resource.get(),
                      [](void* pointer) { delete static_cast<Resource*>(pointer); });
    (void)resource.release();  // only now: making the capsule may have failed
    return owner;
}

// Of fixed lists: a number of 32 bits.
std::size_t width_of(std::string_view digits, const char* name) {
    std::int32_t width = -1;
    const char* const last = digits.data() + digits.size();
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): `last` says where it ends
    const auto [end, error] = std::from_chars(digits.data(), last, width);
    require_well_formed(error == std::errc() && end == last && width >= 0, name);
    return static_cast<std::size_t>(width);
}

// The name of the extension type, empty if it is none. Metadata are a number of pairs; of each, the
// length of the key, the key, the length of the value, the value; numbers of 32 bits.
std::string_view extension_of(const ArrowSchema& schema) {
    const char* at = schema.metadata;
    if (at == nullptr) return {};
    const auto number = [&at] {
        std::int32_t value;  // which need not be aligned
        std::memcpy(&value, at, sizeof value);
        at += sizeof value;
        return value;
    };
    const auto text = [&at, &number] {
        const auto length = static_cast<std::size_t>(std::max(number(), 0));
        return std::string_view(std::exchange(at, at + length), length);
    };
    for (std::int32_t left = number(); left > 0; --left) {
        const std::string_view key = text(), value = text();
        if (key == "ARROW:extension:name") return value;
    }
    return {};
}

// Types whose values are the numbers that they are stored as; of others, as pandas.period, these
// are ordinals or codes of something else.
bool is_number_type(std::string_view extension) {
    return extension.empty() || extension == "arrow.bool8" ||
           extension == "arrow.fixed_shape_tensor";
}

Layout layout_of(const ArrowSchema& schema, const char* name, Holds holds, bool is_child = false) {
    require_well_formed(schema.format != nullptr, name);
    const std::string_view format = schema.format;
    if (const std::string_view extension = extension_of(schema); !is_number_type(extension))
        reject_type(name, holds, "Arrow extension type '" + std::string(extension) + "'", false);
    if (schema.dictionary != nullptr)
        reject_type(name, holds, "an Arrow dictionary (categories)", true);
    if (const auto dtype = dtype_of(format)) return {*dtype, Nesting::none, 1};

    Layout layout;
    if (format.starts_with("+w:"))
        layout.nesting = Nesting::fixed_list;
    else if (format == "+l")
        layout.nesting = Nesting::list;
    else if (format == "+L")
        layout.nesting = Nesting::large_list;
    if (layout.nesting == Nesting::none || is_child) {
        const bool is_text = format == "u" || format == "U" || format == "vu";
        const char* const kind = is_text ? "' (text)" : "'";
        reject_type(name, holds, "Arrow format '" + std::string(format) + kind, is_text);
    }
    require_well_formed(
        schema.n_children == 1 && schema.children != nullptr && schema.children[0] != nullptr,
        name);
    layout.dtype = layout_of(*schema.children[0], name, holds, true).dtype;
    if (layout.nesting == Nesting::fixed_list) layout.width = width_of(format.substr(3), name);
    return layout;
}

const std::uint8_t* validity_of(const ArrowArray& array) {
    return array.null_count == 0 ? nullptr : static_cast<const std::uint8_t*>(array.buffers[0]);
}

bool is_sound(const ArrowArray& array, std::int64_t n_buffers) {
    // More values than that have no addresses: places can be computed without overflow.
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 16;
    return array.length >= 0 && array.offset >= 0 && array.length <= most &&
           array.offset <= most - array.length && array.n_buffers == n_buffers &&
           array.buffers != nullptr;
}

Chunk values_of(const ArrowArray& array, const char* name) {
    require_well_formed(is_sound(array, 2), name);
    Chunk chunk;
    chunk.data = static_cast<const std::byte*>(array.buffers[1]);
    chunk.first = static_cast<std::size_t>(array.offset);
    chunk.rows = static_cast<std::size_t>(array.length);
    chunk.value_validity = validity_of(array);
    require_well_formed(chunk.data != nullptr || chunk.rows == 0, name);
    return chunk;
}

struct Extent {
    std::size_t begin;
    std::size_t width;
};

// Where the lists of a variable-length array begin, and the length they share.
template <class Offset>
Extent list_extent(const ArrowArray& array, const char* name) {
    const auto* const offsets = static_cast<const std::byte*>(array.buffers[1]);
    const auto offset_at = [&](std::int64_t i) {
        Offset value;  // which need not be aligned
        std::memcpy(&value, offsets + (array.offset + i) * std::int64_t{sizeof(Offset)},
                    sizeof value);
        return std::int64_t{value};
    };
    const auto length_at = [&](std::int64_t i) {
        const std::int64_t start = offset_at(i), end = offset_at(i + 1);
        require_well_formed(0 <= start && start <= end, name);
        return end - start;
    };
    const std::int64_t begin = offset_at(0);
    const std::int64_t width = length_at(0);
    for (std::int64_t i = 1; i < array.length; ++i) {
        const std::int64_t found = length_at(i);
        if (found != width)
            throw py::type_error(std::string(name) + " must hold lists of one length, got " +
                                 std::to_string(width) + " at row 0 and " + std::to_string(found) +
                                 " at row " + std::to_string(i));
    }
    return {static_cast<std::size_t>(begin), static_cast<std::size_t>(width)};
}

Chunk chunk_of(const ArrowArray& array, const Layout& layout, const char* name) {
    if (layout.nesting == Nesting::none) return values_of(array, name);
    const bool is_fixed = layout.nesting == Nesting::fixed_list;
    require_well_formed(is_sound(array, is_fixed ? 1 : 2) && array.n_children == 1 &&
                            array.children != nullptr && array.children[0] != nullptr,
                        name);
    Chunk chunk = values_of(*array.children[0], name);
    const std::size_t available = chunk.rows;
    chunk.rows = static_cast<std::size_t>(array.length);
    chunk.first_row = static_cast<std::size_t>(array.offset);
    chunk.row_validity = validity_of(array);
    const std::size_t rows_end = chunk.first_row + chunk.rows;
    require_well_formed(!is_fixed || layout.width == 0 || rows_end <= available / layout.width,
                        name);
    Extent extent{chunk.first_row * layout.width, layout.width};
    if (!is_fixed && chunk.rows == 0) extent = {0, 0};
    if (!is_fixed && chunk.rows > 0) {
        require_well_formed(array.buffers[1] != nullptr, name);
        extent = layout.nesting == Nesting::list ? list_extent<std::int32_t>(array, name)
                                                 : list_extent<std::int64_t>(array, name);
    }
    chunk.first += extent.begin;
    chunk.width = extent.width;
    require_well_formed(
        extent.begin <= available &&
            (chunk.width == 0 || chunk.rows <= (available - extent.begin) / chunk.width),
        name);
    return chunk;
}

Input in_one_piece(const Chunk& chunk, const Layout& layout, py::object owner) {
    const std::size_t item = item_size(layout.dtype);
    Column column;
    column.data = chunk.data == nullptr ? nullptr : chunk.data + chunk.first * item;
    column.size = chunk.rows;
    column.stride = static_cast<std::ptrdiff_t>(item * chunk.width);
    column.width = chunk.width;
    column.column_stride = static_cast<std::ptrdiff_t>(item);
    column.dtype = layout.dtype;
    column.bit_offset = layout.dtype == Dtype::bits ? chunk.first : 0;
    column.validity = chunk.value_validity;
    column.validity_offset = chunk.first;
    return {column, layout.nesting != Nesting::none, std::move(owner)};
}

void append_bit(std::vector<std::uint8_t>& bits, std::size_t index, bool value) {
    if (index / 8 == bits.size()) bits.push_back(0);
    bits[index / 8] = static_cast<std::uint8_t>(bits[index / 8] | (unsigned{value} << (index % 8)));
}

void append_values(std::vector<std::byte>& data, const Chunk& chunk, Dtype dtype) {
    if (chunk.values() == 0) return;
    if (dtype != Dtype::bits) {
        const std::size_t item = item_size(dtype);
        const std::byte* const begin = chunk.data + chunk.first * item;
        data.insert(data.end(), begin, begin + chunk.values() * item);
        return;
    }
    const auto* const bits = reinterpret_cast<const std::uint8_t*>(chunk.data);
    for (std::size_t i = chunk.first; i < chunk.first + chunk.values(); ++i)
        data.push_back(static_cast<std::byte>((bits[i / 8] >> (i % 8)) & 1U));
}

Input gather(const std::vector<Chunk>& chunks, Layout layout, const char* name) {
    Chunk whole;
    whole.width = chunks.empty() ? layout.width : chunks.front().width;
    bool has_nulls = false;
    for (const Chunk& chunk : chunks) {
        if (chunk.width != whole.width)
            throw py::type_error(std::string(name) + " must hold lists of one length, got " +
                                 std::to_string(whole.width) + " and " +
                                 std::to_string(chunk.width));
        whole.rows += chunk.rows;
        has_nulls = has_nulls || chunk.value_validity != nullptr || chunk.row_validity != nullptr;
    }
    auto gathered = std::make_unique<Gathered>();
    gathered->data.reserve(whole.values() * std::max<std::size_t>(item_size(layout.dtype), 1));
    std::size_t value = 0;
    for (const Chunk& chunk : chunks) {
        append_values(gathered->data, chunk, layout.dtype);
        for (std::size_t i = 0; has_nulls && i < chunk.values(); ++i)
            append_bit(gathered->validity, value++, chunk.is_valid(i));
    }
    if (layout.dtype == Dtype::bits) layout.dtype = Dtype::boolean;
    whole.data = gathered->data.data();
    whole.value_validity = has_nulls ? gathered->validity.data() : nullptr;
    return in_one_piece(whole, layout, owner_of(std::move(gathered)));
}

[[noreturn]] void reject_stream(ArrowArrayStream& stream, const char* name) {
    const char* const reason = stream.get_last_error(&stream);
    throw InvalidInput(std::string(name) + " could not be read from its Arrow stream: " +
                       (reason != nullptr ? reason : "no reason given"));
}

}  // namespace

// The capsules release both structs when the last reference to them goes.
Input read_arrow_array(const py::tuple& capsules, const char* name, Holds holds) {
    if (capsules.size() != 2)
        throw py::type_error(std::string(name) + ".__arrow_c_array__() must return two capsules");
    const auto& schema = *from_capsule<ArrowSchema>(capsules[0], "arrow_schema", name);
    const auto& array = *from_capsule<ArrowArray>(capsules[1], "arrow_array", name);
    const Layout layout = layout_of(schema, name, holds);
    const Chunk chunk = chunk_of(array, layout, name);
    if (chunk.row_validity != nullptr) return gather({chunk}, layout, name);
    return in_one_piece(chunk, layout, capsules[1]);
}

Input read_arrow_stream(const py::object& capsule, const char* name, Holds holds) {
    auto& stream = *from_capsule<ArrowArrayStream>(capsule, "arrow_array_stream", name);
    Released<ArrowSchema> schema;
    if (stream.get_schema(&stream, &schema) != 0) reject_stream(stream, name);
    const Layout layout = layout_of(schema, name, holds);

    auto arrays = std::make_unique<Arrays>();
    std::vector<Chunk> chunks;
    while (true) {
        if (stream.get_next(&stream, &arrays->emplace_back()) != 0) reject_stream(stream, name);
        if (arrays->back().release == nullptr) break;  // the end of the stream
        const Chunk chunk = chunk_of(arrays->back(), layout, name);
        if (chunk.rows > 0)
            chunks.push_back(chunk);
        else
            arrays->pop_back();
    }
    if (chunks.size() == 1 && chunks.front().row_validity == nullptr)
        return in_one_piece(chunks.front(), layout, owner_of(std::move(arrays)));
    return gather(chunks, layout, name);
}

}  // namespace calibrant::bindings
