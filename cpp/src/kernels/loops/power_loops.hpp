// The terms of generalized means, and their sums. Included by kernels/rooms/ only,
// and under their rules.
#pragma once

#include "kernels/loops/kernel_parts.hpp"

namespace calibrant {
namespace {

// The same terms as in `risk`, for all q > 0.
void robustness_terms(const double* q, std::size_t n, double* high, double* low, double* exponent) {
    const Power m = make_power(-2.0 / 3.0);
    for (std::size_t i = 0; i < n; ++i) {
        const PowerParts term = exp_finish_fast(power_reduce<true>(log_parts(q[i]), m));
        const bool gridded = q[i] >= least_gridded;
        const double scale_exponent = select(gridded, term.exponent, 0.0);
        const Rounded rounded = round_to_grid({term.high, term.low, scale_exponent});
        high[i] = select(gridded, rounded.high - snap_shift<20>, term.high);
        low[i] = select(gridded, rounded.low - snap_shift<58>, term.low);
        exponent[i] = select(gridded, 0.0, term.exponent);
    }
}

void general_terms(const double* q, std::size_t n, Power m, double* high, double* low,
                   double* exponent) {
    for (std::size_t i = 0; i < n; ++i) {
        const PowerParts term = power_parts(log_parts(q[i]), m);
        high[i] = term.high;
        low[i] = term.low;
        exponent[i] = term.exponent;
    }
}

// Squares, reciprocals and roots need no logarithm: the rounded value and its error, to twice
// the precision of a double and better than the general terms. Too small a q is left to those.
struct DirectSquare {
    [[gnu::always_inline]] Rounded operator()(double x) const {
        const double square = x * x;
        return {square, fma(x, x, -square)};
    }
};
struct DirectReciprocal {
    [[gnu::always_inline]] Rounded operator()(double x) const {
        const double reciprocal = 1.0 / x;
        return {reciprocal, fma(-x, reciprocal, 1.0) * reciprocal};
    }
};
struct DirectRoot {
    [[gnu::always_inline]] Rounded operator()(double x) const {
        const double root = __builtin_sqrt(x);
        return {root, fma(-root, root, x) / (root + root)};
    }
};

template <class Term>
void direct_terms(const double* q, std::size_t n, Power m, double* high, double* low,
                  double* exponent, Term term) {
    std::uint64_t tiny = 0;
    for (std::size_t i = 0; i < n; ++i) {
        tiny |= q[i] < least_gridded ? 1U : 0U;
        const Rounded parts = term(q[i]);
        high[i] = parts.high;
        low[i] = parts.low;
        exponent[i] = 0.0;
    }
    for (std::size_t i = 0; tiny != 0 && i < n; ++i) {
        if (q[i] < least_gridded) general_terms(q + i, 1, m, high + i, low + i, exponent + i);
    }
}

// Each term below 2^(51 - grid) is cut, high and low, as CutSum does it. For q of 2^-28 or more
// the last bits of all terms lie above the fourth cut: those of squares at 2^-160; a residual is
// a multiple of 2^-105 for the reciprocal, of 2^-134 for the root, whose quotient has 53 bits.
template <int grid, class Term>
void sum_direct_terms(const double* q, std::size_t n, PowerBlock* sums, Term term) {
    constexpr double first = snap_shift<grid>, second = snap_shift<grid + 52>;
    constexpr double third = snap_shift<grid + 104>, fourth = snap_shift<grid + 156>;
    std::uint64_t tiny = 0, a = 0, b = 0, c = 0, d = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const bool is_tiny = q[i] < least_gridded;
        tiny += is_tiny ? 1U : 0U;
        const Rounded parts = term(select(is_tiny, 1.0, q[i]));  // the term of 1 is 1
        const double high = parts.high + first;
        const double below_high = parts.high - (high - first);
        const double middle = below_high + second;
        const double below_middle = below_high - (middle - second);
        const double low = parts.low + second;
        const double below_low = parts.low - (low - second);
        const double lower = below_low + third;
        a += bits_of(high);
        b += bits_of(middle) + bits_of(low);
        c += bits_of(below_middle + third) + bits_of(lower);
        d += bits_of((below_low - (lower - third)) + fourth);
    }
    const auto ones = static_cast<std::int64_t>(tiny);
    *sums = {{unshift(a, n, first) - (ones << grid), unshift(b, 2 * n, second),
              unshift(c, 2 * n, third), unshift(d, n, fourth)},
             grid,
             tiny};
}

void sum_powers(const double* q, std::size_t n, double m, PowerBlock* sums) {
    if (m == 2.0) {
        sum_direct_terms<50>(q, n, sums, DirectSquare{});
    } else if (m == -1.0) {
        sum_direct_terms<22>(q, n, sums, DirectReciprocal{});
    } else {
        sum_direct_terms<50>(q, n, sums, DirectRoot{});
    }
}

// Values whose exponents lie in this range can be scaled by each other without rounding.
constexpr double safe_exponent = 256.0;
constexpr double least_safe_power = 0x1p-200;

bool powers(const double* q, std::size_t n, Power m, double* high, double* low, double* exponent) {
    if (m.value == -2.0 / 3.0) {
        robustness_terms(q, n, high, low, exponent);
    } else if (m.value == 2.0) {
        direct_terms(q, n, m, high, low, exponent, DirectSquare{});
    } else if (m.value == -1.0) {
        direct_terms(q, n, m, high, low, exponent, DirectReciprocal{});
    } else if (m.value == 0.5) {
        direct_terms(q, n, m, high, low, exponent, DirectRoot{});
    } else {
        general_terms(q, n, m, high, low, exponent);
    }
    std::uint64_t far = 0;
    for (std::size_t i = 0; i < n; ++i) {
        far |= exponent[i] > safe_exponent || exponent[i] < -safe_exponent ? 1U : 0U;
    }
    if (far != 0 || (m.value < least_safe_power && m.value > -least_safe_power)) return false;
    for (std::size_t i = 0; i < n; ++i) {
        const double scale = power_of_two(exponent[i]);
        high[i] *= scale;
        low[i] *= scale;
    }
    return true;
}

}  // namespace
}  // namespace calibrant
