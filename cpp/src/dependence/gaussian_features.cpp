#include "dependence/gaussian_features.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {
namespace {

constexpr double most_series_reach = 1.0;  // bandwidths from the median
constexpr std::int64_t most_nodes = std::int64_t{1} << 50;
constexpr std::size_t most_kept = std::size_t{1} << 14;  // points whose features are kept
constexpr std::size_t batch = feature_batch;

// Enough of the series: the next term is below 2^-56 of the first for |u| <= reach.
std::size_t series_count(double reach) {
    double term = 1.0;
    std::size_t k = 1;
    for (; k + 1 < most_series; ++k) {
        term *= reach / std::sqrt(static_cast<double>(k + 1));
        if (k >= 3 && term < 0x1p-56) break;
    }
    return k + 1;
}

// Where most points are near, so that features do not cancel when outliers set the scale.
double median(const double* x, std::size_t n) {
    std::vector<double> copy(x, x + n);
    const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(n / 2);
    std::nth_element(copy.begin(), middle, copy.end());
    return *middle;
}

}  // namespace

FeatureMap::FeatureMap(const double* x, std::size_t n, double bandwidth, const char* name) {
    const auto [least, most] = std::minmax_element(x, x + n);
    const double half = 0.5 * (*most / bandwidth) - 0.5 * (*least / bandwidth);
    const double middle = half <= most_series_reach ? median(x, n) : 0.0;
    const double reach = std::max(*most - middle, middle - *least) / bandwidth;
    is_series_ = half <= most_series_reach && reach <= most_series_reach;
    if (is_series_) {
        offsets_.resize(n);
        for (std::size_t i = 0; i < n; ++i) offsets_[i] = (x[i] - middle) / bandwidth;
        count_ = n_features_ = series_count(reach);
    } else {
        place_on_nodes(x, n, bandwidth, name);
    }
}

void FeatureMap::place_on_nodes(const double* x, std::size_t n, double bandwidth,
                                const char* name) {
    const double spacing = node_step * bandwidth;
    std::vector<std::int64_t> node(n);
    offsets_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double nearest = std::nearbyint(x[i] / spacing);
        if (!(std::fabs(nearest) < static_cast<double>(most_nodes))) {
            reject(name, "lie within 2^48 bandwidths of 0", number_text(x[i]), {i});
        }
        node[i] = static_cast<std::int64_t>(nearest);
        offsets_[i] = std::fma(-nearest, spacing, x[i]) / bandwidth;  // the remainder is exact
    }
    starts_.resize(n);
    const auto [least, most] = std::minmax_element(node.begin(), node.end());
    const std::int64_t span = *most - *least;
    if (span <= static_cast<std::int64_t>(4 * n + 4096)) {
        for (std::size_t i = 0; i < n; ++i) {
            starts_[i] = static_cast<std::uint32_t>(node[i] - *least);
        }
        n_features_ = static_cast<std::size_t>(span) + node_features;
        return;
    }
    // Far apart: nodes between that no point sees are left out.
    std::vector<std::int64_t> distinct = node;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    std::vector<std::uint32_t> place(distinct.size(), 0);
    for (std::size_t j = 1; j < distinct.size(); ++j) {
        const std::int64_t gap = std::min<std::int64_t>(distinct[j] - distinct[j - 1], 64);
        place[j] = place[j - 1] + static_cast<std::uint32_t>(gap);
    }
    for (std::size_t i = 0; i < n; ++i) {
        const auto at = std::lower_bound(distinct.begin(), distinct.end(), node[i]);
        starts_[i] = place[static_cast<std::size_t>(at - distinct.begin())];
    }
    n_features_ = place.back() + node_features;
}

void FeatureMap::features(const std::uint32_t* index, std::size_t n, double* out) const {
    double offset[batch];
    for (std::size_t i = 0; i < n; ++i) offset[i] = offsets_[index[i]];
    const DependenceKernels& loops = *kernels().dependence;
    if (is_series_) {
        loops.series(offset, n, count_, out);
    } else {
        loops.nodes(offset, n, out);
    }
}

template <class Use>
void FeatureMap::for_each_row(const Use& use) const {
    double rows[batch * feature_stride];
    std::uint32_t index[batch];
    for (std::size_t begin = 0; begin < size(); begin += batch) {
        const std::size_t n = std::min(batch, size() - begin);
        for (std::size_t i = 0; i < n; ++i) index[i] = static_cast<std::uint32_t>(begin + i);
        features(index, n, rows);
        for (std::size_t i = 0; i < n; ++i) use(begin + i, rows + i * feature_stride);
    }
}

void FeatureMap::add_up() {
    if (!sums_.empty()) return;
    sums_.assign(n_features_ + feature_stride, 0.0);
    for_each_row([&](std::size_t i, const double* row) {
        double* const out = &sums_[start(i)];
        for (std::size_t j = 0; j < feature_stride; ++j) out[j] += row[j];
    });
}

void FeatureMap::keep_features() {
    if (size() > most_kept) return;
    kept_.resize(size() * feature_stride);
    for_each_row([&](std::size_t i, const double* row) {
        std::copy(row, row + feature_stride, &kept_[i * feature_stride]);
    });
}

void FeatureMap::diagonal(double* out) const {
    const auto n_points = static_cast<double>(size());
    const DependenceKernels& loops = *kernels().dependence;
    const double all = loops.dot(sums_.data(), sums_.data(), sums_.size());
    for_each_row([&](std::size_t i, double* row) {
        const double* const sums = &sums_[start(i)];
        if (is_series_) {  // |f - mean|^2, accurate however small
            for (std::size_t j = 0; j < count_; ++j) row[j] -= sums[j] / n_points;
            out[i] = loops.dot(row, row, feature_stride);
        } else {  // 1 - 2 f.mean + |mean|^2
            const double row_mean = loops.dot(row, sums, feature_stride) / n_points;
            out[i] = 1.0 - 2.0 * row_mean + all / n_points / n_points;
        }
    });
}

}  // namespace calibrant
