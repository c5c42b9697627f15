#include "samples/mmd_tiles.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"
#include "kernels/mmd_kernels.hpp"

namespace calibrant {

void load_finite_row(const Column& column, std::size_t row, double* out, const char* name) {
    load_row(column, row, out);
    for (std::size_t k = 0; k < column.width; ++k) {
        if (std::isfinite(out[k])) continue;
        const std::optional<std::size_t> at = column.width == 1 ? std::nullopt : std::optional(k);
        reject_not_finite(name, out[k], {row, at, 0, false}, column.dtype);
    }
}

void reject_overflow() {
    throw InvalidInput("x and y are too large for the polynomial kernel: it overflows");
}

double mmd_scale(MmdKernel kernel, double bandwidth, std::size_t dimension) {
    switch (kernel) {
        case MmdKernel::gaussian:
            return 0.5 / bandwidth / bandwidth;
        case MmdKernel::laplace:
            return 1.0 / bandwidth;
        default:
            return 1.0 / static_cast<double>(dimension);
    }
}

KernelTiles::KernelTiles(const PooledPoints& points, const MmdSetting& setting)
    : points_(points), kernel_(setting.kernel) {
    for (const double bandwidth : setting.bandwidths) {
        scales_.push_back(mmd_scale(kernel_, bandwidth, points.dimension()));
    }
}

std::size_t KernelTiles::n_panels() const {
    return (points_.size() + panel_points - 1) / panel_points;
}

void KernelTiles::distances(std::size_t panel, std::size_t block, double* out) const {
    const MmdKernels& loops = *kernels().mmd;
    const auto make = kernel_ == MmdKernel::gaussian  ? loops.squares
                      : kernel_ == MmdKernel::laplace ? loops.magnitudes
                                                      : loops.products;
    make(points_.panel(panel), points_.panel(block * panels_a_block), points_.dimension(), out);
}

void KernelTiles::values(const double* distances, std::size_t which, std::size_t panel,
                         std::size_t block, double* out) const {
    const MmdKernels& loops = *kernels().mmd;
    const auto make = kernel_ == MmdKernel::polynomial ? loops.cube : loops.decay;
    make(distances, tile_values, scales_[which], out);
    const bool is_full = (panel + 1) * panel_points <= points_.size();
    if (is_full && block < panel / panels_a_block) return;
    for (std::size_t j = 0; j < block_points; ++j) {
        for (std::size_t lane = 0; lane < panel_points; ++lane) {
            const std::size_t row = panel * panel_points + lane;
            if (block * block_points + j >= row || row >= points_.size()) {
                out[j * panel_points + lane] = 0.0;
            }
        }
    }
}

void KernelTiles::mean_values(const double* distances, std::size_t panel, std::size_t block,
                              double* out) const {
    values(distances, 0, panel, block, out);
    if (scales_.size() == 1) return;
    alignas(64) double more[tile_values];
    for (std::size_t which = 1; which < scales_.size(); ++which) {
        values(distances, which, panel, block, more);
        for (std::size_t i = 0; i < tile_values; ++i) out[i] += more[i];
    }
    const auto n = static_cast<double>(scales_.size());
    for (std::size_t i = 0; i < tile_values; ++i) out[i] /= n;
}

double KernelTiles::self(std::size_t i) const {
    if (kernel_ != MmdKernel::polynomial) return 0.0;
    double product = 0.0;
    for (std::size_t k = 0; k < points_.dimension(); ++k) {
        product += points_.coordinate(i, k) * points_.coordinate(i, k);
    }
    double value;
    kernels().mmd->cube(&product, 1, scales_[0], &value);
    return value;
}

void PanelSums::add(const double* values, std::size_t block, std::size_t n) {
    const std::size_t first = block * block_points;
    const std::size_t of_x = std::clamp<std::size_t>(n, first, first + block_points) - first;
    const auto add_columns = kernels().mmd->add_columns;
    add_columns(values, 0, of_x, x);
    add_columns(values, of_x, block_points, y);
}

void MmdTotals::add(const PanelSums& sums, std::size_t panel, std::size_t n) {
    for (std::size_t lane = 0; lane < panel_points; ++lane) {
        if (!std::isfinite(sums.x[lane] + sums.y[lane])) reject_overflow();
        if (panel * panel_points + lane < n) {
            xx.add(sums.x[lane]);
        } else {
            xy.add(sums.x[lane]);
            yy.add(sums.y[lane]);
        }
    }
}

void MmdTotals::merge(const MmdTotals& other) {
    xx.merge(other.xx);
    yy.merge(other.yy);
    xy.merge(other.xy);
}

MmdSums MmdTotals::sums(const KernelTiles& tiles) const {
    const PooledPoints& points = tiles.points();
    ExactSum self[2];
    for (std::size_t i = 0; i < points.size(); ++i) {
        const double value = tiles.self(i);
        if (!std::isfinite(value)) reject_overflow();
        if (value != 0.0) self[i < points.n() ? 0 : 1].add(value);
    }
    return {points.n(),     points.m(),          xx.to_double(),     yy.to_double(),
            xy.to_double(), self[0].to_double(), self[1].to_double()};
}

}  // namespace calibrant
