// Laws of test statistics, and their tails. With B a Brownian motion on [0, 1] (not a bridge)
// and Z a standard normal variable:
//
//     brownian_sup      max |B|
//     brownian_range    max B - min B, the start B(0) = 0 included
//     normal_two_sided  P(|Z| > |z|) = erfc(|z| / sqrt(2))
//     normal_sf         P(Z > z)
//     chi_square_sf     P(X > x) for X chi-square with k degrees of freedom, 1 <= k <= 2^30: a sum
//     of
//                       at most k/2 positive terms
//
// Each law has two series, one for each end, and each probability is read off the one in which it
// does not cancel: in the tail nothing is ever 1 - cdf. Every term is factor * exp(-exponent) with
// both in two doubles, so that squaring a large x costs no digits. Errors, against 80-digit
// arithmetic (tests/numeric/test_tails.py), are below 1e-15 relative as far as the result is a
// normal double, logarithms included, which go on to -1e308. The argument is taken as exact: p has
// a condition number of x^2, so one ulp of x = 37 moves p by 3e-13.
//
// Only + - * /, fma and our own log and exp are used: the same bits on every machine. NaN gives
// NaN. A value costs from 0.2 to 1 microsecond.
#pragma once

#include <cstdint>

namespace calibrant {

// The probability of at most x, of more than x, and the logarithm of the latter. Of x <= 0 they
// are 0, 1 and 0; of infinity 1, 0 and -infinity.
double brownian_sup_cdf(double x);
double brownian_sup_sf(double x);
double brownian_sup_log_sf(double x);

double brownian_range_cdf(double x);
double brownian_range_sf(double x);
double brownian_range_log_sf(double x);

double normal_sf(double z);
double normal_log_sf(double z);
double normal_two_sided(double z);
double normal_log_two_sided(double z);

// Where normal_sf is `tail`, 0 < tail < 1: how many standard errors an interval reaches to either
// side. By rational functions, good to 1e-16 relative to 1 + |z| (Wichura 1988, AS 241).
double normal_quantile(double tail);

double chi_square_sf(double x, std::uint64_t k);
double chi_square_log_sf(double x, std::uint64_t k);

}  // namespace calibrant
