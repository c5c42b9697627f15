#include "calibrant/cumulative/walk.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "calibrant/numeric/tails.hpp"
#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {
namespace {

constexpr UInt128 low_word = ~std::uint64_t{0};

// x * 2^shift in three words, of which the lowest belongs to limb shift / 64.
struct Shifted {
    std::uint64_t words[3];

    Shifted(UInt128 x, unsigned shift) {
        const unsigned bits = shift % 64;
        const auto low = static_cast<std::uint64_t>(x), high = static_cast<std::uint64_t>(x >> 64);
        words[0] = low << bits;
        words[1] = bits == 0 ? high : (high << bits) | (low >> (64 - bits));
        words[2] = bits == 0 ? 0 : high >> (64 - bits);
    }
};

// A positive score is mantissa * 2^exponent.
struct Parts {
    std::uint64_t mantissa;
    int exponent;

    explicit Parts(double score) {
        const auto bits = std::bit_cast<std::uint64_t>(score);
        const auto biased = static_cast<int>(bits >> 52);
        const std::uint64_t hidden = biased != 0 ? std::uint64_t{1} << 52 : 0;
        mantissa = (bits & 0x000FFFFFFFFFFFFF) | hidden;
        exponent = (biased != 0 ? biased : 1) - 1075;
    }
};

bool is_positive(const ExactSum& sum) { return sum.value().high > 0.0; }

}  // namespace

void WalkSum::add(UInt128 x, unsigned shift) {
    const Shifted part(x, shift);
    UInt128 carry = 0;
    for (unsigned i = 0, limb = shift / 64; limb < 4; ++i, ++limb) {
        carry += UInt128{limbs_[limb]} + (i < 3 ? part.words[i] : 0);
        limbs_[limb] = static_cast<std::uint64_t>(carry);
        carry >>= 64;
    }
}

void WalkSum::subtract(UInt128 x, unsigned shift) {
    const Shifted part(x, shift);
    UInt128 borrow = 0;
    for (unsigned i = 0, limb = shift / 64; limb < 4; ++i, ++limb) {
        const UInt128 left = UInt128{limbs_[limb]} - (i < 3 ? part.words[i] : 0) - borrow;
        limbs_[limb] = static_cast<std::uint64_t>(left);
        borrow = (left >> 64) & 1;
    }
}

WalkSum& WalkSum::operator+=(const WalkSum& other) {
    UInt128 carry = 0;
    for (unsigned i = 0; i < 4; ++i) {
        carry += UInt128{limbs_[i]} + other.limbs_[i];
        limbs_[i] = static_cast<std::uint64_t>(carry);
        carry >>= 64;
    }
    return *this;
}

WalkSum& WalkSum::operator-=(const WalkSum& other) {
    UInt128 borrow = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const UInt128 left = UInt128{limbs_[i]} - other.limbs_[i] - borrow;
        limbs_[i] = static_cast<std::uint64_t>(left);
        borrow = (left >> 64) & 1;
    }
    return *this;
}

bool operator<(const WalkSum& a, const WalkSum& b) {
    const auto top = [](const WalkSum& sum) { return static_cast<std::int64_t>(sum.limbs_[3]); };
    if (top(a) != top(b)) return top(a) < top(b);
    for (int i = 2; i > 0; --i) {
        if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] < b.limbs_[i];
    }
    return a.limbs_[0] < b.limbs_[0];
}

void WalkSum::add_to(ExactSum& sum, std::int64_t exponent) const {
    for (int i = 0; i < 3; ++i) {
        if (limbs_[i] != 0) sum.add(static_cast<Int128>(limbs_[i]), exponent + 64 * i);
    }
    const auto top = static_cast<std::int64_t>(limbs_[3]);
    if (top != 0) sum.add(Int128{top}, exponent + 192);
}

DoubleDouble WalkSum::value() const {
    WalkSum size;
    const bool negative = static_cast<std::int64_t>(limbs_[3]) < 0;
    if (negative) {
        size -= *this;
    } else {
        size = *this;
    }
    DoubleDouble result;
    double scale = 0x1p224;
    for (int i = 3; i >= 0; --i, scale *= 0x1p-64) {
        if (size.limbs_[i] == 0) continue;
        const double high = static_cast<double>(size.limbs_[i] >> 32) * scale;
        const double low = static_cast<double>(size.limbs_[i] & 0xFFFFFFFF) * (scale * 0x1p-32);
        const double both = high + low;
        result = result + DoubleDouble{both, low - (both - high)};
    }
    return negative ? DoubleDouble{-result.high, -result.low} : result;
}

void Extremes::see(const ExactSum& place) {
    if (is_positive(difference(place, highest))) highest = place;
    if (is_positive(difference(lowest, place))) lowest = place;
}

void Extremes::see(const ExactSum& start, const Extremes& further) {
    ExactSum place = start;
    place.merge(further.highest);
    see(place);
    place = start;
    place.merge(further.lowest);
    see(place);
}

void Walk::step(double score, UInt128 weight, UInt128 hits) {
    if (score > 0.0 && score < least_gridded) {
        step_tiny(score, weight, hits);
        return;
    }
    if (hits != 0) sum_.add(hits, grid);
    if (score > 0.0) {
        const Parts parts(score);
        const auto shift = static_cast<unsigned>(parts.exponent + grid);
        sum_.subtract((weight & low_word) * parts.mantissa, shift);
        if (weight >> 64 != 0) sum_.subtract((weight >> 64) * parts.mantissa, shift + 64);
    }
    if (highest_ < sum_) highest_ = sum_;
    if (sum_ < lowest_) lowest_ = sum_;
}

// Among steps without hits only the last can matter: it is seen before the next hit, or in the
// end.
void Walk::step_tiny(double score, UInt128 weight, UInt128 hits) {
    const bool turns = hits != 0;
    if (turns || tiny_.is_zero()) {
        seen_.see(exact(highest_));
        seen_.see(exact(lowest_));
    }
    const Parts parts(score);
    tiny_.add(static_cast<Int128>((weight & low_word) * parts.mantissa), parts.exponent);
    if (weight >> 64 != 0) {
        tiny_.add(static_cast<Int128>((weight >> 64) * parts.mantissa), parts.exponent + 64);
    }
    if (turns) sum_.add(hits, grid);
    highest_ = lowest_ = sum_;
    if (turns) seen_.see(exact(sum_));
}

ExactSum Walk::exact(const WalkSum& sum) const {
    ExactSum result;
    sum.add_to(result, -grid);
    result.subtract(tiny_);
    if (unit_exponent_ == 0) return result;
    ExactSum unit;
    unit.add(Int128{1}, unit_exponent_);
    return result * unit;
}

Extremes Walk::extremes() const {
    Extremes result = seen_;
    result.see(exact(highest_));
    result.see(exact(lowest_));
    return result;
}

ExactSum Walk::place() const { return exact(sum_); }

DoubleDouble Walk::place_in_units() const {
    const DoubleDouble sum = sum_.value();
    const DoubleDouble gridded{sum.high * 0x1p-124, sum.low * 0x1p-124};
    if (tiny_.is_zero()) return gridded;
    const Scaled tiny = tiny_.value();
    const int exponent = static_cast<int>(tiny.exponent);
    return gridded - DoubleDouble{std::ldexp(tiny.high, exponent), std::ldexp(tiny.low, exponent)};
}

// x = min(s, 1 - s) is exact, and s (1 - s) = x - x^2. Below 2^-399 the square is left out: it
// is less than 2^-399 of x, and might not be a double.
void ScoreVariance::add(const double* score, const double* weight, std::size_t n) {
    alignas(64) double near[block_rows], root[block_rows];
    for (std::size_t i = 0; i < n; ++i) {
        near[i] = score[i] > 0.5 ? 1.0 - score[i] : score[i];
        root[i] = near[i] > least_squared ? near[i] : 0.0;
    }
    if (weight == nullptr) {
        near_.add_block(near, n);
        squares_.add_products(root, root, n);
        return;
    }
    alignas(64) double square[block_rows], error[block_rows];
    (void)kernels().products(root, root, n, square, error);
    near_.add_products(weight, near, n);
    squares_.add_products(weight, square, n);
    squares_.add_products(weight, error, n);
}

void ScoreVariance::add(double score, UInt128 weight, int unit_exponent) {
    const double near = score > 0.5 ? 1.0 - score : score;
    if (near == 0.0) return;
    const Parts parts(near);
    const UInt128 square = UInt128{parts.mantissa} * parts.mantissa;
    constexpr std::uint64_t half_mask = (std::uint64_t{1} << 53) - 1;
    const auto add_word = [&](std::uint64_t word, int exponent) {
        const auto times = [&](UInt128 x) { return static_cast<Int128>(x * word); };
        near_.add(times(parts.mantissa), exponent + parts.exponent);
        if (!(near > least_squared)) return;
        squares_.add(times(square & half_mask), exponent + 2 * parts.exponent);
        squares_.add(times(square >> 53), exponent + 2 * parts.exponent + 53);
    };
    add_word(static_cast<std::uint64_t>(weight), unit_exponent);
    if (weight >> 64 != 0) add_word(static_cast<std::uint64_t>(weight >> 64), unit_exponent + 64);
}

void ScoreVariance::merge(const ScoreVariance& other) {
    near_.merge(other.near_);
    squares_.merge(other.squares_);
}

ExactSum ScoreVariance::total() const { return difference(near_, squares_); }

double in_sigmas(const ExactSum& a, const ExactSum& variance) {
    if (a.is_zero()) return 0.0;
    if (variance.is_zero()) return std::numeric_limits<double>::infinity();
    return over_root(a.value(), variance.value());
}

ExactSum largest_distance(const Extremes& extremes) {
    ExactSum below;
    below.subtract(extremes.lowest);
    return is_positive(difference(below, extremes.highest)) ? below : extremes.highest;
}

ExactSum range(const Extremes& extremes) { return difference(extremes.highest, extremes.lowest); }

TestResult ks_result(double statistic) {
    return {statistic, brownian_sup_sf(statistic), brownian_sup_log_sf(statistic)};
}

TestResult kuiper_result(double statistic) {
    return {statistic, brownian_range_sf(statistic), brownian_range_log_sf(statistic)};
}

double WalkTests::ks() const { return in_sigmas(largest_distance(extremes), variance); }
double WalkTests::kuiper() const { return in_sigmas(range(extremes), variance); }

double WalkTests::sigma() const {
    if (variance.is_zero()) return 0.0;
    // sqrt(v) / w, rounded once.
    return over_root(variance.value(), (variance * weight * weight).value());
}

void WalkTests::require_weight() const {
    if (!weight.is_zero()) return;
    reject_weightless("the test needs", n);
}

}  // namespace calibrant
