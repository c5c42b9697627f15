// The kernels of dependence.hpp. Included by kernels.cpp only, and under its rules.
#pragma once

#include "calibrant/dependence_kernels.hpp"
#include "kernel_parts.hpp"

namespace calibrant {
namespace {

constexpr std::size_t lanes = 8;

// For x <= 0. Below -1/4 nothing cancels.
[[gnu::always_inline]] inline double expm1_of(double x) {
    const double r = clamp(x, -0.25, 0.0);
    const double r2 = r * r;
    const double series = fma(r2, fma(r, exp_tail(r, r2), 0.5), r);
    return select(x > -0.25, series, calibrant::exp(x) - 1.0);
}

constexpr double node_step = 0.3125;

// exp(-j^2 step^2) times the root of sqrt(2 / pi) step, for j = 0 .. 20.
struct NodeWeights {
    double at[21];
};
NodeWeights node_weights() {
    NodeWeights weights{};
    const double root = __builtin_sqrt(0x1.9884533d43651p-1 * node_step);
    for (int j = 0; j <= 20; ++j) {
        const double z = node_step * j;
        weights.at[j] = root * calibrant::exp(-z * z);
    }
    return weights;
}

// exp(-(d - j s)^2) = exp(-d^2) exp(2 s d)^j exp(-j^2 s^2)
void node_rows(const double* __restrict offset, std::size_t n, double* __restrict features) {
    const NodeWeights weights = node_weights();
    for (std::size_t i = 0; i < n; ++i) {
        const double d = offset[i];
        const double middle = calibrant::exp(-d * d);
        const double right = calibrant::exp((2.0 * node_step) * d);
        const double left = calibrant::exp((-2.0 * node_step) * d);
        double* const row = features + i * feature_stride;
        double up = middle, down = middle;
        row[20] = middle * weights.at[0];
        for (std::size_t j = 1; j <= 20; ++j) {
            up *= right;
            down *= left;
            row[20 + j] = up * weights.at[j];
            row[20 - j] = down * weights.at[j];
        }
        for (std::size_t j = node_features; j < feature_stride; ++j) row[j] = 0.0;
    }
}

void series_rows(const double* __restrict u, std::size_t n, std::size_t count,
                 double* __restrict features) {
    double factor[most_series];
    for (std::size_t k = 1; k < count; ++k) {
        factor[k] = 1.0 / __builtin_sqrt(static_cast<double>(k));
    }
    for (std::size_t i = 0; i < n; ++i) {
        double* const row = features + i * feature_stride;
        const double exponent = -0.5 * u[i] * u[i];
        double f = calibrant::exp(exponent);
        row[0] = expm1_of(exponent);
        for (std::size_t k = 1; k < count; ++k) {
            f *= u[i] * factor[k];
            row[k] = f;
        }
        for (std::size_t k = count; k < feature_stride; ++k) row[k] = 0.0;
    }
}

void spread_row(const double* __restrict x, std::size_t rows, const double* __restrict y,
                double* __restrict out, std::size_t stride) {
    for (std::size_t a = 0; a < rows; ++a) {
        const double factor = x[a];
        double* __restrict const row = out + a * stride;
        for (std::size_t s = 0; s < feature_stride; ++s) row[s] += factor * y[s];
    }
}

void expm1_rows(const double* x, std::size_t n, double* result) {
    for (std::size_t i = 0; i < n; ++i) result[i] = expm1_of(x[i]);
}

void gaussian_row(const double* a, const double* __restrict b, std::size_t stride,
                  std::size_t dimension, std::size_t n, double scale, double* __restrict out) {
    for (std::size_t j = 0; j < n; ++j) out[j] = 0.0;
    for (std::size_t k = 0; k < dimension; ++k) {
        const double at = a[k];
        const double* __restrict const column = b + k * stride;
        for (std::size_t j = 0; j < n; ++j) {
            const double difference = at - column[j];
            out[j] += difference * difference;
        }
    }
    for (std::size_t j = 0; j < n; ++j) out[j] = expm1_of(-scale * out[j]);
}

void laplace_row(const double* a, const double* __restrict b, std::size_t stride,
                 std::size_t dimension, std::size_t n, double scale, double* __restrict out) {
    for (std::size_t j = 0; j < n; ++j) out[j] = 0.0;
    for (std::size_t k = 0; k < dimension; ++k) {
        const double at = a[k];
        const double* __restrict const column = b + k * stride;
        for (std::size_t j = 0; j < n; ++j) out[j] += __builtin_fabs(at - column[j]);
    }
    for (std::size_t j = 0; j < n; ++j) out[j] = expm1_of(-scale * out[j]);
}

// Eight partial sums on every instruction set, and so the same bits.
template <class Term>
[[gnu::always_inline]] inline double sum_in_lanes(std::size_t n, Term term) {
    double partial[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane) partial[lane] += term(i + lane);
    }
    for (std::size_t lane = 0; i < n; ++i, ++lane) partial[lane] += term(i);
    double total = 0.0;
    for (const double part : partial) total += part;
    return total;
}

double sum_row(const double* x, std::size_t n) {
    return sum_in_lanes(n, [=](std::size_t i) { return x[i]; });
}

double dot_row(const double* x, const double* y, std::size_t n) {
    return sum_in_lanes(n, [=](std::size_t i) { return x[i] * y[i]; });
}

double centred_dot_row(const double* x, const double* x_mean, double x_row, const double* y,
                       const double* y_mean, double y_row, std::size_t n) {
    return sum_in_lanes(
        n, [=](std::size_t i) { return (x[i] - x_mean[i] - x_row) * (y[i] - y_mean[i] - y_row); });
}

constexpr DependenceKernels dependence_kernels{node_rows,  series_rows,  spread_row,
                                               expm1_rows, gaussian_row, laplace_row,
                                               sum_row,    dot_row,      centred_dot_row};

}  // namespace
}  // namespace calibrant
