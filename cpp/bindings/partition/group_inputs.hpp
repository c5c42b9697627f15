// Group codes as Python gives them, checked.
#pragma once

#include <pybind11/numpy.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "calibrant/rows/check.hpp"
#include "ordering/grouped_scores.hpp"

namespace calibrant::bindings {

using Groups = pybind11::array_t<std::int32_t, pybind11::array::c_style>;

// Points into `groups`, which messages call by the name given, beside the rows. For those who check
// that codes are below n_groups as they read them.
inline GroupCodes codes_of_rows(const Groups& groups, std::size_t n_groups, std::size_t rows,
                                const std::string& rows_name = "y_proba",
                                const std::string& name = "groups") {
    if (groups.ndim() != 1 || static_cast<std::size_t>(groups.size()) != rows) {
        throw InvalidInput(name + " and " + rows_name + " must have the same length, got " +
                           std::to_string(groups.size()) + " and " + std::to_string(rows));
    }
    return {groups.data(), n_groups};
}

// The same, checked.
inline GroupCodes group_codes(const Groups& groups, std::size_t n_groups, std::size_t rows,
                              const std::string& name = "groups") {
    const GroupCodes checked = codes_of_rows(groups, n_groups, rows, "y_proba", name);
    const std::int32_t* const codes = groups.data();
    std::int32_t largest = -1;
    for (std::size_t row = 0; row < rows; ++row) largest = std::max(largest, codes[row]);
    if (largest >= 0 && static_cast<std::size_t>(largest) >= n_groups) {
        throw pybind11::index_error("no such group");
    }
    return checked;
}

}  // namespace calibrant::bindings
