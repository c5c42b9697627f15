// HSIC of vectors: all pairs of rows, in blocks, with O(n) memory. The first pass has the means of
// the rows of both kernel matrices, the second the sums of products of centred entries, so that
// nothing cancels.
#pragma once

#include "calibrant/dependence/dependence.hpp"

namespace calibrant {

class DenseHsic {
public:
    DenseHsic(HsicSide x, HsicSide y, HsicKernel kernel, Poll poll);

    [[nodiscard]] HsicSums sums(HsicDepth depth) const;
    // With y[partner[i]] against x_i; on one thread.
    [[nodiscard]] double permuted_trace(const std::uint32_t* partner) const;

private:
    struct Side {
        const Points* points;
        double scale;
        std::vector<double> means;  // of the rows of k - 1
        double mean = 0.0;

        [[nodiscard]] double diagonal(std::size_t i) const { return mean - 2.0 * means[i]; }
    };

    void find_means(Side& side) const;
    void row(const Side& side, std::size_t i, std::size_t begin, std::size_t n, double* out) const;

    Side x_, y_;
    HsicKernel kernel_;
    Poll poll_;
};

}  // namespace calibrant
