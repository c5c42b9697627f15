// Outcomes, prediction sets and weights as Python gives them, turned into SetRows.
#pragma once

#include <pybind11/numpy.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bindings/rows/inputs.hpp"
#include "calibrant/rows/check.hpp"
#include "calibrant/rows/set_rows.hpp"

namespace calibrant::bindings {

// The group of each row; rows of a negative one are omitted.
using RowGroups = py::array_t<std::int32_t, py::array::c_style>;

using Offsets = py::array_t<std::int64_t, py::array::c_style>;
using SetCodes = py::array_t<std::int32_t, py::array::c_style>;

// Keeps the arrays alive; like Input, made and freed with the GIL held.
class SetInputs {
public:
    // `arrays` are the matrices of the levels; or offsets and codes; or the words.
    SetInputs(const py::object& y_true, const std::string& form, const py::list& arrays,
              const py::object& sample_weight, const py::object& groups, bool omit_missing) {
        if (form == "indicators") read_indicators(arrays);
        if (form == "lists") read_lists(arrays);
        if (form == "masks") read_masks(arrays);
        if (!y_true.is_none()) {
            y_true_ = as_column(y_true, "y_true", Shape::vector, Holds::labels);
            require_same_length("y_true", y_true_->size(), "sets", rows_.size);
            rows_.y_true = &y_true_->column();
        }
        if (!sample_weight.is_none()) {
            sample_weight_ = as_column(sample_weight, "sample_weight", Shape::vector);
            require_same_length("sets", rows_.size, "sample_weight", sample_weight_->size());
            rows_.sample_weight = &sample_weight_->column();
        }
        if (!groups.is_none()) {
            groups_ = groups.cast<RowGroups>();
            require_same_length("groups", static_cast<std::size_t>(groups_.size()), "sets",
                                rows_.size);
            rows_.groups = groups_.data();
        }
        rows_.omit_missing = omit_missing;
    }
    SetInputs(const SetInputs&) = delete;  // rows_ points into it
    SetInputs& operator=(const SetInputs&) = delete;
    ~SetInputs() = default;

    [[nodiscard]] const SetRows& rows() const { return rows_; }
    [[nodiscard]] const RowGroups& groups() const { return groups_; }
    [[nodiscard]] std::size_t n_values() const {
        const bool lists = rows_.form == SetForm::lists;
        const auto entries = static_cast<std::size_t>(codes_.size());
        return rows_.size +
               (lists ? entries : rows_.size * rows_.n_levels() * rows_.n_classes() / 8);
    }

private:
    void read_indicators(const py::list& arrays) {
        for (const py::handle& array : arrays) {
            const Input& input = matrices_.emplace_back(as_column(array, "sets", Shape::matrix));
            const Dtype dtype = input.column().dtype;
            if (dtype != Dtype::boolean && dtype != Dtype::bits) {
                throw py::type_error(
                    "sets of shape (n, k) must be boolean, or uint64 words of bits; "
                    "pass sets.astype(bool) if they hold 0 and 1");
            }
            rows_.indicators.push_back(input.column());
        }
        if (rows_.indicators.empty())
            throw InvalidInput("sets must have at least one level, got 0");
        if (rows_.n_classes() == 0) throw InvalidInput("sets must have at least one class, got 0");
        rows_.size = matrices_.front().size();
    }

    void read_lists(const py::list& arrays) {
        offsets_ = arrays[0].cast<Offsets>();
        codes_ = arrays[1].cast<SetCodes>();
        const std::int64_t* const at = offsets_.data();
        const py::ssize_t n = offsets_.size();
        bool sound = n > 0 && at[0] >= 0 && at[n - 1] <= codes_.size();
        for (py::ssize_t i = 1; sound && i < n; ++i) sound = at[i - 1] <= at[i];
        if (!sound) throw InvalidInput("the offsets of sets must not fall, or leave the values");
        rows_.form = SetForm::lists;
        rows_.size = static_cast<std::size_t>(n) - 1;
        rows_.lists = side_by_side(at, rows_.size, 2, Dtype::int64);
        rows_.lists.stride = sizeof(std::int64_t);  // where a row ends, the next one begins
        rows_.codes = codes_.data();
    }

    void read_masks(const py::list& arrays) {
        const Input& input =
            matrices_.emplace_back(as_column(arrays[0], "sets", Shape::vector_or_matrix));
        if (input.column().dtype != Dtype::uint64 || input.column().swapped ||
            input.column().validity != nullptr) {
            throw py::type_error("masks of sets must be native uint64 words");
        }
        rows_.form = SetForm::masks;
        rows_.masks = input.column();
        rows_.size = input.size();
        if (rows_.n_classes() == 0) throw InvalidInput("sets must have at least one word, got 0");
    }

    std::vector<Input> matrices_;
    Offsets offsets_;
    SetCodes codes_;
    RowGroups groups_;
    std::optional<Input> y_true_, sample_weight_;
    SetRows rows_;
};

}  // namespace calibrant::bindings
