// A Gaussian kernel of one variable as a sum of products of features, K(x, y) = sum_t f_t(x)
// f_t(y).
//
// Where all points lie within a bandwidth of their median, the features are those of the power
// series of exp(xy), at most 34 of them; of the first, the constant is left out, which centring
// does anyway, so that nothing is lost however large the bandwidth is. Otherwise they are Gaussians
// around nodes 5/16 of a bandwidth apart (see width_boxes.hpp), of which a point sees 41 in a row;
// nodes that no point sees are left out, however far apart the points are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/runtime/parallel.hpp"
#include "kernels/dependence_kernels.hpp"

namespace calibrant {

inline constexpr std::size_t feature_batch = 16;  // points whose features are made at a time

class FeatureMap {
public:
    // Throws InvalidInput if a value is beyond 2^48 bandwidths; `name` is for its message.
    FeatureMap(const double* x, std::size_t n, double bandwidth, const char* name);

    [[nodiscard]] std::size_t size() const { return offsets_.size(); }
    [[nodiscard]] std::size_t n_features() const { return n_features_; }  // of all points
    [[nodiscard]] std::size_t count() const { return count_; }            // of one point
    [[nodiscard]] bool is_series() const { return is_series_; }
    [[nodiscard]] std::size_t start(std::size_t i) const {
        return starts_.empty() ? 0 : starts_[i];
    }
    // Over the points; after add_up.
    void add_up();
    [[nodiscard]] const std::vector<double>& sums() const { return sums_; }
    // Rows of feature_stride, of at most feature_batch points.
    void features(const std::uint32_t* index, std::size_t n, double* out) const;
    // For those who want them often; of more than 2^14 points nothing is kept.
    void keep_features();
    [[nodiscard]] bool keeps_features() const { return !kept_.empty(); }
    [[nodiscard]] const double* kept(std::size_t i) const { return &kept_[i * feature_stride]; }
    // A_ii of the centred kernel; after add_up.
    void diagonal(double* out) const;

private:
    void place_on_nodes(const double* x, std::size_t n, double bandwidth, const char* name);
    template <class Use>
    void for_each_row(const Use& use) const;

    std::size_t count_ = node_features, n_features_ = 0;
    bool is_series_ = false;
    std::vector<double> offsets_;
    std::vector<std::uint32_t> starts_;
    std::vector<double> sums_;
    std::vector<double> kept_;
};

// Whether the products of all features are few; otherwise centred_trace needs both added up.
[[nodiscard]] bool is_small(const FeatureMap& x, const FeatureMap& y);

// trace(AB), A of x and B of y, where y_i stands against x_i, or y[partner[i]] if there is one.
[[nodiscard]] double centred_trace(const FeatureMap& x, const FeatureMap& y,
                                   const std::uint32_t* partner, std::size_t workers, Poll poll);

}  // namespace calibrant
