// The kernels of score_cells.hpp. Included by kernels/rooms/ only, and under their rules.
#pragma once

#include "kernels/loops/kernel_parts.hpp"
#include "kernels/score_cells.hpp"

namespace calibrant {
namespace {

bool split(const double* score, std::size_t n, std::int64_t* high, std::int64_t* low) {
    std::uint64_t left_out = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const bool tiny = score[i] < least_gridded;
        const double x = select(tiny, 0.0, score[i]);
        left_out |= bits_of(score[i] - x);
        const double shifted = x + snap_shift<40>;
        high[i] = static_cast<std::int64_t>(bits_of(shifted) - bits_of(snap_shift<40>));
        const double rest = (x - (shifted - snap_shift<40>)) + snap_shift<80>;
        low[i] = static_cast<std::int64_t>(bits_of(rest) - bits_of(snap_shift<80>));
    }
    return left_out != 0;
}

void places(const double* score, std::size_t n, std::uint32_t* cell, std::int64_t* offset) {
    for (std::size_t i = 0; i < n; ++i) {
        const ScorePlace place = place_of_score(score[i]);
        cell[i] = place.cell;
        offset[i] = place.offset;
    }
}

void cells_of(const double* score, std::size_t n, std::uint32_t* cell) {
    for (std::size_t i = 0; i < n; ++i) cell[i] = place_of_score(score[i]).cell;
}

}  // namespace
}  // namespace calibrant
