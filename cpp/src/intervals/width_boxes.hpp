// Gaussian quadratic forms of a 0/1 variable along the line, in linear time.
//
// Rows are (width, covered or not). With a the centred indicator and h the bandwidth,
//
//     form = sum_ij a_i a_j exp(-(w_i - w_j)^2 / (2 h^2))
//
// The line is cut into boxes of h/16, counted from 0, so that boxes of different batches and
// machines are the same. Of each box and each value of the indicator we keep a cell: the count
// and the sums of v^1 .. v^9, where v in [-1, 1] is the place inside the box. A row's terms are
// rounded to a grid (2^-62 for the first two powers, 2^-40 for the others) and summed as integers:
// any order of rows, batches, threads and merges gives the same cells.
//
// The form is a sum of squares: exp(-(x - y)^2 / 2) is the integral over t of
// exp(-(x - t)^2) exp(-(y - t)^2), and the trapezoidal rule with step 5/16 is good to 2e-22. So
// form = c sum_t G(t)^2 with G(t) = sum_i a_i exp(-(w_i - t)^2 / h^2), which the nine moments of
// the boxes within 6.25 h give by a Taylor series, to 2e-17 of the largest term. Where all rows lie
// within h, t is replaced by the powers of exp(xy), and the constant, which no centred variable
// sees, is left out: the result is accurate relative to itself for any h.
//
// One pass; memory is 152 bytes a cell; the form costs 0.2 microseconds a box.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/intervals/coverage_hsic.hpp"
#include "calibrant/numeric/sum.hpp"

namespace calibrant {

// exp(-1 / (2 h^2)) and its complement's accurate half: 1 - exp(-x).
[[nodiscard]] double one_minus_exp(double x);

// Sums over rows, scaled by powers of n so that weights are whole numbers: with n0 rows uncovered
// and n1 covered, n a_i is n0 for the covered and -n1 for the others.
struct BoxForms {
    double centred = 0.0;  // n^2 a' K a
    double all = 0.0;      // 1' K 1, only on request
    double squares = 0.0;  // n^2 1' K (a_i^2), only on request
};

// Boxes in increasing order, one after the other.
class BoxFormer {
public:
    BoxFormer(std::uint64_t uncovered, std::uint64_t covered, bool with_all);

    void add(std::int64_t key, const BoxCell& cell);
    [[nodiscard]] BoxForms finish();

private:
    static constexpr std::size_t n_moments = BoxCell::n_powers + 1;
    static constexpr std::size_t n_nodes = 41;  // within reach of a box
    static constexpr std::size_t ring = 64;

    // Of centred, covered and uncovered rows.
    struct Box {
        std::int64_t index = 0;
        std::array<std::array<double, n_moments>, 3> moments{};
    };
    // A sum of doubles with its error, for squares in a fixed order.
    struct Compensated {
        double sum = 0.0, error = 0.0;
        void add(double x);
    };

    void close_box();
    void spread(const Box& box);
    void retire_below(std::int64_t node);
    [[nodiscard]] double near_form() const;

    double uncovered_, covered_;
    Int128 whole_uncovered_, whole_covered_;
    bool with_all_;
    std::size_t n_vectors_;
    BoxCell pair_[2];  // of the box under way
    bool open_ = false;
    std::int64_t index_ = 0, first_ = 0;
    std::vector<Box> near_;  // all boxes, while they lie within h
    bool is_near_ = true;
    std::int64_t base_ = 0;  // lowest node in the ring
    bool started_ = false;
    std::array<std::array<double, ring>, 3> nodes_{};
    Compensated centred_, all_, squares_;
};

}  // namespace calibrant
