// What intervals and sets share on their way to Python: frequencies and codes of groups.
#pragma once

#include <pybind11/numpy.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "bindings/rows/set_inputs.hpp"
#include "bindings/runtime/gil.hpp"
#include "calibrant/rows/check.hpp"
#include "numeric/frequency.hpp"

namespace calibrant::bindings {

inline void check_groups(const RowGroups& groups, std::size_t n_groups) {
    if (groups.ndim() != 1) throw py::index_error("groups must have one dimension");
    const std::int32_t* const end = groups.data() + groups.size();
    const std::int32_t* const largest = std::max_element(groups.data(), end);
    if (largest != end && *largest >= 0 && static_cast<std::size_t>(*largest) >= n_groups) {
        throw py::index_error("no such group");
    }
}

// (value, low, high); the whole must have weight.
inline std::tuple<double, double, double> frequency_of(const ExactSum& part, const ExactSum& whole,
                                                       bool exact, double tail,
                                                       double normal_quantile) {
    if (whole.is_zero()) throw InvalidInput("no row has weight");
    const Frequency found = with_ieee_environment([&] {
        return exact ? clopper_pearson(part, whole, tail, normal_quantile)
                     : wilson(part, whole, normal_quantile);
    });
    return {found.value, found.low, found.high};
}

}  // namespace calibrant::bindings
