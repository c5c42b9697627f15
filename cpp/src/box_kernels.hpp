// The kernel of width_boxes.hpp. Included by kernels.cpp only, and under its rules.
#pragma once

#include "kernel_parts.hpp"

namespace calibrant {
namespace {

// A width is key / 2 boxes plus half a box times v, |v| <= 1. The remainder of the division is
// exact (fma), and so v is good to a few ulps however large the width is.
bool box_terms(const double* __restrict width, const double* __restrict excess, std::size_t n,
               double box, double boxes_per_unit, std::int64_t* __restrict key,
               std::int64_t* __restrict terms) {
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

        std::int64_t* const out = terms + i * box_limbs;
        const auto split = [&](double x, std::size_t limb) {
            const double high = x + coarse;
            out[limb] = static_cast<std::int64_t>(bits_of(high) - bits_of(coarse));
            const double low = (x - (high - coarse)) + dense;
            out[limb + 1] = static_cast<std::int64_t>(bits_of(low) - bits_of(dense));
        };
        out[0] = 1;
        split(v, 1);
        double power = v * v;
        split(power, 3);
        for (std::size_t limb = 5; limb < box_limbs; ++limb) {
            power *= v;
            out[limb] = static_cast<std::int64_t>(bits_of(power + single) - bits_of(single));
        }
    }
    return outside == 0;
}

}  // namespace
}  // namespace calibrant
