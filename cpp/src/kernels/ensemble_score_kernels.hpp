// The loops of ensemble_scores.hpp, one table an instruction set (kernels.hpp).
#pragma once

#include <cstddef>

#include "kernels/elementary.hpp"

namespace calibrant {

// Ensembles are sorted side by side, one in each lane of a tile: value i of lane k is at
// [i * double_lanes + k], or float_lanes.
inline constexpr std::size_t double_lanes = 8;
inline constexpr std::size_t float_lanes = 16;

// Sums of double_lanes lanes in two doubles each, good to 2^-90 for up to 2^26 values. Of an
// ensemble x and an outcome y: `distance` sums |x - y|, and `outer` |x - y| times the number of
// values that lie further out on the same side of y; of ties, each in the order sorted.
struct CrpsLanes {
    double distance[double_lanes], distance_rest[double_lanes];
    double outer[double_lanes], outer_rest[double_lanes];
};

// Sums of lanes, each a DoubleDouble.
struct WideLaneSums {
    double high[double_lanes], low[double_lanes];
};

// Of the draws on one side of the outcome, from outside in: of w, of w |x - y|, and of the latter
// times the weight of the draws further out, twice, and its own.
struct WeightedSide {
    WideLaneSums weight, distance, gap;
};

struct EnsembleScoreKernels {
    // Puts rows of n values each into the lanes, and sorts the lanes. A NaN is kept, in any place.
    void (*sort_doubles)(double* tile, std::size_t n);
    void (*sort_floats)(float* tile, std::size_t n);
    void (*fill_doubles)(const double* const* rows, std::size_t n, double* tile);
    void (*fill_floats)(const float* const* rows, std::size_t n, float* tile);

    // Of eight sorted lanes of a tile, with an outcome each. A value that is not finite, or a
    // difference, makes the sum of its lane NaN or infinite.
    void (*sum_doubles)(const double* tile, std::size_t n, const double* y, CrpsLanes* sums);
    void (*sum_floats)(const float* tile, std::size_t n, const double* y, CrpsLanes* sums);
    // Of one sorted row: lane k takes the values k, k + 8, ... The row has room for a multiple of
    // eight values; beyond n there must be y.
    void (*sum_row)(const double* row, std::size_t n, double y, CrpsLanes* sums);

    // tile[i][k] is the dot product of point i and of direction k: coordinate j of point i is at
    // [i * dimension + j], of direction k at [j * double_lanes + k].
    void (*project)(const double* points, std::size_t n, std::size_t dimension,
                    const double* directions, double* tile);

    // |a - b_j|^beta for n points b: coordinate k of b_j is b[k * stride + j]; half is beta / 2.
    void (*distances)(const double* a, const double* b, std::size_t stride, std::size_t dimension,
                      std::size_t n, Power half, double* out);
    // |a_j - b_j|^p.
    void (*differences)(const double* a, const double* b, std::size_t n, Power p, double* out);

    // In the order of ForecastLaw. Returns false, with `out` unspecified, if some value is not
    // finite or some scale not positive.
    bool (*crps_of_law[5])(const double* y, const double* loc, const double* scale, std::size_t n,
                           double* out);

    // Pairs of a value and a weight in two tiles: sorts the lanes by value, then by weight.
    void (*sort_weighted)(double* tile, double* weights, std::size_t n);
    // Of sorted lanes. Values and outcomes are below 2^450, weights in [0, 2).
    void (*sum_weighted)(const double* tile, const double* weights, std::size_t n, const double* y,
                         WeightedSide* below, WeightedSide* above);
    void (*sum_weight_squares)(const double* weights, std::size_t n, WideLaneSums* sums);
};

}  // namespace calibrant
