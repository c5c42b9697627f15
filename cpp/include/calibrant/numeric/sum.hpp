// Exact sums: integer arithmetic, so that the order of rows, batches, threads and merges
// cannot matter. A result is rounded once, when it is read.
//
// FixedSum<grid> adds multiples of 2^-grid in 128 bits: for bounded terms, 16 bytes, checked
// against overflow. At grid 58 and terms up to 2^10 it holds 2^59 rows.
//
// ExactSum adds any finite doubles, scaled doubles and products of two, without any rounding:
// a superaccumulator (Neal 2015, arXiv:1505.05571) of 32-bit digits in 64-bit limbs that
// grows to the range of exponents it has seen, at most max_limbs; the first few need no memory of
// their own (limbs.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/numeric/limbs.hpp"

namespace calibrant {

class Reader;
class Writer;

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

// The value is (high + low) * 2^exponent: |high| in [1, 2), or 0; high is the value rounded
// to 53 bits, half to even, and low the rest, rounded in turn (to 2^-106 of the value).
struct Scaled {
    double high = 0.0, low = 0.0;
    std::int64_t exponent = 0;
};
[[nodiscard]] Scaled scaled_multiple(Int128 multiple, std::int64_t exponent);  // of 2^exponent

class ExactSum {
public:
    static constexpr std::size_t max_limbs = std::size_t{1} << 21;

    // Each throws std::length_error, and leaves the sum as it was, when the terms' exponents
    // lie further apart than max_limbs limbs can span; of the two block functions, some of
    // the block may then have been added.
    void add(double x, std::int64_t exponent = 0);  // x * 2^exponent, x finite
    void add(Int128 multiple, std::int64_t exponent);
    void add_product(double x, double y, std::int64_t exponent = 0);
    void add_block(const double* x, std::size_t n);  // n <= block_rows, all finite
    void add_products(const double* x, const double* y, std::size_t n);  // the same
    void merge(const ExactSum& other);
    void subtract(const ExactSum& other);
    friend ExactSum operator*(const ExactSum& a, const ExactSum& b);  // exact

    [[nodiscard]] Scaled value() const;
    [[nodiscard]] double to_double() const;  // correctly rounded, subnormals and infinity too
    [[nodiscard]] bool is_zero() const;
    [[nodiscard]] bool is_negative() const;

    // Canonical: equal sums give equal bytes, however they were formed.
    void write(Writer& out) const;
    // Rejects limbs beyond 2^(32 most_limbs) or below 2^(-32 most_limbs), so that sums and products
    // of what has been read cost little. By default it holds the products of four doubles.
    static ExactSum read(Reader& in, std::int64_t most_limbs = 160);

private:
    struct Canonical {
        bool negative = false;
        std::int64_t base = 0;              // digits[i] counts 2^(32 (base + i))
        std::vector<std::uint32_t> digits;  // no zero at either end
    };

    std::int64_t* limbs_from(std::int64_t first, std::int64_t count);
    void carry();
    void count_deposits(std::uint64_t count);
    [[nodiscard]] Canonical canonical() const;

    // The sum of limbs_[i] * 2^(32 (base_ + i)). A deposit changes a limb by less than 2^32,
    // so 2^30 of them fit before the carries must be passed on.
    Limbs limbs_;
    std::int64_t base_ = 0;
    std::uint64_t deposits_ = 0;
};

[[nodiscard]] inline ExactSum difference(ExactSum a, const ExactSum& b) {
    a.subtract(b);
    return a;
}

[[noreturn]] void throw_fixed_sum_overflow();

// Throws std::overflow_error, and keeps its total, where 128 bits do not suffice.
template <int grid>
class FixedSum {
public:
    void add(Int128 multiple) {
        Int128 sum;
        if (__builtin_add_overflow(total_, multiple, &sum)) throw_fixed_sum_overflow();
        total_ = sum;
    }
    void merge(const FixedSum& other) { add(other.total_); }
    [[nodiscard]] Int128 total() const { return total_; }
    void add_to(ExactSum& sum) const {
        if (total_ != 0) sum.add(total_, -grid);
    }
    [[nodiscard]] double to_double() const {
        ExactSum sum;
        add_to(sum);
        return sum.to_double();
    }

private:
    Int128 total_ = 0;
};

// a + b, or std::overflow_error. Counts are never allowed to wrap.
[[nodiscard]] std::uint64_t checked_add(std::uint64_t a, std::uint64_t b);

}  // namespace calibrant
