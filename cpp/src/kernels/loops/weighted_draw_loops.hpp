// The kernels of weighted ensembles. Included by ensemble_score_loops.hpp only, and under the rules
// of rooms.hpp. Lanes go together whatever their values are: a draw on the other side of the
// outcome counts there with weight 0, which changes no bit.
#pragma once

#include "kernels/ensemble_score_kernels.hpp"
#include "kernels/loops/lane_tiles.hpp"

namespace calibrant {
namespace {

[[gnu::always_inline]] inline Doubles fma_lanes(const Doubles& a, const Doubles& b,
                                                const Doubles& c) {
    Doubles result;
    for (std::size_t k = 0; k < register_doubles; ++k) result[k] = fma(a[k], b[k], c[k]);
    return result;
}

// As DoubleDouble and its operators, in lanes.
struct WideSum {
    Doubles high{}, low{};
};

[[gnu::always_inline]] inline WideSum exact_lanes(const Doubles& a, const Doubles& b) {
    const Doubles sum = a + b;
    const Doubles b_part = sum - a;
    return {sum, (a - (sum - b_part)) + (b - b_part)};
}

[[gnu::always_inline]] inline WideSum normal_lanes(const Doubles& a, const Doubles& b) {
    const Doubles sum = a + b;
    return {sum, b - (sum - a)};
}

[[gnu::always_inline]] inline WideSum product_lanes(const Doubles& a, const Doubles& b) {
    const Doubles product = a * b;
    return {product, fma_lanes(a, b, -product)};
}

[[gnu::always_inline]] inline WideSum operator+(const WideSum& a, const WideSum& b) {
    const WideSum high = exact_lanes(a.high, b.high), low = exact_lanes(a.low, b.low);
    const WideSum sum = normal_lanes(high.high, high.low + low.high);
    return normal_lanes(sum.high, sum.low + low.low);
}

[[gnu::always_inline]] inline WideSum operator+(const WideSum& a, const Doubles& b) {
    const WideSum high = exact_lanes(a.high, b);
    return normal_lanes(high.high, high.low + a.low);
}

[[gnu::always_inline]] inline WideSum operator*(const WideSum& a, const WideSum& b) {
    const WideSum product = product_lanes(a.high, b.high);
    return normal_lanes(product.high, product.low + (a.high * b.low + a.low * b.high));
}

[[gnu::always_inline]] inline void store_wide(const WideSum& sum, std::size_t lane,
                                              WideLaneSums* to) {
    store_register(sum.high, to->high + lane);
    store_register(sum.low, to->low + lane);
}

// From outside in: w, w |x - y|, and each of the latter times the weights up to it and before it.
struct SideRegister {
    WideSum weight, distance, gap;

    [[gnu::always_inline]] inline void add(const Doubles& difference, const Doubles& w) {
        const WideSum heavy = product_lanes(w, difference), before = weight;
        weight = weight + w;
        gap = gap + heavy * (before + weight);
        distance = distance + heavy;
    }

    [[gnu::always_inline]] inline void store(std::size_t lane, WeightedSide* side) const {
        store_wide(weight, lane, &side->weight);
        store_wide(distance, lane, &side->distance);
        store_wide(gap, lane, &side->gap);
    }
};

void sum_weighted(const double* tile, const double* weights, std::size_t n, const double* y,
                  WeightedSide* below, WeightedSide* above) {
    for (std::size_t lane = 0; lane < double_lanes; lane += register_doubles) {
        const Doubles outcome = load_doubles(y + lane), none{};
        SideRegister low_side, high_side;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t first = i * double_lanes + lane;
            const std::size_t last = (n - 1 - i) * double_lanes + lane;
            const Doubles x = load_doubles(tile + first), w = load_doubles(weights + first);
            low_side.add(outcome - x, x < outcome ? w : none);
            const Doubles u = load_doubles(tile + last), v = load_doubles(weights + last);
            high_side.add(u - outcome, u < outcome ? none : v);
        }
        low_side.store(lane, below);
        high_side.store(lane, above);
    }
}

void sum_weight_squares(const double* weights, std::size_t n, WideLaneSums* sums) {
    for (std::size_t lane = 0; lane < double_lanes; lane += register_doubles) {
        WideSum squares;
        for (std::size_t i = 0; i < n; ++i) {
            const Doubles w = load_doubles(weights + i * double_lanes + lane);
            squares = squares + product_lanes(w, w);
        }
        store_wide(squares, lane, sums);
    }
}

// The smaller pair goes first: by value, then by weight.
[[gnu::always_inline]] inline void exchange_pairs(double* tile, double* weights, std::size_t low,
                                                  std::size_t high) {
    for (std::size_t k = 0; k < double_lanes; k += register_doubles) {
        const Doubles a = load_doubles(tile + low + k), b = load_doubles(tile + high + k);
        const Doubles v = load_doubles(weights + low + k), w = load_doubles(weights + high + k);
        const Words keep = (a < b) | ((a == b) & (v <= w));
        store_register<Doubles>(keep ? a : b, tile + low + k);
        store_register<Doubles>(keep ? b : a, tile + high + k);
        store_register<Doubles>(keep ? v : w, weights + low + k);
        store_register<Doubles>(keep ? w : v, weights + high + k);
    }
}

void sort_weighted(double* tile, double* weights, std::size_t n) {
    merge_exchange(n, [=](std::size_t i, std::size_t j) {
        exchange_pairs(tile, weights, i * double_lanes, j * double_lanes);
    });
}

}  // namespace
}  // namespace calibrant
