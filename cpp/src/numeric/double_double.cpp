#include "calibrant/numeric/double_double.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace calibrant {
namespace {

DoubleDouble two_product(double a, double b) {
    const double product = a * b;
    return {product, std::fma(a, b, -product)};
}

// |a| >= |b|, or a == 0.
DoubleDouble renormalise(double a, double b) {
    const double sum = a + b;
    return {sum, b - (sum - a)};
}

}  // namespace

DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble high = two_sum(a.high, b.high);
    const DoubleDouble low = two_sum(a.low, b.low);
    const DoubleDouble sum = renormalise(high.high, high.low + low.high);
    return renormalise(sum.high, sum.low + low.low);
}

DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + DoubleDouble{-b.high, -b.low}; }

DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble product = two_product(a.high, b.high);
    return renormalise(product.high, product.low + (a.high * b.low + a.low * b.high));
}

DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
    const double first = a.high / b.high;
    const DoubleDouble rest = a - b * DoubleDouble{first, 0.0};
    const double second = rest.high / b.high;
    const DoubleDouble last = rest - b * DoubleDouble{second, 0.0};
    return renormalise(first, second) + DoubleDouble{last.high / b.high, 0.0};
}

DoubleDouble wide(UInt128 x) {
    if (x >> 62 == 0) {  // the same, in the integers of the machine
        const auto small = static_cast<std::int64_t>(x);
        const auto high = static_cast<double>(small);
        return {high, static_cast<double>(small - static_cast<std::int64_t>(high))};
    }
    if (x >> 106 != 0) {  // in two parts
        const DoubleDouble upper = wide(x >> 64);
        return DoubleDouble{upper.high * 0x1p64, upper.low * 0x1p64} + wide(x & ~std::uint64_t{0});
    }
    const auto high = static_cast<double>(x);
    return {high, static_cast<double>(static_cast<Int128>(x - static_cast<UInt128>(high)))};
}

ScaledDoubleDouble divide(Scaled a, Scaled b) {
    const DoubleDouble quotient = DoubleDouble{a.high, a.low} / DoubleDouble{b.high, b.low};
    const std::int64_t exponent = a.exponent - b.exponent;
    if (quotient.high == 0.0) return {{}, 0};
    // Both mantissas lie in [1, 2), so their quotient lies in (1/2, 2).
    const double magnitude = std::fabs(quotient.high);
    const int up = magnitude < 0x1.6a09e667f3bcdp-1    ? 1
                   : magnitude >= 0x1.6a09e667f3bcdp+0 ? -1
                                                       : 0;
    const double scale = up == 1 ? 2.0 : up == -1 ? 0.5 : 1.0;
    return {{quotient.high * scale, quotient.low * scale}, exponent - up};
}

DoubleDouble quotient(const ExactSum& a, const ExactSum& b) { return quotient(a, b.value()); }

DoubleDouble quotient(const ExactSum& a, Scaled b) {
    const ScaledDoubleDouble ratio = divide(a.value(), b);
    const auto exponent = static_cast<int>(std::clamp<std::int64_t>(ratio.exponent, -2000, 2000));
    return {std::ldexp(ratio.value.high, exponent), std::ldexp(ratio.value.low, exponent)};
}

double mean(const ExactSum& a, const ExactSum& b) { return mean(a.value(), b.value()); }

double mean(Scaled a, Scaled b) {
    if (b.high == 0.0) return std::numeric_limits<double>::quiet_NaN();
    const ScaledDoubleDouble ratio = divide(a, b);
    const auto exponent = std::clamp<std::int64_t>(ratio.exponent, -2000, 2000);
    return std::ldexp(ratio.value.high, static_cast<int>(exponent));
}

double over_root(Scaled a, Scaled b) {
    const double even = b.exponent % 2 == 0 ? 1.0 : 2.0;
    const DoubleDouble square{even * b.high, even * b.low};
    const double root = std::sqrt(square.high);
    const DoubleDouble left = square - DoubleDouble{root, 0.0} * DoubleDouble{root, 0.0};
    const DoubleDouble both = DoubleDouble{root, 0.0} + DoubleDouble{left.high / (2.0 * root), 0.0};
    const DoubleDouble quotient = DoubleDouble{a.high, a.low} / both;
    const std::int64_t exponent = a.exponent - (b.exponent - (even == 1.0 ? 0 : 1)) / 2;
    return std::ldexp(quotient.high,
                      static_cast<int>(std::clamp<std::int64_t>(exponent, -3000, 3000)));
}

Scaled scaled(DoubleDouble x, std::int64_t exponent) {
    if (x.high == 0.0) return {};
    const int shift = std::ilogb(x.high);
    return {std::ldexp(x.high, -shift), std::ldexp(x.low, -shift), exponent + shift};
}

// 2 atanh(u) = 2 (u + u^3/3 + u^5/5 + ...) with u = f / (2 + f): u^2 is below 0.0295, so 21
// terms reach 2^-107.
DoubleDouble log1p(DoubleDouble f) {
    const DoubleDouble u = f / (DoubleDouble{2.0, 0.0} + f);
    const DoubleDouble square = u * u;
    DoubleDouble series{};
    for (int k = 20; k >= 0; --k) {
        series = series * square + DoubleDouble{1.0, 0.0} / DoubleDouble{2.0 * k + 1.0, 0.0};
    }
    const DoubleDouble half = u * series;
    return {2.0 * half.high, 2.0 * half.low};
}

DoubleDouble multiple_of_ln2(std::int64_t exponent) {
    constexpr DoubleDouble ln2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
    return ln2 * DoubleDouble{static_cast<double>(exponent), 0.0};
}

}  // namespace calibrant
