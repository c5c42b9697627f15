// Tiles whose rows are one value of each lane: how they are read, and how lanes are sorted
// together. Included by kernels only, and under their rules.
#pragma once

#include "kernels/loops/kernel_parts.hpp"

namespace calibrant {
namespace {

[[gnu::always_inline]] inline Doubles load_doubles(const double* from) {
    return load_register<Doubles>(from);
}

[[gnu::always_inline]] inline Doubles load_doubles(const float* from) {
    using Half = Register<float, register_bytes / 2>;
    return __builtin_convertvector(load_register<Half>(from), Doubles);
}

// Batcher's merge exchange for any n (Knuth, volume 3, 5.2.2, algorithm M): about n log2(n)^2 / 4
// exchanges, the same whatever the values are, so that the lanes can go together.
template <class Exchange>
[[gnu::always_inline]] inline void merge_exchange(std::size_t n, Exchange exchange_at) {
    std::size_t top = 1;
    while (2 * top < n) top *= 2;
    for (std::size_t p = top; p > 0 && n > 1; p /= 2) {
        std::size_t r = 0, d = p;
        for (std::size_t q = top;; q /= 2) {
            for (std::size_t begin = r; begin < n - d; begin += 2 * p) {
                const std::size_t end = begin + p < n - d ? begin + p : n - d;
                for (std::size_t i = begin; i < end; ++i) exchange_at(i, i + d);
            }
            if (q == p) break;
            d = q - p;
            r = p;
        }
    }
}

}  // namespace
}  // namespace calibrant
