// Walks of cumulative differences, and their tests, as Python has them.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "bindings/rows/arrays.hpp"
#include "bindings/runtime/gil.hpp"
#include "calibrant/cumulative/cumulative.hpp"
#include "calibrant/numeric/tails.hpp"

namespace calibrant::bindings {

// (statistic, pvalue, log_pvalue) of KS and of Kuiper, sigma, n, n_omitted.
inline py::tuple tests_as_tuple(double ks, double kuiper, double sigma, std::uint64_t n,
                                std::uint64_t omitted) {
    return with_ieee_environment([&] {
        return py::make_tuple(
            py::make_tuple(ks, brownian_sup_sf(ks), brownian_sup_log_sf(ks)),
            py::make_tuple(kuiper, brownian_range_sf(kuiper), brownian_range_log_sf(kuiper)), sigma,
            n, omitted);
    });
}

inline py::tuple as_tuple(const WalkTests& tests) {
    return with_ieee_environment([&] {
        return tests_as_tuple(tests.ks(), tests.kuiper(), tests.sigma(), tests.n, tests.omitted);
    });
}

inline py::tuple as_tuple(const Differences& curve) {
    return py::make_tuple(as_array(curve.fractions), as_array(curve.scores), as_array(curve.values),
                          curve.sigma, curve.n, curve.omitted);
}

}  // namespace calibrant::bindings
