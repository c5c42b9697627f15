// The kernels of ensemble_scores.hpp. Included by kernels/rooms/ only, and under their
// rules.
#pragma once

#include "kernels/ensemble_score_kernels.hpp"
#include "kernels/loops/kernel_parts.hpp"
#include "kernels/loops/lane_tiles.hpp"
#include "kernels/loops/law_loops.hpp"
#include "kernels/loops/weighted_draw_loops.hpp"

namespace calibrant {
namespace {

template <class T, std::size_t lanes>
void fill(const T* const* rows, std::size_t n, T* __restrict tile) {
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < lanes; ++k) tile[i * lanes + k] = rows[k][i];
    }
}

// The smaller value goes to `low`. Both choices are by one comparison: nothing is lost, NaN or not.
template <class T, std::size_t lanes>
[[gnu::always_inline]] inline void exchange(T* low, T* high) {
    using V = Register<T>;
    constexpr std::size_t width = register_bytes / sizeof(T);
    for (std::size_t k = 0; k < lanes; k += width) {
        const V a = load_register<V>(low + k), b = load_register<V>(high + k);
        store_register<V>(a < b ? a : b, low + k);
        store_register<V>(a < b ? b : a, high + k);
    }
}

template <class T, std::size_t lanes>
void sort_tile(T* tile, std::size_t n) {
    merge_exchange(n, [=](std::size_t i, std::size_t j) {
        exchange<T, lanes>(tile + i * lanes, tile + j * lanes);
    });
}

// A sum in two doubles, for values that are not negative.
struct LaneSum {
    Doubles sum{}, rest{};

    [[gnu::always_inline]] inline void add(Doubles x, Doubles x_rest) {
        const Doubles next = sum + x;
        const Doubles part = next - sum;
        rest += ((sum - (next - part)) + (x - part)) + x_rest;
        sum = next;
    }
};

[[gnu::always_inline]] inline Doubles masked(Doubles x, std::int64_t mask) {
    return reinterpret_cast<Doubles>(reinterpret_cast<Words>(x) & mask);
}

// Value i of a lane has i values before it and n - 1 - i behind. Both counts are whole numbers
// below 2^26, so that the two halves of a distance times a count are exact.
struct CrpsRegister {
    LaneSum distance, outer;

    [[gnu::always_inline]] inline void add(Doubles x, Doubles y, Doubles before, Doubles behind) {
        constexpr std::int64_t no_sign = 0x7FFFFFFFFFFFFFFF, upper_half = ~0x3FFFFFF;
        const Doubles difference = x - y;
        const Doubles magnitude = masked(difference, no_sign);
        const Doubles count = difference > 0.0 ? behind : before;
        const Doubles upper = masked(magnitude, upper_half);
        distance.add(magnitude, Doubles{});
        outer.add(upper * count, (magnitude - upper) * count);
    }

    [[gnu::always_inline]] inline void store(std::size_t lane, CrpsLanes* sums) const {
        store_register(distance.sum, sums->distance + lane);
        store_register(distance.rest, sums->distance_rest + lane);
        store_register(outer.sum, sums->outer + lane);
        store_register(outer.rest, sums->outer_rest + lane);
    }
};

template <class T, std::size_t lanes>
void sum_tile(const T* tile, std::size_t n, const double* y, CrpsLanes* sums) {
    for (std::size_t lane = 0; lane < double_lanes; lane += register_doubles) {
        const Doubles outcome = load_doubles(y + lane);
        CrpsRegister part;
        Doubles before{}, behind = Doubles{} + static_cast<double>(n - 1);
        for (std::size_t i = 0; i < n; ++i) {
            part.add(load_doubles(tile + i * lanes + lane), outcome, before, behind);
            before += 1.0;
            behind -= 1.0;
        }
        part.store(lane, sums);
    }
}

void sum_row_of_lanes(const double* row, std::size_t n, double y, CrpsLanes* sums) {
    constexpr double lane_numbers[double_lanes] = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0};
    for (std::size_t lane = 0; lane < double_lanes; lane += register_doubles) {
        const Doubles outcome = Doubles{} + y;
        CrpsRegister part;
        Doubles before = load_doubles(lane_numbers + lane);
        Doubles behind = static_cast<double>(n - 1) - before;
        for (std::size_t i = 0; i < n; i += double_lanes) {
            part.add(load_doubles(row + i + lane), outcome, before, behind);
            before += static_cast<double>(double_lanes);
            behind -= static_cast<double>(double_lanes);
        }
        part.store(lane, sums);
    }
}

void project_points(const double* points, std::size_t n, std::size_t dimension,
                    const double* directions, double* __restrict tile) {
    for (std::size_t i = 0; i < n; ++i) {
        double dots[double_lanes] = {};
        for (std::size_t j = 0; j < dimension; ++j) {
            const double x = points[i * dimension + j];
            const double* const direction = directions + j * double_lanes;
            for (std::size_t k = 0; k < double_lanes; ++k) dots[k] += x * direction[k];
        }
        for (std::size_t k = 0; k < double_lanes; ++k) tile[i * double_lanes + k] = dots[k];
    }
}

// x^m for x >= 0 and m > 0.
[[gnu::always_inline]] inline double power_from_zero(double x, Power m) {
    const bool is_zero = x == 0.0;
    return select(is_zero, 0.0, calibrant::power(select(is_zero, 1.0, x), m));
}

void raise_all(double* x, std::size_t n, Power m) {
    if (m.value == 1.0) return;
    if (m.value == 0.5) {
        for (std::size_t j = 0; j < n; ++j) x[j] = __builtin_sqrt(x[j]);
    } else {
        for (std::size_t j = 0; j < n; ++j) x[j] = power_from_zero(x[j], m);
    }
}

void distances(const double* a, const double* __restrict b, std::size_t stride,
               std::size_t dimension, std::size_t n, Power half, double* __restrict out) {
    squared_distances(a, b, stride, dimension, n, out);
    raise_all(out, n, half);
}

void differences(const double* a, const double* b, std::size_t n, Power p, double* __restrict out) {
    for (std::size_t j = 0; j < n; ++j) out[j] = __builtin_fabs(a[j] - b[j]);
    raise_all(out, n, p);
}

constexpr EnsembleScoreKernels ensemble_score_kernels{
    sort_tile<double, double_lanes>,
    sort_tile<float, float_lanes>,
    fill<double, double_lanes>,
    fill<float, float_lanes>,
    sum_tile<double, double_lanes>,
    sum_tile<float, float_lanes>,
    sum_row_of_lanes,
    project_points,
    distances,
    differences,
    {crps_normal, crps_logistic, crps_laplace, crps_uniform, crps_exponential},
    sort_weighted,
    sum_weighted,
    sum_weight_squares};

}  // namespace
}  // namespace calibrant
