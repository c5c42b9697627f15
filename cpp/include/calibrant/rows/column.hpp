// Column: a typed view of somebody else's array, read in blocks.
//
// Inputs are never cast as a whole. A kernel reads one block at a time, as
// doubles or as class codes, and pays for a conversion only where there is one:
// native, contiguous float64 is handed out in place.
//
// Every conversion to double is exact but one: 64-bit integers beyond 2^53 become
// the nearest double (ties to even). None depends on the floating-point
// environment's treatment of subnormals.
//
// Another thread may write to the array while it is read. Each load reads a value
// once and works on that copy, and any bit pattern is safe to read. A caller that
// uses in_place() must do the same: read, test and use one copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace calibrant {

enum class Dtype : std::uint8_t {
    boolean,  // one byte each; any byte but 0 is true
    bits,     // one bit each, least significant first, as Arrow stores them
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    float32,
    float64,
};

// Bytes of one value; 0 for `bits`.
[[nodiscard]] std::size_t item_size(Dtype dtype) noexcept;

// `size` rows of `width` values in memory that must outlive the view.
//
// Strides may be negative, zero or odd. `bits` and the validity bitmap know no
// strides: value (i, j) is at bit `offset + i * width + j`.
struct Column {
    const std::byte* data = nullptr;
    std::size_t size = 0;
    std::ptrdiff_t stride = 0;  // bytes from one row to the next
    std::size_t width = 1;
    std::ptrdiff_t column_stride = 0;  // bytes from one value of a row to the next
    Dtype dtype = Dtype::float64;
    bool swapped = false;  // stored in the byte order that is not the machine's
    std::size_t bit_offset = 0;
    const std::uint8_t* validity = nullptr;  // bit 0: missing; no bitmap: nothing is
    std::size_t validity_offset = 0;
};

// What load_labels writes where there is no class code.
inline constexpr std::int32_t label_missing = -1;
inline constexpr std::int32_t label_invalid = -2;

// What load_votes writes for -1: a member of an ensemble that names no class.
inline constexpr std::int32_t vote_abstains = -1;

// Class codes are below this, so that a code plus one is still an int32.
inline constexpr std::int32_t label_limit = 2147483647;

// The rows from `begin` on, if they can be used where they are: aligned, native,
// contiguous float64, or float32, without a validity bitmap. Otherwise null.
[[nodiscard]] const double* in_place(const Column& column, std::size_t begin) noexcept;
[[nodiscard]] const float* in_place_floats(const Column& column, std::size_t begin) noexcept;

// Likewise of signed integers, of the size that the dtype says.
[[nodiscard]] const std::byte* in_place_integers(const Column& column, std::size_t begin) noexcept;

// Rows of `width` values each, one after the other.
[[nodiscard]] Column side_by_side(const void* data, std::size_t size, std::size_t width,
                                  Dtype dtype) noexcept;

// One column of a matrix, for load().
[[nodiscard]] Column column_at(const Column& matrix, std::size_t index) noexcept;

// The functions below need begin + count <= size. Missing values become quiet NaN.

// Rows of a column of width 1, or of one that column_at made.
void load(const Column& column, std::size_t begin, std::size_t count, double* out) noexcept;

// All values of one row.
void load_row(const Column& column, std::size_t row, double* out) noexcept;

// count x width values, row by row.
void load_block(const Column& column, std::size_t begin, std::size_t count, double* out) noexcept;

// Class codes of a column of width 1. A null or a NaN becomes label_missing;
// anything but an integer in [0, label_limit) becomes label_invalid. Floats that
// hold integers are accepted, -0.0 included.
void load_labels(const Column& column, std::size_t begin, std::size_t count,
                 std::int32_t* out) noexcept;

// count x width votes, row by row: a class code, or -1 for none. Everything else, missing values
// too, becomes label_invalid.
void load_votes(const Column& column, std::size_t begin, std::size_t count,
                std::int32_t* out) noexcept;

// One value as its owner would write it: the shortest digits that give it back in
// its own type, integers in full, True and False, and null where it is missing.
[[nodiscard]] std::string value_text(const Column& column, std::size_t row,
                                     std::size_t column_index = 0);

// The shortest digits that give `value` back, once it is rounded to `dtype`.
[[nodiscard]] std::string number_text(double value, Dtype dtype = Dtype::float64);

}  // namespace calibrant
