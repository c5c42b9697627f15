// The tails of the gamma law with shape a and scale 1: P(X <= x) and P(X > x) for a > 0 and x >= 0,
// and the logarithm of the latter: by the series of the lower tail below a + 1 and a continued
// fraction above (DLMF 8.7.1, 8.9.2). The relative error of the tail is below 4e-13 for a up to
// 1000 (seen: 3.3e-13, where the tail is 1e-280) and grows from there like the root of a; beyond
// 1e9 the normal law with the same mean and variance stands in.
#pragma once

namespace calibrant {

double gamma_cdf(double a, double x);
double gamma_sf(double a, double x);
double gamma_log_sf(double a, double x);

// How likely a sum is at least, and at most, so large.
struct TwoTails {
    double upper, lower;
    [[nodiscard]] double two_sided() const;
};

// Of a sum over rows that depend on chance by their events, such as hits less their probabilities:
// with mean 0, this variance and this third cumulant. The law is that of a scaled and shifted
// Poisson number with the same three cumulants: exact for rare events that count alike, and next to
// the normal law where events abound.
[[nodiscard]] TwoTails tails_of_events(double x, double variance, double third);

}  // namespace calibrant
