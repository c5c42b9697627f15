#include "calibrant/numeric/tails.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <limits>

#include "calibrant/numeric/double_double.hpp"
#include "kernels/elementary.hpp"

namespace calibrant {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

DoubleDouble exactly(double x) { return {x, 0.0}; }

// x y and x + y without rounding.
DoubleDouble product(double x, double y) {
    const double rounded = x * y;
    return {rounded, std::fma(x, y, -rounded)};
}
DoubleDouble sum(double x, double y) { return exactly(x) + exactly(y); }

// A probability, factor * exp(-exponent).
struct Term {
    DoubleDouble factor, exponent;
};

// (value.high + value.low) * 2^scale.
PowerParts parts_of(const Term& term) {
    if (!(term.exponent.high < 2000.0)) return {0.0, 0.0, 0.0};
    const PowerParts power = exp_parts(-term.exponent.high, -term.exponent.low);
    const DoubleDouble value = term.factor * sum(power.high, power.low);
    return {value.high, value.low, power.exponent};
}

double rounded(const Term& term) { return round_parts(parts_of(term)); }

// 1 - term; what is below 2^-1000 of it is lost, and would not show.
DoubleDouble complement(const Term& term) {
    const PowerParts parts = parts_of(term);
    const double scale = detail::power_of_two(std::max(parts.exponent, -1000.0));
    return exactly(1.0) - DoubleDouble{parts.high * scale, parts.low * scale};
}

double log_of(DoubleDouble x) { return log(x.high) + x.low / x.high; }

double log_of(const Term& term) {
    if (!(term.exponent.high < infinity)) return -infinity;
    return (log_of(term.factor) - term.exponent.low) - term.exponent.high;
}

double log_complement(const Term& term) {
    // Where 1 - term is 1, what it lost is the logarithm.
    if (term.exponent.high > 600.0 || std::fabs(term.factor.high) < 0x1p-500)
        return 0.0 - rounded(term);  // never -0
    return log_of(complement(term));
}

// A law on x > 0: below `border` its cdf is given, from there on its survival function.
struct Law {
    double border;
    Term (*cdf_below)(double x);
    Term (*sf_above)(double x);
};

double cdf(const Law& law, double x) {
    if (std::isnan(x)) return x;
    if (x <= 0.0) return 0.0;
    return x < law.border ? rounded(law.cdf_below(x)) : complement(law.sf_above(x)).high;
}

double sf(const Law& law, double x) {
    if (std::isnan(x)) return x;
    if (x <= 0.0) return 1.0;
    return x < law.border ? complement(law.cdf_below(x)).high : rounded(law.sf_above(x));
}

double log_sf(const Law& law, double x) {
    if (std::isnan(x)) return x;
    if (x <= 0.0) return 0.0;
    return x < law.border ? log_complement(law.cdf_below(x)) : log_of(law.sf_above(x));
}

// exp(x^2/2) erfc(x / sqrt(2)) for x >= 0, to about 2^-53.5: (1 + x) times it is a polynomial in
// t = (x - 4) / (x + 4), the Chebyshev series of degree 26 rewritten in powers, which misses the
// function by less than 2^-59. (The variable is that of Shepherd and Laframboise 1981.)
DoubleDouble scaled_tail(double x) {
    constexpr DoubleDouble first{0x1.e361ea6fba141p-1, 0x1.02b4b1c2e75a4p-55};
    constexpr double rest[] = {
        -0x1.8c18f2086e34bp-3,  0x1.cabd72a60f884p-6,   0x1.d4969f10e01adp-5,
        -0x1.07c3c2582b7d5p-4,  0x1.25dd7205fe467p-5,   -0x1.47d5fc74d69d3p-7,
        -0x1.2b7f5dfde64f2p-11, 0x1.6c53833e00d19p-10,  -0x1.8c11b08961b0dp-13,
        -0x1.707bc11612bfdp-13, 0x1.6483b16f0cd72p-15,  0x1.c941feb2f2b38p-16,
        -0x1.cc96cfc2db46bp-18, -0x1.5ee1504e236dcp-18, 0x1.b0b563aadd2a1p-21,
        0x1.29b6b97f3a0dbp-20,  0x1.23881cbdfc629p-27,  -0x1.e9e05040bfd1dp-23,
        -0x1.908e99f317a74p-25, 0x1.557e90d3a79d5p-25,  0x1.3060881dfb98ap-26,
        -0x1.489cfbf2f9f85p-28, -0x1.0611ed85c7789p-28, 0x1.b6bdf9f7d9df5p-33,
        0x1.b0f01eae4da3ep-32,  0x1.ab804f93bf43ep-36};
    const double t = (x - 4.0) / (x + 4.0);
    double series = 0.0;
    for (int k = static_cast<int>(std::size(rest)) - 1; k >= 0; --k) series = series * t + rest[k];
    return (first + exactly(series * t)) / sum(1.0, x);
}

// scaled_tail(x k) exp(-(k^2 - 1) x^2/2): a later term of a series, relative to exp(-x^2/2).
// Below 2^-64 it would not show.
double later_tail(double x, double k) {
    const double exponent = (k * k - 1.0) * (0.5 * x * x);
    return exponent < 50.0 ? scaled_tail(k * x).high * exp(-exponent) : 0.0;
}

DoubleDouble half_square(double x) {
    const DoubleDouble square = product(0.5 * x, x);
    return square.high < infinity ? square : exactly(infinity);
}

// What the terms after the first add is below 0.012 of it: doubles suffice there.

// (4/pi) sum_k (-1)^k / (2k + 1) exp(-(2k + 1)^2 a), a = pi^2 / (8 x^2)
Term sup_cdf(double x) {
    constexpr DoubleDouble pi_square_8th{0x1.3bd3cc9be45dep+0, 0x1.692b71366cc04p-54};
    constexpr DoubleDouble four_over_pi{0x1.45f306dc9c883p+0, -0x1.6b01ec5417056p-54};
    x = std::max(x, 0x1p-10);  // the cdf there is below 2^-1000000
    const DoubleDouble a = pi_square_8th / product(x, x);
    const double later =
        exp(-48.0 * a.high) / -7.0 + exp(-24.0 * a.high) / 5.0 + exp(-8.0 * a.high) / -3.0;
    return {four_over_pi * (exactly(1.0) + exactly(later)), a};
}

// 2 sum_k (-1)^k erfc((2k + 1) x / sqrt(2))
Term sup_sf(double x) {
    const double later = later_tail(x, 5.0) - later_tail(x, 3.0);
    const DoubleDouble factor = scaled_tail(x) + exactly(later);
    return {factor + factor, half_square(x)};
}

// 8 sum_k (1/x^2 + 1/(j pi)^2) exp(-j^2 b), j = 2k + 1, b = pi^2 / (2 x^2)
Term range_cdf(double x) {
    constexpr DoubleDouble pi_square_half{0x1.3bd3cc9be45dep+2, 0x1.692b71366cc04p-52};
    constexpr DoubleDouble over_pi_square{0x1.9f02f6222c720p-4, -0x1.24a918f92ba3dp-58};
    x = std::max(x, 0x1p-10);
    const DoubleDouble reciprocal = exactly(1.0) / product(x, x);
    const DoubleDouble b = pi_square_half * reciprocal;
    const double r = reciprocal.high, o = over_pi_square.high;
    const double later = (r + o / 25.0) * exp(-24.0 * b.high) + (r + o / 9.0) * exp(-8.0 * b.high);
    const DoubleDouble factor = (reciprocal + over_pi_square) + exactly(later);
    return {exactly(8.0) * factor, b};
}

// 4 sum_k (-1)^(k - 1) k erfc(k x / sqrt(2))
Term range_sf(double x) {
    const double later = 5.0 * later_tail(x, 5.0) - 4.0 * later_tail(x, 4.0) +
                         3.0 * later_tail(x, 3.0) - 2.0 * later_tail(x, 2.0);
    return {exactly(4.0) * (scaled_tail(x) + exactly(later)), half_square(x)};
}

// erf(x / sqrt(2)) = sqrt(2/pi) x exp(-x^2/2) sum_k x^(2k) / (1 * 3 * ... * (2k + 1))
Term folded_normal_cdf(double x) {
    constexpr DoubleDouble root_two_over_pi{0x1.9884533d43651p-1, -0x1.cbc0d30ebfd15p-55};
    const double square = x * x;
    double later = 0.0;
    for (int k = 11; k >= 1; --k) later = (1.0 + later) * square / (2 * k + 1);
    return {root_two_over_pi * (exactly(1.0) + exactly(later)) * exactly(x), half_square(x)};
}

Term folded_normal_sf(double x) { return {scaled_tail(x), half_square(x)}; }

Term halved(Term term) {
    term.factor = {0.5 * term.factor.high, 0.5 * term.factor.low};
    return term;
}

constexpr Law brownian_sup{1.25, sup_cdf, sup_sf};
constexpr Law brownian_range{1.75, range_cdf, range_sf};
constexpr Law folded_normal{0.5, folded_normal_cdf, folded_normal_sf};

// A survival function, term * 2^scale.
struct ScaledTerm {
    Term term;
    double scale;
};

// With h = x/2: exp(-h) sum_{j < k/2} h^j / j! for even k, and for odd k
// erfc(sqrt(h)) + exp(-h) sum_{1/2 <= j < k/2} h^j / Gamma(j + 1). x positive, at most 2^500.
ScaledTerm chi_square_term(double x, std::uint64_t k) {
    constexpr DoubleDouble root_two_over_pi{0x1.9884533d43651p-1, -0x1.cbc0d30ebfd15p-55};
    const bool odd = k % 2 == 1;
    const double root = std::sqrt(x);
    const DoubleDouble exact_root =
        sum(root, (exactly(x) - product(root, root)).high / (2.0 * root));
    DoubleDouble next = odd ? root_two_over_pi * exact_root : exactly(1.0);
    DoubleDouble total = odd ? scaled_tail(root) : exactly(0.0);
    double scale = 0.0;
    for (std::uint64_t j = odd ? 3 : 2; j <= k; j += 2) {
        total = total + next;
        const auto divisor = static_cast<double>(j);
        if (x < divisor && next.high < 0x1p-110 * total.high) break;
        next = next * exactly(x) / exactly(divisor);
        if (total.high < 0x1p400 && next.high < 0x1p400) continue;
        constexpr double down = 0x1p-500;
        next = {down * next.high, down * next.low};
        total = {down * total.high, down * total.low};
        scale += 500.0;
    }
    return {{total, exactly(0.5 * x)}, scale};
}

// P(Z > z) where |z| is below the border: 1/2 - erf / 2.
DoubleDouble central_normal_sf(double z) {
    const DoubleDouble in_between = complement(folded_normal_cdf(std::fabs(z)));  // 1 - erf
    const DoubleDouble half{0.5 * in_between.high, 0.5 * in_between.low};
    return z < 0.0 ? exactly(1.0) - half : half;
}

// The coefficients come in descending order.
double polynomial(double x, std::initializer_list<double> coefficients) {
    double sum = 0.0;
    for (const double c : coefficients) sum = sum * x + c;
    return sum;
}

}  // namespace

double brownian_sup_cdf(double x) { return cdf(brownian_sup, x); }
double brownian_sup_sf(double x) { return sf(brownian_sup, x); }
double brownian_sup_log_sf(double x) { return log_sf(brownian_sup, x); }

double brownian_range_cdf(double x) { return cdf(brownian_range, x); }
double brownian_range_sf(double x) { return sf(brownian_range, x); }
double brownian_range_log_sf(double x) { return log_sf(brownian_range, x); }

double normal_two_sided(double z) { return sf(folded_normal, std::fabs(z)); }
double normal_log_two_sided(double z) { return log_sf(folded_normal, std::fabs(z)); }

double normal_sf(double z) {
    if (std::isnan(z)) return z;
    if (std::fabs(z) < folded_normal.border) return central_normal_sf(z).high;
    const Term tail = halved(folded_normal_sf(std::fabs(z)));
    return z < 0.0 ? complement(tail).high : rounded(tail);
}

double normal_log_sf(double z) {
    if (std::isnan(z)) return z;
    if (std::fabs(z) < folded_normal.border) return log_of(central_normal_sf(z));
    const Term tail = halved(folded_normal_sf(std::fabs(z)));
    return z < 0.0 ? log_complement(tail) : log_of(tail);
}

double normal_quantile(double tail) {
    const double q = tail - 0.5;
    if (std::fabs(q) <= 0.425) {
        const double r = 0.180625 - q * q;
        return -(polynomial(r, {2.5090809287301226727e+3, 3.3430575583588128105e+4,
                                6.7265770927008700853e+4, 4.5921953931549871457e+4,
                                1.3731693765509461125e+4, 1.9715909503065514427e+3,
                                1.3314166789178437745e+2, 3.3871328727963666080e+0}) *
                 q /
                 polynomial(r, {5.2264952788528545610e+3, 2.8729085735721942674e+4,
                                3.9307895800092710610e+4, 2.1213794301586595867e+4,
                                5.3941960214247511077e+3, 6.8718700749205790830e+2,
                                4.2313330701600911252e+1, 1.0}));
    }
    const double root = std::sqrt(-log(std::min(tail, 1.0 - tail)));
    const bool far = root > 5.0;
    const double r = root - (far ? 5.0 : 1.6);
    const double z = far ? polynomial(r, {2.01033439929228813265e-7, 2.71155556874348757815e-5,
                                          1.24266094738807843860e-3, 2.65321895265761230930e-2,
                                          2.96560571828504891230e-1, 1.78482653991729133580e+0,
                                          5.46378491116411436990e+0, 6.65790464350110377720e+0}) /
                               polynomial(r, {2.04426310338993978564e-15, 1.42151175831644588870e-7,
                                              1.84631831751005468180e-5, 7.86869131145613259100e-4,
                                              1.48753612908506148525e-2, 1.36929880922735805310e-1,
                                              5.99832206555887937690e-1, 1.0})
                         : polynomial(r, {7.74545014278341407640e-4, 2.27238449892691845833e-2,
                                          2.41780725177450611770e-1, 1.27045825245236838258e+0,
                                          3.64784832476320460504e+0, 5.76949722146069140550e+0,
                                          4.63033784615654529590e+0, 1.42343711074968357734e+0}) /
                               polynomial(r, {1.05075007164441684324e-9, 5.47593808499534494600e-4,
                                              1.51986665636164571966e-2, 1.48103976427480074590e-1,
                                              6.89767334985100004550e-1, 1.67638483018380384940e+0,
                                              2.05319162663775882187e+0, 1.0});
    return q < 0.0 ? z : -z;
}

double chi_square_sf(double x, std::uint64_t k) {
    if (std::isnan(x)) return x;
    if (x <= 0.0) return 1.0;
    if (x > 0x1p36) return 0.0;  // whatever k is
    const ScaledTerm scaled = chi_square_term(x, k);
    // The exponential alone may be far below what the sum brings back.
    const PowerParts power = exp_parts(-scaled.term.exponent.high, 0.0);
    const DoubleDouble value = scaled.term.factor * sum(power.high, power.low);
    const int exponent = std::ilogb(value.high);  // into the range of round_parts
    const PowerParts parts{std::ldexp(value.high, -exponent), std::ldexp(value.low, -exponent),
                           power.exponent + scaled.scale + exponent};
    return std::min(round_parts(parts), 1.0);
}

double chi_square_log_sf(double x, std::uint64_t k) {
    if (!(x > 0.0)) return std::isnan(x) ? x : 0.0;
    if (x > 0x1p500) return -0.5 * x;
    const double value = chi_square_sf(x, k);
    if (value > 0x1p-1000) return log(value);
    const ScaledTerm scaled = chi_square_term(x, k);
    const DoubleDouble shift = multiple_of_ln2(static_cast<std::int64_t>(scaled.scale));
    const DoubleDouble rest = shift - scaled.term.exponent;
    return (log_of(scaled.term.factor) + rest.low) + rest.high;
}

}  // namespace calibrant
