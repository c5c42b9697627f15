// The kernels of dependence.hpp. Included by kernels/rooms/ only, and under their rules.
#pragma once

#include "kernels/dependence_kernels.hpp"
#include "kernels/loops/kernel_parts.hpp"

namespace calibrant {
namespace {

// For x <= 0. With x = k ln 2 + r it is 2^k (e^r - 1) + (2^k - 1), of which nothing cancels: k is 0
// where x is small. Below -40 it is -1 to the last bit.
[[gnu::always_inline]] inline double expm1_of(double x) {
    const double near = clamp(x, -40.0, 0.0);
    const double k = fma(near, log2_e, snap_shift<0>) - snap_shift<0>;
    const double r = fma(-k, ln2_low, fma(-k, ln2_high, near));
    const double r2 = r * r;
    const double scale = power_of_two(k);
    return fma(scale, fma(r2, fma(r, exp_tail(r, r2), 0.5), r), scale - 1.0);
}

// exp(-(j - 17)^2 step^2) times the root of sqrt(2 / pi) step, and zeros.
constexpr double node_weights[feature_stride] = {0x1.30aac07780ac7p-55,
                                                 0x1.51bf699873ba3p-49,
                                                 0x1.213037be2756cp-43,
                                                 0x1.7e7d8cd13c29dp-38,
                                                 0x1.86bc079463ef9p-33,
                                                 0x1.344b2091cac23p-28,
                                                 0x1.77bfd7f342f51p-24,
                                                 0x1.61b713069af5ep-20,
                                                 0x1.012d0cc651818p-16,
                                                 0x1.20d73eddd128ep-13,
                                                 0x1.f51da403874a2p-11,
                                                 0x1.4fbe9d534f005p-8,
                                                 0x1.5b7b31f54197ep-6,
                                                 0x1.15c370a17bb3ep-4,
                                                 0x1.56fb29bfce613p-3,
                                                 0x1.471ac9f92a740p-2,
                                                 0x1.e1e5be6d10bfep-2,
                                                 0x1.122a8c7fd3cd2p-1,
                                                 0x1.e1e5be6d10bfep-2,
                                                 0x1.471ac9f92a740p-2,
                                                 0x1.56fb29bfce613p-3,
                                                 0x1.15c370a17bb3ep-4,
                                                 0x1.5b7b31f54197ep-6,
                                                 0x1.4fbe9d534f005p-8,
                                                 0x1.f51da403874a2p-11,
                                                 0x1.20d73eddd128ep-13,
                                                 0x1.012d0cc651818p-16,
                                                 0x1.61b713069af5ep-20,
                                                 0x1.77bfd7f342f51p-24,
                                                 0x1.344b2091cac23p-28,
                                                 0x1.86bc079463ef9p-33,
                                                 0x1.7e7d8cd13c29dp-38,
                                                 0x1.213037be2756cp-43,
                                                 0x1.51bf699873ba3p-49,
                                                 0x1.30aac07780ac7p-55,
                                                 0x0.0p+0,
                                                 0x0.0p+0,
                                                 0x0.0p+0,
                                                 0x0.0p+0,
                                                 0x0.0p+0};

// With d the offset and j = 8 k + l, exp(-(d - (j - 17) s)^2) is exp(2 s d l) times
// exp(2 s d (8 k - 17) - d^2) times a weight: 13 exponentials for 35 features.
void node_rows(const double* __restrict offset, std::size_t n, double* __restrict features) {
    constexpr std::size_t runs = feature_stride / 8;
    for (std::size_t i = 0; i < n; ++i) {
        const double d = offset[i];
        const double slope = (2.0 * node_step) * d;
        const double square = d * d;
        double powers[16];
        for (std::size_t t = 0; t < 16; ++t) {
            const double steps =
                t < 8 ? static_cast<double>(t) : 8.0 * static_cast<double>(t) - 81.0;
            powers[t] = slope * steps - (t < 8 ? 0.0 : square);
        }
        for (std::size_t t = 0; t < 16; ++t) powers[t] = calibrant::exp(powers[t]);
        double* __restrict const row = features + i * feature_stride;
        for (std::size_t k = 0; k < runs; ++k) {
            for (std::size_t l = 0; l < 8; ++l) {
                row[8 * k + l] = powers[l] * powers[8 + k] * node_weights[8 * k + l];
            }
        }
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
    squared_distances(a, b, stride, dimension, n, out);
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
