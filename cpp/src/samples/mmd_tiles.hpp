// Tiles of k - 1 for all pairs of pooled points with the column before the row: 8 rows, a panel, by
// 64 columns, a block.
#pragma once

#include "calibrant/numeric/sum.hpp"
#include "calibrant/samples/mmd.hpp"
#include "kernels/mmd_kernels.hpp"

namespace calibrant {

static_assert(PanelRow::n == panel_points);
inline constexpr std::size_t panels_a_block = block_points / panel_points;

// load_row; throws InvalidInput at the first value that is not finite.
void load_finite_row(const Column& column, std::size_t row, double* out, const char* name);

[[noreturn]] void reject_overflow();  // of the polynomial kernel

// What multiplies the distances, or the products, of points.
[[nodiscard]] double mmd_scale(MmdKernel kernel, double bandwidth, std::size_t dimension);

class KernelTiles {
public:
    KernelTiles(const PooledPoints& points, const MmdSetting& setting);

    [[nodiscard]] const PooledPoints& points() const { return points_; }
    [[nodiscard]] std::size_t n_panels() const;
    [[nodiscard]] std::size_t n_kernels() const { return scales_.size(); }
    // Of all pairs of the tile: squared or city-block distances, or products.
    void distances(std::size_t panel, std::size_t block, double* out) const;
    // k - 1 with one bandwidth, 0 for pairs that are not to be counted.
    void values(const double* distances, std::size_t which, std::size_t panel, std::size_t block,
                double* out) const;
    // The mean over all bandwidths.
    void mean_values(const double* distances, std::size_t panel, std::size_t block,
                     double* out) const;
    // k(p, p) - 1 of point i.
    [[nodiscard]] double self(std::size_t i) const;

private:
    const PooledPoints& points_;
    MmdKernel kernel_;
    std::vector<double> scales_;
};

// Of one row panel: what its 8 rows add up to in columns of x and of y.
struct PanelSums {
    alignas(64) double x[panel_points] = {}, y[panel_points] = {};

    // The columns of one block, of which those below n are of x.
    void add(const double* values, std::size_t block, std::size_t n);
};

struct MmdTotals {
    ExactSum xx, yy, xy;

    // Throws InvalidInput if a sum is not finite.
    void add(const PanelSums& sums, std::size_t panel, std::size_t n);
    void merge(const MmdTotals& other);
    [[nodiscard]] MmdSums sums(const KernelTiles& tiles) const;
};

}  // namespace calibrant
