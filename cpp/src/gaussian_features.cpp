#include "gaussian_features.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "calibrant/check.hpp"
#include "calibrant/kernels.hpp"
#include "calibrant/sum.hpp"

namespace calibrant {
namespace {

constexpr double node_step = 0.3125;
constexpr double most_series_reach = 1.0;  // bandwidths from the middle
constexpr std::int64_t most_nodes = std::int64_t{1} << 50;
constexpr std::size_t batch = 16;  // points whose features are made at a time

std::size_t padded(const FeatureMap& map) { return map.n_features() + feature_stride; }

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

}  // namespace

FeatureMap::FeatureMap(const double* x, std::size_t n, double bandwidth, const char* name) {
    const auto [least, most] = std::minmax_element(x, x + n);
    const double half = 0.5 * *most - 0.5 * *least;
    const double reach = half / bandwidth;
    is_series_ = reach <= most_series_reach;
    if (is_series_) {
        const double middle = *least + half;
        offsets_.resize(n);
        for (std::size_t i = 0; i < n; ++i) offsets_[i] = (x[i] - middle) / bandwidth;
        count_ = n_features_ = series_count(reach);
    } else {
        place_on_nodes(x, n, bandwidth, name);
    }
    add_up();
}

void FeatureMap::place_on_nodes(const double* x, std::size_t n, double bandwidth,
                                const char* name) {
    const double spacing = node_step * bandwidth;
    std::vector<std::int64_t> node(n);
    offsets_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double nearest = std::nearbyint(x[i] / spacing);
        if (!(std::fabs(nearest) < static_cast<double>(most_nodes))) {
            refuse(name, "lie within 2^48 bandwidths of 0", number_text(x[i]), {i});
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

void FeatureMap::add_up() {
    sums_.assign(n_features_ + feature_stride, 0.0);
    double rows[batch * feature_stride];
    std::uint32_t index[batch];
    for (std::size_t begin = 0; begin < size(); begin += batch) {
        const std::size_t n = std::min(batch, size() - begin);
        for (std::size_t i = 0; i < n; ++i) index[i] = static_cast<std::uint32_t>(begin + i);
        features(index, n, rows);
        for (std::size_t i = 0; i < n; ++i) {
            double* const out = &sums_[start(begin + i)];
            for (std::size_t j = 0; j < feature_stride; ++j) {
                out[j] += rows[i * feature_stride + j];
            }
        }
    }
}

void FeatureMap::diagonal(double* out) const {
    const auto n_points = static_cast<double>(size());
    const DependenceKernels& loops = *kernels().dependence;
    const double all = loops.dot(sums_.data(), sums_.data(), sums_.size());
    double rows[batch * feature_stride];
    std::uint32_t index[batch];
    for (std::size_t begin = 0; begin < size(); begin += batch) {
        const std::size_t n = std::min(batch, size() - begin);
        for (std::size_t i = 0; i < n; ++i) index[i] = static_cast<std::uint32_t>(begin + i);
        features(index, n, rows);
        for (std::size_t i = 0; i < n; ++i) {
            double* const row = rows + i * feature_stride;
            const double* const sums = &sums_[start(begin + i)];
            if (is_series_) {  // |f - mean|^2, accurate however small
                for (std::size_t j = 0; j < count_; ++j) row[j] -= sums[j] / n_points;
                out[begin + i] = loops.dot(row, row, feature_stride);
            } else {  // 1 - 2 f.mean + |mean|^2
                const double row_mean = loops.dot(row, sums, feature_stride) / n_points;
                out[begin + i] = 1.0 - 2.0 * row_mean + all / n_points / n_points;
            }
        }
    }
}

namespace {

// One product of features a pair of rows, for points of one piece of the sample.
class PairFeatures {
public:
    PairFeatures(const FeatureMap& x, const FeatureMap& y, const std::uint32_t* partner)
        : x_(x), y_(y), partner_(partner) {}

    // Calls use(x start, x features, y start, y features) for each i of index.
    template <class Use>
    void for_each(const std::uint32_t* index, std::size_t n, const Use& use) {
        for (std::size_t begin = 0; begin < n; begin += batch) {
            const std::size_t count = std::min(batch, n - begin);
            std::uint32_t other[batch];
            for (std::size_t i = 0; i < count; ++i) {
                other[i] = partner_ == nullptr ? index[begin + i] : partner_[index[begin + i]];
            }
            x_.features(index + begin, count, x_rows_);
            y_.features(other, count, y_rows_);
            for (std::size_t i = 0; i < count; ++i) {
                use(x_.start(index[begin + i]), x_rows_ + i * feature_stride, y_.start(other[i]),
                    y_rows_ + i * feature_stride);
            }
        }
    }

private:
    const FeatureMap& x_;
    const FeatureMap& y_;
    const std::uint32_t* partner_;
    alignas(64) double x_rows_[batch * feature_stride];
    alignas(64) double y_rows_[batch * feature_stride];
};

// The whole matrix of products in a few copies, each made by the same rows on any number of
// threads, and added up in order.
double small_trace(const FeatureMap& x, const FeatureMap& y, const std::uint32_t* partner,
                   std::size_t workers, Poll poll) {
    const std::size_t n = x.size();
    const std::size_t stride = padded(y);
    const std::size_t entries = padded(x) * stride;
    const std::size_t copies = std::clamp<std::size_t>(n / 1024, 1, 16);
    const std::size_t rows = (n + copies - 1) / copies;
    std::vector<double> sums(copies * entries, 0.0);
    const DependenceKernels& loops = *kernels().dependence;
    for_each_chunk(n, rows, std::min(workers, copies), poll,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                       double* const matrix = &sums[begin / rows * entries];
                       PairFeatures pairs(x, y, partner);
                       std::uint32_t index[256];
                       for (std::size_t at = begin; at < end; at += std::size(index)) {
                           const std::size_t count = std::min(std::size(index), end - at);
                           for (std::size_t i = 0; i < count; ++i) {
                               index[i] = static_cast<std::uint32_t>(at + i);
                           }
                           pairs.for_each(index, count,
                                          [&](std::size_t row, const double* x_row,
                                              std::size_t column, const double* y_row) {
                                              loops.spread(x_row, x.count(), y_row,
                                                           matrix + row * stride + column, stride);
                                          });
                       }
                       return true;
                   });
    for (std::size_t copy = 1; copy < copies; ++copy) {
        for (std::size_t i = 0; i < entries; ++i) sums[i] += sums[copy * entries + i];
    }
    ExactSum total;
    for (std::size_t t = 0; t < x.n_features(); ++t) {
        const double mean = x.sums()[t] / static_cast<double>(n);
        double* const row = &sums[t * stride];
        for (std::size_t s = 0; s < y.n_features(); ++s) row[s] -= mean * y.sums()[s];
        total.add(loops.dot(row, row, y.n_features()));
    }
    return total.to_double();
}

// Of a matrix too large to be kept: a few rows of it at a time. Points are sorted by where their
// rows begin; of the columns, those that some point touches are marked, and of the others only the
// means count. Which rows are taken at a time depends on the sample alone.
class StripTrace {
public:
    StripTrace(const FeatureMap& x, const FeatureMap& y, const std::uint32_t* partner)
        : x_(x), y_(y), partner_(partner), stride_(padded(y) + block) {
        strip_rows_ = std::clamp<std::size_t>((std::size_t{1} << 21) / stride_, 1, 16);
        sort_points();
        squares_ = kernels().dependence->dot(y.sums().data(), y.sums().data(), y.n_features());
    }

    double run(std::size_t workers, Poll poll) {
        const std::size_t strips = (x_.n_features() + strip_rows_ - 1) / strip_rows_;
        workers = std::max<std::size_t>(std::min(workers, strips), 1);
        std::vector<Strip> team(workers, Strip(strip_rows_ * stride_, stride_ / block + 1));
        for_each_chunk(strips, 1, workers, poll,
                       [&](std::size_t worker, std::size_t strip, std::size_t) {
                           add_strip(team[worker], strip * strip_rows_);
                           return true;
                       });
        ExactSum total;
        for (const Strip& strip : team) total.merge(strip.total);
        return total.to_double();
    }

private:
    static constexpr std::size_t block = 16;  // columns marked together

    struct Strip {
        Strip(std::size_t entries, std::size_t n_blocks)
            : sums(entries, 0.0), marked(n_blocks, 0) {}
        std::vector<double> sums;
        std::vector<std::uint8_t> marked;
        std::vector<std::size_t> blocks;
        ExactSum total;
    };

    // By counting; equal ones stay in their order.
    void sort_points() {
        first_.assign(x_.n_features() + 2, 0);
        for (std::size_t i = 0; i < x_.size(); ++i) ++first_[x_.start(i) + 1];
        for (std::size_t t = 1; t < first_.size(); ++t) first_[t] += first_[t - 1];
        order_.resize(x_.size());
        std::vector<std::uint32_t> next = first_;
        for (std::size_t i = 0; i < x_.size(); ++i) {
            order_[next[x_.start(i)]++] = static_cast<std::uint32_t>(i);
        }
    }

    void add_strip(Strip& strip, std::size_t low) const {
        const std::size_t high = std::min(low + strip_rows_, x_.n_features());
        const std::size_t from = first_[low < x_.count() ? 0 : low - x_.count() + 1];
        const std::size_t to = first_[high];
        const DependenceKernels& loops = *kernels().dependence;
        PairFeatures pairs(x_, y_, partner_);
        pairs.for_each(
            order_.data() + from, to - from,
            [&](std::size_t row, const double* x_row, std::size_t column, const double* y_row) {
                const std::size_t begin = std::max(row, low);
                const std::size_t end = std::min(row + x_.count(), high);
                if (begin >= end) return;
                loops.spread(x_row + (begin - row), end - begin, y_row,
                             &strip.sums[(begin - low) * stride_ + column], stride_);
                mark(strip, column);
            });
        std::sort(strip.blocks.begin(), strip.blocks.end());
        for (std::size_t t = low; t < high; ++t) {
            strip.total.add(row_square(strip, t, &strip.sums[(t - low) * stride_]));
        }
        for (const std::size_t b : strip.blocks) {
            for (std::size_t t = 0; t < high - low; ++t) {
                std::fill_n(&strip.sums[t * stride_ + b * block], block, 0.0);
            }
            strip.marked[b] = 0;
        }
        strip.blocks.clear();
    }

    static void mark(Strip& strip, std::size_t column) {
        const std::size_t last = (column + feature_stride - 1) / block;
        for (std::size_t b = column / block; b <= last; ++b) {
            if (strip.marked[b] == 0) strip.blocks.push_back(b);
            strip.marked[b] = 1;
        }
    }

    // Marked columns one by one, of the others the sum of squares of what centring takes off.
    double row_square(const Strip& strip, std::size_t t, const double* row) const {
        const double mean = x_.sums()[t] / static_cast<double>(x_.size());
        double sum = 0.0, marked = 0.0;
        for (const std::size_t b : strip.blocks) {
            double part = 0.0, part_marked = 0.0;
            const std::size_t end = std::min((b + 1) * block, y_.n_features());
            for (std::size_t s = b * block; s < end; ++s) {
                const double centred = row[s] - mean * y_.sums()[s];
                part += centred * centred;
                part_marked += y_.sums()[s] * y_.sums()[s];
            }
            sum += part;
            marked += part_marked;
        }
        return sum + mean * mean * std::max(squares_ - marked, 0.0);
    }

    const FeatureMap& x_;
    const FeatureMap& y_;
    const std::uint32_t* partner_;
    std::size_t stride_, strip_rows_;
    double squares_;
    std::vector<std::uint32_t> first_, order_;
};

}  // namespace

double centred_trace(const FeatureMap& x, const FeatureMap& y, const std::uint32_t* partner,
                     std::size_t workers, Poll poll) {
    constexpr std::size_t most_entries = std::size_t{1} << 16;
    if (padded(x) * padded(y) <= most_entries) return small_trace(x, y, partner, workers, poll);
    // Strips run along the longer side.
    if (partner == nullptr && y.n_features() > x.n_features()) {
        return StripTrace(y, x, nullptr).run(workers, poll);
    }
    return StripTrace(x, y, partner).run(workers, poll);
}

}  // namespace calibrant
