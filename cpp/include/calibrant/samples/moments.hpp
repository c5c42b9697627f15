// The first two moments of rows of features, exactly, from one pass.
//
// Moments keeps the sums of x_j and of all products x_j x_k; Vendi keeps those of the
// products alone, of rows scaled to length 1, which give the eigenvalues of the matrix of their
// cosine similarities (Friedman and Dieng 2023, arXiv:2210.02410).
//
// The sums are exact (sum.hpp): nothing cancels where the mean is large beside the spread, and any
// batches, merges and threads give the same bits. A row of d features costs d (d + 1) / 2 exact
// products, of about 1 ns each; the state takes about 100 bytes for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/column.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "calibrant/state/bytes.hpp"

namespace calibrant {

inline constexpr std::size_t most_features = 16384;

// The sums of x_j x_k over rows.
class ProductSums {
public:
    explicit ProductSums(std::size_t width) : width_(width), sums_(width * (width + 1) / 2) {}

    [[nodiscard]] std::size_t width() const { return width_; }
    [[nodiscard]] const ExactSum& at(std::size_t j, std::size_t k) const;  // k <= j
    // At most block_rows rows; feature j of row i at [j * block_rows + i].
    void add(const double* columns, std::size_t rows, Poll poll);
    void merge(const ProductSums& other);
    void write(Writer& out) const;
    // Throws CorruptState if no rows could have given these.
    static ProductSums read(Reader& in, std::size_t width);
    void require_cauchy_schwarz() const;

private:
    std::size_t width_;
    std::vector<ExactSum> sums_;
};

class Moments {
public:
    static constexpr Kind kind = Kind::moments;

    // Throws InvalidInput unless 1 <= width <= most_features.
    explicit Moments(std::size_t width);

    [[nodiscard]] std::uint64_t count() const { return n_; }
    [[nodiscard]] std::size_t width() const { return products_.width(); }
    [[nodiscard]] Moments empty() const { return Moments(width()); }

    // Throws InvalidInput at the first value that is not finite; some rows may then have been
    // added.
    void update(const Column& rows, std::uint64_t rows_before, Poll poll);
    void merge(const Moments& other);

    void mean(double* out) const;  // count() >= 1
    // Over count() - 1, which is at least 1; width x width.
    void covariance(double* out, Poll poll) const;

    [[nodiscard]] std::string to_bytes() const;
    static Moments from_bytes(std::string_view bytes);

private:
    std::uint64_t n_ = 0;
    std::vector<ExactSum> sums_;
    ProductSums products_;
};

class Vendi {
public:
    static constexpr Kind kind = Kind::vendi;

    explicit Vendi(std::size_t width);

    [[nodiscard]] std::uint64_t count() const { return n_; }
    [[nodiscard]] std::size_t width() const { return products_.width(); }
    [[nodiscard]] Vendi empty() const { return Vendi(width()); }

    // Rejects rows of zeros, too.
    void update(const Column& rows, std::uint64_t rows_before, Poll poll);
    void merge(const Vendi& other);

    // The mean of u u^T over rows u of length 1; width x width. count() >= 1.
    void second_moment(double* out) const;

    [[nodiscard]] std::string to_bytes() const;
    static Vendi from_bytes(std::string_view bytes);

private:
    std::uint64_t n_ = 0;
    ProductSums products_;
};

// Row by row, `rows.size` x `rows.width` values, scaled to length 1 on request. Throws
// InvalidInput at the first value that is not finite, and, if scaled, at the first row of zeros.
void copy_features(const Column& rows, const char* name, bool to_unit_length, double* out,
                   Poll poll);

}  // namespace calibrant
