#include "calibrant/samples/moments.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {
namespace {

std::size_t checked_width(std::size_t width) {
    if (width >= 1 && width <= most_features) return width;
    throw InvalidInput("n_features must lie in [1, " + std::to_string(most_features) + "], got " +
                       std::to_string(width));
}

void require_same_width(std::size_t mine, std::size_t other) {
    if (mine == other) return;
    throw std::invalid_argument("cannot merge states of " + std::to_string(mine) + " and " +
                                std::to_string(other) + " features");
}

void require_width(const Column& rows, std::size_t width) {
    if (rows.width == width) return;
    throw InvalidInput("features must have " + std::to_string(width) + " columns, found " +
                       std::to_string(rows.width));
}

void require_finite(const double* row, std::size_t width, const char* name, Row where,
                    Dtype dtype) {
    std::uint64_t bad = 0;  // x - x is 0 or, of what is not finite, NaN
    for (std::size_t k = 0; k < width; ++k) bad |= std::bit_cast<std::uint64_t>(row[k] - row[k]);
    for (std::size_t k = 0; bad != 0 && k < width; ++k) {
        if (std::isfinite(row[k])) continue;
        where.column = k;
        reject_not_finite(name, row[k], where, dtype);
    }
}

// A sum of squares, rounded once. What lies below 2^(exponent - 103) decides ties alone, as the
// largest square is 2^(exponent - 1) or more.
double rounded(const ProductBlock& block) {
    constexpr int bits = 52;
    constexpr std::int64_t mask = (std::int64_t{1} << bits) - 1;
    const Int128 leading =
        (static_cast<Int128>(block.sums[0]) << bits) + block.sums[1] + (block.sums[2] >> bits);
    const bool below = (block.sums[2] & mask) != 0;
    const Scaled sum = scaled_multiple(2 * leading + (below ? 1 : 0), block.exponent - 104);
    return std::ldexp(sum.high, static_cast<int>(sum.exponent));
}

double sum_of_squares(const double* x, std::size_t n) {
    ProductBlock block;
    if (n <= block_rows && kernels().sum_products(x, x, n, &block)) return rounded(block);
    ExactSum squares;
    for (std::size_t k = 0; k < n; k += block_rows) {
        squares.add_products(x + k, x + k, std::min(block_rows, n - k));
    }
    return squares.to_double();
}

double largest_magnitude(const double* x, std::size_t n) {
    double largest = 0.0;
    for (std::size_t k = 0; k < n; k += block_rows) {
        double below = 0.0, above = 0.0;
        kernels().range(x + k, std::min(block_rows, n - k), &below, &above);
        largest = std::max({largest, -below, above});
    }
    return largest;
}

// The length is rounded once, hence the same on every machine. Returns false for zeros.
bool scale_to_unit_length(double* row, std::size_t width) {
    const double largest = largest_magnitude(row, width);
    if (largest == 0.0) return false;
    const int exponent = -std::ilogb(largest);  // squares can then neither overflow nor vanish
    if (std::abs(exponent) <
        1000) {  // the power is a double, and the product rounded as ldexp does
        const double power = std::ldexp(1.0, exponent);
        for (std::size_t k = 0; k < width; ++k) row[k] *= power;
    } else {
        for (std::size_t k = 0; k < width; ++k) row[k] = std::ldexp(row[k], exponent);
    }
    const double length = std::sqrt(sum_of_squares(row, width));
    for (std::size_t k = 0; k < width; ++k) row[k] /= length;
    return true;
}

void load_feature_row(const Column& rows, std::size_t i, const char* name, bool to_unit_length,
                      std::uint64_t rows_before, double* row) {
    load_row(rows, i, row);
    const Row where{i, std::nullopt, rows_before, false};
    require_finite(row, rows.width, name, where, rows.dtype);
    if (to_unit_length && !scale_to_unit_length(row, rows.width)) {
        reject(name, "have a direction in every row", "nothing but zeros", where);
    }
}

// Calls use(columns, n) for blocks of rows, feature j of row i at columns[j * block_rows + i].
// Several rows are turned into columns at once: all columns fall on the same lines of a cache.
template <class Use>
void for_each_block(const Column& rows, bool to_unit_length, std::uint64_t rows_before, Use use) {
    constexpr std::size_t at_once = 8;
    const std::size_t width = rows.width;
    std::vector<double> tile(width * at_once), columns(width * block_rows);
    for (std::size_t begin = 0; begin < rows.size; begin += block_rows) {
        const std::size_t n = std::min(block_rows, rows.size - begin);
        for (std::size_t i = 0; i < n; i += at_once) {
            const std::size_t count = std::min(at_once, n - i);
            for (std::size_t t = 0; t < count; ++t) {
                load_feature_row(rows, begin + i + t, "features", to_unit_length, rows_before,
                                 &tile[t * width]);
            }
            for (std::size_t k = 0; k < width; ++k) {
                double* const column = &columns[k * block_rows + i];
                for (std::size_t t = 0; t < count; ++t) column[t] = tile[t * width + k];
            }
        }
        use(columns.data(), n);
    }
}

// numerator / denominator, wherever the two lie.
double quotient(const ExactSum& numerator, double denominator) {
    const Scaled value = numerator.value();
    const auto exponent = std::clamp<std::int64_t>(value.exponent, -4000, 4000);
    return std::ldexp(value.high / denominator, static_cast<int>(exponent));
}

ExactSum sum_of(std::uint64_t n) {
    ExactSum sum;
    sum.add(static_cast<Int128>(n), 0);
    return sum;
}

[[noreturn]] void reject_state(const char* what) {
    throw CorruptState(std::string("malformed state: ") + what);
}

std::size_t read_width(Reader& in) {
    const std::uint64_t width = in.u64();
    if (width < 1 || width > most_features || width * (width + 1) / 2 > in.remaining()) {
        reject_state("number of features out of range");
    }
    return width;
}

}  // namespace

const ExactSum& ProductSums::at(std::size_t j, std::size_t k) const {
    return sums_[j * (j + 1) / 2 + k];
}

void ProductSums::add(const double* columns, std::size_t rows, Poll poll) {
    for_each_chunk(
        width_, 1, workers_for(width_, 16), poll, [&](std::size_t, std::size_t j, std::size_t) {
            ExactSum* const sums = &sums_[j * (j + 1) / 2];
            for (std::size_t k = 0; k <= j; ++k) {
                sums[k].add_products(columns + j * block_rows, columns + k * block_rows, rows);
            }
            return true;
        });
}

void ProductSums::merge(const ProductSums& other) {
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i].merge(other.sums_[i]);
}

void ProductSums::write(Writer& out) const {
    for (const ExactSum& sum : sums_) sum.write(out);
}

ProductSums ProductSums::read(Reader& in, std::size_t width) {
    ProductSums result(width);
    for (ExactSum& sum : result.sums_) sum = ExactSum::read(in);
    for (std::size_t j = 0; j < width; ++j) {
        if (result.at(j, j).is_negative()) reject_state("negative sum of squares");
    }
    return result;
}

// Sums of products of two columns are at most as large as those of their squares allow.
void ProductSums::require_cauchy_schwarz() const {
    std::vector<double> lengths(width_);
    for (std::size_t j = 0; j < width_; ++j) lengths[j] = std::sqrt(at(j, j).to_double());
    for (std::size_t j = 0; j < width_; ++j) {
        for (std::size_t k = 0; k < j; ++k) {
            const double most = lengths[j] * lengths[k] * (1.0 + 0x1p-40) + 0x1p-1000;
            if (!(std::fabs(at(j, k).to_double()) <= most))
                reject_state("products larger than their squares allow");
        }
    }
}

Moments::Moments(std::size_t width) : sums_(checked_width(width)), products_(width) {}

void Moments::update(const Column& rows, std::uint64_t rows_before, Poll poll) {
    require_width(rows, width());
    for_each_block(rows, false, rows_before, [&](const double* columns, std::size_t n) {
        n_ = checked_add(n_, n);
        for (std::size_t j = 0; j < width(); ++j) sums_[j].add_block(columns + j * block_rows, n);
        products_.add(columns, n, poll);
    });
}

void Moments::merge(const Moments& other) {
    require_same_width(width(), other.width());
    Moments merged = *this;  // all or nothing
    merged.n_ = checked_add(n_, other.n_);
    for (std::size_t j = 0; j < width(); ++j) merged.sums_[j].merge(other.sums_[j]);
    merged.products_.merge(other.products_);
    *this = std::move(merged);
}

void Moments::mean(double* out) const {
    for (std::size_t j = 0; j < width(); ++j) out[j] = quotient(sums_[j], static_cast<double>(n_));
}

void Moments::covariance(double* out, Poll poll) const {
    const ExactSum n = sum_of(n_);
    const double pairs = static_cast<double>(n_) * static_cast<double>(n_ - 1);
    for_each_chunk(width(), 1, workers_for(width(), 16), poll,
                   [&](std::size_t, std::size_t j, std::size_t) {
                       for (std::size_t k = 0; k <= j; ++k) {
                           ExactSum numerator = n * products_.at(j, k);
                           numerator.subtract(sums_[j] * sums_[k]);
                           const double value = quotient(numerator, pairs);
                           out[j * width() + k] = out[k * width() + j] = value;
                       }
                       return true;
                   });
}

std::string Moments::to_bytes() const {
    Writer out;
    out.u64(width());
    out.u64(n_);
    for (const ExactSum& sum : sums_) sum.write(out);
    products_.write(out);
    return seal(kind, 1, out);
}

Moments Moments::from_bytes(std::string_view bytes) {
    Reader in = open(bytes, kind, 1);
    const std::size_t width = read_width(in);
    Moments result(width);
    result.n_ = in.u64();
    for (ExactSum& sum : result.sums_) sum = ExactSum::read(in);
    result.products_ = ProductSums::read(in, width);
    in.finish();
    const ExactSum n = sum_of(result.n_);
    for (std::size_t j = 0; j < width; ++j) {
        ExactSum spread = n * result.products_.at(j, j);
        spread.subtract(result.sums_[j] * result.sums_[j]);
        if (spread.is_negative()) reject_state("squares too small for their mean");
    }
    return result;
}

Vendi::Vendi(std::size_t width) : products_(checked_width(width)) {}

void Vendi::update(const Column& rows, std::uint64_t rows_before, Poll poll) {
    require_width(rows, width());
    for_each_block(rows, true, rows_before, [&](const double* columns, std::size_t n) {
        n_ = checked_add(n_, n);
        products_.add(columns, n, poll);
    });
}

void Vendi::merge(const Vendi& other) {
    require_same_width(width(), other.width());
    Vendi merged = *this;  // all or nothing
    merged.n_ = checked_add(n_, other.n_);
    merged.products_.merge(other.products_);
    *this = std::move(merged);
}

void Vendi::second_moment(double* out) const {
    for (std::size_t j = 0; j < width(); ++j) {
        for (std::size_t k = 0; k <= j; ++k) {
            const double value = quotient(products_.at(j, k), static_cast<double>(n_));
            out[j * width() + k] = out[k * width() + j] = value;
        }
    }
}

std::string Vendi::to_bytes() const {
    Writer out;
    out.u64(width());
    out.u64(n_);
    products_.write(out);
    return seal(kind, 1, out);
}

Vendi Vendi::from_bytes(std::string_view bytes) {
    Reader in = open(bytes, kind, 1);
    const std::size_t width = read_width(in);
    Vendi result(width);
    result.n_ = in.u64();
    result.products_ = ProductSums::read(in, width);
    in.finish();
    ExactSum trace;
    for (std::size_t j = 0; j < width; ++j) trace.merge(result.products_.at(j, j));
    const auto n = static_cast<double>(result.n_);
    if (!(std::fabs(trace.to_double() - n) <= 0x1p-40 * n)) {
        reject_state("squares that do not sum to the number of rows");
    }
    result.products_.require_cauchy_schwarz();
    return result;
}

void copy_features(const Column& rows, const char* name, bool to_unit_length, double* out,
                   Poll poll) {
    constexpr std::size_t chunk = 64;
    const auto copy = [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            load_feature_row(rows, i, name, to_unit_length, 0, out + i * rows.width);
        }
        return true;
    };
    for_each_chunk(rows.size, chunk, workers_for(rows.size, 16 * chunk), poll, copy);
}

}  // namespace calibrant
