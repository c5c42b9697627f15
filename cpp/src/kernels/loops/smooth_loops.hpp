// The smoothing of smooth.hpp. Included by kernels/rooms/ only, and under their rules.
#pragma once

#include "kernels/loops/kernel_parts.hpp"

namespace calibrant {
namespace {

// Sums stay in registers for all taps, and no read crosses a line of the cache.
void smooth(const SmoothLanes* g, std::size_t stride, const double* taps, std::size_t n_taps,
            SmoothLanes* f) {
    for (std::size_t lane = 0; lane < SmoothLanes::n; lane += register_doubles) {
        for (std::size_t j = 0; j < stride; j += smooth_tile) {
            Doubles sums[smooth_tile];
            for (std::size_t k = 0; k < smooth_tile; ++k) {
                sums[k] = taps[0] * load_register<Doubles>(&g[j + k].at[lane]);
            }
            for (std::size_t d = 1; d < n_taps; ++d) {
                const SmoothLanes* const left = g + j - d;
                const SmoothLanes* const right = g + j + d;
                for (std::size_t k = 0; k < smooth_tile; ++k) {
                    sums[k] += taps[d] * (load_register<Doubles>(&left[k].at[lane]) +
                                          load_register<Doubles>(&right[k].at[lane]));
                }
            }
            for (std::size_t k = 0; k < smooth_tile; ++k) {
                store_register(sums[k], &f[j + k].at[lane]);
            }
        }
    }
}

}  // namespace
}  // namespace calibrant
