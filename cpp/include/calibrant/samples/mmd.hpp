// MMD, the maximum mean discrepancy of two samples (Gretton et al. 2012), squared.
//
//     biased     mean k(x, x') + mean k(y, y') - 2 mean k(x, y), over all pairs
//     unbiased   the same without the pairs of a point with itself
//     linear     the mean over i of k(x_2i, x_2i+1) + k(y_2i, y_2i+1) - k(x_2i, y_2i+1)
//                - k(x_2i+1, y_2i)
//     block      the mean of the unbiased one over blocks of consecutive rows
//
// Kernels: Gaussian exp(-|a - b|^2 / (2 h^2)), Laplace exp(-|a - b|_1 / h), polynomial
// (1 + a.b / d)^3. All sums are of k - 1, which none of the estimators tells from k, so that
// nothing is lost when h is large. Distances are sums of squares of differences, never differences
// of squares.
//
// Cost: points on a line take O(n log n) with a Laplace kernel (laplace_forms.hpp) and O(n), with
// 35 features a point, with a Gaussian one (gaussian_features.hpp). Vectors take all pairs, each
// once, in tiles, and O(n) memory. All sums of tiles are exact: the same bits on any number of
// threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "calibrant/rows/column.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

enum class MmdKernel : std::uint8_t { gaussian, laplace, polynomial };

// One coordinate of the points of a panel, which the kernels process together.
struct alignas(64) PanelRow {
    static constexpr std::size_t n = 8;
    double at[n] = {};
};

// Rows [begin, begin + count) of a column.
struct RowRange {
    const Column* column;
    std::size_t begin, count;
};

// Those of x, then those of y, in panels; whole blocks, filled up with zeros.
class PooledPoints {
public:
    // Throws InvalidInput at the first value that is not finite, of x, then of y.
    PooledPoints(RowRange x, RowRange y);

    [[nodiscard]] std::size_t n() const { return n_; }  // of x
    [[nodiscard]] std::size_t m() const { return m_; }
    [[nodiscard]] std::size_t size() const { return n_ + m_; }
    [[nodiscard]] std::size_t dimension() const { return dimension_; }
    [[nodiscard]] const double* panel(std::size_t index) const {
        return panels_[index * dimension_].at;
    }
    [[nodiscard]] const double* line() const { return panels_[0].at; }  // of dimension 1
    [[nodiscard]] double coordinate(std::size_t i, std::size_t k) const {
        return panels_[i / PanelRow::n * dimension_ + k].at[i % PanelRow::n];
    }
    // These points alone, as if all were of x.
    [[nodiscard]] PooledPoints some(const std::vector<std::uint32_t>& index) const;

private:
    PooledPoints(std::size_t n, std::size_t m, std::size_t dimension);

    std::size_t n_, m_, dimension_;
    std::vector<PanelRow> panels_;
};

// Sums of k - 1.
struct MmdSums {
    std::uint64_t n = 0, m = 0;
    double xx = 0.0, yy = 0.0;  // pairs of different points, each once
    double xy = 0.0;
    double x_self = 0.0, y_self = 0.0;  // of points with themselves

    [[nodiscard]] double biased() const;    // never below 0
    [[nodiscard]] double unbiased() const;  // needs two points of each
    // What rounding may change an estimate by.
    [[nodiscard]] double slack() const;
};

struct MmdSetting {
    MmdKernel kernel;
    std::vector<double> bandwidths;  // one, whatever it is, for the polynomial kernel
};

// One result a bandwidth. Several threads, if `most_workers` allows them.
[[nodiscard]] std::vector<MmdSums> mmd_sums(const PooledPoints& points, const MmdSetting& setting,
                                            std::size_t most_workers, Poll poll);

// The median of the distances of all pairs of different points (the mean of the middle two, if
// their number is even), Euclidean or, for the Laplace kernel, city-block. Points on a line: all.
// Vectors: of at most 2000 points, drawn at random by a fixed seed.
[[nodiscard]] double median_distance(const PooledPoints& points, MmdKernel kernel, Poll poll);

// A mean of independent terms, with its standard error (NaN for one term).
struct MeanOfTerms {
    double mean, standard_error;
    std::size_t count;
};

// x and y of the same length; a last odd row is left out. The mean kernel of all bandwidths.
[[nodiscard]] MeanOfTerms linear_mmd(const Column& x, const Column& y, const MmdSetting& setting,
                                     Poll poll);
// The same with blocks of `size` >= 2 rows; rows beyond the last whole block are left out.
[[nodiscard]] MeanOfTerms block_mmd(const Column& x, const Column& y, std::size_t size,
                                    const MmdSetting& setting, Poll poll);

// Ways to split n + m points into n and m: random ones, each a function of (seed, index) alone, or
// all there are.
class Splits {
public:
    Splits(std::size_t n, std::size_t m, std::size_t count, std::uint64_t seed);
    Splits(std::size_t n, std::size_t m);

    [[nodiscard]] std::size_t count() const { return count_; }
    // The first n of the result are the points of the first part; `order` is scratch.
    [[nodiscard]] const std::uint32_t* members(std::size_t index,
                                               std::vector<std::uint32_t>& order) const;

private:
    std::size_t n_, size_, count_;
    std::uint64_t seed_ = 0;
    std::vector<std::uint32_t> all_;  // of each split, the smaller part
};

// The sums of the samples, and of those that splits make of the same points, with the mean kernel
// of all bandwidths. Vectors: a tile of the kernel matrix is made once for all splits, and memory
// is O(n + splits) and a bit for each point and split.
class MmdNull {
public:
    MmdNull() = default;
    MmdNull(const MmdNull&) = delete;
    MmdNull& operator=(const MmdNull&) = delete;
    virtual ~MmdNull() = default;

    // Goes on for a fraction of a second or so; returns the share done so far, 1 at the end.
    [[nodiscard]] virtual double advance(Poll poll) = 0;
    // At the end.
    [[nodiscard]] virtual MmdSums observed() const = 0;
    [[nodiscard]] virtual MmdSums split(std::size_t index) const = 0;
};

[[nodiscard]] std::unique_ptr<MmdNull> make_mmd_null(PooledPoints points, MmdSetting setting,
                                                     Splits splits);

}  // namespace calibrant
