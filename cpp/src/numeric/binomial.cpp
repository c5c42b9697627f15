#include "numeric/binomial.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/elementary.hpp"
#include "numeric/saddle_point.hpp"

namespace calibrant {
namespace {

constexpr double two_pi = 6.283185307179586;

double real(std::int64_t x) { return static_cast<double>(x); }

// ln (m / n)^n for m = n q, where p = 1 - q is known without cancellation.
double log_all(double n, double p, double q) { return -deviance(n, n * q) - n * p; }

// P(X <= r) / P(X = r): 1 + r / ((n - r + 1) odds) + ...
double tail_over_term(const Binomial& law, std::int64_t r) {
    const double odds = real(law.k) / real(law.m - law.k);
    const double n = real(law.n);
    double term = 1.0, sum = 1.0;
    for (double j = real(r); j > 0.0; j -= 1.0) {
        const double ratio = j / ((n - j + 1.0) * odds);
        term *= ratio;
        sum += term;
        // What is left is at most a geometric series of this ratio.
        if (ratio < 1.0 && term * ratio < 0x1p-56 * sum * (1.0 - ratio)) break;
    }
    return sum;
}

}  // namespace

double Binomial::mean() const { return real(n) * (real(k) / real(m)); }

double Binomial::log_probability(std::int64_t r) const {
    const double p = real(k) / real(m), q = real(m - k) / real(m);
    if (r == 0) return log_all(real(n), p, q);
    if (r == n) return log_all(real(n), q, p);
    const double x = real(r), rest = real(n - r), all = real(n);
    return stirling_error(all) - stirling_error(x) - stirling_error(rest) - deviance(x, all * p) -
           deviance(rest, all * q) - 0.5 * calibrant::log(two_pi * x * (rest / all));
}

double Binomial::log_cdf(std::int64_t r) const {
    if (r == n) return 0.0;
    return log_probability(r) + calibrant::log(tail_over_term(*this, r));
}

std::int64_t Binomial::lower_quantile(double tail) const {
    LowerTail below(*this, calibrant::log(tail));
    while (below.value() < 1.0 && below.r() < n) below.next();
    return below.r();
}

LowerTail::LowerTail(const Binomial& law, double log_unit)
    : n_(real(law.n)), odds_(real(law.k) / real(law.m - law.k)), r_(0) {
    // All below r_ have less than unit / (n + 1), and so have less than a unit together. By
    // Bernstein's inequality r_ is not below `low`; up to the mean the probabilities ascend.
    const double least = log_unit - calibrant::log(n_ + 1.0) - 1.0;
    const double mean = law.mean();
    const double reach = -least / 3.0;
    const double variance = mean * (real(law.m - law.k) / real(law.m));
    const double away = reach + std::sqrt(reach * reach - 2.0 * variance * least);
    std::int64_t low = static_cast<std::int64_t>(std::max(0.0, std::floor(mean - away) - 1.0));
    std::int64_t high = std::min(law.n, static_cast<std::int64_t>(mean));
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (law.log_probability(middle) < least)
            low = middle + 1;
        else
            high = middle;
    }
    r_ = low;
    term_ = calibrant::exp(law.log_probability(r_) - log_unit);
    value_ = term_ * tail_over_term(law, r_);
}

void LowerTail::next() {
    r_ += 1;
    term_ *= (n_ - real(r_) + 1.0) / real(r_) * odds_;
    value_ += term_;
}

}  // namespace calibrant
