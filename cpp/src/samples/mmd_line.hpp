// MMD of points on a line, without pairs: with a Laplace kernel by a walk along the sorted points,
// with a Gaussian one by sums of features.
#pragma once

#include <array>

#include "calibrant/samples/mmd.hpp"
#include "dependence/gaussian_features.hpp"

namespace calibrant {

// Throws InvalidInput if a point is beyond 2^48 bandwidths of a Gaussian kernel.
[[nodiscard]] MmdSums line_sums(const PooledPoints& points, MmdKernel kernel, double bandwidth);

// Of subsets of all points: sums of k - 1 over pairs of different points, both in the subset, and
// over pairs of a point in the subset with any other point, twice if both are.
struct SubsetSums {
    double inside = 0.0, touching = 0.0;
};
inline constexpr std::size_t subsets_at_once = 64;

// One bandwidth; bit b of members[i] is set if point i is in subset b.
class LineSubsets {
public:
    LineSubsets(const PooledPoints& points, MmdKernel kernel, double bandwidth);

    // Adds to `sums`; each subset has `size` points.
    void add(const std::vector<std::uint64_t>& members, std::size_t size,
             std::array<SubsetSums, subsets_at_once>& sums) const;
    // Over all pairs of different points, each once.
    [[nodiscard]] double total() const { return total_; }

private:
    void walk(const std::vector<std::uint64_t>& members,
              std::array<SubsetSums, subsets_at_once>& sums) const;
    void add_features(const std::vector<std::uint64_t>& members, std::size_t size,
                      std::array<SubsetSums, subsets_at_once>& sums) const;

    MmdKernel kernel_;
    std::vector<std::uint32_t> order_;  // of places, or of where features start
    std::vector<double> decay_, row_sums_;
    std::unique_ptr<FeatureMap> features_;
    double total_ = 0.0;
};

}  // namespace calibrant
