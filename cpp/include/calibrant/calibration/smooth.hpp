// Smooth calibration error: the residuals, label less score, smoothed along the score by a
// Gaussian of bandwidth sigma that is reflected at both ends, and the integral of what is left in
// absolute value (Blasiok and Nakkiran 2023, arXiv:2309.12236):
//
//   smECE(sigma) = integral over t in [0, 1] of |sum_i w_i (y_i - p_i) K(x_i, t)| / sum_i w_i
//
// On the unit scale x = p. On the logit scale x = (logit(p) + 8) / 16 with logit(p) cut to
// [-8, 8], and K has the bandwidth sigma / 4: 4 sigma in units of the logit, which is sigma in
// units of p at p = 1/2. smECE never rises with sigma, so that smECE(sigma) = sigma has one
// solution: it is the bandwidth where none is given.
//
// One pass over the rows shares each residual between the two nearest of 2^15 + 1 points of x, in
// integers, so that no order or split of the rows matters; the rest is serial arithmetic on those
// points. A bandwidth, in units of x, is at least 2^-10. The relative error of smECE(sigma) is
// about (2^-15 / sigma)^2 / 8 from sharing plus 2^-16 from the grid below, sigma in units of x.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

enum class SmoothScale { unit, logit };

// The least bandwidth, in units of the caller.
[[nodiscard]] double least_bandwidth(SmoothScale scale);

class SmoothResiduals {
public:
    static constexpr std::size_t n_cells = std::size_t{1} << 15;  // between n_cells + 1 points

    // Throws as Reliability::update does.
    SmoothResiduals(const ScoredRows& rows, SmoothScale scale, Poll poll);

    // bandwidth in [least_bandwidth, 1].
    [[nodiscard]] double error(double bandwidth) const;
    // At the bandwidth that equals it; at the least one, if it is smaller than that.
    [[nodiscard]] double error() const;

private:
    class Smoother;
    struct Mass {
        std::uint32_t point;
        double residual;
    };

    SmoothScale scale_;
    double weight_ = 0.0;  // of all rows, in [1, 2): residuals are scaled with it
    std::vector<Mass> masses_;
};

}  // namespace calibrant
