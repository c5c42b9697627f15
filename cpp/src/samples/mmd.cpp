#include "calibrant/samples/mmd.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/mmd_kernels.hpp"
#include "samples/mmd_line.hpp"
#include "samples/mmd_tiles.hpp"

namespace calibrant {
namespace {

// A block of rows at a time, so that both its points and those of a block of columns stay near.
std::vector<MmdSums> sums_of_tiles(const PooledPoints& points, const MmdSetting& setting,
                                   std::size_t most_workers, Poll poll) {
    const KernelTiles tiles(points, setting);
    const std::size_t n_kernels = tiles.n_kernels(), n_panels = tiles.n_panels();
    const std::size_t workers = std::min(workers_for(n_panels, panels_a_block), most_workers);
    std::vector<std::vector<MmdTotals>> team(workers, std::vector<MmdTotals>(n_kernels));
    for_each_chunk(n_panels, panels_a_block, workers, poll,
                   [&](std::size_t worker, std::size_t first, std::size_t last) {
                       std::vector<PanelSums> sums(n_kernels * panels_a_block);
                       alignas(64) double distances[tile_values], values[tile_values];
                       for (std::size_t block = 0; block <= first / panels_a_block; ++block) {
                           for (std::size_t panel = first; panel < last; ++panel) {
                               tiles.distances(panel, block, distances);
                               for (std::size_t which = 0; which < n_kernels; ++which) {
                                   tiles.values(distances, which, panel, block, values);
                                   sums[which * panels_a_block + panel - first].add(values, block,
                                                                                    points.n());
                               }
                           }
                       }
                       for (std::size_t which = 0; which < n_kernels; ++which) {
                           for (std::size_t panel = first; panel < last; ++panel) {
                               team[worker][which].add(sums[which * panels_a_block + panel - first],
                                                       panel, points.n());
                           }
                       }
                       return true;
                   });
    std::vector<MmdSums> result;
    for (std::size_t which = 0; which < n_kernels; ++which) {
        MmdTotals totals;
        for (const auto& member : team) totals.merge(member[which]);
        result.push_back(totals.sums(tiles));
    }
    return result;
}

void read_into(PanelRow* panels, std::size_t place, RowRange rows, const char* name) {
    const Column& column = *rows.column;
    std::vector<double> row(column.width);
    for (std::size_t i = 0; i < rows.count; ++i, ++place) {
        load_finite_row(column, rows.begin + i, row.data(), name);
        for (std::size_t k = 0; k < column.width; ++k) {
            panels[place / panel_points * column.width + k].at[place % panel_points] = row[k] + 0.0;
        }
    }
}

}  // namespace

PooledPoints::PooledPoints(std::size_t n, std::size_t m, std::size_t dimension)
    : n_(n),
      m_(m),
      dimension_(dimension),
      panels_((n + m + block_points - 1) / block_points * panels_a_block * dimension) {}

PooledPoints::PooledPoints(RowRange x, RowRange y)
    : PooledPoints(x.count, y.count, x.column->width) {
    read_into(panels_.data(), 0, x, "x");
    read_into(panels_.data(), n_, y, "y");
}

PooledPoints PooledPoints::some(const std::vector<std::uint32_t>& index) const {
    PooledPoints result(index.size(), 0, dimension_);
    for (std::size_t i = 0; i < index.size(); ++i) {
        for (std::size_t k = 0; k < dimension_; ++k) {
            result.panels_[i / panel_points * dimension_ + k].at[i % panel_points] =
                coordinate(index[i], k);
        }
    }
    return result;
}

double MmdSums::biased() const {
    const auto rows = static_cast<double>(n), others = static_cast<double>(m);
    const double within_x = (2.0 * xx + x_self) / rows / rows;
    const double within_y = (2.0 * yy + y_self) / others / others;
    return std::max((within_x + within_y) - 2.0 * (xy / rows / others), 0.0);
}

double MmdSums::unbiased() const {
    const auto rows = static_cast<double>(n), others = static_cast<double>(m);
    const double within_x = 2.0 * xx / rows / (rows - 1.0);
    const double within_y = 2.0 * yy / others / (others - 1.0);
    return (within_x + within_y) - 2.0 * (xy / rows / others);
}

double MmdSums::slack() const {
    const auto rows = static_cast<double>(n), others = static_cast<double>(m);
    const double within_x = std::fabs(2.0 * xx + x_self) / rows / rows;
    const double within_y = std::fabs(2.0 * yy + y_self) / others / others;
    return 0x1p-40 * (within_x + within_y + 2.0 * std::fabs(xy) / rows / others);
}

std::vector<MmdSums> mmd_sums(const PooledPoints& points, const MmdSetting& setting,
                              std::size_t most_workers, Poll poll) {
    if (points.dimension() > 1 || setting.kernel == MmdKernel::polynomial) {
        return sums_of_tiles(points, setting, most_workers, poll);
    }
    std::vector<MmdSums> result;
    for (const double bandwidth : setting.bandwidths) {
        result.push_back(line_sums(points, setting.kernel, bandwidth));
    }
    return result;
}

}  // namespace calibrant
