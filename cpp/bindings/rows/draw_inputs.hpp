// Draws, truths and references as Python gives them, turned into DrawRows.
#pragma once

#include <cstddef>
#include <optional>

#include "bindings/rows/inputs.hpp"
#include "calibrant/rows/draw_rows.hpp"

namespace calibrant::bindings {

// Keeps the arrays alive; like Input, made and freed with the GIL held.
class DrawInputs {
public:
    // Draws of shape (n, m) or (n, m, d) with a truth of shape (n,) or (n, d), and references None
    // or of the shape of the truth. Throws where kinds or shapes are wrong, naming the argument.
    DrawInputs(const py::object& draws, const py::object& truth, const py::object& references,
               bool omit_missing);
    DrawInputs(const DrawInputs&) = delete;  // rows_ points into it
    DrawInputs& operator=(const DrawInputs&) = delete;
    ~DrawInputs() = default;

    // For messages: that the caller has no nan_policy.
    void offer_no_omission() { rows_.may_be_omitted = false; }

    [[nodiscard]] const DrawRows& rows() const { return rows_; }
    [[nodiscard]] std::size_t n_values() const {
        return rows_.size() * rows_.n_draws() * rows_.n_dims;
    }
    // Of an array with all ranks.
    [[nodiscard]] py::array::ShapeContainer shape() const;

private:
    Input of_truths(const py::object& value, const char* name) const;

    std::optional<Input> draws_, truth_, references_;
    bool has_dims_ = false;
    DrawRows rows_;
};

}  // namespace calibrant::bindings
