// The two parts of Loader's saddle-point form of binomial and Poisson probabilities (C. Loader,
// "Fast and accurate computation of binomial probabilities", 2000).
#pragma once

#include <cmath>

#include "kernels/elementary.hpp"

namespace calibrant {

// ln Gamma(z + 1) minus Stirling's (z + 1/2) ln z - z + ln(2 pi) / 2, for z > 0.
inline double stirling_error(double z) {
    double raised = 0.0;
    for (; z < 16.0; z += 1.0) raised += (z + 0.5) * calibrant::log((z + 1.0) / z) - 1.0;
    const double r = 1.0 / (z * z);
    const double series =
        1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r * (1.0 / 1188))));
    return raised + series / z;
}

// x ln(x / m) + m - x, without cancellation.
inline double deviance(double x, double m) {
    const double v = (x - m) / (x + m);
    if (std::fabs(v) >= 0.1) return x * calibrant::log(x / m) + m - x;
    double sum = (x - m) * v;
    double term = 2.0 * x * v;
    for (int j = 1; j < 1000; ++j) {
        term *= v * v;
        const double next = sum + term / (2 * j + 1);
        if (next == sum) break;
        sum = next;
    }
    return sum;
}

}  // namespace calibrant
