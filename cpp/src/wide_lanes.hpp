// As many doubles as a register of the instruction set holds. Included by kernels only, and under
// their rules.
#pragma once

#include "class_kernels.hpp"

namespace calibrant {
namespace {

#ifdef __AVX512F__
constexpr std::size_t wide_width = 8;
#else
constexpr std::size_t wide_width = n_lanes;
#endif
using WideLanes = double __attribute__((vector_size(wide_width * sizeof(double))));

[[gnu::always_inline]] inline WideLanes load_wide(const double* from) {
    WideLanes values;
    __builtin_memcpy(&values, from, sizeof values);
    return values;
}

}  // namespace
}  // namespace calibrant
