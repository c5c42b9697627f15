// Score cells: a fixed partition of [0, 1] that never separates equal scores and never changes
// their order, fine enough for statistics that need order.
//
// From 0 up to 1/2, in order:
//     the scores whose complement is the double 1, which are 0 and all up to 2^-54
//     the other scores below 2^-38
//     256 cells per octave on [2^-38, 2^-6), for rare events
//     cells of width 2^-14 on [2^-6, 1/2)
//     1/2
// and from there to 1 the mirror image. A score's place is that of the double 1 - (1 - s), which
// is s itself from 1/2 on; so cells below 1/2 are closed on the left, those above on the right,
// and for every double s in [0, 1], with 1 - s rounded as doubles are,
//     cell_of_score(1 - s) == mirrored(cell_of_score(s)).
// The price: a score less than 2^-54 below a boundary lies in the cell above it.
//
// A score is its cell's `base` plus a multiple of the cell's unit, less than 2^46 of them, where
// scores above 1/2 are measured by their complement; so sums over a cell are sums of integers.
// That does not hold for the two lowest cells.
//
// Only subtraction, comparison and bits: the same cell on every machine. Static, as in
// elementary.hpp, so that kernels may use it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/elementary.hpp"

namespace calibrant {

namespace cells {

inline constexpr std::uint32_t tail = 2;                             // the two cells below 2^-38
inline constexpr std::uint32_t geometric = 32 * 256;                 // on [2^-38, 2^-6)
inline constexpr std::uint32_t uniform = 8192 - 256;                 // on [2^-6, 1/2)
inline constexpr std::uint32_t middle = tail + geometric + uniform;  // the cell of 1/2
inline constexpr int octave_bits = 8;
inline constexpr double least_geometric = 0x1p-38;
inline constexpr double least_uniform = 0x1p-6;
inline constexpr int uniform_bits = 14;

}  // namespace cells

inline constexpr std::size_t n_score_cells = 2 * std::size_t{cells::middle} + 1;

// Where a score lies: (score or its complement) - base is `offset` units.
struct ScorePlace {
    std::uint32_t cell;
    std::int64_t offset;  // 0 in the two lowest cells
};

// Without branches, and in 64-bit words throughout, so that a loop over it vectorises.
[[gnu::always_inline]] static inline ScorePlace place_of_score(double score) {
    using namespace detail;
    const double complement = 1.0 - score;
    const bool upper = score > 0.5;
    const double near = select(upper, complement, 1.0 - complement);  // in [0, 1/2]
    const double exact = select(upper, complement, score);
    const bool in_tail = near < cells::least_geometric;
    const bool in_octaves = near < cells::least_uniform;

    // The sum is exact: near is a multiple of 2^-53.
    constexpr int step_bits = 53 - cells::uniform_bits;
    constexpr std::uint64_t half_bits = 0x3FE0000000000000;
    const std::uint64_t raised = bits_of(near + 0.5);
    const std::uint64_t step = (raised - half_bits) >> step_bits;
    const double step_base = from_bits(raised >> step_bits << step_bits) - 0.5;

    constexpr int octave_bits = 52 - cells::octave_bits;
    constexpr std::uint64_t first_key =
        __builtin_bit_cast(std::uint64_t, cells::least_geometric) >> octave_bits;
    const std::uint64_t bits = bits_of(near);
    const double octave_base = from_bits(bits >> octave_bits << octave_bits);
    const double octave_scale = from_bits((2099 - (bits >> 52)) << 52);

    const auto choose = [](bool condition, std::uint64_t yes, std::uint64_t no) {
        const std::uint64_t mask = -static_cast<std::uint64_t>(condition);
        return (yes & mask) | (no & ~mask);
    };
    const std::uint64_t in_half =
        choose(in_tail, near > 0.0 ? 1 : 0,
               choose(in_octaves, (bits >> octave_bits) - first_key + cells::tail,
                      step + cells::middle - 8192));
    const double base = select(in_tail, 0.0, select(in_octaves, octave_base, step_base));
    const double scale =
        select(in_tail, select(upper, 0x1p53, 0.0), select(in_octaves, octave_scale, 0x1p59));
    // Exact: the two lie within a factor of two of each other. Adding 1.5 * 2^52 puts the
    // integer into the last bits.
    const double shifted = (exact - base) * scale + 0x1.8p52;
    return {static_cast<std::uint32_t>(choose(upper, n_score_cells - 1 - in_half, in_half)),
            static_cast<std::int64_t>(bits_of(shifted) - bits_of(0x1.8p52))};
}

[[nodiscard]] static inline std::uint32_t cell_of_score(double score) {
    return place_of_score(score).cell;
}

[[nodiscard]] static constexpr std::uint32_t mirrored(std::uint32_t cell) {
    return static_cast<std::uint32_t>(n_score_cells) - 1 - cell;
}

// How a cell counts: a score, or above 1/2 its complement, is (base + offset) * 2^exponent.
struct CellUnits {
    std::int64_t base;
    std::int64_t exponent;
    bool of_complement;
};

[[nodiscard]] static inline CellUnits units_of(std::uint32_t cell) {
    const bool upper = cell > cells::middle;
    const std::uint32_t index = upper ? mirrored(cell) : cell;
    if (index < cells::tail) return {0, -53, upper};
    if (index >= cells::tail + cells::geometric) {
        const std::int64_t step = std::int64_t{index} - cells::middle + 8192;
        return {step << 45, -59, upper};
    }
    const std::int64_t key = index - cells::tail;
    const std::int64_t octave = key >> cells::octave_bits;  // [2^(octave - 38), twice that)
    const std::int64_t part = key & ((1 << cells::octave_bits) - 1);
    return {((1 << cells::octave_bits) + part) << 45, octave - 38 - 53, upper};
}

}  // namespace calibrant
