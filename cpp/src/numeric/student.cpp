#include "numeric/student.hpp"

#include <cmath>
#include <limits>

#include "calibrant/numeric/tails.hpp"
#include "kernels/elementary.hpp"

namespace calibrant {
namespace {

constexpr double most_df = 0x1p20;
constexpr double pi = 0x1.921fb54442d18p1;

// log(1 + x) for x >= 0.
double log_one_plus(double x) {
    const double sum = 1.0 + x;
    return sum == 1.0 ? x : log(sum) * (x / (sum - 1.0));
}

// Gamma(a + 1/2) / Gamma(a): its series in 1/a, from an a of 64 on.
double gamma_ratio(double a) {
    double front = 1.0;
    for (; a < 64.0; a += 1.0) front *= a / (a + 0.5);
    const double r = 1.0 / a;
    return front * std::sqrt(a) *
           (1.0 - r * (1.0 / 8.0 - r * (1.0 / 128.0 +
                                        r * (5.0 / 1024.0 - r * (21.0 / 32768.0 +
                                                                 r * (399.0 / 262144.0 -
                                                                      r * (869.0 / 4194304.0)))))));
}

// The fraction of the incomplete beta function, by the method of Lentz.
double beta_fraction(double a, double b, double x) {
    const auto off_zero = [](double y) { return std::fabs(y) < 1e-300 ? 1e-300 : y; };
    double c = 1.0;
    double d = 1.0 / off_zero(1.0 - (a + b) * x / (a + 1.0));
    double value = d;
    for (double k = 1.0; k < 1e5; k += 1.0) {
        const double even = k * (b - k) * x / ((a + 2.0 * k - 1.0) * (a + 2.0 * k));
        d = 1.0 / off_zero(1.0 + even * d);
        c = off_zero(1.0 + even / c);
        value *= d * c;
        const double odd = -(a + k) * (a + b + k) * x / ((a + 2.0 * k) * (a + 2.0 * k + 1.0));
        d = 1.0 / off_zero(1.0 + odd * d);
        c = off_zero(1.0 + odd / c);
        value *= d * c;
        if (std::fabs(d * c - 1.0) < 0x1p-51) break;
    }
    return value;
}

// For df > most_df that of the normal law, which is as good for a step.
double density(double t, double df) {
    if (df > most_df) return exp(-0.5 * t * t) / std::sqrt(2.0 * pi);
    return gamma_ratio(0.5 * df) / std::sqrt(pi * df) *
           exp(-0.5 * (df + 1.0) * log_one_plus(t * t / df));
}

}  // namespace

double student_two_sided(double t, double df) {
    t = std::fabs(t);
    if (t == std::numeric_limits<double>::infinity()) return 0.0;
    if (df > most_df) {
        return normal_two_sided(t * (1.0 - 0.25 / df) / std::sqrt(1.0 + 0.5 * t * t / df));
    }
    if (t == 0.0) return 1.0;
    const double a = 0.5 * df;
    const double x = df / (df + t * t);
    const double rest = t * t / (df + t * t);
    // x^a (1 - x)^(1/2) / B(a, 1/2)
    const double front =
        exp(-a * log_one_plus(t * t / df)) * std::sqrt(rest) * gamma_ratio(a) / std::sqrt(pi);
    if (x < (a + 1.0) / (a + 2.5)) return front / a * beta_fraction(a, 0.5, x);
    return 1.0 - front / 0.5 * beta_fraction(0.5, a, rest);
}

double student_quantile(double two_sided, double df) {
    // The tail is convex: every step stays below the quantile.
    double t = 0.0;
    for (int i = 0; i < 2000; ++i) {
        const double slope = 2.0 * density(t, df);
        const double step = (student_two_sided(t, df) - two_sided) / slope;
        if (!(step > 0x1p-50 * t)) break;
        t += step;
    }
    return t;
}

}  // namespace calibrant
