// Arrays as strangers might hand them over, made from the bytes of a fuzzer: any type, byte order,
// strides, alignment and bitmap, in memory that ends where the array does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "calibrant/rows/column.hpp"

namespace fuzz {

// Takes the input apart; zeros once it is used up.
class Bytes {
public:
    Bytes(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

    std::uint8_t byte() {
        if (rest_.empty()) return 0;
        const std::uint8_t value = rest_.front();
        rest_ = rest_.subspan(1);
        return value;
    }
    bool flag() { return (byte() & 1U) != 0; }
    std::size_t below(std::size_t n) { return (byte() | std::size_t{byte()} << 8) % n; }
    std::uint64_t word() {
        std::uint64_t value = 0;
        for (int i = 0; i < 8; ++i) value = value << 8 | byte();
        return value;
    }
    // Without taking them away: several arrays may be filled from the same.
    [[nodiscard]] std::span<const std::uint8_t> rest() const { return rest_; }

private:
    std::span<const std::uint8_t> rest_;
};

// Mostly few, now and then more than one block of the kernels.
inline std::size_t some_rows(Bytes& in) {
    const std::size_t n = in.below(1024);
    return n < 960 ? n % 24 : n;
}

inline constexpr std::size_t n_dtypes = static_cast<std::size_t>(calibrant::Dtype::float64) + 1;

inline calibrant::Dtype some_dtype(Bytes& in) {
    return static_cast<calibrant::Dtype>(in.below(n_dtypes));
}

// Writes numbers that are often good: 0, 1, halves, small integers, some that never are.
inline void write_number(std::byte* at, calibrant::Dtype dtype, std::uint8_t choice) {
    using calibrant::Dtype;
    constexpr double numbers[] = {0.0, 1.0, 0.5, 0.25, 0.1, 0x1p-1074, 1.5, -1.0};
    constexpr std::uint16_t halves[] = {0, 0x3c00, 0x3800, 0x3400, 0x2e66, 1, 0x3e00, 0xbc00};
    const double number = numbers[choice % 8];
    const auto put = [at](auto value) { std::memcpy(at, &value, sizeof value); };
    const std::size_t size = item_size(dtype);
    if (dtype == Dtype::float64) {
        put(number);
    } else if (dtype == Dtype::float32) {
        put(static_cast<float>(number));
    } else if (dtype == Dtype::float16) {
        put(halves[choice % 8]);
    } else {  // little-endian, but any number will do
        std::memset(at, choice == 255 ? 255 : 0, size);
        if (choice != 255 && size > 0) *at = static_cast<std::byte>(choice % 4);
    }
}

// A column, and its memory.
class Foreign {
public:
    Foreign(Bytes& in, std::size_t rows, std::size_t width, calibrant::Dtype dtype) {
        column_.size = rows;
        column_.width = width;
        column_.dtype = dtype;
        column_.swapped = in.byte() % 4 == 3 && item_size(dtype) > 1;
        if (dtype == calibrant::Dtype::bits) {
            column_.bit_offset = in.below(20);
            allocate(in, (column_.bit_offset + rows * width + 7) / 8, 0);
            column_.data = memory_.get();
        } else {
            lay_out(in);
        }
        if (in.byte() % 4 == 3) add_validity(in);
    }
    Foreign(Bytes& in, std::size_t rows, std::size_t width)
        : Foreign(in, rows, width, some_dtype(in)) {}

    [[nodiscard]] const calibrant::Column& column() const { return column_; }

private:
    void lay_out(Bytes& in) {
        const auto item = static_cast<std::ptrdiff_t>(item_size(column_.dtype));
        const auto rows = static_cast<std::ptrdiff_t>(column_.size);
        const auto width = static_cast<std::ptrdiff_t>(column_.width);
        const auto some_stride = [&] { return static_cast<std::ptrdiff_t>(in.below(64)) - 32; };
        const std::size_t order = in.below(8);
        column_.column_stride = order == 0 ? item * rows : order == 1 ? some_stride() : item;
        column_.stride = order == 0   ? item
                         : order == 1 ? some_stride()
                         : order == 2 ? -item * width
                         : order == 3 ? 0
                         : order == 4 ? item * width + some_stride()
                                      : item * width;
        if (rows == 0 || width == 0) return;  // such an array has no address
        const std::ptrdiff_t down = (rows - 1) * column_.stride;
        const std::ptrdiff_t along = (width - 1) * column_.column_stride;
        const std::ptrdiff_t first = std::min<std::ptrdiff_t>({0, down, along, down + along});
        const std::ptrdiff_t last = std::max<std::ptrdiff_t>({0, down, along, down + along});
        const std::size_t shift = in.below(8) == 7 ? in.below(8) : 0;
        allocate(in, static_cast<std::size_t>(last - first + item), shift);
        column_.data = memory_.get() + shift - first;
        if (in.flag()) return;
        for (std::ptrdiff_t i = 0; i < rows; ++i) {
            for (std::ptrdiff_t j = 0; j < width; ++j) {
                const std::ptrdiff_t at = i * column_.stride + j * column_.column_stride;
                const auto choice = static_cast<std::uint8_t>(column_.data[at]);
                write_number(memory_.get() + (column_.data - memory_.get()) + at, column_.dtype,
                             choice);
            }
        }
    }

    // As many copies of what is left of the input as there is room for.
    void allocate(const Bytes& in, std::size_t size, std::size_t shift) {
        memory_ = std::make_unique<std::byte[]>(size + shift);
        const auto rest = in.rest();
        for (std::size_t i = 0; i < size && !rest.empty(); ++i)
            memory_[shift + i] = static_cast<std::byte>(rest[i % rest.size()]);
    }

    void add_validity(Bytes& in) {
        column_.validity_offset = in.below(20);
        const std::uint8_t pattern = in.byte();
        const std::size_t bits = column_.validity_offset + column_.size * column_.width;
        validity_ = std::make_unique<std::uint8_t[]>((bits + 7) / 8);
        for (std::size_t i = 0; i < (bits + 7) / 8; ++i)
            validity_[i] = static_cast<std::uint8_t>(i % 3 == 0 ? pattern : 255);
        column_.validity = validity_.get();
    }

    std::unique_ptr<std::byte[]> memory_;  // exactly as long as it must be
    std::unique_ptr<std::uint8_t[]> validity_;
    calibrant::Column column_;
};

}  // namespace fuzz
