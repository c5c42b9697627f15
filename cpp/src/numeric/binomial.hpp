// The binomial law of n trials that succeed with probability k / m, a ratio of whole numbers.
//
// Lower tails are sums of positive terms, each the former times a ratio, around one that is
// found by the saddle point: nothing cancels, and the relative error is about 1e-13, however small
// the tail. Upper tails are lower tails of the failures: P(X >= r) = P(n - X <= n - r), with
// m - k for k. A tail costs a few standard deviations' worth of terms.
#pragma once

#include <cstdint>

namespace calibrant {

struct Binomial {
    std::int64_t n, k, m;  // n >= 0, 0 < k < m

    [[nodiscard]] double mean() const;
    [[nodiscard]] double log_probability(std::int64_t r) const;  // 0 <= r <= n
    [[nodiscard]] double log_cdf(std::int64_t r) const;          // ln P(X <= r), 0 <= r <= n
    [[nodiscard]] Binomial failures() const { return {n, m - k, m}; }

    // The least r with P(X <= r) >= tail, 0 < tail < 1/2.
    [[nodiscard]] std::int64_t lower_quantile(double tail) const;
};

// Walks up the lower tail, one r after the other, from where P(X <= r) is not yet `exp(log_unit)`.
// The tail is given in this unit, so that it can be as small as one likes.
class LowerTail {
public:
    LowerTail(const Binomial& law, double log_unit);

    [[nodiscard]] std::int64_t r() const { return r_; }
    [[nodiscard]] double value() const { return value_; }  // P(X <= r) / exp(log_unit)
    void next();                                           // r < n

private:
    double n_, odds_;
    std::int64_t r_;
    double term_, value_;
};

}  // namespace calibrant
