// The kernels of width_boxes.hpp. Included by kernels/rooms/ only, and under their rules.
#pragma once

#include "kernels/box_kernels.hpp"
#include "kernels/loops/kernel_parts.hpp"

namespace calibrant {
namespace {

// A width is key / 2 boxes plus half a box times v, |v| <= 1. The remainder of the division is
// exact (fma), and so v is good to a few ulps however large the width is.
bool box_terms(const double* __restrict width, const double* __restrict excess, std::size_t n,
               double box, double boxes_per_unit, std::int64_t* __restrict key,
               double* __restrict terms) {
    constexpr double coarse = snap_shift<22>, dense = snap_shift<62>, single = snap_shift<40>;
    const double halves_per_unit = boxes_per_unit + boxes_per_unit;
    std::uint64_t outside = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double at = width[i] * boxes_per_unit;
        const bool inside = at < most_boxes;
        outside |= inside ? 0U : 1U;
        const double shifted = select(inside, at, 0.0) + snap_shift<0>;
        const auto index = static_cast<std::int64_t>(bits_of(shifted) - bits_of(snap_shift<0>));
        key[i] = 2 * index + (excess[i] == 0.0 ? 1 : 0);
        const double v = fma(-(shifted - snap_shift<0>), box, width[i]) * halves_per_unit;
        const double v2 = v * v, v3 = v2 * v, v4 = v2 * v2;
        const double v_high = v + coarse, v2_high = v2 + coarse;
        double* const out = terms + i;
        out[0 * box_rows] = v_high;
        out[1 * box_rows] = (v - (v_high - coarse)) + dense;
        out[2 * box_rows] = v2_high;
        out[3 * box_rows] = (v2 - (v2_high - coarse)) + dense;
        out[4 * box_rows] = v3 + single;
        out[5 * box_rows] = v4 + single;
        out[6 * box_rows] = v4 * v + single;
        out[7 * box_rows] = v4 * v2 + single;
        out[8 * box_rows] = v4 * v3 + single;
        out[9 * box_rows] = v4 * v4 + single;
        out[10 * box_rows] = v4 * v4 * v + single;
    }
    return outside == 0;
}

void box_extremes(const double* width, std::size_t n, double* least, double* most) {
    constexpr std::size_t lanes = 8;
    double low[lanes], high[lanes];
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        low[lane] = *least;
        high[lane] = *most;
    }
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const double x = width[i + lane];
            low[lane] = x < low[lane] ? x : low[lane];
            high[lane] = x > high[lane] ? x : high[lane];
        }
    }
    for (; i < n; ++i) {
        low[0] = width[i] < low[0] ? width[i] : low[0];
        high[0] = width[i] > high[0] ? width[i] : high[0];
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        *least = low[lane] < *least ? low[lane] : *least;
        *most = high[lane] > *most ? high[lane] : *most;
    }
}

constexpr BoxKernels box_kernels{box_terms, box_extremes};

}  // namespace
}  // namespace calibrant
