// Nearest neighbours of two sets of points, for precision, recall, density and coverage.
//
// Each point of a set has a ball around it that reaches to its k-th nearest *other* point of the
// same set, and does not include its border: q lies in the ball of p if |p - q| < radius. So a
// point with k or more duplicates has a ball of radius 0, which holds nothing.
//
//     precision   the share of generated points inside at least one ball of a real one
//     recall      the share of real points inside at least one ball of a generated one
//                 (Kynkaanniemi et al. 2019, arXiv:1904.06991)
//     density     the mean over generated points of the number of real balls around it, over k
//     coverage    the share of real points whose ball holds a generated one
//                 (Naeem et al. 2020, arXiv:2002.09797)
//
// Squared distances are sums of squared differences, in the order of the coordinates: nothing
// cancels, whatever the means are, and they are the same bits on every instruction set and for
// any number of threads. So are the counts. Distances of all pairs, in tiles that are used at once
// and forgotten; memory for n + m points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/rows/column.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

// Points in panels (distance_kernels.hpp); the last is filled up with zeros.
class PointPanels {
public:
    // Throws InvalidInput at the first value that is not finite.
    PointPanels(const Column& column, const char* name);

    [[nodiscard]] std::size_t size() const { return n_; }
    [[nodiscard]] std::size_t dimension() const { return dimension_; }
    [[nodiscard]] std::size_t n_panels() const;
    [[nodiscard]] const double* panel(std::size_t index) const;
    // A bit for each point there is.
    [[nodiscard]] std::uint32_t points_of(std::size_t index) const;
    [[nodiscard]] double largest() const;  // magnitude
    void scale(int exponent);              // by 2^exponent

private:
    std::size_t n_, dimension_;
    std::vector<double> values_;
};

// By a common power of two, so that no square overflows, or vanishes beside the largest.
void scale_alike(PointPanels& x, PointPanels& y);

// The squared distance of each point to its k-th nearest other one; 1 <= k < points.size().
[[nodiscard]] std::vector<double> square_radii(const PointPanels& points, std::size_t k, Poll poll);

struct BallCounts {
    std::uint64_t pairs = 0;     // (real ball, generated point inside)
    std::uint64_t covered = 0;   // real balls that hold a generated point
    std::uint64_t precise = 0;   // generated points inside a real ball
    std::uint64_t recalled = 0;  // real points inside a generated ball
};

// Without radii of the generated points nothing is recalled.
[[nodiscard]] BallCounts count_balls(const PointPanels& real, const std::vector<double>& real_radii,
                                     const PointPanels& generated,
                                     const std::vector<double>& generated_radii, Poll poll);

}  // namespace calibrant
