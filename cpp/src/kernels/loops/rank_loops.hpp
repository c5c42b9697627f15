// The kernels of draw_rows.hpp. Included by kernels/rooms/ only, and under their rules.
#pragma once

#include "kernels/loops/kernel_parts.hpp"
#include "kernels/rank_kernels.hpp"

namespace calibrant {
namespace {

template <class T>
void count_within(const T* values, std::size_t n, T truth, std::int64_t* less, std::int64_t* equal,
                  bool* has_nan) {
    using Count = typename CountOf<T>::type;
    Count below = 0, same = 0, nan = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const T x = values[i];
        below += x < truth ? 1 : 0;
        same += x == truth ? 1 : 0;
        nan |= x != x ? 1 : 0;
    }
    *less = below;
    *equal = same;
    *has_nan = nan != 0;
}

// Four rows at a time, so that counts are read and written once for four values.
template <class T>
bool count_across(const T* __restrict values, std::ptrdiff_t stride, std::size_t rows,
                  const T* __restrict truth, std::size_t width,
                  typename CountOf<T>::type* __restrict less,
                  typename CountOf<T>::type* __restrict equal) {
    using Count = typename CountOf<T>::type;
    Count nan = 0;
    std::size_t row = 0;
    for (; row + 4 <= rows; row += 4, values += 4 * stride) {
        const T *const second = values + stride, *const third = second + stride;
        const T* const fourth = third + stride;
        for (std::size_t j = 0; j < width; ++j) {
            const T t = truth[j], a = values[j], b = second[j], c = third[j], d = fourth[j];
            less[j] += (a < t ? 1 : 0) + (b < t ? 1 : 0) + (c < t ? 1 : 0) + (d < t ? 1 : 0);
            equal[j] += (a == t ? 1 : 0) + (b == t ? 1 : 0) + (c == t ? 1 : 0) + (d == t ? 1 : 0);
            nan |= (a != a ? 1 : 0) | (b != b ? 1 : 0) | (c != c ? 1 : 0) | (d != d ? 1 : 0);
        }
    }
    for (; row < rows; ++row, values += stride) {
        for (std::size_t j = 0; j < width; ++j) {
            const T x = values[j];
            less[j] += x < truth[j] ? 1 : 0;
            equal[j] += x == truth[j] ? 1 : 0;
            nan |= x != x ? 1 : 0;
        }
    }
    return nan != 0;
}

void add_squares(const double* __restrict values, std::size_t n, double from,
                 double* __restrict sums) {
    for (std::size_t i = 0; i < n; ++i) {
        const double difference = values[i] - from;
        sums[i] += difference * difference;
    }
}

constexpr RankKernels rank_kernels{{count_within<float>, count_across<float>},
                                   {count_within<double>, count_across<double>},
                                   add_squares};

}  // namespace
}  // namespace calibrant
