// What crps_ensemble and the sliced energy score share: from sorted draws to a score.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "calibrant/numeric/double_double.hpp"
#include "kernels/ensemble_score_kernels.hpp"

namespace calibrant {

// Room for `count` values in the buffer, from the beginning of a cache line on: a row of a tile is
// one line, and to read and write across two takes twice as long.
template <class T>
[[nodiscard]] T* tile_in(std::vector<T>& buffer, std::size_t count) {
    constexpr std::size_t line = 64;
    buffer.resize(count + line / sizeof(T));
    void* begin = buffer.data();
    std::size_t space = buffer.size() * sizeof(T);
    return static_cast<T*>(std::align(line, count * sizeof(T), begin, space));
}

// U and A of ensemble_scores.hpp.
struct CrpsTerms {
    DoubleDouble outer, distance;
};

[[nodiscard]] CrpsTerms terms_of_lane(const CrpsLanes& sums, std::size_t lane);

// Of n draws; NaN or infinite where the terms are.
[[nodiscard]] double crps_of_terms(const CrpsTerms& terms, std::size_t n, double fair_share);

// Of one row of n >= 1 finite draws, which are sorted where they are: values has room for a
// multiple of double_lanes.
[[nodiscard]] double crps_of_row(double* values, std::size_t n, double y, double fair_share,
                                 std::vector<double>& scratch);

}  // namespace calibrant
