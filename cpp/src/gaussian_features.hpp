// A Gaussian kernel of one variable as a sum of products of features, K(x, y) = sum_t f_t(x)
// f_t(y).
//
// Where all points lie within two bandwidths, the features are those of the power series of
// exp(xy), at most 36 of them; of the first, the constant is left out, which centring does anyway,
// so that nothing is lost however large the bandwidth is. Otherwise they are Gaussians around
// nodes 5/16 of a bandwidth apart (see width_boxes.hpp), of which a point sees 41 in a row; nodes
// that no point sees are left out, however far apart the points are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/dependence_kernels.hpp"
#include "calibrant/parallel.hpp"

namespace calibrant {

class FeatureMap {
public:
    // Throws InvalidInput if a value is beyond 2^45 bandwidths; `name` is for its message.
    FeatureMap(const double* x, std::size_t n, double bandwidth, const char* name);

    [[nodiscard]] std::size_t size() const { return offsets_.size(); }
    [[nodiscard]] std::size_t n_features() const { return n_features_; }  // of all points
    [[nodiscard]] std::size_t count() const { return count_; }            // of one point
    [[nodiscard]] std::size_t start(std::size_t i) const {
        return starts_.empty() ? 0 : starts_[i];
    }
    [[nodiscard]] const std::vector<double>& sums() const { return sums_; }  // over the points
    // Rows of feature_stride.
    void features(const std::uint32_t* index, std::size_t n, double* out) const;
    // A_ii of the centred kernel.
    void diagonal(double* out) const;

private:
    void place_on_nodes(const double* x, std::size_t n, double bandwidth, const char* name);
    void add_up();

    std::size_t count_ = node_features, n_features_ = 0;
    bool is_series_ = false;
    std::vector<double> offsets_;
    std::vector<std::uint32_t> starts_;
    std::vector<double> sums_;
};

// trace(AB), A of x and B of y, where y_i stands against x_i, or y[partner[i]] if there is one.
[[nodiscard]] double centred_trace(const FeatureMap& x, const FeatureMap& y,
                                   const std::uint32_t* partner, std::size_t workers, Poll poll);

}  // namespace calibrant
