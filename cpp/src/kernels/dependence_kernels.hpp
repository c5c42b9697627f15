// The loops of dependence.hpp, one table an instruction set (kernels.hpp).
#pragma once

#include <cstddef>

namespace calibrant {

// A Gaussian of one variable as a sum of products: K(x, y) = sum_t f_t(x) f_t(y). Rows of features
// are this long, the unused ones 0.
inline constexpr std::size_t feature_stride = 40;
inline constexpr std::size_t node_features = 35;
inline constexpr double node_step = 0.359375;
inline constexpr std::size_t most_series = 40;

struct DependenceKernels {
    // f_j = exp(-(offset - (j - 17) node_step)^2), scaled so that the products sum to the kernel,
    // for |offset| <= node_step / 2.
    void (*nodes)(const double* offset, std::size_t n, double* features);
    // f_k = u^k exp(-u^2 / 2) / sqrt(k!) for k < count, of f_0 less 1.
    void (*series)(const double* u, std::size_t n, std::size_t count, double* features);
    // out[a * stride + s] += x[a] y[s] for a < rows and s < feature_stride.
    void (*spread)(const double* x, std::size_t rows, const double* y, double* out,
                   std::size_t stride);
    // e^x - 1 for x <= 0.
    void (*expm1)(const double* x, std::size_t n, double* result);
    // k(a, b_j) - 1 for n points b: coordinate k of b_j is b[k * stride + j]. Gaussian
    // exp(-scale |a - b|^2), Laplace exp(-scale |a - b|_1).
    void (*gaussian_row)(const double* a, const double* b, std::size_t stride,
                         std::size_t dimension, std::size_t n, double scale, double* out);
    void (*laplace_row)(const double* a, const double* b, std::size_t stride, std::size_t dimension,
                        std::size_t n, double scale, double* out);
    // In eight lanes, which are added up in order.
    double (*sum)(const double* x, std::size_t n);
    double (*dot)(const double* x, const double* y, std::size_t n);
    // The sum of (x - x_mean - x_row) (y - y_mean - y_row), the means of each column.
    double (*centred_dot)(const double* x, const double* x_mean, double x_row, const double* y,
                          const double* y_mean, double y_row, std::size_t n);
};

}  // namespace calibrant
