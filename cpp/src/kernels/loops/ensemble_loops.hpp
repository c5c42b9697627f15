// The kernels of ensemble.hpp. Included by kernels/rooms/ only, and under their rules.
#pragma once

#include "kernels/ensemble_kernels.hpp"
#include "kernels/loops/kernel_parts.hpp"

namespace calibrant {
namespace {

// One higher and unsigned, -1 is 0 and all that is rejected is large. Bytes are doubled, as there
// is no instruction that multiplies them.
template <bool by_eight, class Unsigned>
bool narrow_votes(const void* from, std::size_t n, std::uint8_t n_classes,
                  std::uint8_t* __restrict codes) {
    const auto* const votes = static_cast<const Unsigned*>(from);
    Unsigned most = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto code = static_cast<Unsigned>(votes[i] + 1U);
        most = code > most ? code : most;
        const auto once = static_cast<std::uint8_t>(code);
        const auto twice = static_cast<std::uint8_t>(once + once);
        const auto four = static_cast<std::uint8_t>(twice + twice);
        codes[i] = by_eight ? static_cast<std::uint8_t>(four + four) : four;
    }
    return most <= n_classes;
}

template <bool by_eight>
bool narrow(const void* votes, std::size_t item_size, std::size_t n, std::uint8_t n_classes,
            std::uint8_t* codes) {
    switch (item_size) {
        case 1:
            return narrow_votes<by_eight, std::uint8_t>(votes, n, n_classes, codes);
        case 2:
            return narrow_votes<by_eight, std::uint16_t>(votes, n, n_classes, codes);
        case 4:
            return narrow_votes<by_eight, std::uint32_t>(votes, n, n_classes, codes);
        default:
            return narrow_votes<by_eight, std::uint64_t>(votes, n, n_classes, codes);
    }
}

using FourSums = std::int64_t __attribute__((vector_size(32)));
using EightSums = std::int64_t __attribute__((vector_size(64)));

// The sums of all classes of a row are in one register, and several rows go side by side.
template <class Sums, std::size_t n_rows>
[[gnu::always_inline]] inline void add_up_rows(const std::uint8_t* codes, std::size_t members,
                                               const std::int64_t* table, std::size_t table_step,
                                               std::size_t n_classes, std::int64_t* sums,
                                               std::size_t plane) {
    constexpr std::size_t width = sizeof(Sums) / sizeof(std::int64_t);
    Sums totals[n_rows] = {};
    for (std::size_t t = 0; t < members; ++t, table += table_step) {
        for (std::size_t k = 0; k < n_rows; ++k) {
            Sums addend;
            __builtin_memcpy(&addend, table + codes[k * members + t], sizeof addend);
            totals[k] += addend;
        }
    }
    std::int64_t each[n_rows * width];
    __builtin_memcpy(each, totals, sizeof each);
    for (std::size_t j = 0; j < n_classes; ++j) {
        for (std::size_t k = 0; k < n_rows; ++k) sums[j * plane + k] = each[k * width + j];
    }
}

template <class Sums>
void add_up(const std::uint8_t* codes, std::size_t rows, std::size_t members,
            const std::int64_t* table, std::size_t table_step, std::size_t n_classes,
            std::int64_t* sums, std::size_t plane) {
    constexpr std::size_t together = 4;
    std::size_t i = 0;
    for (; i + together <= rows; i += together) {
        add_up_rows<Sums, together>(codes + i * members, members, table, table_step, n_classes,
                                    sums + i, plane);
    }
    for (; i < rows; ++i) {
        add_up_rows<Sums, 1>(codes + i * members, members, table, table_step, n_classes, sums + i,
                             plane);
    }
}

// exp(-gap scale). A gap is cut at 2^32 into two doubles, without the conversion that AVX2 lacks;
// the product is carried to twice the precision, as the exponential would make much of its error.
[[gnu::always_inline]] inline double decay(std::uint64_t gap, Scale scale) {
    const double high = (from_bits((gap >> 32) | two_52_bits) - 0x1p52) * 0x1p32;
    const double low = from_bits((gap & 0xFFFFFFFF) | two_52_bits) - 0x1p52;
    const double p = high * scale.high, q = low * scale.high;
    const double errors = fma(high, scale.high, -p) + fma(low, scale.high, -q);
    const double product = p + q;
    const double rest = ((p - product) + q) + fma(high + low, scale.low, errors);
    const bool far = product > 800.0;
    const PowerParts parts =
        exp_finish_fast(exp_reduce(select(far, -800.0, -product), select(far, 0.0, -rest)));
    // Two factors reach down to the least subnormal; only the last product can round.
    const double half = snap<0>(parts.exponent * 0.5);
    return (parts.high + parts.low) * power_of_two(half) * power_of_two(parts.exponent - half);
}

template <std::size_t width>
[[gnu::always_inline]] inline void normalise(const SoftmaxRoom& room, std::size_t rows,
                                             std::size_t n_classes, std::size_t plane,
                                             double* __restrict out) {
    const std::size_t n = width > 0 ? width : n_classes;  // known to the compiler, if there is one
    for (std::size_t i = 0; i < rows; ++i) {
        const double high = room.high[i], low = room.low[i], reciprocal = room.reciprocal[i];
        for (std::size_t j = 0; j < n; ++j) {
            const double term = room.terms[j * plane + i];
            const double quotient = term * reciprocal;
            const double rest = fma(-quotient, low, fma(-quotient, high, term));
            out[i * n + j] = fma(rest, reciprocal, quotient);
        }
    }
}

void softmax(const std::int64_t* __restrict sums, std::size_t rows, std::size_t n_classes,
             std::size_t plane, Scale scale, const SoftmaxRoom& room, double* __restrict out) {
    double* __restrict const terms = room.terms;
    double* __restrict const high = room.high;
    double* __restrict const low = room.low;
    double* __restrict const reciprocal = room.reciprocal;
    std::int64_t* __restrict const most = room.most;
    for (std::size_t i = 0; i < rows; ++i) most[i] = sums[i];
    for (std::size_t j = 1; j < n_classes; ++j) {
        for (std::size_t i = 0; i < rows; ++i) {
            const std::int64_t sum = sums[j * plane + i];
            most[i] = sum > most[i] ? sum : most[i];
        }
    }
    for (std::size_t j = 0; j < n_classes; ++j) {
        for (std::size_t i = 0; i < rows; ++i) {
            const auto gap = static_cast<std::uint64_t>(most[i] - sums[j * plane + i]);
            terms[j * plane + i] = decay(gap, scale);
        }
    }

    // The sum has no rounding but its last: multiples of 2^-30, and what is left in multiples of
    // 2^-64, of at most 2^20 values of at most 1.
    for (std::size_t i = 0; i < rows; ++i) high[i] = low[i] = 0.0;
    for (std::size_t j = 0; j < n_classes; ++j) {
        for (std::size_t i = 0; i < rows; ++i) {
            const double term = terms[j * plane + i];
            const double snapped = snap<30>(term);
            high[i] += snapped;
            low[i] += snap<64>(term - snapped);
        }
    }
    for (std::size_t i = 0; i < rows; ++i) {
        const double sum = high[i] + low[i];
        low[i] -= sum - high[i];
        high[i] = sum;
        reciprocal[i] = 1.0 / sum;
    }
    switch (n_classes) {
        case 2:
            return normalise<2>(room, rows, n_classes, plane, out);
        case 3:
            return normalise<3>(room, rows, n_classes, plane, out);
        case 4:
            return normalise<4>(room, rows, n_classes, plane, out);
        default:
            return normalise<0>(room, rows, n_classes, plane, out);
    }
}

constexpr EnsembleKernels ensemble_kernels{narrow<false>, narrow<true>, add_up<FourSums>,
                                           add_up<EightSums>, softmax};

}  // namespace
}  // namespace calibrant
