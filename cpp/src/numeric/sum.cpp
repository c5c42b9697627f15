#include "calibrant/numeric/sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "calibrant/state/bytes.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {
namespace {

constexpr std::int64_t digit_mask = 0xFFFFFFFF;
constexpr std::uint64_t deposits_before_carry = std::uint64_t{1} << 30;

struct Decomposed {
    bool negative;
    std::uint64_t mantissa;  // below 2^53
    std::int64_t exponent;   // |x| = mantissa * 2^exponent
};

Decomposed decompose(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const auto biased = static_cast<std::int64_t>((bits >> 52) & 0x7FF);
    const std::uint64_t fraction = bits & 0x000FFFFFFFFFFFFF;
    const std::uint64_t hidden = biased != 0 ? std::uint64_t{1} << 52 : 0;
    return {(bits >> 63) != 0, fraction | hidden, std::max<std::int64_t>(biased, 1) - 1075};
}

// How many limbs magnitude * 2^shift takes, at least 1; shift < 32.
std::int64_t limbs_of(UInt128 magnitude, unsigned shift) {
    const auto above = static_cast<std::uint64_t>(magnitude >> 64);
    const auto below = static_cast<std::uint64_t>(magnitude);
    const unsigned bits = above != 0 ? 128U - static_cast<unsigned>(std::countl_zero(above))
                                     : 64U - static_cast<unsigned>(std::countl_zero(below));
    return (bits + shift + 31) / 32;
}

// Adds +-magnitude * 2^shift to limbs, 32 bits a limb; shift < 32.
void deposit(std::int64_t* limbs, UInt128 magnitude, unsigned shift, bool negative) {
    const std::int64_t sign = negative ? -1 : 0;
    const auto first = static_cast<std::int64_t>(
        static_cast<std::uint32_t>(static_cast<std::uint64_t>(magnitude) << shift));
    *limbs++ += (first ^ sign) - sign;
    for (magnitude >>= 32 - shift; magnitude != 0; magnitude >>= 32) {
        const auto digit = static_cast<std::int64_t>(static_cast<std::uint32_t>(magnitude));
        *limbs++ += (digit ^ sign) - sign;
    }
}

std::int64_t floor_div_32(std::int64_t x) { return x >> 5; }

// The 128 leading bits of a number, the first of them at the top; sticky when any bit below
// is set.
struct Leading {
    UInt128 bits;
    bool sticky;
    std::int64_t exponent;  // of the top bit
};

Leading leading_bits(std::int64_t base, const std::vector<std::uint32_t>& digits) {
    const std::size_t n = digits.size();
    UInt128 bits = 0;
    bool sticky = false;
    int filled = 0;
    const int unused = std::countl_zero(digits[n - 1]);
    for (std::size_t i = n; i-- > 0;) {
        const UInt128 digit = digits[i];
        if (filled <= 96) {
            bits |= digit << (96 - filled);
        } else if (filled < 128) {
            bits |= digit >> (filled - 96);
            sticky |= (digits[i] & ((std::uint32_t{1} << (filled - 96)) - 1)) != 0;
        } else {
            sticky |= digits[i] != 0;
        }
        if (i == n - 1) {
            bits <<= unused;
            filled = 32 - unused;
        } else {
            filled += 32;
        }
    }
    const std::int64_t exponent = 32 * (base + static_cast<std::int64_t>(n)) - 1 - unused;
    return {bits, sticky, exponent};
}

// bits / 2^drop, half to even, the sticky bit below counted; drop in [1, 128].
UInt128 round_off(UInt128 bits, bool sticky, int drop) {
    const UInt128 kept = drop == 128 ? 0 : bits >> drop;
    const UInt128 half = UInt128{1} << (drop - 1);
    const UInt128 rest = drop == 128 ? bits : bits & ((half << 1) - 1);
    const bool up = rest > half || (rest == half && (sticky || (kept & 1) != 0));
    return kept + (up ? 1 : 0);
}

Scaled rounded(const Leading& top, bool negative) {
    UInt128 mantissa = round_off(top.bits, top.sticky, 75);
    // What rounding left behind, in units of the last of the 128 bits; it fits in 76.
    const auto rest = static_cast<Int128>(top.bits - (mantissa << 75));
    std::int64_t exponent = top.exponent;
    double low = static_cast<double>(rest) * 0x1p-127;
    if (mantissa == UInt128{1} << 53) {
        mantissa >>= 1;
        low *= 0.5;
        ++exponent;
    }
    const double high = static_cast<double>(static_cast<std::uint64_t>(mantissa)) * 0x1p-52;
    return {negative ? -high : high, negative ? -low : low, exponent};
}

}  // namespace

Scaled scaled_multiple(Int128 multiple, std::int64_t exponent) {
    if (multiple == 0) return {};
    const bool negative = multiple < 0;
    const UInt128 magnitude =
        negative ? -static_cast<UInt128>(multiple) : static_cast<UInt128>(multiple);
    const auto above = static_cast<std::uint64_t>(magnitude >> 64);
    const int unused = above != 0 ? std::countl_zero(above)
                                  : 64 + std::countl_zero(static_cast<std::uint64_t>(magnitude));
    return rounded({magnitude << unused, false, exponent + 127 - unused}, negative);
}

void ExactSum::count_deposits(std::uint64_t count) {
    deposits_ += count;
    if (deposits_ >= deposits_before_carry) carry();
}

// Room for `count` limbs from index `first` on, counted in units of 2^32.
std::int64_t* ExactSum::limbs_from(std::int64_t first, std::int64_t count) {
    const auto size = static_cast<std::int64_t>(limbs_.size());
    if (first >= base_ && first + count <= base_ + size) return limbs_.data() + (first - base_);
    const std::int64_t low = size == 0 ? first : std::min(first, base_);
    const std::int64_t high = size == 0 ? first + count : std::max(first + count, base_ + size);
    // Carries may have made a sum wider than max_limbs: it still takes what lies in its span,
    // and merges into an empty one.
    if (high - low > std::max({static_cast<std::int64_t>(max_limbs), size, count})) {
        throw std::length_error(
            "the terms of an exact sum lie too many powers of two apart; use a smaller power, "
            "or its limit, infinity");
    }
    limbs_.grow(static_cast<std::size_t>(high - low),
                static_cast<std::size_t>(size == 0 ? 0 : base_ - low));
    base_ = low;
    return limbs_.data() + (first - base_);
}

void ExactSum::add(double x, std::int64_t exponent) {
    const Decomposed d = decompose(x);
    if (d.mantissa == 0) return;
    const std::int64_t position = d.exponent + exponent;
    const std::int64_t first = floor_div_32(position);
    const auto shift = static_cast<unsigned>(position & 31);
    deposit(limbs_from(first, limbs_of(d.mantissa, shift)), d.mantissa, shift, d.negative);
    count_deposits(1);
}

void ExactSum::add(Int128 multiple, std::int64_t exponent) {
    if (multiple == 0) return;
    const bool negative = multiple < 0;
    const UInt128 magnitude =
        negative ? -static_cast<UInt128>(multiple) : static_cast<UInt128>(multiple);
    const std::int64_t first = floor_div_32(exponent);
    const auto shift = static_cast<unsigned>(exponent & 31);
    deposit(limbs_from(first, limbs_of(magnitude, shift)), magnitude, shift, negative);
    count_deposits(1);
}

void ExactSum::add_product(double x, double y, std::int64_t exponent) {
    const Decomposed a = decompose(x);
    const Decomposed b = decompose(y);
    const UInt128 product = static_cast<UInt128>(a.mantissa) * b.mantissa;
    if (product == 0) return;
    const std::int64_t position = a.exponent + b.exponent + exponent;
    const std::int64_t first = floor_div_32(position);
    const auto shift = static_cast<unsigned>(position & 31);
    deposit(limbs_from(first, limbs_of(product, shift)), product, shift, a.negative != b.negative);
    count_deposits(1);
}

void ExactSum::add_block(const double* x, std::size_t n) {
    SumBlock block;
    alignas(64) double rest[block_rows];
    if (!kernels().sum(x, n, &block, rest)) {
        for (std::size_t i = 0; i < n; ++i) add(x[i]);
        return;
    }
    for (int k = 0; k < 3; ++k)
        add(static_cast<Int128>(block.sums[k]), block.exponent - 40 - 41 * k);
    if (!block.rest_left) return;
    for (std::size_t i = 0; i < n; ++i) add(rest[i]);
}

void ExactSum::add_products(const double* x, const double* y, std::size_t n) {
    ProductBlock block;
    if (kernels().sum_products(x, y, n, &block)) {
        for (int k = 0; k < 3; ++k)
            add(static_cast<Int128>(block.sums[k]), block.exponent - 51 - 52 * k);
        return;
    }
    alignas(64) double product[block_rows], error[block_rows];
    if (!kernels().products(x, y, n, product, error)) {
        for (std::size_t i = 0; i < n; ++i) add_product(x[i], y[i]);
        return;
    }
    add_block(product, n);
    add_block(error, n);
}

// Afterwards every limb but the last is a digit in [0, 2^32), and the last is in (-2^32,
// 2^32) and carries the sign.
void ExactSum::carry() {
    std::int64_t above = 0;
    for (std::size_t i = 0; i < limbs_.size(); ++i) {
        std::int64_t& limb = limbs_.data()[i];
        limb += above;
        const bool last = i + 1 == limbs_.size();
        if (last && limb <= digit_mask && limb >= -digit_mask) break;
        above = limb >> 32;
        limb &= digit_mask;
        if (last) limbs_.grow(limbs_.size() + 1, 0);
    }
    deposits_ = 1;
}

void ExactSum::merge(const ExactSum& other) {
    if (other.limbs_.empty()) return;
    if (this == &other) {
        const ExactSum copy = other;
        merge(copy);
        return;
    }
    const auto count = static_cast<std::int64_t>(other.limbs_.size());
    std::int64_t* const mine = limbs_from(other.base_, count);
    const std::int64_t* const theirs = other.limbs_.data();
    // Both stand below deposits_before_carry, so a limb stays below 2^63.
    for (std::int64_t i = 0; i < count; ++i) mine[i] += theirs[i];
    count_deposits(other.deposits_);
}

void ExactSum::subtract(const ExactSum& other) {
    if (other.limbs_.empty()) return;
    if (this == &other) {
        *this = {};
        return;
    }
    const auto count = static_cast<std::int64_t>(other.limbs_.size());
    std::int64_t* const mine = limbs_from(other.base_, count);
    const std::int64_t* const theirs = other.limbs_.data();
    for (std::int64_t i = 0; i < count; ++i) mine[i] -= theirs[i];
    count_deposits(other.deposits_);
}

ExactSum operator*(const ExactSum& a, const ExactSum& b) {
    const ExactSum::Canonical x = a.canonical(), y = b.canonical();
    ExactSum product;
    if (x.digits.empty() || y.digits.empty()) return product;
    product.limbs_ = Limbs(x.digits.size() + y.digits.size());
    product.base_ = x.base + y.base;
    product.deposits_ = 1;
    for (std::size_t i = 0; i < x.digits.size(); ++i) {
        std::uint64_t above = 0;
        for (std::size_t j = 0; j < y.digits.size(); ++j) {
            std::int64_t& limb = product.limbs_.data()[i + j];
            // At most (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1.
            above += std::uint64_t{x.digits[i]} * y.digits[j] + static_cast<std::uint64_t>(limb);
            limb = static_cast<std::int64_t>(above & digit_mask);
            above >>= 32;
        }
        product.limbs_.data()[i + y.digits.size()] = static_cast<std::int64_t>(above);
    }
    if (x.negative != y.negative) {
        for (std::int64_t& limb : product.limbs_) limb = -limb;
    }
    return product;
}

ExactSum::Canonical ExactSum::canonical() const {
    Canonical result;
    if (limbs_.empty()) return result;
    std::vector<std::uint32_t>& digits = result.digits;
    digits.reserve(limbs_.size() + 2);
    std::int64_t above = 0;  // what the digits so far leave to the next
    for (const std::int64_t limb : limbs_) {
        above += limb;
        digits.push_back(static_cast<std::uint32_t>(above));
        above >>= 32;
    }
    for (; above != 0 && above != -1; above >>= 32) {
        digits.push_back(static_cast<std::uint32_t>(above));
    }
    result.negative = above < 0;
    if (result.negative) {  // the two's complement
        std::uint64_t carried = 1;
        for (std::uint32_t& digit : digits) {
            carried += static_cast<std::uint32_t>(~digit);
            digit = static_cast<std::uint32_t>(carried);
            carried >>= 32;
        }
        if (carried != 0) digits.push_back(1);
    }
    std::size_t low = 0;
    while (!digits.empty() && digits.back() == 0) digits.pop_back();
    while (low < digits.size() && digits[low] == 0) ++low;
    if (digits.empty()) return {};
    digits.erase(digits.begin(), digits.begin() + static_cast<std::ptrdiff_t>(low));
    result.base = base_ + static_cast<std::int64_t>(low);
    return result;
}

bool ExactSum::is_zero() const {
    bool any_positive = false, any_negative = false;
    for (const std::int64_t limb : limbs_) {
        any_positive = any_positive || limb > 0;
        any_negative = any_negative || limb < 0;
    }
    return any_positive == any_negative && (!any_positive || canonical().digits.empty());
}

bool ExactSum::is_negative() const {
    if (limbs_.empty()) return false;
    ExactSum carried = *this;
    carried.carry();
    return *(carried.limbs_.end() - 1) < 0;
}

Scaled ExactSum::value() const {
    const Canonical sum = canonical();
    if (sum.digits.empty()) return {};
    return rounded(leading_bits(sum.base, sum.digits), sum.negative);
}

double ExactSum::to_double() const {
    const Canonical sum = canonical();
    if (sum.digits.empty()) return 0.0;
    const Leading top = leading_bits(sum.base, sum.digits);
    if (top.exponent > 1023) {
        const double infinity = std::numeric_limits<double>::infinity();
        return sum.negative ? -infinity : infinity;
    }
    // Below 2^-1022 a double has fewer than 53 bits.
    const std::int64_t precision = std::min<std::int64_t>(53, top.exponent + 1075);
    if (precision < 0) return sum.negative ? -0.0 : 0.0;
    const UInt128 mantissa = round_off(top.bits, top.sticky, static_cast<int>(128 - precision));
    const double magnitude = std::ldexp(static_cast<double>(static_cast<std::uint64_t>(mantissa)),
                                        static_cast<int>(top.exponent + 1 - precision));
    return sum.negative ? -magnitude : magnitude;
}

void ExactSum::write(Writer& out) const {
    const Canonical sum = canonical();
    out.u8(sum.negative ? 1 : 0);
    out.i64(sum.base);
    out.u64(sum.digits.size());
    for (const std::uint32_t digit : sum.digits) out.u32(digit);
}

ExactSum ExactSum::read(Reader& in, std::int64_t most_limbs) {
    const std::uint8_t sign = in.u8();
    const std::int64_t base = in.i64();
    const std::size_t count = in.count(sizeof(std::uint32_t));
    ExactSum sum;
    const auto limbs = static_cast<std::int64_t>(count);  // at most as many as there are bytes
    if (sign > 1 || base < -most_limbs || base > most_limbs - limbs) {
        throw CorruptState("an exact sum in the state is malformed");
    }
    sum.limbs_ = Limbs(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto digit = static_cast<std::int64_t>(in.u32());
        if (digit == 0 && (i == 0 || i + 1 == count)) {
            throw CorruptState("an exact sum in the state is not in its canonical form");
        }
        sum.limbs_.data()[i] = sign != 0 ? -digit : digit;
    }
    if (count == 0 && (sign != 0 || base != 0)) {
        throw CorruptState("an exact sum in the state is not in its canonical form");
    }
    sum.base_ = base;
    sum.deposits_ = 1;
    return sum;
}

void throw_fixed_sum_overflow() {
    throw std::overflow_error("a sum of 128 bits is full: too many rows for one accumulator");
}

std::uint64_t checked_add(std::uint64_t a, std::uint64_t b) {
    if (a > std::numeric_limits<std::uint64_t>::max() - b) {
        throw std::overflow_error("a count is full: more than 2^64 - 1 rows");
    }
    return a + b;
}

}  // namespace calibrant
