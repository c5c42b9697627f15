// HSIC, the Hilbert-Schmidt independence criterion (Gretton et al. 2005), of two samples.
//
// With K_ij = k(x_i, x_j), L_ij = l(y_i, y_j) and H the centring matrix, everything here is read
// off the centred matrices A = HKH and B = HLH, none of which is ever stored:
//
//     biased     trace(AB) / n^2
//     gretton    trace(AB) / (n - 1)^2
//     unbiased   [trace(AB) - n/(n-2) sum A_ii B_ii + trace A trace B / ((n-1)(n-2))] / (n (n-3))
//
// The last is the U-statistic of Song et al. (2012), which sees no row or column of constants.
// Kernels: Gaussian exp(-|a - b|^2 / (2 h^2)), and Laplace exp(-|a - b|_1 / h).
//
// The law of trace(AB) if y is put against x in random order has the mean
// trace A trace B / (n - 1) and a variance that follows from trace A^2, sum A_ii^2 and the same of
// B (Kazi-Aoual et al. 1995): both are exact, and a gamma law with them gives a p-value.
//
// Cost: two real variables with Gaussian kernels, O(n), with 1700 multiplications a row
// (gaussian_features.hpp); with Laplace kernels, O(n log n) (laplace_forms.hpp); vectors, n^2
// distances in blocks, and O(n) memory. All on several threads, with the same bits for any number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/rows/column.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

enum class HsicKernel : std::uint8_t { gaussian, laplace };

// n points of `dimension` coordinates, coordinate k of point i at [k * n + i].
struct Points {
    std::size_t n = 0, dimension = 1;
    std::vector<double> values;

    [[nodiscard]] const double* coordinate(std::size_t k) const { return values.data() + k * n; }
};

// Copies a column, or a matrix by rows. Throws InvalidInput at the first value that is not finite.
[[nodiscard]] Points read_points(const Column& column, const char* name);

struct HsicSide {
    const Points* points;
    double bandwidth;
};

struct HsicSums {
    std::uint64_t n = 0;
    double trace = 0.0;  // trace(AB)
    double trace_x = 0.0, trace_y = 0.0;
    double diagonals = 0.0;                     // sum A_ii B_ii
    double square_x = 0.0, square_y = 0.0;      // trace(AA), trace(BB); only on request
    double diagonal_x = 0.0, diagonal_y = 0.0;  // sum A_ii^2, sum B_ii^2

    [[nodiscard]] double biased() const;
    [[nodiscard]] double gretton() const;
    [[nodiscard]] double unbiased() const;
    // Of trace(AB) under permutations.
    [[nodiscard]] double null_mean() const;
    [[nodiscard]] double null_variance() const;
};

// How far to go: the trace alone, the diagonals too, or the squares too.
enum class HsicDepth : std::uint8_t { trace, diagonals, squares };

[[nodiscard]] HsicSums hsic_sums(HsicSide x, HsicSide y, HsicKernel kernel, HsicDepth depth,
                                 Poll poll);

// How many of `permutations` random orders of y give a trace(AB) at least as large as the sample's
// own, up to 2^-40 of it. The order of permutation b is a function of (seed, b) alone.
[[nodiscard]] std::uint64_t hsic_exceedances(HsicSide x, HsicSide y, HsicKernel kernel,
                                             std::uint64_t permutations, std::uint64_t seed,
                                             Poll poll);

// The median of the distances of all pairs of different rows (the mean of the middle two, if their
// number is even): exact in O(n log n) for one coordinate; otherwise of at most 1000 rows, evenly
// spaced in the order given. Euclidean for the Gaussian kernel, city-block for the Laplace one.
[[nodiscard]] double median_distance(const Points& points, HsicKernel kernel, Poll poll);

// Of distances, or of the roots of `squared` ones; changes their order.
[[nodiscard]] double median_of_distances(std::vector<double>& distances, bool squared);

}  // namespace calibrant
