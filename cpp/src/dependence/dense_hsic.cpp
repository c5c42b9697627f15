#include "dependence/dense_hsic.hpp"

#include <algorithm>

#include "calibrant/numeric/sum.hpp"
#include "kernels/dependence_kernels.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {
namespace {

constexpr std::size_t columns = block_rows;  // of a matrix at a time

double scale_of(double bandwidth, HsicKernel kernel) {
    return kernel == HsicKernel::laplace ? 1.0 / bandwidth : 0.5 / bandwidth / bandwidth;
}

}  // namespace

DenseHsic::DenseHsic(HsicSide x, HsicSide y, HsicKernel kernel, Poll poll)
    : x_{x.points, scale_of(x.bandwidth, kernel), {}},
      y_{y.points, scale_of(y.bandwidth, kernel), {}},
      kernel_(kernel),
      poll_(poll) {
    find_means(x_);
    find_means(y_);
}

// Entries [begin, begin + n) of row i of k - 1.
void DenseHsic::row(const Side& side, std::size_t i, std::size_t begin, std::size_t n,
                    double* out) const {
    const Points& points = *side.points;
    double at[64];
    const DependenceKernels& loops = *kernels().dependence;
    const auto make = kernel_ == HsicKernel::laplace ? loops.laplace_row : loops.gaussian_row;
    if (points.dimension <= std::size(at)) {
        for (std::size_t k = 0; k < points.dimension; ++k) at[k] = points.coordinate(k)[i];
        make(at, points.values.data() + begin, points.n, points.dimension, n, side.scale, out);
        return;
    }
    std::vector<double> many(points.dimension);
    for (std::size_t k = 0; k < points.dimension; ++k) many[k] = points.coordinate(k)[i];
    make(many.data(), points.values.data() + begin, points.n, points.dimension, n, side.scale, out);
}

void DenseHsic::find_means(Side& side) const {
    const std::size_t n = side.points->n;
    side.means.resize(n);
    for_each_chunk(n, 4, workers_for(n, 64), poll_,
                   [&](std::size_t, std::size_t first, std::size_t last) {
                       double entries[columns];
                       for (std::size_t i = first; i < last; ++i) {
                           double sum = 0.0;
                           for (std::size_t begin = 0; begin < n; begin += columns) {
                               const std::size_t count = std::min(columns, n - begin);
                               row(side, i, begin, count, entries);
                               sum += kernels().dependence->sum(entries, count);
                           }
                           side.means[i] = sum / static_cast<double>(n);
                       }
                       return true;
                   });
    ExactSum total;
    for (const double mean : side.means) total.add(mean);
    side.mean = total.to_double() / static_cast<double>(n);
}

HsicSums DenseHsic::sums(HsicDepth depth) const {
    const std::size_t n = x_.points->n;
    const bool with_squares = depth == HsicDepth::squares;
    const std::size_t workers = workers_for(n, 64);
    struct Totals {
        ExactSum xy, xx, yy;
    };
    std::vector<Totals> team(workers);
    for_each_chunk(
        n, 4, workers, poll_, [&](std::size_t worker, std::size_t first, std::size_t last) {
            double x[columns], y[columns];
            const auto dot = kernels().dependence->centred_dot;
            Totals& totals = team[worker];
            for (std::size_t i = first; i < last; ++i) {
                const double x_row = x_.means[i] - x_.mean, y_row = y_.means[i] - y_.mean;
                for (std::size_t begin = 0; begin < i; begin += columns) {
                    const std::size_t count = std::min(columns, i - begin);
                    const double* const x_means = &x_.means[begin];
                    const double* const y_means = &y_.means[begin];
                    row(x_, i, begin, count, x);
                    row(y_, i, begin, count, y);
                    totals.xy.add(2.0 * dot(x, x_means, x_row, y, y_means, y_row, count));
                    if (!with_squares) continue;
                    totals.xx.add(2.0 * dot(x, x_means, x_row, x, x_means, x_row, count));
                    totals.yy.add(2.0 * dot(y, y_means, y_row, y, y_means, y_row, count));
                }
            }
            return true;
        });
    Totals all;
    ExactSum trace_x, trace_y, diagonals, diagonal_x, diagonal_y;
    for (const Totals& totals : team) {
        all.xy.merge(totals.xy);
        all.xx.merge(totals.xx);
        all.yy.merge(totals.yy);
    }
    for (std::size_t i = 0; i < n; ++i) {
        const double a = x_.diagonal(i), b = y_.diagonal(i);
        trace_x.add(a);
        trace_y.add(b);
        diagonals.add(a * b);
        diagonal_x.add(a * a);
        diagonal_y.add(b * b);
    }
    all.xy.merge(diagonals);
    all.xx.merge(diagonal_x);
    all.yy.merge(diagonal_y);
    return {n,
            all.xy.to_double(),
            trace_x.to_double(),
            trace_y.to_double(),
            diagonals.to_double(),
            with_squares ? all.xx.to_double() : 0.0,
            with_squares ? all.yy.to_double() : 0.0,
            diagonal_x.to_double(),
            diagonal_y.to_double()};
}

double DenseHsic::permuted_trace(const std::uint32_t* partner) const {
    const std::size_t n = x_.points->n;
    const Points& y = *y_.points;
    // The points of y in their new order, so that rows of both matrices can be made alike.
    Points moved{n, y.dimension, std::vector<double>(y.values.size())};
    Side side{&moved, y_.scale, std::vector<double>(n), y_.mean};
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < y.dimension; ++k) {
            moved.values[k * n + i] = y.coordinate(k)[partner[i]];
        }
        side.means[i] = y_.means[partner[i]];
    }
    double x_row[columns], y_row[columns];
    ExactSum total;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t begin = 0; begin < i; begin += columns) {
            const std::size_t count = std::min(columns, i - begin);
            row(x_, i, begin, count, x_row);
            row(side, i, begin, count, y_row);
            total.add(2.0 * kernels().dependence->centred_dot(
                                x_row, &x_.means[begin], x_.means[i] - x_.mean, y_row,
                                &side.means[begin], side.means[i] - side.mean, count));
        }
        total.add(x_.diagonal(i) * side.diagonal(i));
    }
    return total.to_double();
}

}  // namespace calibrant
