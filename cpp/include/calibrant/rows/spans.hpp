// Column from C++ containers: what an embedding program hands to an accumulator.
//
//     std::vector<double> p = ...;
//     events.y_proba = column_of(std::span(p));
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "calibrant/rows/column.hpp"

namespace calibrant {

template <class T>
concept ColumnValue =
    std::same_as<T, bool> || std::same_as<T, std::int8_t> || std::same_as<T, std::int16_t> ||
    std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> ||
    std::same_as<T, std::uint8_t> || std::same_as<T, std::uint16_t> ||
    std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t> || std::same_as<T, float> ||
    std::same_as<T, double>;

template <ColumnValue T>
[[nodiscard]] constexpr Dtype dtype_of() {
    if constexpr (std::same_as<T, bool>) return Dtype::boolean;
    if constexpr (std::same_as<T, std::int8_t>) return Dtype::int8;
    if constexpr (std::same_as<T, std::int16_t>) return Dtype::int16;
    if constexpr (std::same_as<T, std::int32_t>) return Dtype::int32;
    if constexpr (std::same_as<T, std::int64_t>) return Dtype::int64;
    if constexpr (std::same_as<T, std::uint8_t>) return Dtype::uint8;
    if constexpr (std::same_as<T, std::uint16_t>) return Dtype::uint16;
    if constexpr (std::same_as<T, std::uint32_t>) return Dtype::uint32;
    if constexpr (std::same_as<T, std::uint64_t>) return Dtype::uint64;
    if constexpr (std::same_as<T, float>) return Dtype::float32;
    if constexpr (std::same_as<T, double>) return Dtype::float64;
}

// A view of the values, row by row with `width` each; they must outlive it.
template <class T, std::size_t extent>
    requires ColumnValue<std::remove_const_t<T>>
[[nodiscard]] Column column_of(std::span<T, extent> values, std::size_t width = 1) {
    Column column;
    column.data = reinterpret_cast<const std::byte*>(values.data());
    column.size = values.size() / width;
    column.width = width;
    column.column_stride = sizeof(T);
    column.stride = static_cast<std::ptrdiff_t>(width * sizeof(T));
    column.dtype = dtype_of<std::remove_const_t<T>>();
    return column;
}

}  // namespace calibrant
