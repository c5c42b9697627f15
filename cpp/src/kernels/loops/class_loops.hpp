// The kernels of scored_rows.hpp: rows of one probability a class. Included by the
// sources of kernels only, and under their rules.
#pragma once

#include "kernels/loops/kernel_parts.hpp"

namespace calibrant {
namespace {

// As many values at a time as suit the registers: wider vectors than those are slow.
#ifdef __AVX2__
constexpr std::size_t n_lanes = 4;
#else
constexpr std::size_t n_lanes = 2;
#endif
using Lanes = double __attribute__((vector_size(n_lanes * sizeof(double))));
using LaneWords = std::uint64_t __attribute__((vector_size(n_lanes * sizeof(std::uint64_t))));
using FloatLanes = float __attribute__((vector_size(n_lanes * sizeof(float))));
using LaneBits = std::int64_t __attribute__((vector_size(n_lanes * sizeof(double))));

// + 0.0 makes 0 of -0.
[[gnu::always_inline]] inline void load_lanes(const double* from, Lanes& lanes) {
    __builtin_memcpy(&lanes, from, sizeof lanes);
    lanes += 0.0;
}

[[gnu::always_inline]] inline void load_lanes(const float* from, Lanes& lanes) {
    FloatLanes values;
    __builtin_memcpy(&values, from, sizeof values);
    lanes = __builtin_convertvector(values, Lanes) + 0.0;
}

// The largest values so far, a lane each; where another class comes before the label, because it
// has more or has as much and is listed first; and where a value is not in [0, 1].
struct RowScan {
    Lanes largest;
    LaneBits beaten, outside;
};

// ahead is the label's position less that of each lane.
[[gnu::always_inline]] inline void scan_lanes(const Lanes& values, const Lanes& of_label,
                                              const Lanes& ahead, RowScan& scan) {
    const auto bits = __builtin_bit_cast(LaneBits, values);
    // Unsigned, as in outside_unit: of a negative value the difference would overflow.
    const auto above_one = one_bits - __builtin_bit_cast(LaneWords, values);
    scan.outside |= bits | __builtin_bit_cast(LaneBits, above_one);
    scan.beaten |= (values > of_label) | ((values == of_label) & (ahead > 0.0));
    scan.largest = values > scan.largest ? values : scan.largest;
}

[[gnu::always_inline]] inline double largest_lane(const Lanes& lanes) {
    double largest = lanes[0];
    for (std::size_t k = 1; k < n_lanes; ++k) largest = lanes[k] > largest ? lanes[k] : largest;
    return largest;
}

[[gnu::always_inline]] inline std::int64_t any_lane(const LaneBits& lanes) {
    std::int64_t any = lanes[0];
    for (std::size_t k = 1; k < n_lanes; ++k) any |= lanes[k];
    return any;
}

// What lies this far ahead is prefetched: the processor's own prefetching stops while the rows of
// a block are counted.
constexpr std::size_t ahead_values = 8 * block_rows;

// A row that is no multiple of n_lanes ends with lanes that overlap: to look at a value twice
// changes none of the three findings.
template <class Value>
bool top_label_of_many(const Value* values, std::size_t width, const std::int32_t* labels,
                       std::size_t n, double* score, std::int32_t* hit) {
    Lanes position;
    for (std::size_t k = 0; k < n_lanes; ++k) position[k] = static_cast<double>(k);
    const std::size_t last = width - n_lanes;
    const Lanes last_position = position + static_cast<double>(last);
    RowScan scan{};
    for (std::size_t i = 0; i < n; ++i, values += width) {
        for (std::size_t j = 0; j < width; j += 64 / sizeof(Value)) {
            __builtin_prefetch(values + ahead_values + j, 0, 2);
        }
        const auto label = static_cast<double>(labels[i]);
        const Lanes of_label =
            Lanes{} + (static_cast<double>(values[static_cast<std::size_t>(labels[i])]) + 0.0);
        Lanes ahead = label - position;
        Lanes lanes;
        scan.largest = Lanes{};
        scan.beaten = LaneBits{};
        for (std::size_t j = 0; j < last; j += n_lanes) {
            load_lanes(values + j, lanes);
            scan_lanes(lanes, of_label, ahead, scan);
            ahead -= static_cast<double>(n_lanes);
        }
        load_lanes(values + last, lanes);
        scan_lanes(lanes, of_label, label - last_position, scan);
        score[i] = largest_lane(scan.largest);
        hit[i] = any_lane(scan.beaten) == 0 ? 1 : 0;
    }
    return any_lane(scan.outside) >= 0;
}

template <class Value>
bool top_label_of_few(const Value* values, std::size_t width, const std::int32_t* labels,
                      std::size_t n, double* score, std::int32_t* hit) {
    std::uint64_t outside = 0;
    for (std::size_t i = 0; i < n; ++i, values += width) {
        double largest = -1.0;
        std::size_t top = 0;
        for (std::size_t j = 0; j < width; ++j) {
            const double value = static_cast<double>(values[j]) + 0.0;
            outside |= outside_unit(value);
            top = value > largest ? j : top;
            largest = value > largest ? value : largest;
        }
        score[i] = largest;
        hit[i] = top == static_cast<std::size_t>(labels[i]) ? 1 : 0;
    }
    return (outside >> 63) == 0;
}

template <class Value>
bool top_label(const Value* values, std::size_t width, const std::int32_t* labels, std::size_t n,
               double* score, std::int32_t* hit) {
    return width < n_lanes ? top_label_of_few(values, width, labels, n, score, hit)
                           : top_label_of_many(values, width, labels, n, score, hit);
}

}  // namespace
}  // namespace calibrant
