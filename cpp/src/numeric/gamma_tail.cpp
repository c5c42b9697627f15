#include "numeric/gamma_tail.hpp"

#include <cmath>
#include <limits>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/numeric/tails.hpp"
#include "kernels/elementary.hpp"

namespace calibrant {
namespace {

constexpr double largest_shape = 1e9;
// Of a smaller skewness the law of events is normal to 1e-5, and the gamma law's shape above 1e8.
constexpr double least_skewness = 1e-4;
constexpr double half_log_two_pi = 0x1.d67f1c864beb5p-1;

// log Gamma(a) - [(a - 1/2) log a - a + log(2 pi) / 2] for a >= 16: Stirling's series.
double stirling_rest(double a) {
    const double r = 1.0 / (a * a);
    return (1.0 / 12.0 -
            r * (1.0 / 360.0 -
                 r * (1.0 / 1260.0 -
                      r * (1.0 / 1680.0 - r * (1.0 / 1188.0 - r * (691.0 / 360360.0)))))) /
           a;
}

// lambda - 1 - log(lambda), without loss near 1.
double deviance(double lambda) {
    const double f = lambda - 1.0;
    if (f > -0.25 && f < 0.35) {
        const DoubleDouble exact{f, 0.0};
        const DoubleDouble difference = exact - log1p(exact);
        return difference.high + difference.low;
    }
    return f - log(lambda);
}

// log of x^a e^-x / Gamma(a + 1).
double log_front(double a, double x) {
    if (a >= 16.0) {
        return -a * deviance(x / a) - 0.5 * log(a) - half_log_two_pi - stirling_rest(a);
    }
    double product = 1.0;  // Gamma(b) / Gamma(a + 1), b = a + 17
    const double b = a + 17.0;
    for (int k = 1; k <= 16; ++k) product *= a + k;
    const double log_gamma = (b - 0.5) * log(b) - b + half_log_two_pi + stirling_rest(b);
    return a * log(x) - x - (log_gamma - log(product));
}

double lower_series(double a, double x) {
    double term = 1.0, sum = 1.0;
    for (double k = 1.0; term > sum * 0x1p-56; k += 1.0) {
        term *= x / (a + k);
        sum += term;
    }
    return sum;
}

// Gamma(a, x) / (x^a e^-x), by the method of Lentz.
double upper_fraction(double a, double x) {
    double b = x + 1.0 - a;
    double c = 1e300;
    double d = 1.0 / b;
    double value = d;
    for (double k = 1.0; k < 1e7; k += 1.0) {
        const double numerator = -k * (k - a);
        b += 2.0;
        d = 1.0 / (numerator * d + b);
        c = b + numerator / c;
        const double factor = c * d;
        value *= factor;
        if (std::fabs(factor - 1.0) < 0x1p-52) break;
    }
    return value;
}

}  // namespace

double gamma_cdf(double a, double x) {
    if (!(x > 0.0)) return 0.0;
    if (a > largest_shape) return normal_sf((a - x) / std::sqrt(a));
    if (x < a + 1.0) return exp(log_front(a, x)) * lower_series(a, x);
    return 1.0 - exp(log_front(a, x)) * a * upper_fraction(a, x);
}

double gamma_sf(double a, double x) {
    if (!(x > 0.0)) return 1.0;
    if (a > largest_shape) return normal_sf((x - a) / std::sqrt(a));
    if (x < a + 1.0) return 1.0 - exp(log_front(a, x)) * lower_series(a, x);
    // x^a e^-x / Gamma(a) is a times the front
    return exp(log_front(a, x)) * a * upper_fraction(a, x);
}

double gamma_log_sf(double a, double x) {
    if (!(x > 0.0)) return 0.0;
    if (a > largest_shape) return normal_log_sf((x - a) / std::sqrt(a));
    if (x < a + 1.0) return std::log1p(-(exp(log_front(a, x)) * lower_series(a, x)));
    return log_front(a, x) + log(a * upper_fraction(a, x));
}

TwoTails tails_of_events(double x, double variance, double third) {
    if (!(variance > 0.0)) return {x > 0.0 ? 0.0 : 1.0, x < 0.0 ? 0.0 : 1.0};
    const double deviation = std::sqrt(variance);
    if (std::fabs(third) < least_skewness * variance * deviation) {
        return {normal_sf(x / deviation), normal_sf(-x / deviation)};
    }
    if (third < 0.0) {
        const TwoTails mirrored = tails_of_events(-x, variance, -third);
        return {mirrored.lower, mirrored.upper};
    }
    // P(N >= k) and P(N <= k) for whole k, and between them the gamma law; N is no less than 0.
    const double unit = third / variance;
    const double mean = variance / (unit * unit);
    const double k = std::fmax(x / unit + mean, 0.0);
    return {k > 0.0 ? gamma_cdf(k, mean) : 1.0, gamma_sf(k + 1.0, mean)};
}

double TwoTails::two_sided() const { return std::fmin(1.0, 2.0 * std::fmin(upper, lower)); }

}  // namespace calibrant
