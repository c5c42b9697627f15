// Random numbers by counter: Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011).
//
// A number is a function of a seed, a purpose and a place, and of nothing else: no state is
// carried along, so threads, batches and their order cannot change it. Each place has as many
// blocks of four words as are requested.
#pragma once

#include <array>
#include <cstdint>

namespace calibrant {

using PhiloxBlock = std::array<std::uint32_t, 4>;

// Ten rounds on a counter, under a key of two words.
[[nodiscard]] constexpr PhiloxBlock philox(PhiloxBlock counter, std::uint64_t key) noexcept {
    auto low = static_cast<std::uint32_t>(key);
    auto high = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
        const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
        counter = {
            static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ low, static_cast<std::uint32_t>(b),
            static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ high, static_cast<std::uint32_t>(a)};
        low += 0x9E3779B9;
        high += 0xBB67AE85;
    }
    return counter;
}

// What a number is for: those of different purposes are independent. Never renumbered, as results
// depend on it.
enum class Purpose : std::uint8_t { tie = 0, pit = 1, reference = 2, outcome = 3 };

// Of one row, in one dimension.
struct RandomPlace {
    std::uint64_t seed;
    std::uint64_t row;
    std::uint32_t dimension;
    Purpose purpose;

    [[nodiscard]] constexpr PhiloxBlock block(std::uint32_t index) const noexcept {
        const std::uint32_t last = (static_cast<std::uint32_t>(purpose) << 24) | index;
        return philox({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(row >> 32),
                       dimension, last},
                      seed);
    }
};

// In [0, 1), a multiple of 2^-53.
[[nodiscard]] constexpr double uniform(const RandomPlace& place) noexcept {
    const PhiloxBlock words = place.block(0);
    const std::uint64_t bits = (std::uint64_t{words[1]} << 32) | words[0];
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

// Exactly uniform on 0 .. bound - 1, for bound >= 1: of the 2^32 words, those that would favour
// some results are drawn again (Lemire 2019). 2^26 words in a row are never all of these.
[[nodiscard]] constexpr std::uint32_t uniform_below(std::uint32_t bound,
                                                    const RandomPlace& place) noexcept {
    const std::uint32_t favoured = (0U - bound) % bound;  // 2^32 mod bound
    for (std::uint32_t index = 0;; ++index) {
        for (const std::uint32_t word : place.block(index)) {
            const std::uint64_t product = std::uint64_t{word} * bound;
            if (static_cast<std::uint32_t>(product) >= favoured) {
                return static_cast<std::uint32_t>(product >> 32);
            }
        }
    }
}

}  // namespace calibrant
