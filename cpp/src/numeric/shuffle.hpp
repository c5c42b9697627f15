// Random orders, each a function of (seed, index) alone, on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "calibrant/numeric/sum.hpp"

namespace calibrant {

// splitmix64: a number for each (seed, permutation, place).
inline std::uint64_t mixed(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

// Fisher and Yates; numbers below k + 1 by multiplication, which favours none by more than 2^-32.
// Only the last `places` are drawn; the rest are what is left, in some order.
inline void shuffle(std::vector<std::uint32_t>& order, std::uint64_t seed,
                    std::uint64_t permutation, std::size_t places) {
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    const std::uint64_t stream = mixed(mixed(seed) ^ permutation);
    const std::size_t stop = order.size() - places;
    for (std::size_t k = order.size(); k-- > 1 && k >= stop;) {
        const std::uint64_t bits = mixed(stream ^ (k * 0xD1342543DE82EF95U));
        const auto j = static_cast<std::size_t>((static_cast<UInt128>(bits) * (k + 1)) >> 64);
        std::swap(order[k], order[j]);
    }
}

}  // namespace calibrant
