#include "numeric/frequency.hpp"

#include <algorithm>
#include <cmath>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/numeric/tails.hpp"
#include "kernels/elementary.hpp"
#include "numeric/saddle_point.hpp"

namespace calibrant {
namespace {

constexpr double most_exact = 0x1p40;
constexpr double two_pi = 6.283185307179586;

// x^a (1 - x)^b / B(a, b), by the saddle point, so that large a and b cost no digits.
double beta_power(double a, double b, double x) {
    const double n = a + b;
    const double exponent = stirling_error(n) - stirling_error(a) - stirling_error(b) -
                            deviance(a, n * x) - deviance(b, n * (1.0 - x));
    return std::sqrt(a / n * b / two_pi) * calibrant::exp(exponent);
}

double away_from_zero(double x) { return std::fabs(x) < 1e-300 ? 1e-300 : x; }

// The probability below x of a beta distribution over the power above, y = 1 - x: the continued
// fraction of DiDonato and Morris (1992), by the method of Lentz. `gap` is a - (a + b) x, which
// says how far below the mean x is; as long as it exceeds -1 no term cancels, and few are needed.
double beta_fraction(double a, double b, double x, double y, double gap) {
    constexpr int most_steps = 1 << 26;
    double fraction = a * (gap + 1.0) / (a + 1.0);
    double c = fraction;
    double d = 0.0;
    for (int i = 1; i < most_steps; ++i) {
        const double n = i;
        const double width = a + 2.0 * n - 1.0;
        const double product = n * (b - n) * x;
        const double above = (a + n - 1.0) / width * ((a + b + n - 1.0) / width) * product * x;
        const double below =
            n + product / width + (a + n) * (gap + 1.0 + n * (1.0 + y)) / (width + 2.0);
        d = 1.0 / away_from_zero(below + above * d);
        c = away_from_zero(below + above / c);
        fraction *= c * d;
        if (std::fabs(c * d - 1.0) < 0x1p-51) break;
    }
    return 1.0 / fraction;
}

enum class Side { below, above };

// The probability on this side of x; `power` is beta_power(a, b, x).
double beta_tail(double a, double b, double x, double power, Side side) {
    const bool left = x < (a + 1.0) / (a + b + 2.0);
    const double y = 1.0 - x;
    const double nearer = power * (left ? beta_fraction(a, b, x, y, std::fma(-(a + b), x, a))
                                        : beta_fraction(b, a, y, x, std::fma(a + b, x, -a)));
    return left == (side == Side::below) ? nearer : 1.0 - nearer;
}

// The x at which a beta distribution has `tail` on this side of it; tail < 1/2, a and b positive.
// `start` is a guess.
double beta_quantile(double a, double b, double tail, Side side, double start) {
    double low = 0.0, high = 1.0;
    double x = std::clamp(start, 0x1p-1000, 1.0 - 0x1p-53);
    for (int step = 0; step < 200; ++step) {
        const double power = beta_power(a, b, x);
        const double beyond = beta_tail(a, b, x, power, side);
        ((beyond < tail) == (side == Side::below) ? low : high) = x;
        // On the logarithm of the probability, which is concave: fast from far out, too.
        double next = x;
        if (power > 0.0 && beyond > 0.0) {
            const double slope = power / (x * (1.0 - x)) / beyond;
            const double distance = calibrant::log(beyond / tail) / slope;
            next = side == Side::below ? x - distance : x + distance;
        }
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (std::fabs(next - x) <= 0x1p-50 * x || next == low || next == high) return next;
        x = next;
    }
    return x;
}

}  // namespace

Frequency wilson(const ExactSum& part, const ExactSum& whole, double normal_quantile) {
    return wilson(mean(part, whole), whole.to_double(), normal_quantile);
}

Frequency wilson(double p, double rows, double normal_quantile) {
    const double a = normal_quantile * normal_quantile / rows;
    if (!(a < 0x1p1000)) return {p, 0.0, 1.0};
    const double half = a == 0.0 ? 0.0 : a * std::sqrt(p * (1.0 - p) / a + 0.25);
    const double low = (p + 0.5 * a - half) / (1.0 + a);
    const double high = (p + 0.5 * a + half) / (1.0 + a);
    return {p, std::max(std::min(low, p), 0.0), std::min(std::max(high, p), 1.0)};
}

Frequency corrected_wilson(double p, double rows, double normal_quantile) {
    if (!(rows >= 1.0)) return {p, 0.0, 1.0};
    const double z = normal_quantile;
    const double row = 1.0 / rows;
    const double scale = 0.5 / (1.0 + z * z * row);
    const double below = (z * z - 2.0 - row) * row * row + 4.0 * p * ((1.0 - p) * row + row * row);
    const double above = (z * z + 2.0 - row) * row * row + 4.0 * p * ((1.0 - p) * row - row * row);
    const double low = 2.0 * p + (z * z - 1.0) * row - z * std::sqrt(std::max(below, 0.0));
    const double high = 2.0 * p + (z * z + 1.0) * row + z * std::sqrt(std::max(above, 0.0));
    return {p, p == 0.0 ? 0.0 : std::clamp(low * scale, 0.0, p),
            p == 1.0 ? 1.0 : std::clamp(high * scale, p, 1.0)};
}

Frequency clopper_pearson(const ExactSum& part, const ExactSum& whole, double tail,
                          double normal_quantile) {
    const Frequency guess = wilson(part, whole, normal_quantile);
    ExactSum rest = whole;
    rest.subtract(part);
    const double hits = part.to_double();
    const double misses = rest.to_double();
    if (!(hits + misses < most_exact)) return guess;
    const double p = guess.value;
    const double low =
        hits == 0.0 ? 0.0 : beta_quantile(hits, misses + 1.0, tail, Side::below, guess.low);
    const double high =
        misses == 0.0 ? 1.0 : beta_quantile(hits + 1.0, misses, tail, Side::above, guess.high);
    return {p, std::min(low, p), std::max(high, p)};
}

FrequencyTest frequency_test(const ExactSum& part, const ExactSum& whole, double rate) {
    ExactSum rest = whole;
    rest.subtract(part);
    const double hits = part.to_double(), misses = rest.to_double();
    const double n = whole.to_double();
    const double least = calibrant::exp(n * calibrant::log(std::min(rate, 1.0 - rate)));
    const double least_pvalue = std::min(1.0, 2.0 * least);
    if (!(n < most_exact)) {
        const double deviation = std::sqrt(rate * (1.0 - rate) / n);
        return {normal_two_sided((mean(part, whole) - rate) / deviation), least_pvalue};
    }
    const auto tail = [&](double a, double b, Side side) {  // at least a rows, or the other way
        return a == 0.0 || b == 0.0 ? 1.0 : beta_tail(a, b, rate, beta_power(a, b, rate), side);
    };
    const double at_least = tail(hits, misses + 1.0, Side::below);
    const double at_most = tail(hits + 1.0, misses, Side::above);
    return {std::min(1.0, 2.0 * std::min(at_least, at_most)), least_pvalue};
}

}  // namespace calibrant
