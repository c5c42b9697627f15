#include <cmath>

#include "calibrant/check.hpp"
#include "calibrant/elementary.hpp"
#include "calibrant/ensemble_scores.hpp"
#include "calibrant/tails.hpp"
#include "ensemble_chunks.hpp"

namespace calibrant {
namespace {

// Each law's CRPS is |y - loc| + scale g(z) with z = (y - loc) / scale; z may be infinite.
using Excess = double (*)(double z);

// 2 phi(z) - 2 |z| P(Z > |z|) - 1 / sqrt(pi)
double normal_excess(double z) {
    constexpr double inverse_root_pi = 0x1.20dd750429b6dp-1, two_phi_of_0 = 0x1.9884533d43651p-1;
    const double a = std::abs(z);
    if (a > 40.0) return -inverse_root_pi;
    return (two_phi_of_0 * exp(-0.5 * a * a) - a * normal_two_sided(a)) - inverse_root_pi;
}

double logistic_excess(double z) { return 2.0 * log(1.0 + exp(-std::abs(z))) - 1.0; }

double laplace_excess(double z) { return exp(-std::abs(z)) - 0.75; }

double uniform_excess(double z) {
    if (z < 0.0) return 1.0 / 3.0;
    return z > 1.0 ? -2.0 / 3.0 : (z * z - 2.0 * z) + 1.0 / 3.0;
}

double exponential_excess(double z) { return z < 0.0 ? 0.5 : 2.0 * exp(-z) - 1.5; }

Excess excess_of(ForecastLaw law) {
    switch (law) {
        case ForecastLaw::normal:
            return normal_excess;
        case ForecastLaw::logistic:
            return logistic_excess;
        case ForecastLaw::laplace:
            return laplace_excess;
        case ForecastLaw::uniform:
            return uniform_excess;
        default:
            return exponential_excess;
    }
}

struct LawWorker {
    Excess excess;
    const Column& y_true;
    const Column& loc;
    const Column& scale;
    double* out;

    void add(std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            const double y = finite(y_true, "y_true", row), centre = finite(loc, "loc", row);
            const double unit = finite(scale, "scale", row);
            const Row where{row, {}, 0, false};
            if (!(unit > 0.0)) {
                refuse("scale", "be positive", number_text(unit, scale.dtype), where);
            }
            const double difference = y - centre;
            out[row] = std::abs(difference) + unit * excess(difference / unit);
        }
    }

    static double finite(const Column& column, const char* name, std::size_t row) {
        double value = 0.0;
        load(column, row, 1, &value);
        if (std::isfinite(value)) return value;
        refuse_not_finite(name, value, {row, {}, 0, false}, column.dtype);
    }
};

}  // namespace

void crps_of_law(ForecastLaw law, const Column& y_true, const Column& loc, const Column& scale,
                 double* out, Poll poll) {
    const LawWorker worker{excess_of(law), y_true, loc, scale, out};
    for_each_ensemble(y_true.size, 1, 64, worker, poll);
}

}  // namespace calibrant
