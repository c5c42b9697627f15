// Sums over pairs of real numbers with Laplace kernels, in O(n log n).
//
// All is of k(x_i, x_j) - 1, which centring does not tell from k: with e_i = exp(-|x_i - m| / h) -
// 1 for a point m between x_i and x_j, it is e_i + e_j + e_i e_j, and a sum over points in order is
// carried on by D <- D + (D + P) (exp(-step / h) - 1). Nothing cancels, however large h is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

// Rows in the order of their values; equal ones stay as they are.
[[nodiscard]] std::vector<std::uint32_t> ascending(const double* x, std::size_t n);

// exp(-step / h) - 1 of the step to each row from the one before it in this order; of the first, 0.
[[nodiscard]] std::vector<double> laplace_decays(const double* x,
                                                 const std::vector<std::uint32_t>& order,
                                                 double bandwidth);

// Weights w_i behind, and sum w_i (exp(-distance to i) - 1).
struct Behind {
    double weight = 0.0, decayed = 0.0;
    void step(double decay) { decayed += (decayed + weight) * decay; }
};

// sum_j (k(x_i, x_j) - 1) for each i.
[[nodiscard]] std::vector<double> laplace_row_sums(const double* x, std::size_t n,
                                                   double bandwidth);

// Pairs in the plane: points sorted by x once, and by y while they are merged (divide and conquer).
class LaplacePairs {
public:
    LaplacePairs(const double* x, std::size_t n, double bandwidth);

    // sum_ij (k(x_i, x_j) - 1) (l(y_i, y_j) - 1), with y[partner[i]] for y_i if there is a partner.
    [[nodiscard]] double sum(const double* y, double bandwidth, const std::uint32_t* partner,
                             std::size_t workers, Poll poll) const;

private:
    struct Point {
        double x, y;
    };
    struct Scratch;

    static double within(const Point* points, std::size_t n, Scratch& scratch);
    static double across(Point* points, std::size_t middle, std::size_t n, Scratch& scratch);

    std::vector<std::uint32_t> order_;
    std::vector<double> x_;  // in order
    double bandwidth_;
};

}  // namespace calibrant
