// Outcomes, bounds and weights as Python gives them, turned into IntervalRows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "bindings/rows/inputs.hpp"
#include "calibrant/rows/interval_rows.hpp"

namespace calibrant::bindings {

// Keeps the arrays alive; like Input, made and freed with the GIL held.
class IntervalInputs {
public:
    // Bounds are (n, 2) in `lower`, with `upper` None; or two arrays of one shape, (n,) or (n, k).
    // is_pair says that the user gave two. y_true None: the intervals alone. Throws where kinds,
    // shapes or lengths are wrong, naming the argument.
    IntervalInputs(const py::object& y_true, const py::object& lower, const py::object& upper,
                   bool is_pair, const py::object& sample_weight, bool omit_missing,
                   bool swap_crossed);
    IntervalInputs(const IntervalInputs&) = delete;  // rows_ points into it
    IntervalInputs& operator=(const IntervalInputs&) = delete;
    ~IntervalInputs() = default;

    // As many codes as rows, which must outlive this.
    void set_groups(const std::int32_t* codes, std::size_t size);

    [[nodiscard]] const IntervalRows& rows() const { return rows_; }
    // How many values there are to read.
    [[nodiscard]] std::size_t n_values() const { return rows_.size() * (2 * rows_.n_levels() + 1); }

private:
    std::optional<Input> y_true_, lower_, upper_, sample_weight_;
    IntervalRows rows_;
};

}  // namespace calibrant::bindings
