// The elementary functions of blocks. Included by kernels/rooms/ only, and under their
// rules.
#pragma once

#include "kernels/loops/kernel_parts.hpp"

namespace calibrant {
namespace {

void log_of(const double* x, std::size_t n, double* result) {
    for (std::size_t i = 0; i < n; ++i) result[i] = calibrant::log(x[i]);
}

void exp_of(const double* x, std::size_t n, double* result) {
    for (std::size_t i = 0; i < n; ++i) result[i] = calibrant::exp(x[i]);
}

void power_of(const double* x, std::size_t n, Power m, double* result) {
    for (std::size_t i = 0; i < n; ++i) result[i] = calibrant::power(x[i], m);
}

}  // namespace
}  // namespace calibrant
