// The loops of group_cell_kernels.hpp. Included by kernels/rooms/ only, and under their
// rules.
#pragma once

#include "kernels/group_cell_kernels.hpp"
#include "kernels/loops/kernel_parts.hpp"
#include "kernels/loops/score_loops.hpp"
#include "kernels/loops/spiegelhalter_loops.hpp"

namespace calibrant {
namespace {

// A multiple of 2^-grid as an integer.
template <int grid>
[[gnu::always_inline]] inline std::uint64_t units(double x) {
    return bits_of(x + snap_shift<grid>) - bits_of(snap_shift<grid>);
}

[[gnu::always_inline]] inline CellWords words_of_two(const Rounded& brier, const Rounded& log,
                                                     std::int32_t label, double q) {
    const std::uint64_t is_one = label == 1 ? 1 : 0, is_zero = q == 0.0 ? 1 : 0;
    return {1 + (units<30>(brier.high) << count_bits), units<80>(brier.low),
            is_one + (is_zero << count_bits) + (units<16>(log.high) << (2 * count_bits)),
            units<58>(log.low)};
}

[[gnu::always_inline]] inline CellWords words_of_third(const Rounded& spherical) {
    return {units<30>(spherical.high), units<80>(spherical.low), 0, 0};
}

void words_of_scores(const double* const* high, const double* const* low,
                     const std::int32_t* __restrict label, const double* __restrict q,
                     std::size_t n, CellWords* __restrict words) {
    const double* __restrict const brier_high = high[0];
    const double* __restrict const log_high = high[1];
    const double* __restrict const brier_low = low[0];
    const double* __restrict const log_low = low[1];
    const std::size_t cells = high[2] == nullptr ? 1 : 2;
    for (std::size_t i = 0; i < n; ++i) {
        words[i * cells] =
            words_of_two({brier_high[i], brier_low[i]}, {log_high[i], log_low[i]}, label[i], q[i]);
    }
    for (std::size_t i = 0; cells == 2 && i < n; ++i) {
        words[2 * i + 1] = words_of_third({high[2][i], low[2][i]});
    }
}

void words_of_binary(const double* __restrict p, const std::int32_t* __restrict label,
                     const double* __restrict q, const double* __restrict log_high,
                     const double* __restrict log_low, std::size_t n, CellWords* __restrict words) {
    for (std::size_t i = 0; i < n; ++i) {
        words[i] =
            words_of_two(brier_term(p[i], label[i]), {log_high[i], log_low[i]}, label[i], q[i]);
    }
}

void words_of_binary_spherical(const double* __restrict p, const std::int32_t* __restrict label,
                               const double* __restrict q, const double* __restrict log_high,
                               const double* __restrict log_low, std::size_t n,
                               CellWords* __restrict words) {
    for (std::size_t i = 0; i < n; ++i) {
        words[2 * i] =
            words_of_two(brier_term(p[i], label[i]), {log_high[i], log_low[i]}, label[i], q[i]);
        words[2 * i + 1] = words_of_third(spherical_term(p[i], label[i]));
    }
}

// As `risk` finds the terms, in as many loops and for the same reason. A q of 0 has no terms.
bool words_of_risk(const double* __restrict q, std::size_t n, CellWords* __restrict words) {
    alignas(64) double x[most_cell_block], a[most_cell_block], b[most_cell_block];
    alignas(64) double c[most_cell_block];
    alignas(64) double log_high[most_cell_block], log_low[most_cell_block];
    const Power m = make_power(-2.0 / 3.0);
    std::uint64_t tiny = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const bool is_tiny = q[i] < least_gridded;
        tiny |= is_tiny != (q[i] == 0.0) ? 1U : 0U;
        x[i] = select(is_tiny, 1.0, q[i]);
        const LogReduced reduced = log_reduce<false>(x[i]);
        a[i] = reduced.exponent;
        b[i] = reduced.f;
        c[i] = reduced.reciprocal;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const LogParts log = log_finish({a[i], b[i], c[i]});
        log_high[i] = log.high;
        log_low[i] = log.low;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const ExpReduced reduced = power_reduce<true>({log_high[i], log_low[i]}, m);
        a[i] = reduced.high;
        b[i] = reduced.low;
        c[i] = reduced.exponent;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const PowerParts term = exp_finish_fast({a[i], b[i], c[i]});
        a[i] = term.high;
        b[i] = term.low;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const bool is_zero = q[i] == 0.0;
        const std::uint64_t kept = is_zero ? 0 : ~std::uint64_t{0};
        const double high = snap<40>(q[i]);
        const Rounded power = round_to_grid({a[i], b[i], c[i]});
        words[2 * i].at[0] = 1;
        words[2 * i].at[1] = is_zero ? 1U : 0U;
        words[2 * i].at[2] = units<40>(high);
        words[2 * i].at[3] = units<80>(q[i] - high);
        words[2 * i + 1].at[0] = units<16>(log_high[i]);
        words[2 * i + 1].at[1] = units<58>(log_low[i]);
        words[2 * i + 1].at[2] = (bits_of(power.high) - bits_of(snap_shift<20>)) & kept;
        words[2 * i + 1].at[3] = (bits_of(power.low) - bits_of(snap_shift<58>)) & kept;
    }
    return tiny != 0;
}

bool words_of_spiegelhalter(const double* __restrict p, const std::int32_t* __restrict hit,
                            std::size_t n, CellWords* __restrict words) {
    std::uint64_t fine = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const SpiegelhalterTerms raw = spiegelhalter_terms_of(p[i], hit[i]);
        const Rounded excess = round_score(raw.excess, raw.excess_rest);
        const Rounded variance = round_score(raw.variance, raw.variance_rest);
        fine |= is_fine(raw.variance) ? 1U : 0U;
        words[i].at[0] = 1 + (units<30>(variance.high) << count_bits);
        words[i].at[1] = units<80>(variance.low);
        words[i].at[2] = units<30>(excess.high);
        words[i].at[3] = units<80>(excess.low);
    }
    return fine != 0;
}

bool words_of_bins(const double* __restrict score, const std::int32_t* __restrict hit,
                   std::size_t n, CellWords* __restrict words) {
    std::uint64_t tiny = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double x = score[i];
        tiny |= (x < least_gridded) != (x == 0.0) ? 1U : 0U;
        const double high = snap<40>(x);
        words[i].at[0] = 1;
        words[i].at[1] = static_cast<std::uint64_t>(hit[i]);
        words[i].at[2] = units<40>(high);
        words[i].at[3] = units<80>(x - high);
    }
    return tiny != 0;
}

std::int32_t cells_of_codes(const std::int32_t* __restrict code, const std::uint32_t* bin,
                            std::size_t n, std::int64_t per_group, std::int64_t* __restrict cell) {
    std::int32_t largest = -1;
    for (std::size_t i = 0; i < n; ++i) {
        largest = code[i] > largest ? code[i] : largest;
        const std::int64_t none = code[i] < 0 ? -1 : 0;
        cell[i] = (code[i] * per_group) | none;
    }
    for (std::size_t i = 0; bin != nullptr && i < n; ++i) {
        const std::int64_t kept = cell[i] < 0 ? 0 : -1;
        cell[i] += static_cast<std::int64_t>(bin[i]) & kept;
    }
    return largest;
}

// Written out, since compilers differ on vectors whose size depends on a parameter.
template <std::size_t cells>
struct WordVector;
template <>
struct WordVector<1> {
    using type = std::uint64_t __attribute__((vector_size(32)));
};
template <>
struct WordVector<2> {
    using type = std::uint64_t __attribute__((vector_size(64)));
};

template <std::size_t per_row>
std::size_t add_words(const CellWords* __restrict words, const std::int64_t* __restrict cell,
                      std::size_t n, CellWords* __restrict cells) {
    using Vector = typename WordVector<per_row>::type;
    for (std::size_t i = 0; i < n; ++i) {
        __builtin_prefetch(cells + cell[i + cells_ahead], 1);  // harmless wherever it is
        if (cell[i] < 0) continue;
        Vector row, sum;
        __builtin_memcpy(&row, words + per_row * i, sizeof row);
        __builtin_memcpy(&sum, cells + cell[i], sizeof sum);
        sum += row;
        __builtin_memcpy(cells + cell[i], &sum, sizeof sum);
        if ((sum[0] & (most_cell_rows - 1)) == 0) return i + 1;
    }
    return n;
}

constexpr GroupCellKernels group_cell_kernels{
    words_of_scores, words_of_binary,        words_of_binary_spherical,
    words_of_risk,   words_of_spiegelhalter, words_of_bins,
    cells_of_codes,  add_words<1>,           add_words<2>};

}  // namespace
}  // namespace calibrant
