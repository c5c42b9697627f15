#include "ensemble_scores/crps_sums.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/kernels.hpp"

namespace calibrant {
namespace {

constexpr std::size_t digit_bits = 11, n_digits = 6;  // 66 bits, more than there are
constexpr std::size_t digit_values = std::size_t{1} << digit_bits;

// Words in the order of the doubles, and back.
std::uint64_t word_of(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    return bits ^ ((bits >> 63) != 0 ? ~std::uint64_t{0} : std::uint64_t{1} << 63);
}

double from_word(std::uint64_t word) {
    return std::bit_cast<double>(word ^
                                 ((word >> 63) != 0 ? std::uint64_t{1} << 63 : ~std::uint64_t{0}));
}

// Digit by digit from the least, all digits counted in one pass; a digit that all share is skipped.
void radix_sort(double* values, std::size_t n, std::vector<double>& scratch) {
    scratch.resize(n);
    std::vector<std::array<std::uint32_t, digit_values>> counts(n_digits);
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t word = word_of(values[i]);
        for (std::size_t d = 0; d < n_digits; ++d) {
            ++counts[d][(word >> (digit_bits * d)) % digit_values];
        }
        values[i] = std::bit_cast<double>(word);
    }
    double* from = values;
    double* to = scratch.data();
    for (std::size_t d = 0; d < n_digits; ++d) {
        const auto digit_of = [&](double value) {
            return (std::bit_cast<std::uint64_t>(value) >> (digit_bits * d)) % digit_values;
        };
        if (counts[d][digit_of(from[0])] == n) continue;
        std::uint32_t place = 0;
        for (std::uint32_t& count : counts[d]) {
            const std::uint32_t here = count;
            count = place;
            place += here;
        }
        for (std::size_t i = 0; i < n; ++i) to[counts[d][digit_of(from[i])]++] = from[i];
        std::swap(from, to);
    }
    for (std::size_t i = 0; i < n; ++i) {
        values[i] = from_word(std::bit_cast<std::uint64_t>(from[i]));
    }
}

// |low| is far below |high|.
DoubleDouble renormalised(double high, double low) {
    const double sum = high + low;
    return {sum, low - (sum - high)};
}

// a / b, rounded once but for some 2^-100; cheaper than the quotient of DoubleDouble.
double quotient(DoubleDouble a, double b) {
    const double first = a.high / b;
    return first + (std::fma(-first, b, a.high) + a.low) / b;
}

// From here on a sum of 2^26 distances times 2^26 could overflow.
constexpr double large = 0x1p900;

}  // namespace

CrpsTerms terms_of_lane(const CrpsLanes& sums, std::size_t lane) {
    return {renormalised(sums.outer[lane], sums.outer_rest[lane]),
            renormalised(sums.distance[lane], sums.distance_rest[lane])};
}

double crps_of_terms(const CrpsTerms& terms, std::size_t n, double fair_share) {
    const auto m = static_cast<double>(n);
    const double pairs = m * m, different = m * (m - 1.0);
    const DoubleDouble outer{2.0 * terms.outer.high, 2.0 * terms.outer.low};
    if (fair_share == 1.0) return quotient(outer, different);
    const double sum = outer.high + terms.distance.high;
    const double part = sum - outer.high;
    const double error = (outer.high - (sum - part)) + (terms.distance.high - part);
    const DoubleDouble both{sum, error + (outer.low + terms.distance.low)};
    if (fair_share == 0.0) return quotient(both, pairs);
    const DoubleDouble share{fair_share, 0.0}, rest = DoubleDouble{1.0, 0.0} - share;
    const DoubleDouble fair = outer / DoubleDouble{different, 0.0};
    return (share * fair + rest * (both / DoubleDouble{pairs, 0.0})).high;
}

double crps_of_row(double* values, std::size_t n, double y, double fair_share,
                   std::vector<double>& scratch) {
    const auto [least, largest] = std::minmax_element(values, values + n);
    const double reach = std::max({std::abs(*least), std::abs(*largest), std::abs(y)});
    const double scale = reach < large ? 1.0 : 0x1p-200;
    for (std::size_t i = 0; scale != 1.0 && i < n; ++i) values[i] *= scale;
    y *= scale;
    if (n < 512) {
        std::sort(values, values + n);
    } else {
        radix_sort(values, n, scratch);
    }
    for (std::size_t i = n; i % double_lanes != 0; ++i) values[i] = y;
    CrpsLanes sums;
    kernels().ensemble_scores->sum_row(values, n, y, &sums);
    CrpsTerms total;
    for (std::size_t lane = 0; lane < double_lanes; ++lane) {
        const CrpsTerms part = terms_of_lane(sums, lane);
        total = {total.outer + part.outer, total.distance + part.distance};
    }
    return crps_of_terms(total, n, fair_share) / scale;
}

}  // namespace calibrant
