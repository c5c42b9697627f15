// Values of foreign arrays, converted in all the ways there are, beside a slow reader of one value
// at a time that shares no code with column.cpp; and codes of integer keys.
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "foreign.hpp"
#include "rows/integer_codes.hpp"
#include "target.hpp"

using namespace calibrant;
using fuzz::require;

namespace {

bool bit_of(const void* bits, std::size_t index) {
    const auto* const bytes = static_cast<const std::uint8_t*>(bits);
    return (bytes[index / 8] & (1U << index % 8)) != 0;
}

double half_to_double(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    double value =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) value = fraction == 0 ? INFINITY : std::nan("");
    return (bits & 0x8000U) != 0 ? -value : value;
}

// One value: none if it is missing. As a double, and exactly if it is an integer.
struct Value {
    double number;
    bool is_integer = false;
    bool is_negative = false;
    std::uint64_t magnitude = 0;
};

template <class T>
Value integer(T value) {
    const bool negative = value < T{0};
    const auto bits = static_cast<std::uint64_t>(value);
    return {static_cast<double>(value), true, negative, negative ? std::uint64_t{0} - bits : bits};
}

template <class T>
T from_bytes(const std::array<unsigned char, 8>& bytes) {
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

std::optional<Value> value_at(const Column& column, std::size_t row, std::size_t index) {
    const std::size_t element = row * column.width + index;
    if (column.validity != nullptr && !bit_of(column.validity, column.validity_offset + element))
        return std::nullopt;
    if (column.dtype == Dtype::bits)
        return integer(bit_of(column.data, column.bit_offset + element) ? 1 : 0);
    const std::byte* const at = column.data + static_cast<std::ptrdiff_t>(row) * column.stride +
                                static_cast<std::ptrdiff_t>(index) * column.column_stride;
    std::array<unsigned char, 8> bytes{};
    const std::size_t size = item_size(column.dtype);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<unsigned char>(at[column.swapped ? size - 1 - i : i]);
    switch (column.dtype) {
        case Dtype::boolean:
            return integer(bytes[0] != 0 ? 1 : 0);
        case Dtype::bits:
            break;
        case Dtype::int8:
            return integer(from_bytes<std::int8_t>(bytes));
        case Dtype::int16:
            return integer(from_bytes<std::int16_t>(bytes));
        case Dtype::int32:
            return integer(from_bytes<std::int32_t>(bytes));
        case Dtype::int64:
            return integer(from_bytes<std::int64_t>(bytes));
        case Dtype::uint8:
            return integer(from_bytes<std::uint8_t>(bytes));
        case Dtype::uint16:
            return integer(from_bytes<std::uint16_t>(bytes));
        case Dtype::uint32:
            return integer(from_bytes<std::uint32_t>(bytes));
        case Dtype::uint64:
            return integer(from_bytes<std::uint64_t>(bytes));
        case Dtype::float16:
            return Value{half_to_double(from_bytes<std::uint16_t>(bytes))};
        case Dtype::float32:
            return Value{static_cast<double>(from_bytes<float>(bytes))};
        case Dtype::float64:
            return Value{from_bytes<double>(bytes)};
    }
    return std::nullopt;
}

double as_double(const std::optional<Value>& value) {
    return value ? value->number : std::numeric_limits<double>::quiet_NaN();
}

std::int32_t as_label(const std::optional<Value>& value) {
    if (!value || std::isnan(value->number)) return label_missing;
    const bool is_code = value->number >= 0.0 && value->number < label_limit &&
                         value->number == std::floor(value->number);
    return is_code ? static_cast<std::int32_t>(value->number) : label_invalid;
}

std::int32_t as_vote(const std::optional<Value>& value) {
    if (value && value->number == -1.0) return vote_abstains;
    return std::max(as_label(value), label_invalid) < 0 ? label_invalid : as_label(value);
}

bool same(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

void check_text(const Column& column, std::size_t row, std::size_t index) {
    const auto value = value_at(column, row, index);
    const std::string text = value_text(column, row, index);
    if (!value) return require(text == "null", "a missing value is null");
    if (column.dtype == Dtype::boolean || column.dtype == Dtype::bits)
        return require(text == (value->number != 0.0 ? "True" : "False"), "truth values in words");
    if (!value->is_integer) return require(!text.empty(), "a number has digits");
    require(text == (value->is_negative ? "-" : "") + std::to_string(value->magnitude),
            "integers in full");
}

void check_block(const Column& column, std::size_t begin, std::size_t count) {
    const std::size_t width = column.width;
    std::vector<double> block(count * width), row(width);
    std::vector<std::int32_t> votes(count * width);
    load_block(column, begin, count, block.data());
    load_votes(column, begin, count, votes.data());
    for (std::size_t i = 0; i < count; ++i) {
        load_row(column, begin + i, row.data());
        for (std::size_t j = 0; j < width; ++j) {
            const auto value = value_at(column, begin + i, j);
            require(same(block[i * width + j], as_double(value)), "load_block");
            require(same(row[j], as_double(value)), "load_row");
            require(votes[i * width + j] == as_vote(value), "load_votes");
        }
    }
}

void check_columns(const Column& matrix, std::size_t begin, std::size_t count) {
    std::vector<double> values(count);
    std::vector<std::int32_t> labels(count);
    for (std::size_t j = 0; j < matrix.width; ++j) {
        const Column column = column_at(matrix, j);
        load(column, begin, count, values.data());
        load_labels(column, begin, count, labels.data());
        for (std::size_t i = 0; i < count; ++i) {
            const auto value = value_at(matrix, begin + i, j);
            require(same(values[i], as_double(value)), "load");
            require(labels[i] == as_label(value), "load_labels");
        }
    }
}

void check_in_place(const Column& column, std::size_t begin) {
    const double* const doubles = in_place(column, begin);
    const float* const floats = in_place_floats(column, begin);
    for (std::size_t i = 0; i < (column.size - begin) * column.width; ++i) {
        const auto value = value_at(column, begin + i / column.width, i % column.width);
        if (doubles != nullptr) require(same(doubles[i], as_double(value)), "in_place");
        if (floats != nullptr)
            require(same(static_cast<double>(floats[i]), as_double(value)), "in_place_floats");
    }
}

void check_column(fuzz::Bytes& in) {
    const std::size_t rows = fuzz::some_rows(in);
    const std::size_t width = in.below(5);
    const fuzz::Foreign foreign(in, rows, width);
    const Column& column = foreign.column();
    const std::size_t begin = in.below(rows + 1);
    const std::size_t count = rows - begin - in.below(rows - begin + 1);
    check_block(column, begin, count);
    check_columns(column, begin, count);
    if (rows > 0 && width > 0) check_in_place(column, begin);
    for (std::size_t row = 0; row < std::min<std::size_t>(rows, 4); ++row)
        for (std::size_t j = 0; j < width; ++j) check_text(column, row, j);
}

void check_codes(fuzz::Bytes& in) {
    const std::size_t n = fuzz::some_rows(in);
    const unsigned spread = in.byte() % 64U;  // keys near together, or far apart
    std::vector<std::int64_t> keys(n);
    for (std::int64_t& key : keys) key = static_cast<std::int64_t>(in.word()) >> spread;
    std::vector<std::int32_t> codes(n);
    const std::vector<std::int64_t> distinct = integer_codes(keys.data(), n, codes.data(), nullptr);
    for (std::size_t i = 1; i < distinct.size(); ++i)
        require(distinct[i - 1] < distinct[i], "keys ascend");
    for (std::size_t i = 0; i < n; ++i)
        require(distinct.at(static_cast<std::size_t>(codes[i])) == keys[i], "codes give keys");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Bytes in(data, size);
    if (in.byte() % 4 == 0) {
        check_codes(in);
    } else {
        check_column(in);
    }
    return 0;
}
