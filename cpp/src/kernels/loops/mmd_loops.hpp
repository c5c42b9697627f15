// The kernels of mmd.hpp. Included by kernels/rooms/ only, and under their rules.
#pragma once

#include "kernels/loops/dependence_loops.hpp"
#include "kernels/loops/kernel_parts.hpp"
#include "kernels/mmd_kernels.hpp"

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace calibrant {
namespace {

// GCC 12 does not find the fused form of vectors by itself; it is asked for by name.
[[gnu::always_inline]] inline Doubles fused(Doubles x, Doubles y, Doubles z) {
#if defined(__AVX512F__)
    return _mm512_fmadd_pd(x, y, z);
#elif defined(__AVX2__)
    return _mm256_fmadd_pd(x, y, z);
#else
    return Doubles{fma(x[0], y[0], z[0]), fma(x[1], y[1], z[1])};
#endif
}

// Columns whose sums the registers hold.
#if defined(__AVX512F__)
constexpr std::size_t columns_at_once = 16;  // of 32 registers
#elif defined(__AVX2__)
constexpr std::size_t columns_at_once = 4;
#else
constexpr std::size_t columns_at_once = 2;
#endif

// One value a point of a panel, in as many registers as it takes.
struct Panel {
    static constexpr std::size_t n = panel_points / register_doubles;
    Doubles part[n];
};

[[gnu::always_inline]] inline Panel load_panel(const double* at) {
    Panel panel;
    for (std::size_t i = 0; i < Panel::n; ++i) {
        panel.part[i] = load_register<Doubles>(at + i * register_doubles);
    }
    return panel;
}

[[gnu::always_inline]] inline void store_panel(double* at, const Panel& panel) {
    for (std::size_t i = 0; i < Panel::n; ++i) {
        store_register(panel.part[i], at + i * register_doubles);
    }
}

[[gnu::always_inline]] inline void add_to(Panel& sum, const Panel& term) {
    for (std::size_t i = 0; i < Panel::n; ++i) sum.part[i] += term.part[i];
}

struct SquareTerm {
    [[gnu::always_inline]] static Doubles add(Doubles sum, Doubles a, double b) {
        const Doubles difference = a - b;
        return fused(difference, difference, sum);
    }
};
struct MagnitudeTerm {
    [[gnu::always_inline]] static Doubles add(Doubles sum, Doubles a, double b) {
        const Doubles difference = a - b;
        return sum + reinterpret_cast<Doubles>(reinterpret_cast<Words>(difference) & INT64_MAX);
    }
};
struct ProductTerm {
    [[gnu::always_inline]] static Doubles add(Doubles sum, Doubles a, double b) {
        return fused(a, Doubles{} + b, sum);
    }
};

// The sums of columns_at_once columns stay in registers while the coordinates pass by.
template <class Term>
[[gnu::always_inline]] inline void tile(const double* __restrict rows,
                                        const double* __restrict columns, std::size_t dimension,
                                        double* __restrict out) {
    for (std::size_t first = 0; first < block_points; first += columns_at_once) {
        Panel sums[columns_at_once] = {};
        const double* const near =
            columns + first / panel_points * panel_points * dimension + first % panel_points;
        const double* const next = near + panel_points * (dimension - 1);  // if more than a panel
        for (std::size_t k = 0; k < dimension; ++k) {
            const Panel row = load_panel(rows + panel_points * k);
#pragma GCC unroll 16
            for (std::size_t j = 0; j < columns_at_once; ++j) {
                const double column = (j < panel_points ? near : next)[panel_points * k + j];
                for (std::size_t i = 0; i < Panel::n; ++i) {
                    sums[j].part[i] = Term::add(sums[j].part[i], row.part[i], column);
                }
            }
        }
#pragma GCC unroll 16
        for (std::size_t j = 0; j < columns_at_once; ++j) {
            store_panel(out + (first + j) * panel_points, sums[j]);
        }
    }
}

void square_tile(const double* rows, const double* columns, std::size_t dimension, double* out) {
    tile<SquareTerm>(rows, columns, dimension, out);
}

void magnitude_tile(const double* rows, const double* columns, std::size_t dimension, double* out) {
    tile<MagnitudeTerm>(rows, columns, dimension, out);
}

void product_tile(const double* rows, const double* columns, std::size_t dimension, double* out) {
    tile<ProductTerm>(rows, columns, dimension, out);
}

void decay_values(const double* x, std::size_t n, double scale, double* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = expm1_of(-scale * x[i]);
}

void cube_values(const double* x, std::size_t n, double scale, double* out) {
    for (std::size_t i = 0; i < n; ++i) {
        const double p = scale * x[i];
        out[i] = p * (p * (p + 3.0) + 3.0);
    }
}

void add_columns(const double* values, std::size_t begin, std::size_t end, double* sums) {
    Panel sum = {};
    for (std::size_t j = begin; j < end; ++j) add_to(sum, load_panel(values + j * panel_points));
    Panel total = load_panel(sums);
    add_to(total, sum);
    store_panel(sums, total);
}

// Four columns have 16 subsets: their sums are tabled first, and then looked up, 4 additions in
// one. The tables take 16 kB.
void add_subsets(const double* __restrict values, const std::uint64_t* __restrict subsets,
                 std::size_t n, double* __restrict sums) {
    constexpr std::size_t quads = block_points / 4, choices = 16;
    alignas(64) double tables[quads * choices * panel_points];
    for (std::size_t quad = 0; quad < quads; ++quad) {
        double* const table = tables + quad * choices * panel_points;
        store_panel(table, Panel{});
        for (std::size_t column = 0; column < 4; ++column) {
            const Panel value = load_panel(values + (4 * quad + column) * panel_points);
            const std::size_t half = std::size_t{1} << column;
            for (std::size_t choice = 0; choice < half; ++choice) {
                Panel sum = load_panel(table + choice * panel_points);
                add_to(sum, value);
                store_panel(table + (half + choice) * panel_points, sum);
            }
        }
    }
    for (std::size_t b = 0; b < n; ++b) {
        const std::uint64_t subset = subsets[b];
        Panel sum = load_panel(tables + (subset & 15U) * panel_points);
#pragma GCC unroll 16
        for (std::size_t quad = 1; quad < quads; ++quad) {
            const std::size_t choice = choices * quad + (subset >> (4 * quad) & 15U);
            add_to(sum, load_panel(tables + choice * panel_points));
        }
        Panel total = load_panel(sums + b * panel_points);
        add_to(total, sum);
        store_panel(sums + b * panel_points, total);
    }
}

void step_on_line(double decay, double row_sum, std::uint64_t members, double* __restrict weight,
                  double* __restrict decayed, double* __restrict inside,
                  double* __restrict touching) {
    for (std::size_t b = 0; b < 64; ++b) {
        const double member = from_bits(bits_of(1.0) & (std::uint64_t{0} - (members >> b & 1U)));
        decayed[b] += (decayed[b] + weight[b]) * decay;
        inside[b] += member * decayed[b];
        touching[b] += member * row_sum;
        weight[b] += member;
    }
}

constexpr MmdKernels mmd_kernels{square_tile, magnitude_tile, product_tile, decay_values,
                                 cube_values, add_columns,    add_subsets,  step_on_line};

}  // namespace
}  // namespace calibrant
