// The loops of draw_rows.hpp, one table an instruction set (kernels.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace calibrant {

// As wide as the values, so that lanes of values and of counts are the same.
template <class T>
struct CountOf;
template <>
struct CountOf<float> {
    using type = std::int32_t;
};
template <>
struct CountOf<double> {
    using type = std::int64_t;
};

template <class T>
struct RankLoops {
    using Count = typename CountOf<T>::type;

    // How many of n values lie below the truth, how many equal it, and whether one is NaN.
    // n < 2^31.
    void (*within)(const T* values, std::size_t n, T truth, std::int64_t* less, std::int64_t* equal,
                   bool* has_nan);
    // The same for `width` truths at once, value j of each of `rows` rows against truth j. Rows are
    // `stride` values apart. Adds to the counts; returns whether any value is NaN.
    bool (*across)(const T* values, std::ptrdiff_t stride, std::size_t rows, const T* truth,
                   std::size_t width, Count* less, Count* equal);
};

struct RankKernels {
    RankLoops<float> floats;
    RankLoops<double> doubles;
    // sums[i] += (values[i] - from)^2
    void (*add_squares)(const double* values, std::size_t n, double from, double* sums);
};

}  // namespace calibrant
