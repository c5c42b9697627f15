// Products of two 128-bit numbers, compared without rounding: for fractions of exact counts.
#pragma once

#include "calibrant/numeric/sum.hpp"

namespace calibrant {

struct WideProduct {
    UInt128 high, low;

    friend bool operator==(const WideProduct&, const WideProduct&) = default;
    friend bool operator<(const WideProduct& a, const WideProduct& b) {
        return a.high != b.high ? a.high < b.high : a.low < b.low;
    }
};

[[nodiscard]] inline WideProduct wide_product(UInt128 a, UInt128 b) {
    constexpr UInt128 mask = ~std::uint64_t{0};
    const UInt128 low = (a & mask) * (b & mask);
    const UInt128 left = (a >> 64) * (b & mask);
    const UInt128 right = (a & mask) * (b >> 64);
    // Three terms below 2^64 - 1 each, times 2^64.
    const UInt128 middle = (low >> 64) + (left & mask) + (right & mask);
    const UInt128 high = (a >> 64) * (b >> 64) + (left >> 64) + (right >> 64) + (middle >> 64);
    return {high, (middle << 64) | (low & mask)};
}

// a b < c d
[[nodiscard]] inline bool product_less(UInt128 a, UInt128 b, UInt128 c, UInt128 d) {
    const auto small = [](UInt128 x) { return UInt128{static_cast<std::uint64_t>(x)}; };
    if (((a | b | c | d) >> 64) == 0) return small(a) * small(b) < small(c) * small(d);
    return wide_product(a, b) < wide_product(c, d);
}

}  // namespace calibrant
