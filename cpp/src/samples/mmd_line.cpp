#include "samples/mmd_line.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/check.hpp"
#include "dependence/laplace_forms.hpp"
#include "kernels/kernels.hpp"
#include "kernels/mmd_kernels.hpp"

namespace calibrant {
namespace {

void require_near(const PooledPoints& points, double bandwidth) {
    for (std::size_t i = 0; i < points.size(); ++i) {
        const double value = points.line()[i];
        if (std::fabs(value) / bandwidth < 0x1p48) continue;
        const bool of_x = i < points.n();
        reject(of_x ? "x" : "y", "lie within 2^48 bandwidths of 0", number_text(value),
               {of_x ? i : i - points.n()});
    }
}

FeatureMap features_of(const PooledPoints& points, double bandwidth) {
    require_near(points, bandwidth);
    return {points.line(), points.size(), bandwidth, "x"};
}

MmdSums laplace_sums(const PooledPoints& points, double bandwidth) {
    const std::size_t n = points.n();
    const std::vector<std::uint32_t> order = ascending(points.line(), points.size());
    const std::vector<double> decay = laplace_decays(points.line(), order, bandwidth);
    Behind x, y;
    ExactSum xx, yy, xy;
    for (std::size_t k = 0; k < order.size(); ++k) {
        x.step(decay[k]);
        y.step(decay[k]);
        const bool of_x = order[k] < n;
        Behind& mine = of_x ? x : y;
        (of_x ? xx : yy).add(mine.decayed);
        xy.add((of_x ? y : x).decayed);
        mine.weight += 1.0;
    }
    return {n, points.m(), xx.to_double(), yy.to_double(), xy.to_double(), 0.0, 0.0};
}

std::vector<double> feature_sums(const FeatureMap& map, std::size_t begin, std::size_t end) {
    std::vector<double> sums(map.n_features() + feature_stride, 0.0);
    alignas(64) double rows[feature_batch * feature_stride];
    std::uint32_t index[feature_batch];
    const auto spread = kernels().dependence->spread;
    constexpr double one = 1.0;
    for (; begin < end; begin += feature_batch) {
        const std::size_t count = std::min(feature_batch, end - begin);
        for (std::size_t i = 0; i < count; ++i) index[i] = static_cast<std::uint32_t>(begin + i);
        map.features(index, count, rows);
        for (std::size_t i = 0; i < count; ++i) {
            spread(&one, 1, rows + i * feature_stride, &sums[map.start(begin + i)], 0);
        }
    }
    return sums;
}

// The sum of k - 1 over a_points times b_points pairs, from the sums of features of both: of a
// series, f_0 is without its constant 1.
double pair_sum(const FeatureMap& map, const std::vector<double>& a, double a_points,
                const std::vector<double>& b, double b_points) {
    ExactSum sum;
    for (std::size_t t = 0; t < a.size(); ++t) {
        if (a[t] != 0.0 && b[t] != 0.0) sum.add_product(a[t], b[t]);
    }
    if (map.is_series()) {
        sum.add_product(a[0], b_points);
        sum.add_product(b[0], a_points);
    } else {
        sum.add_product(-a_points, b_points);
    }
    return sum.to_double();
}

MmdSums gaussian_sums(const PooledPoints& points, double bandwidth) {
    const FeatureMap map = features_of(points, bandwidth);
    const auto n = static_cast<double>(points.n()), m = static_cast<double>(points.m());
    const std::vector<double> x = feature_sums(map, 0, points.n());
    const std::vector<double> y = feature_sums(map, points.n(), points.size());
    return {points.n(),
            points.m(),
            0.5 * pair_sum(map, x, n, x, n),
            0.5 * pair_sum(map, y, m, y, m),
            pair_sum(map, x, n, y, m),
            0.0,
            0.0};
}

// By where their features start; points that share a start stay in order.
std::vector<std::uint32_t> by_start(const FeatureMap& map) {
    std::vector<std::uint32_t> order(map.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    if (map.is_series()) return order;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return map.start(a) < map.start(b); });
    return order;
}

// The sums of features of 64 subsets, of which only those that the points to come can still see
// are held; points come by where their features start.
class FeatureWindow {
public:
    FeatureWindow(const std::vector<double>& all, std::array<double, subsets_at_once>& squares,
                  std::array<double, subsets_at_once>& products)
        : all_(all), squares_(squares), products_(products) {}

    void add(std::size_t start, const double* row, std::uint64_t members) {
        if (start > start_) pass(start - start_);
        double member[subsets_at_once];
        for (std::size_t b = 0; b < subsets_at_once; ++b) {
            member[b] = (members >> b & 1U) != 0 ? 1.0 : 0.0;
        }
        kernels().dependence->spread(member, subsets_at_once, row, sums_, feature_stride);
    }
    void finish() { pass(feature_stride); }
    [[nodiscard]] double first(std::size_t b) const { return sums_[b * feature_stride]; }

private:
    // The first features are complete: their squares, and products with the sums over all points.
    void pass(std::size_t count) {
        const std::size_t done = std::min(count, feature_stride);
        const auto dot = kernels().dependence->dot;
        for (std::size_t b = 0; b < subsets_at_once; ++b) {
            double* const row = sums_ + b * feature_stride;
            squares_[b] += dot(row, row, done);
            products_[b] += dot(row, &all_[start_], done);
            std::memmove(row, row + done, (feature_stride - done) * sizeof(double));
            std::fill_n(row + (feature_stride - done), done, 0.0);
        }
        start_ += count;
    }

    const std::vector<double>& all_;
    std::array<double, subsets_at_once>& squares_;
    std::array<double, subsets_at_once>& products_;
    std::size_t start_ = 0;
    alignas(64) double sums_[subsets_at_once * feature_stride] = {};
};

}  // namespace

MmdSums line_sums(const PooledPoints& points, MmdKernel kernel, double bandwidth) {
    return kernel == MmdKernel::laplace ? laplace_sums(points, bandwidth)
                                        : gaussian_sums(points, bandwidth);
}

LineSubsets::LineSubsets(const PooledPoints& points, MmdKernel kernel, double bandwidth)
    : kernel_(kernel) {
    const std::size_t n = points.size();
    if (kernel == MmdKernel::laplace) {
        order_ = ascending(points.line(), n);
        decay_ = laplace_decays(points.line(), order_, bandwidth);
        row_sums_ = laplace_row_sums(points.line(), n, bandwidth);
        ExactSum total;
        for (const double sum : row_sums_) total.add(sum);
        total_ = 0.5 * total.to_double();
        return;
    }
    features_ = std::make_unique<FeatureMap>(features_of(points, bandwidth));
    order_ = by_start(*features_);
    row_sums_ = feature_sums(*features_, 0, n);
    const auto all = static_cast<double>(n);
    total_ = 0.5 * pair_sum(*features_, row_sums_, all, row_sums_, all);
}

void LineSubsets::add(const std::vector<std::uint64_t>& members, std::size_t size,
                      std::array<SubsetSums, subsets_at_once>& sums) const {
    if (kernel_ == MmdKernel::laplace) {
        walk(members, sums);
    } else {
        add_features(members, size, sums);
    }
}

void LineSubsets::walk(const std::vector<std::uint64_t>& members,
                       std::array<SubsetSums, subsets_at_once>& sums) const {
    alignas(64) double weight[subsets_at_once] = {}, decayed[subsets_at_once] = {};
    alignas(64) double inside[subsets_at_once] = {}, touching[subsets_at_once] = {};
    const auto step = kernels().mmd->step;
    for (std::size_t k = 0; k < order_.size(); ++k) {
        const std::uint32_t i = order_[k];
        step(decay_[k], row_sums_[i], members[i], weight, decayed, inside, touching);
    }
    for (std::size_t b = 0; b < subsets_at_once; ++b) {
        sums[b].inside += inside[b];
        sums[b].touching += touching[b];
    }
}

void LineSubsets::add_features(const std::vector<std::uint64_t>& members, std::size_t size,
                               std::array<SubsetSums, subsets_at_once>& sums) const {
    std::array<double, subsets_at_once> squares{}, products{}, first{};
    FeatureWindow window(row_sums_, squares, products);
    alignas(64) double rows[feature_batch * feature_stride];
    for (std::size_t begin = 0; begin < order_.size(); begin += feature_batch) {
        const std::size_t count = std::min(feature_batch, order_.size() - begin);
        features_->features(&order_[begin], count, rows);
        for (std::size_t k = 0; k < count; ++k) {
            const std::uint32_t i = order_[begin + k];
            window.add(features_->start(i), rows + k * feature_stride, members[i]);
        }
    }
    for (std::size_t b = 0; b < subsets_at_once; ++b) first[b] = window.first(b);
    window.finish();
    const auto n = static_cast<double>(size), all = static_cast<double>(order_.size());
    for (std::size_t b = 0; b < subsets_at_once; ++b) {
        const bool series = features_->is_series();  // f_0 is without its constant 1
        const double squares_rest = series ? 2.0 * n * first[b] : -n * n;
        const double products_rest = series ? all * first[b] + n * row_sums_[0] : -n * all;
        sums[b].inside += 0.5 * (squares[b] + squares_rest);
        sums[b].touching += products[b] + products_rest;
    }
}

}  // namespace calibrant
