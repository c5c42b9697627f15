// Walks of cumulative differences, and their tests, as Python has them.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "bindings/rows/arrays.hpp"
#include "bindings/runtime/gil.hpp"
#include "calibrant/cumulative/cumulative.hpp"

namespace calibrant::bindings {

// (statistic, pvalue, log_pvalue) of KS and of Kuiper, sigma, n, n_omitted.
inline py::tuple tests_as_tuple(const TestResult& ks, const TestResult& kuiper, double sigma,
                                std::uint64_t n, std::uint64_t omitted) {
    const auto numbers = [](const TestResult& test) {
        return py::make_tuple(test.statistic, test.pvalue, test.log_pvalue);
    };
    return py::make_tuple(numbers(ks), numbers(kuiper), sigma, n, omitted);
}

inline py::tuple as_tuple(const WalkTests& tests) {
    return with_ieee_environment([&] {
        return tests_as_tuple(ks_result(tests.ks()), kuiper_result(tests.kuiper()), tests.sigma(),
                              tests.n, tests.omitted);
    });
}

inline py::tuple as_tuple(const Differences& curve) {
    return py::make_tuple(as_array(curve.fractions), as_array(curve.scores), as_array(curve.values),
                          curve.sigma, curve.n, curve.omitted);
}

}  // namespace calibrant::bindings
