// The CRPS of laws in closed form. Included by kernels/rooms/ only, and under their rules.
//
// Each is |y - loc| + scale g(z) with z = (y - loc) / scale, which may be infinite.
#pragma once

#include "kernels/ensemble_score_kernels.hpp"
#include "kernels/loops/kernel_parts.hpp"

namespace calibrant {
namespace {

template <class Score>
[[gnu::always_inline]] inline bool crps_loop(const double* y, const double* loc,
                                             const double* scale, std::size_t n,
                                             double* __restrict out, Score score) {
    std::uint64_t bad = 0;  // x - x is 0 or, of what is not finite, NaN
    for (std::size_t i = 0; i < n; ++i) {
        const double centre = loc[i], unit = scale[i], outcome = y[i];
        bad |= bits_of(outcome - outcome) | bits_of(centre - centre) | bits_of(unit - unit);
        bad |= unit > 0.0 ? 0U : 1U;
        const double difference = outcome - centre;
        out[i] = score(__builtin_fabs(difference), unit, difference / unit);
    }
    return bad == 0;
}

// The CRPS for a = |z| <= 1, by its even series: a polynomial in a^2, off by less than 2^-60 of
// itself. Nothing cancels, as it would in |y - loc| + scale g.
[[gnu::always_inline]] inline double normal_centre(double a) {
    const double v = a * a, v2 = v * v;
    const double even = fma(v2,
                            fma(v2,
                                fma(v2,
                                    fma(v2, fma(v2, -0x1.3f1efd1bc6d5cp-37, -0x1.61b27284d5639p-28),
                                        -0x1.a68bcb33d082dp-20),
                                    -0x1.37403f68930f3p-12),
                                -0x1.1058377e2ce31p-5),
                            0x1.de9b78e466b8ep-3);
    const double odd = fma(
        v2,
        fma(v2,
            fma(v2, fma(v2, 0x1.104940a38f821p-32, 0x1.9898470a51e28p-24), 0x1.8355a35149a5bp-16),
            0x1.b3c058c9d5fccp-9),
        0x1.9884533d43650p-2);
    return fma(v, odd, even);
}

// 2 phi(a) - 2 a P(Z > a) for a >= 1: exp(-a^2/2) times a polynomial in (a - 4) / (a + 4). It is at
// most 1/6 and added to more than 1/2, of which the polynomial misses less than 2^-61. From 8.25 on
// it is below 2^-55, and taken for what it is there.
[[gnu::always_inline]] inline double normal_tail(double a) {
    const double x = clamp(a, 1.0, 8.25);
    const double half = 0.5 * x, square = half * x;
    const PowerParts power = exp_finish_fast(exp_reduce<true>(-square, -fma(half, x, -square)));
    const double t = (x - 4.0) / (x + 4.0), t2 = t * t;
    const double even =
        fma(t2,
            fma(t2,
                fma(t2,
                    fma(t2,
                        fma(t2, fma(t2, -0x1.d8b5f31aa1fe3p-15, 0x1.d7ab9a5beb90bp-13),
                            -0x1.ce98a1ace5f04p-10),
                        0x1.69199deee31c2p-7),
                    0x1.024df903a5296p-3),
                0x1.c41d6bcaf3968p-3),
            0x1.5cf97b0ae8724p-5);
    const double odd =
        fma(t2,
            fma(t2,
                fma(t2,
                    fma(t2,
                        fma(t2, fma(t2, -0x1.78695d689b7e7p-17, -0x1.9c11e111ea150p-15),
                            0x1.8ecaa61caed2cp-14),
                        0x1.e4aad2b665218p-10),
                    -0x1.b0ffdd809fcedp-5),
                -0x1.9adc52599d18bp-3),
            -0x1.2dda040d63a01p-3);
    return fma(t, odd, even) * ((power.high + power.low) * power_of_two(power.exponent));
}

bool crps_normal(const double* y, const double* loc, const double* scale, std::size_t n,
                 double* out) {
    return crps_loop(y, loc, scale, n, out, [](double distance, double unit, double z) {
        constexpr double inverse_root_pi = 0x1.20dd750429b6dp-1;
        const double a = __builtin_fabs(z);
        const double outside = fma(unit, normal_tail(a) - inverse_root_pi, distance);
        return select(a < 1.0, unit * normal_centre(a), outside);
    });
}

bool crps_logistic(const double* y, const double* loc, const double* scale, std::size_t n,
                   double* out) {
    return crps_loop(y, loc, scale, n, out, [](double distance, double unit, double z) {
        const double tail = calibrant::log(1.0 + calibrant::exp(-__builtin_fabs(z)));
        return distance + unit * (2.0 * tail - 1.0);
    });
}

bool crps_laplace(const double* y, const double* loc, const double* scale, std::size_t n,
                  double* out) {
    return crps_loop(y, loc, scale, n, out, [](double distance, double unit, double z) {
        return distance + unit * (calibrant::exp(-__builtin_fabs(z)) - 0.75);
    });
}

bool crps_uniform(const double* y, const double* loc, const double* scale, std::size_t n,
                  double* out) {
    return crps_loop(y, loc, scale, n, out, [](double distance, double unit, double z) {
        const double within = (z * z - 2.0 * z) + 1.0 / 3.0;
        const double excess = select(z < 0.0, 1.0 / 3.0, select(z > 1.0, -2.0 / 3.0, within));
        return distance + unit * excess;
    });
}

bool crps_exponential(const double* y, const double* loc, const double* scale, std::size_t n,
                      double* out) {
    return crps_loop(y, loc, scale, n, out, [](double distance, double unit, double z) {
        const double within = 2.0 * calibrant::exp(-z) - 1.5;
        return distance + unit * select(z < 0.0, 0.5, within);
    });
}

}  // namespace
}  // namespace calibrant
