// The kernels of scores.hpp. Included by kernels/rooms/ only, and under their rules.
#pragma once

#include "kernels/loops/kernel_parts.hpp"

namespace calibrant {
namespace {

// leading + rest onto the score_grid, for |leading| < 2^21 and |rest| < 2^-31.
[[gnu::always_inline]] inline Rounded round_score(double leading, double rest) {
    const double high = snap<30>(leading);
    return {high, snap<80>((leading - high) + rest)};
}

// p - label = d + e, exactly (Fast2Sum); e^2 < 2^-107 is dropped.
[[gnu::always_inline]] inline Rounded brier_term(double p, std::int32_t label) {
    const double y = static_cast<double>(label);
    const double d = p - y;
    const double e = p - (d + y);
    const double square = d * d;
    return round_score(square, fma(d + d, e, fma(d, d, -square)));
}

void brier(const double* __restrict p, const std::int32_t* __restrict label, std::size_t n,
           double* __restrict high, double* __restrict low) {
    for (std::size_t i = 0; i < n; ++i) {
        const Rounded term = brier_term(p[i], label[i]);
        high[i] = term.high;
        low[i] = term.low;
    }
}

struct Quotient {
    double leading, rest;
};

// (q + q_low) / sqrt(s + s_low) to about 2^-100 of itself: a first guess from one root and one
// reciprocal, plus the first-order effect of what both left behind, which fma gives exactly.
[[gnu::always_inline]] inline Quotient over_root(double q, double q_low, double s, double s_low) {
    const double root = __builtin_sqrt(s);
    const double reciprocal = 1.0 / root;
    const double guess = q * reciprocal;
    const double q_left = fma(-guess, root, q) + q_low;
    const double s_left = fma(-root, root, s) + s_low;
    return {guess, fma(-0.5 * guess * reciprocal, s_left, q_left) * reciprocal};
}

[[gnu::always_inline]] inline Rounded spherical_term(double x, std::int32_t label) {
    const double r = 1.0 - x;  // 1 - x = r + e, exactly
    const double e = (1.0 - r) - x;
    const double a = x * x;
    const double b = r * r;
    const double s = a + b;
    const double a_share = s - b;
    const double lost = (a - a_share) + (b - (s - a_share));  // a + b = s + lost (2Sum)
    const double squares_low = fma(x, x, -a) + fma(r + r, e, fma(r, r, -b));
    const bool happened = label != 0;
    const Quotient quotient =
        over_root(select(happened, x, r), select(happened, 0.0, e), s, lost + squares_low);
    return round_score(quotient.leading, quotient.rest);
}

void spherical(const double* __restrict p, const std::int32_t* __restrict label, std::size_t n,
               double* __restrict high, double* __restrict low) {
    for (std::size_t i = 0; i < n; ++i) {
        const Rounded term = spherical_term(p[i], label[i]);
        high[i] = term.high;
        low[i] = term.low;
    }
}

// |x| < 2^51. (AVX2 has no instruction for it.)
[[gnu::always_inline]] inline double to_double(std::uint64_t x) {
    return from_bits(bits_of(snap_shift<0>) + x) - snap_shift<0>;
}

// x / 2^bits to the nearest integer, for a signed |x| < 2^62 and the same reason.
template <int bits>
[[gnu::always_inline]] inline std::uint64_t divide_by_power(std::uint64_t x) {
    constexpr std::uint64_t bias = std::uint64_t{1} << 62;
    return ((x + bias + (std::uint64_t{1} << (bits - 1))) >> bits) - (bias >> bits);
}

// Squares are cut at 2^-40, so that sums of 2^20 fit in 64 bits, high and low; these are then
// cut again, at 2^-30, as the score_grid wants it. The few classes that are most common have a
// loop of their own, which the compiler can turn by 90 degrees to take several rows at a time.
template <std::size_t fixed_width>
void row_squares_of(const double* __restrict values, std::size_t rows, std::size_t given_width,
                    double* __restrict high, double* __restrict low) {
    const std::size_t width = fixed_width != 0 ? fixed_width : given_width;
    for (std::size_t row = 0; row < rows; ++row) {
        const double* x = values + row * width;
        std::uint64_t in_40 = -width * bits_of(snap_shift<40>);
        std::uint64_t in_80 = -width * bits_of(snap_shift<80>);
        for (std::size_t j = 0; j < width; ++j) {
            const double square = x[j] * x[j];
            const double leading = square + snap_shift<40>;
            const double rest = (square - (leading - snap_shift<40>)) + fma(x[j], x[j], -square);
            in_40 += bits_of(leading);
            in_80 += bits_of(rest + snap_shift<80>);
        }
        const std::uint64_t carried = divide_by_power<40>(in_80);
        in_40 += carried;
        in_80 -= carried << 40;
        const std::uint64_t in_30 = divide_by_power<10>(in_40);
        in_80 += (in_40 - (in_30 << 10)) << 40;
        high[row] = to_double(in_30) * 0x1p-30;
        low[row] = to_double(in_80) * 0x1p-80;
    }
}

void row_squares(const double* values, std::size_t rows, std::size_t width, double* high,
                 double* low) {
    switch (width) {
        case 2:
            return row_squares_of<2>(values, rows, width, high, low);
        case 3:
            return row_squares_of<3>(values, rows, width, high, low);
        case 4:
            return row_squares_of<4>(values, rows, width, high, low);
        default:
            return row_squares_of<0>(values, rows, width, high, low);
    }
}

void brier_of_squares(const double* __restrict q, const double* __restrict squares_high,
                      const double* __restrict squares_low, std::size_t n, double* __restrict high,
                      double* __restrict low) {
    for (std::size_t i = 0; i < n; ++i) {
        const Rounded gridded = round_score(q[i], 0.0);
        high[i] = (squares_high[i] + 1.0) - 2.0 * gridded.high;  // exact, as is the next
        low[i] = squares_low[i] - 2.0 * gridded.low;
    }
}

void spherical_of_squares(const double* __restrict q, const double* __restrict squares_high,
                          const double* __restrict squares_low, std::size_t n,
                          double* __restrict high, double* __restrict low) {
    for (std::size_t i = 0; i < n; ++i) {
        const double s = squares_high[i] + squares_low[i];
        const double s_low = squares_low[i] - (s - squares_high[i]);
        const Quotient quotient = over_root(q[i], 0.0, s, s_low);
        const Rounded term = round_score(quotient.leading, quotient.rest);
        high[i] = term.high;
        low[i] = term.low;
    }
}

// Of a law of two values, of unlike signs, with mean 0; both are 0 where rounding made them alike.
[[gnu::always_inline]] inline void of_two_values(double d, double other,
                                                 double* __restrict variance,
                                                 double* __restrict third) {
    const double product = -d * other;
    *variance = select(product > 0.0, product, 0.0);
    *third = *variance * (d + other);
}

void even_moments_of_two(const double* __restrict a, const double* __restrict b,
                         const double* __restrict log_gap, const double* __restrict other_log_gap,
                         std::size_t n, EvenMoments* __restrict moments) {
    for (std::size_t i = 0; i < n; ++i) {
        const double gap = a[i] - b[i], sum = a[i] + b[i];
        of_two_values(gap * (sum - 2.0), gap * sum, &moments->variance[0][i],
                      &moments->third[0][i]);
        of_two_values(log_gap[i], other_log_gap[i], &moments->variance[1][i],
                      &moments->third[1][i]);
    }
    for (std::size_t i = 0; i < n; ++i) {
        const double not_a = 1.0 - a[i], not_b = 1.0 - b[i];
        const double squares_a = a[i] * a[i] + not_a * not_a;
        const double squares_b = b[i] * b[i] + not_b * not_b;
        const double both = 1.0 / (squares_a * squares_b);
        const double per_a = __builtin_sqrt(squares_b * both);
        const double per_b = __builtin_sqrt(squares_a * both);
        of_two_values(a[i] * per_a - b[i] * per_b, not_a * per_a - not_b * per_b,
                      &moments->variance[2][i], &moments->third[2][i]);
    }
}

// The mean of d under a and b is 0 under the mixture with this share of b: for Brier terms 1/2, for
// spherical ones |a| / (|a| + |b|), for logarithms what the means of both say.
void even_moments_of_classes(const double* __restrict a, const double* __restrict b,
                             const double* __restrict log_a, const double* __restrict log_b,
                             std::size_t n, std::size_t width, EvenMoments* __restrict moments) {
    alignas(64) double squares_a[block_rows], squares_b[block_rows];
    alignas(64) double mean_a[block_rows], mean_b[block_rows];
    alignas(64) double log_share[block_rows], share[block_rows];
    for (std::size_t i = 0; i < n; ++i) {
        squares_a[i] = squares_b[i] = mean_a[i] = mean_b[i] = 0.0;
        for (std::size_t score = 0; score < 3; ++score) {
            moments->variance[score][i] = moments->third[score][i] = 0.0;
        }
    }
    for (std::size_t k = 0; k < width; ++k) {
        for (std::size_t i = 0; i < n; ++i) {
            const double x = a[k * n + i], y = b[k * n + i];
            const double d = log_a[k * n + i] - log_b[k * n + i];
            squares_a[i] += x * x;
            squares_b[i] += y * y;
            mean_a[i] += x * d;
            mean_b[i] += y * d;
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        const double apart = mean_a[i] - mean_b[i];
        const double found = mean_a[i] / select(apart == 0.0, 1.0, apart);
        log_share[i] = select(apart == 0.0, 0.5, clamp(found, 0.0, 1.0));
        const double length_a = __builtin_sqrt(squares_a[i]);
        const double length_b = __builtin_sqrt(squares_b[i]);
        const double lengths = length_a + length_b;
        share[i] = length_a / select(lengths > 0.0, lengths, 1.0);
        mean_a[i] = squares_a[i] - squares_b[i];
        squares_a[i] = select(length_a > 0.0, 1.0 / length_a, 0.0);
        squares_b[i] = select(length_b > 0.0, 1.0 / length_b, 0.0);
    }
    for (std::size_t k = 0; k < width; ++k) {
        for (std::size_t i = 0; i < n; ++i) {
            const double x = a[k * n + i], y = b[k * n + i], gap = x - y;
            const double brier = mean_a[i] - (gap + gap);
            const double of_brier = 0.5 * (x + y) * brier * brier;
            moments->variance[0][i] += of_brier;
            moments->third[0][i] += of_brier * brier;
            const double log = log_a[k * n + i] - log_b[k * n + i];
            const double of_log = (x - log_share[i] * gap) * log * log;
            moments->variance[1][i] += of_log;
            moments->third[1][i] += of_log * log;
            const double spherical = x * squares_a[i] - y * squares_b[i];
            const double of_spherical = (x - share[i] * gap) * spherical * spherical;
            moments->variance[2][i] += of_spherical;
            moments->third[2][i] += of_spherical * spherical;
        }
    }
}

constexpr ScoreKernels score_kernels{brier,
                                     spherical,
                                     row_squares,
                                     brier_of_squares,
                                     spherical_of_squares,
                                     even_moments_of_two,
                                     even_moments_of_classes};

}  // namespace
}  // namespace calibrant
