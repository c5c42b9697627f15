#include <algorithm>
#include <cstdint>
#include <vector>

#include "calibrant/numeric/sum.hpp"
#include "dependence/gaussian_features.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {
namespace {

constexpr std::size_t batch = feature_batch;

// Columns, so that a whole row of features can be added anywhere.
std::size_t padded(const FeatureMap& map) {
    return map.n_features() - map.count() + feature_stride;
}

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
            const bool kept = x_.keeps_features() && y_.keeps_features();
            if (!kept) {
                x_.features(index + begin, count, x_rows_);
                y_.features(other, count, y_rows_);
            }
            for (std::size_t i = 0; i < count; ++i) {
                const std::uint32_t mine = index[begin + i];
                use(x_.start(mine), kept ? x_.kept(mine) : x_rows_ + i * feature_stride,
                    y_.start(other[i]), kept ? y_.kept(other[i]) : y_rows_ + i * feature_stride);
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

// The matrix of products of features and the sums of both.
struct ProductSums {
    ProductSums(const FeatureMap& x_map, const FeatureMap& y_map)
        : stride(padded(y_map)),
          x(padded(x_map), 0.0),
          y(padded(y_map), 0.0),
          xy(x_map.n_features() * stride, 0.0) {}

    void add(const ProductSums& other) {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += other.x[i];
        for (std::size_t i = 0; i < y.size(); ++i) y[i] += other.y[i];
        for (std::size_t i = 0; i < xy.size(); ++i) xy[i] += other.xy[i];
    }

    std::size_t stride;
    std::vector<double> x, y, xy;
};

// In a few parts, each made of the same rows on any number of threads, and added up in order.
double small_trace(const FeatureMap& x, const FeatureMap& y, const std::uint32_t* partner,
                   std::size_t workers, Poll poll) {
    const std::size_t n = x.size();
    const std::size_t n_parts = std::clamp<std::size_t>(n / 512, 1, 16);
    const std::size_t rows = (n + n_parts - 1) / n_parts;
    std::vector<ProductSums> parts(n_parts, ProductSums(x, y));
    const DependenceKernels& loops = *kernels().dependence;
    for_each_chunk(n, rows, std::min(workers, n_parts), poll,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                       ProductSums& sums = parts[begin / rows];
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
                                                           &sums.xy[row * sums.stride + column],
                                                           sums.stride);
                                              constexpr double one = 1.0;
                                              loops.spread(&one, 1, x_row, &sums.x[row], 0);
                                              loops.spread(&one, 1, y_row, &sums.y[column], 0);
                                          });
                       }
                       return true;
                   });
    ProductSums& all = parts.front();
    for (std::size_t part = 1; part < n_parts; ++part) all.add(parts[part]);
    ExactSum total;
    for (std::size_t t = 0; t < x.n_features(); ++t) {
        const double mean = all.x[t] / static_cast<double>(n);
        double* const row = &all.xy[t * all.stride];
        for (std::size_t s = 0; s < y.n_features(); ++s) row[s] -= mean * all.y[s];
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

bool is_small(const FeatureMap& x, const FeatureMap& y) {
    constexpr std::size_t most_entries = std::size_t{1} << 16;
    return padded(x) * padded(y) <= most_entries;
}

double centred_trace(const FeatureMap& x, const FeatureMap& y, const std::uint32_t* partner,
                     std::size_t workers, Poll poll) {
    if (is_small(x, y)) return small_trace(x, y, partner, workers, poll);
    // Strips run along the longer side.
    if (partner == nullptr && y.n_features() > x.n_features()) {
        return StripTrace(y, x, nullptr).run(workers, poll);
    }
    return StripTrace(x, y, partner).run(workers, poll);
}

}  // namespace calibrant
