// Estimates that read few pairs only: the linear and the block estimate, and the median distance.
#include <algorithm>
#include <cmath>
#include <limits>

#include "calibrant/dependence/dependence.hpp"
#include "kernels/kernels.hpp"
#include "kernels/mmd_kernels.hpp"
#include "numeric/shuffle.hpp"
#include "samples/mmd_tiles.hpp"

namespace calibrant {
namespace {

constexpr std::size_t most_median_points = 2000;
constexpr std::size_t pairs_at_once = 128;

MeanOfTerms mean_of(const std::vector<double>& terms) {
    const auto count = static_cast<double>(terms.size());
    ExactSum sum, squares;
    for (const double term : terms) sum.add(term);
    const double mean = sum.to_double() / count;
    for (const double term : terms) squares.add_product(term - mean, term - mean);
    if (terms.size() < 2) {
        return {mean, std::numeric_limits<double>::quiet_NaN(), terms.size()};
    }
    return {mean, std::sqrt(squares.to_double() / (count - 1.0) / count), terms.size()};
}

double pair_term(MmdKernel kernel, const double* a, const double* b, std::size_t dimension) {
    double sum = 0.0;
    for (std::size_t k = 0; k < dimension; ++k) {
        const double difference = a[k] - b[k];
        sum += kernel == MmdKernel::gaussian  ? difference * difference
               : kernel == MmdKernel::laplace ? std::fabs(difference)
                                              : a[k] * b[k];
    }
    return sum;
}

// Two rows at a time of x and of y, four pairs of points each.
class LinearTerms {
public:
    LinearTerms(const Column& x, const Column& y, const MmdSetting& setting)
        : x_(x), y_(y), kernel_(setting.kernel), rows_(4 * x.width) {
        for (const double bandwidth : setting.bandwidths) {
            scales_.push_back(mmd_scale(kernel_, bandwidth, x.width));
        }
    }

    // Terms of rows 2 begin, ..., 2 end.
    void make(std::size_t begin, std::size_t end, double* out) {
        const std::size_t count = end - begin;
        double pairs[4 * pairs_at_once], values[4 * pairs_at_once];
        for (std::size_t t = 0; t < count; ++t) distances(2 * (begin + t), pairs + 4 * t);
        std::fill_n(out, count, 0.0);
        const MmdKernels& loops = *kernels().mmd;
        const auto make_values = kernel_ == MmdKernel::polynomial ? loops.cube : loops.decay;
        for (const double scale : scales_) {
            make_values(pairs, 4 * count, scale, values);
            for (std::size_t t = 0; t < count; ++t) {
                const double* const k = values + 4 * t;
                out[t] += (k[0] + k[1]) - (k[2] + k[3]);
            }
        }
        for (std::size_t t = 0; t < count; ++t) {
            out[t] /= static_cast<double>(scales_.size());
            if (!std::isfinite(out[t])) reject_overflow();
        }
    }

private:
    void distances(std::size_t row, double* out) {
        const std::size_t d = x_.width;
        double* const x = rows_.data();
        double* const y = x + 2 * d;
        for (std::size_t i = 0; i < 2; ++i) {
            load_finite_row(x_, row + i, x + i * d, "x");
            load_finite_row(y_, row + i, y + i * d, "y");
        }
        out[0] = pair_term(kernel_, x, x + d, d);
        out[1] = pair_term(kernel_, y, y + d, d);
        out[2] = pair_term(kernel_, x, y + d, d);
        out[3] = pair_term(kernel_, x + d, y, d);
    }

    const Column& x_;
    const Column& y_;
    MmdKernel kernel_;
    std::vector<double> scales_, rows_;
};

}  // namespace

MeanOfTerms linear_mmd(const Column& x, const Column& y, const MmdSetting& setting, Poll poll) {
    std::vector<double> terms(x.size / 2);
    const std::size_t workers = workers_for(terms.size(), 8 * pairs_at_once);
    std::vector<LinearTerms> team(workers, LinearTerms(x, y, setting));
    for_each_chunk(terms.size(), pairs_at_once, workers, poll,
                   [&](std::size_t worker, std::size_t begin, std::size_t end) {
                       team[worker].make(begin, end, &terms[begin]);
                       return true;
                   });
    return mean_of(terms);
}

MeanOfTerms block_mmd(const Column& x, const Column& y, std::size_t size, const MmdSetting& setting,
                      Poll poll) {
    std::vector<double> terms(x.size / size);
    for_each_chunk(terms.size(), 1, workers_for(x.size, 512), poll,
                   [&](std::size_t, std::size_t block, std::size_t) {
                       const PooledPoints points({&x, block * size, size},
                                                 {&y, block * size, size});
                       double sum = 0.0;
                       for (const MmdSums& sums : mmd_sums(points, setting, 1, nullptr)) {
                           sum += sums.unbiased();
                       }
                       terms[block] = sum / static_cast<double>(setting.bandwidths.size());
                       return true;
                   });
    return mean_of(terms);
}

double median_distance(const PooledPoints& points, MmdKernel kernel, Poll poll) {
    if (points.dimension() == 1) {
        const double* const line = points.line();
        return median_distance(Points{points.size(), 1, {line, line + points.size()}},
                               HsicKernel::gaussian, poll);
    }
    if (points.size() > most_median_points) {
        std::vector<std::uint32_t> order(points.size());
        shuffle(order, 0, 0, most_median_points);
        order.erase(order.begin(), order.end() - most_median_points);
        return median_distance(points.some(order), kernel, poll);
    }
    const KernelTiles tiles(points, {kernel, {1.0}});
    std::vector<double> distances;
    distances.reserve(points.size() * (points.size() - 1) / 2);
    alignas(64) double tile[tile_values];
    for (std::size_t panel = 0; panel < tiles.n_panels(); ++panel) {
        const std::size_t end = std::min((panel + 1) * panel_points, points.size());
        for (std::size_t block = 0; block <= panel / panels_a_block; ++block) {
            tiles.distances(panel, block, tile);
            for (std::size_t row = panel * panel_points; row < end; ++row) {
                const std::size_t last = std::min((block + 1) * block_points, row);
                for (std::size_t column = block * block_points; column < last; ++column) {
                    distances.push_back(
                        tile[column % block_points * panel_points + row % panel_points]);
                }
            }
        }
    }
    return median_of_distances(distances, kernel != MmdKernel::laplace);
}

}  // namespace calibrant
