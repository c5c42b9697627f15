#include "calibrant/rows/column.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

namespace calibrant {
namespace {

struct Boolean {
    std::uint8_t byte;
};

struct Half {
    std::uint16_t bits;
};

constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

template <class T>
    requires std::is_arithmetic_v<T>
double to_double(T value) noexcept {
    return static_cast<double>(value);
}

double to_double(Boolean value) noexcept { return value.byte != 0 ? 1.0 : 0.0; }

// No step has a subnormal in it, so flush-to-zero modes cannot change the result.
double to_double(Half value) noexcept {
    constexpr std::uint64_t rebias = std::uint64_t{1023 - 15} << 52;
    const std::uint64_t magnitude = value.bits & 0x7fffU;
    const std::uint64_t sign = std::uint64_t{value.bits & 0x8000U} << 48;
    const double small = static_cast<double>(magnitude) * 0x1p-24;  // right below 2^-14
    std::uint64_t bits = (magnitude << 42) + rebias;
    bits = magnitude < 0x0400U ? std::bit_cast<std::uint64_t>(small) : bits;
    bits = magnitude >= 0x7c00U ? (magnitude << 42) | (std::uint64_t{0x7ff} << 52) : bits;
    return std::bit_cast<double>(bits | sign);
}

template <std::integral T>
std::int32_t to_label(T value) noexcept {
    if constexpr (sizeof(T) < 4) {
        return std::is_signed_v<T> && value < 0 ? label_invalid : std::int32_t{value};
    } else {  // as unsigned, negative values are too large as well: one comparison
        const auto magnitude = static_cast<std::make_unsigned_t<T>>(value);
        return magnitude < static_cast<std::uint32_t>(label_limit)
                   ? static_cast<std::int32_t>(magnitude)
                   : label_invalid;
    }
}

std::int32_t to_label(double value) noexcept {
    // Selected before the cast, which is undefined outside the range of int32.
    const bool in_range = value >= 0.0 && value < static_cast<double>(label_limit);
    const double safe = in_range ? value : static_cast<double>(label_invalid);
    const auto code = static_cast<std::int32_t>(safe);
    const std::int32_t label = static_cast<double>(code) == safe ? code : label_invalid;
    return value == value ? label : label_missing;
}

std::int32_t to_label(float value) noexcept { return to_label(static_cast<double>(value)); }
std::int32_t to_label(Half value) noexcept { return to_label(to_double(value)); }
std::int32_t to_label(Boolean value) noexcept { return value.byte != 0 ? 1 : 0; }

template <class T>
std::int32_t to_vote(T value) noexcept {
    if constexpr (std::is_same_v<T, Half>) {
        return to_vote(to_double(value));
    } else if constexpr (std::is_arithmetic_v<T> && std::is_signed_v<T>) {
        if (value == T{-1}) return vote_abstains;
    }
    const std::int32_t label = to_label(value);
    return label < 0 ? label_invalid : label;
}

struct AsDouble {
    using Result = double;
    static constexpr double missing = quiet_nan;
    static double convert(auto value) noexcept { return to_double(value); }
};

struct AsLabel {
    using Result = std::int32_t;
    static constexpr std::int32_t missing = label_missing;
    static std::int32_t convert(auto value) noexcept { return to_label(value); }
};

struct AsVote {
    using Result = std::int32_t;
    static constexpr std::int32_t missing = label_invalid;
    static std::int32_t convert(auto value) noexcept { return to_vote(value); }
};

template <class T>
T read(const std::byte* at) noexcept {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

template <std::size_t size>
using Word = std::conditional_t<
    size == 8, std::uint64_t,
    std::conditional_t<size == 4, std::uint32_t,
                       std::conditional_t<size == 2, std::uint16_t, std::uint8_t>>>;

// Compilers know this loop and make one instruction of it.
template <class T>
T read_swapped(const std::byte* at) noexcept {
    auto from = std::uint64_t{read<Word<sizeof(T)>>(at)};
    std::uint64_t swapped = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i, from >>= 8)
        swapped = (swapped << 8) | (from & 0xffU);
    return std::bit_cast<T>(static_cast<Word<sizeof(T)>>(swapped));
}

bool bit_at(const std::uint8_t* bits, std::size_t index) noexcept {
    return ((bits[index / 8] >> (index % 8)) & 1U) != 0;
}

// Values at equal distances: rows of one column, or the values of one row.
struct Run {
    std::ptrdiff_t offset;  // of the first, in bytes
    std::ptrdiff_t stride;
    std::size_t element;  // number of the first, counted along the rows
    std::size_t element_step;
    std::size_t count;
    std::size_t out_step = 1;
};

template <class T, class As>
void convert_run(const Column& column, const Run& run,
                 typename As::Result* __restrict out) noexcept {
    const std::byte* const from = column.data + run.offset;
    const auto at = [&](std::size_t i) {
        return from + static_cast<std::ptrdiff_t>(i) * run.stride;
    };
    if (column.swapped) {
        for (std::size_t i = 0; i < run.count; ++i)
            out[i * run.out_step] = As::convert(read_swapped<T>(at(i)));
    } else if (run.stride == sizeof(T) && run.out_step == 1) {  // the loop that vectorises
        for (std::size_t i = 0; i < run.count; ++i)
            out[i] = As::convert(read<T>(from + i * sizeof(T)));
    } else {
        for (std::size_t i = 0; i < run.count; ++i)
            out[i * run.out_step] = As::convert(read<T>(at(i)));
    }
}

template <class As>
void convert_bits(const Column& column, const Run& run, typename As::Result* out) noexcept {
    const auto* const bits = reinterpret_cast<const std::uint8_t*>(column.data);
    const std::size_t first = column.bit_offset + run.element;
    for (std::size_t i = 0; i < run.count; ++i) {
        const bool value = bit_at(bits, first + i * run.element_step);
        out[i * run.out_step] = static_cast<typename As::Result>(value);
    }
}

// Calls `action` with a null pointer to the type of the values; `bits` have none.
template <class Action>
void with_type(Dtype dtype, Action action) {
    switch (dtype) {
        case Dtype::boolean:
            return action(static_cast<Boolean*>(nullptr));
        case Dtype::bits:
            return action(static_cast<void*>(nullptr));
        case Dtype::int8:
            return action(static_cast<std::int8_t*>(nullptr));
        case Dtype::int16:
            return action(static_cast<std::int16_t*>(nullptr));
        case Dtype::int32:
            return action(static_cast<std::int32_t*>(nullptr));
        case Dtype::int64:
            return action(static_cast<std::int64_t*>(nullptr));
        case Dtype::uint8:
            return action(static_cast<std::uint8_t*>(nullptr));
        case Dtype::uint16:
            return action(static_cast<std::uint16_t*>(nullptr));
        case Dtype::uint32:
            return action(static_cast<std::uint32_t*>(nullptr));
        case Dtype::uint64:
            return action(static_cast<std::uint64_t*>(nullptr));
        case Dtype::float16:
            return action(static_cast<Half*>(nullptr));
        case Dtype::float32:
            return action(static_cast<float*>(nullptr));
        case Dtype::float64:
            return action(static_cast<double*>(nullptr));
    }
}

template <class As>
void convert(const Column& column, const Run& run, typename As::Result* out) noexcept {
    if (run.count == 0) return;  // an empty array need not have an address
    with_type(column.dtype, [&]<class T>(T*) {
        if constexpr (std::is_void_v<T>)
            convert_bits<As>(column, run, out);
        else
            convert_run<T, As>(column, run, out);
    });
    if (column.validity == nullptr) return;
    const std::size_t first = column.validity_offset + run.element;
    for (std::size_t i = 0; i < run.count; ++i) {
        typename As::Result& value = out[i * run.out_step];
        value = bit_at(column.validity, first + i * run.element_step) ? value : As::missing;
    }
}

std::ptrdiff_t row_offset(const Column& column, std::size_t row) noexcept {
    return static_cast<std::ptrdiff_t>(row) * column.stride;
}

Run rows(const Column& column, std::size_t begin, std::size_t count) noexcept {
    return {row_offset(column, begin), column.stride, begin * column.width, column.width, count};
}

template <class As>
void convert_row(const Column& column, std::size_t row, typename As::Result* out) noexcept {
    convert<As>(
        column,
        {row_offset(column, row), column.column_stride, row * column.width, 1, column.width}, out);
}

template <class As>
void convert_block(const Column& column, std::size_t begin, std::size_t count,
                   typename As::Result* out) noexcept {
    if (count == 0) return;  // then `out` need not have an address
    const std::size_t width = column.width;
    const auto item = static_cast<std::ptrdiff_t>(item_size(column.dtype));
    const bool gapless = column.stride == item * static_cast<std::ptrdiff_t>(width) &&
                         (column.column_stride == item || width == 1);
    if (gapless || column.dtype == Dtype::bits) {
        convert<As>(column, {row_offset(column, begin), item, begin * width, 1, count * width},
                    out);
    } else if (std::abs(column.column_stride) < std::abs(column.stride)) {
        for (std::size_t i = 0; i < count; ++i) convert_row<As>(column, begin + i, out + i * width);
    } else {  // columns are the closer neighbours, as in Fortran order
        for (std::size_t j = 0; j < width; ++j) {
            Run run = rows(column, begin, count);
            run.offset += static_cast<std::ptrdiff_t>(j) * column.column_stride;
            run.element += j;
            run.out_step = width;
            convert<As>(column, run, out + j);
        }
    }
}

template <std::floating_point T>
std::string shortest(T value) {
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return {digits.data(), end};
}

// There is no to_chars for halves; five significant digits always tell two apart.
std::string shortest_half(double value) {
    // Digits within half a unit in the last place are rounded to `value` again, those
    // at half a unit only if it is even. Below a power of two, units are half as large.
    const int exponent = std::isfinite(value) ? std::max(std::ilogb(value), -14) : 0;
    const bool is_power = std::abs(value) == std::ldexp(1.0, exponent);
    const double reach = std::ldexp(1.0, exponent - (is_power ? 12 : 11));
    const bool is_even = std::fmod(value, 4 * reach) == 0.0;
    for (int precision = 1; precision <= 5; ++precision) {
        std::array<char, 32> digits{};
        std::to_chars(digits.data(), digits.data() + digits.size() - 1, static_cast<float>(value),
                      std::chars_format::general, precision);
        const double distance = std::abs(std::strtod(digits.data(), nullptr) - value);
        if (distance < reach || (is_even && distance == reach)) return digits.data();
    }
    return shortest(static_cast<float>(value));
}

template <class T>
const T* rows_in_place(const Column& column, Dtype dtype, std::size_t begin) noexcept {
    constexpr std::ptrdiff_t item = sizeof(T);
    const auto row = item * static_cast<std::ptrdiff_t>(column.width);
    const bool direct = column.dtype == dtype && !column.swapped && column.validity == nullptr &&
                        (column.stride == row || column.size <= 1) &&
                        (column.column_stride == item || column.width == 1) &&
                        reinterpret_cast<std::uintptr_t>(column.data) % alignof(T) == 0;
    return direct ? reinterpret_cast<const T*>(column.data) + begin * column.width : nullptr;
}

std::string shortest(Half value) { return shortest_half(to_double(value)); }

}  // namespace

std::size_t item_size(Dtype dtype) noexcept {
    std::size_t size = 0;
    with_type(dtype, [&]<class T>(T*) {
        if constexpr (!std::is_void_v<T>) size = sizeof(T);
    });
    return size;
}

const double* in_place(const Column& column, std::size_t begin) noexcept {
    return rows_in_place<double>(column, Dtype::float64, begin);
}

const float* in_place_floats(const Column& column, std::size_t begin) noexcept {
    return rows_in_place<float>(column, Dtype::float32, begin);
}

const std::byte* in_place_integers(const Column& column, std::size_t begin) noexcept {
    const std::byte* at = nullptr;
    with_type(column.dtype, [&]<class T>(T*) {
        if constexpr (std::signed_integral<T>) {
            at = reinterpret_cast<const std::byte*>(rows_in_place<T>(column, column.dtype, begin));
        }
    });
    return at;
}

Column side_by_side(const void* data, std::size_t size, std::size_t width, Dtype dtype) noexcept {
    Column column;
    column.data = static_cast<const std::byte*>(data);
    column.size = size;
    column.width = width;
    column.dtype = dtype;
    column.column_stride = static_cast<std::ptrdiff_t>(item_size(dtype));
    column.stride = column.column_stride * static_cast<std::ptrdiff_t>(width);
    return column;
}

Column column_at(const Column& matrix, std::size_t index) noexcept {
    Column column = matrix;
    if (matrix.data != nullptr && matrix.dtype != Dtype::bits) {
        column.data += static_cast<std::ptrdiff_t>(index) * matrix.column_stride;
    }
    column.bit_offset += index;
    column.validity_offset += index;
    column.column_stride = 0;
    // Bits are counted along the rows of the matrix: there the width stays what it was.
    if (matrix.dtype != Dtype::bits && matrix.validity == nullptr) column.width = 1;
    return column;
}

void load(const Column& column, std::size_t begin, std::size_t count, double* out) noexcept {
    convert<AsDouble>(column, rows(column, begin, count), out);
}

void load_labels(const Column& column, std::size_t begin, std::size_t count,
                 std::int32_t* out) noexcept {
    convert<AsLabel>(column, rows(column, begin, count), out);
}

void load_row(const Column& column, std::size_t row, double* out) noexcept {
    convert_row<AsDouble>(column, row, out);
}

void load_block(const Column& column, std::size_t begin, std::size_t count, double* out) noexcept {
    convert_block<AsDouble>(column, begin, count, out);
}

void load_votes(const Column& column, std::size_t begin, std::size_t count,
                std::int32_t* out) noexcept {
    convert_block<AsVote>(column, begin, count, out);
}

std::string number_text(double value, Dtype dtype) {
    if (dtype == Dtype::float32) return shortest(static_cast<float>(value));
    if (dtype == Dtype::float16) return shortest_half(value);
    return shortest(value);
}

std::string value_text(const Column& column, std::size_t row, std::size_t column_index) {
    const std::size_t element = row * column.width + column_index;
    if (column.validity != nullptr && !bit_at(column.validity, column.validity_offset + element))
        return "null";
    std::string text;
    with_type(column.dtype, [&]<class T>(T*) {
        if constexpr (std::is_void_v<T>) {
            const auto* const bits = reinterpret_cast<const std::uint8_t*>(column.data);
            text = bit_at(bits, column.bit_offset + element) ? "True" : "False";
        } else {
            const std::byte* const at =
                column.data + row_offset(column, row) +
                static_cast<std::ptrdiff_t>(column_index) * column.column_stride;
            const T value = column.swapped ? read_swapped<T>(at) : read<T>(at);
            if constexpr (std::is_same_v<T, Boolean>)
                text = value.byte != 0 ? "True" : "False";
            else if constexpr (std::integral<T>)
                text = std::to_string(value);
            else
                text = shortest(value);
        }
    });
    return text;
}

}  // namespace calibrant
