// The convolution of rank_bands.hpp. Included by kernels/rooms/ only, and under their
// rules.
#pragma once

#include "kernels/loops/kernel_parts.hpp"

namespace calibrant {
namespace {

// A tile of sums stays in registers. Each sum is taken in the order of f, whatever the width of
// the registers, and zeros beyond the ends of w add nothing.
void convolve(const double* f, std::ptrdiff_t n_f, const double* w, std::ptrdiff_t n_w,
              std::ptrdiff_t offset, double* out, std::ptrdiff_t n_out) {
    constexpr std::size_t n_sums = static_cast<std::size_t>(convolution_tile) / register_doubles;
    for (std::ptrdiff_t j = 0; j < n_out; j += convolution_tile) {
        const std::ptrdiff_t from = j + offset - n_w + 1, to = j + offset + convolution_tile;
        const std::ptrdiff_t end = to < n_f ? to : n_f;
        Doubles sums[n_sums] = {};
        for (std::ptrdiff_t i = from > 0 ? from : 0; i < end; ++i) {
            const double* const at = w + (j + offset - i);
            for (std::size_t s = 0; s < n_sums; ++s)
                sums[s] += f[i] * load_register<Doubles>(at + s * register_doubles);
        }
        for (std::size_t s = 0; s < n_sums; ++s) {
            store_register(sums[s], out + static_cast<std::size_t>(j) + s * register_doubles);
        }
    }
}

}  // namespace
}  // namespace calibrant
