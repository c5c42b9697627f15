// Arrow's C structs from a producer that makes mistakes: formats, counts, offsets and children that
// do not fit each other. They are rejected, or every value that the Column promises can be read.
//
// What no consumer can find out is true here: a buffer is as long as its own array says.
#include <pybind11/embed.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "bindings/rows/arrow.hpp"
#include "calibrant/rows/check.hpp"
#include "foreign.hpp"
#include "target.hpp"

using namespace calibrant;
using namespace calibrant::bindings;

namespace {

constexpr std::array formats{"b",      "c",
                             "C",      "s",
                             "S",      "i",
                             "I",      "l",
                             "L",      "e",
                             "f",      "g",
                             "+l",     "+L",
                             "+w:2",   "+w:3",
                             "+w",     "u",
                             "+s",     "+w:0",
                             "+w:1",   "+w:-1",
                             "+w:2x3", "+w:",
                             "tdD",    "+w:99999999999"};

constexpr std::array odd_numbers{std::int64_t{-1},
                                 std::int64_t{-2},
                                 std::int64_t{1} << 31,
                                 std::int64_t{1} << 62,
                                 std::numeric_limits<std::int64_t>::max(),
                                 std::numeric_limits<std::int64_t>::min()};

std::int64_t some_count(fuzz::Bytes& in, std::int64_t expected) {
    return in.byte() % 16 == 15 ? static_cast<std::int64_t>(in.byte() % 4U) : expected;
}

std::int64_t odd_number(fuzz::Bytes& in) { return odd_numbers[in.below(odd_numbers.size())]; }

struct Schema : ArrowSchema {
    ArrowSchema* child = nullptr;

    Schema(fuzz::Bytes& in, ArrowSchema* child_schema) : ArrowSchema{}, child(child_schema) {
        format = in.byte() == 255 ? nullptr : formats[in.below(formats.size())];
        n_children = some_count(in, child == nullptr ? 0 : 1);
        children = &child;
        if (in.byte() == 255) children = nullptr;
        if (in.byte() == 255) dictionary = this;
        release = [](ArrowSchema*) {};
    }
};

// As many bytes as the array's own length and offset call for.
struct Array : ArrowArray {
    std::vector<std::uint8_t> validity, values;
    std::array<const void*, 2> pointers{};
    ArrowArray* child = nullptr;

    Array(fuzz::Bytes& in, ArrowArray* child_array) : ArrowArray{}, child(child_array) {
        length = in.byte() % 32;
        offset = in.byte() % 8;
        null_count = in.byte() % 3 - 1;
        const std::size_t most = static_cast<std::size_t>(length + offset + 1);
        if (in.flag()) validity.assign((most + 7) / 8, in.byte());
        fill(in, most * 8);
        pointers[0] = validity.empty() ? nullptr : validity.data();
        pointers[1] = in.byte() == 255 ? nullptr : values.data();
        buffers = in.byte() == 255 ? nullptr : pointers.data();
        n_buffers = some_count(in, 2);
        n_children = some_count(in, child == nullptr ? 0 : 1);
        children = &child;
        if (in.byte() == 255) children = nullptr;
        release = [](ArrowArray*) {};
    }

    // Of a fixed list, whose values are its child's: nothing is as long as it says.
    void lie(fuzz::Bytes& in) {
        n_buffers = 1;
        pointers[0] = nullptr;
        (in.flag() ? length : offset) = odd_number(in);
    }

private:
    // Offsets of lists of one length, or any bytes: those of children may be anything.
    void fill(fuzz::Bytes& in, std::size_t size) {
        const auto rest = in.rest();
        values.resize(size);
        const std::size_t how = in.byte() % 4U;
        const std::uint64_t step = in.byte() % 4U;
        for (std::size_t i = 0; i < size / 4 && how == 0; ++i) {
            const auto offset_at = static_cast<std::uint32_t>(i * step);
            std::memcpy(&values[4 * i], &offset_at, sizeof offset_at);
        }
        for (std::size_t i = 0; i < size / 8 && how == 1; ++i) {
            const std::uint64_t offset_at = i * step;
            std::memcpy(&values[8 * i], &offset_at, sizeof offset_at);
        }
        for (std::size_t i = 0; i < size && how > 1 && !rest.empty(); ++i)
            values[i] = rest[i % rest.size()];
    }
};

void read_all(const Input& input) {
    const Column& column = input.column();
    std::vector<double> values(column.size * column.width);
    load_block(column, 0, column.size, values.data());
    if (!values.empty()) {
        const std::string last = value_text(column, column.size - 1, column.width - 1);
        fuzz::require(!last.empty(), "the last value has a text");
    }
}

void read_structs(fuzz::Bytes& in) {
    const bool nested = in.flag();
    Schema child_schema(in, nullptr), schema(in, nested ? &child_schema : nullptr);
    Array child(in, nullptr), array(in, nested ? &child : nullptr);
    const bool is_fixed = schema.format != nullptr && std::strncmp(schema.format, "+w", 2) == 0;
    if (is_fixed) array.n_buffers = some_count(in, 1);
    if (is_fixed && in.flag()) array.lie(in);
    const pybind11::capsule of_schema(static_cast<ArrowSchema*>(&schema), "arrow_schema");
    const pybind11::capsule of_array(static_cast<ArrowArray*>(&array), "arrow_array");
    try {
        read_all(read_arrow_array(pybind11::make_tuple(of_schema, of_array), "x", Holds::labels));
    } catch (const pybind11::type_error&) {
    } catch (const InvalidInput&) {
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const pybind11::scoped_interpreter python;
    fuzz::Bytes in(data, size);
    read_structs(in);
    return 0;
}
