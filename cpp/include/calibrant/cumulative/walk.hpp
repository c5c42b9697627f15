// The walk of cumulative differences: with rows in order of their scores s, hits y and weights w,
// after each distinct score the sum of w (y - s) over the rows so far. It starts at 0. Equal
// scores move together, so the order of rows within a tie cannot matter.
//
// All is exact, whatever the scores: a WalkSum holds multiples of 2^-124 of the unit of weight,
// which all scores from 2^-72 on are. Smaller ones come first in the order; while they last the
// walk is an ExactSum, which is slow only where such scores hit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/numeric/sum.hpp"

namespace calibrant {

// A signed number of 256 bits, in whatever units. Nothing overflows up to 2^252.
class WalkSum {
public:
    void add(UInt128 x, unsigned shift);  // x * 2^shift
    void subtract(UInt128 x, unsigned shift);
    WalkSum& operator+=(const WalkSum& other);
    WalkSum& operator-=(const WalkSum& other);
    friend bool operator<(const WalkSum& a, const WalkSum& b);

    void add_to(ExactSum& sum, std::int64_t exponent) const;  // this * 2^exponent
    [[nodiscard]] DoubleDouble value() const;

private:
    std::uint64_t limbs_[4] = {};  // two's complement, the lowest first
};

// How far a walk gets from where it starts.
struct Extremes {
    ExactSum highest, lowest;

    void see(const ExactSum& place);
    // Those of a walk that goes on from `start`.
    void see(const ExactSum& start, const Extremes& further);
};

class Walk {
public:
    static constexpr int grid = 124;
    static constexpr double least_gridded = 0x1p-72;

    // Weights are multiples of 2^unit_exponent.
    explicit Walk(int unit_exponent = 0) : unit_exponent_(unit_exponent) {}

    // All rows of one score, larger than those before; weight and hits in units.
    void step(double score, UInt128 weight, UInt128 hits);

    [[nodiscard]] Extremes extremes() const;
    [[nodiscard]] ExactSum place() const;
    // The place in units of weight, to 2^-100 of it or of the sum of scores below 2^-72.
    [[nodiscard]] DoubleDouble place_in_units() const;

private:
    void step_tiny(double score, UInt128 weight, UInt128 hits);
    [[nodiscard]] ExactSum exact(const WalkSum& sum) const;

    int unit_exponent_;
    WalkSum sum_, highest_, lowest_;  // without the scores in tiny_
    ExactSum tiny_;                   // of weight * score, in units, of scores that are not gridded
    Extremes seen_;                   // while scores were tiny
};

// The sum of w s (1 - s).
class ScoreVariance {
public:
    // Squares of smaller scores, or complements, are left out.
    static constexpr double least_squared = 0x1p-399;

    // n <= block_rows; weight nullptr: all are 1.
    void add(const double* score, const double* weight, std::size_t n);
    // Of all rows of one score; the weight in units of 2^unit_exponent.
    void add(double score, UInt128 weight, int unit_exponent);
    void merge(const ScoreVariance& other);
    [[nodiscard]] ExactSum total() const;

private:
    ExactSum near_, squares_;
};

// A statistic, the probability of one at least as large if the scores are right, and its logarithm.
struct TestResult {
    double statistic, pvalue, log_pvalue;
};

// By the laws of large samples, those of a Brownian motion (tails.hpp).
[[nodiscard]] TestResult ks_result(double statistic);
[[nodiscard]] TestResult kuiper_result(double statistic);

// What the tests of a walk need, and their results. The statistics are (largest |C|) / sigma and
// (range of C) / sigma, with C the walk over the weight, and sigma^2 the variance that C has at
// its end if each hit comes with the probability s; the weight cancels.
struct WalkTests {
    Extremes extremes;
    ExactSum variance;  // of w s (1 - s)
    ExactSum weight;
    std::uint64_t n = 0, omitted = 0;

    // Rounded once. Without variance, as all scores are 0 or 1, they are 0 if all went as
    // foreseen, and infinite else.
    [[nodiscard]] double ks() const;
    [[nodiscard]] double kuiper() const;
    [[nodiscard]] double sigma() const;
    // Throws InvalidInput where no row has weight.
    void require_weight() const;
};

// a / sqrt(variance); 0 where a is 0, infinite where only the variance is.
[[nodiscard]] double in_sigmas(const ExactSum& a, const ExactSum& variance);
[[nodiscard]] ExactSum largest_distance(const Extremes& extremes);
[[nodiscard]] ExactSum range(const Extremes& extremes);

}  // namespace calibrant
