#include "bindings/rows/interval_inputs.hpp"

#include <string>

#include "calibrant/rows/check.hpp"

namespace calibrant::bindings {
namespace {

void append_columns(const Input& bounds, std::vector<Column>& columns) {
    for (std::size_t j = 0; j < bounds.column().width; ++j) {
        columns.push_back(column_at(bounds.column(), j));
    }
}

std::string shape_of(const Input& input) {
    const std::string n = "(" + std::to_string(input.size()) + ",";
    return input.is_matrix() ? n + " " + std::to_string(input.column().width) + ")" : n + ")";
}

}  // namespace

IntervalInputs::IntervalInputs(const py::object& y_true, const py::object& lower,
                               const py::object& upper, bool is_pair,
                               const py::object& sample_weight, bool omit_missing,
                               bool swap_crossed) {
    const bool is_matrix = upper.is_none();
    if (!y_true.is_none()) y_true_ = as_column(y_true, "y_true", Shape::vector);
    lower_ = as_column(lower, is_pair ? "intervals[0]" : "intervals",
                       is_matrix ? Shape::matrix : Shape::vector_or_matrix);
    if (is_matrix) {
        if (lower_->column().width != 2) {
            throw InvalidInput("intervals must have shape (n, 2) or (n, 2, k), got shape " +
                               shape_of(*lower_));
        }
        rows_.lower.push_back(column_at(lower_->column(), 0));
        rows_.upper.push_back(column_at(lower_->column(), 1));
    } else {
        upper_ = as_column(upper, is_pair ? "intervals[1]" : "intervals", Shape::vector_or_matrix);
        if (shape_of(*lower_) != shape_of(*upper_)) {
            throw InvalidInput("lower and upper bounds must have one shape, got " +
                               shape_of(*lower_) + " and " + shape_of(*upper_));
        }
        append_columns(*lower_, rows_.lower);
        append_columns(*upper_, rows_.upper);
        rows_.has_levels = lower_->is_matrix();
    }
    if (rows_.n_levels() == 0) throw InvalidInput("intervals must have at least one level, got 0");
    if (y_true_) require_same_length("y_true", y_true_->size(), "intervals", lower_->size());
    if (!sample_weight.is_none()) {
        sample_weight_ = as_column(sample_weight, "sample_weight", Shape::vector);
        require_same_length("intervals", lower_->size(), "sample_weight", sample_weight_->size());
    }
    rows_.y_true = y_true_ ? &y_true_->column() : nullptr;
    rows_.sample_weight = sample_weight_ ? &sample_weight_->column() : nullptr;
    rows_.omit_missing = omit_missing;
    rows_.swap_crossed = swap_crossed;
    rows_.is_pair = is_pair;
}

void IntervalInputs::set_groups(const std::int32_t* codes, std::size_t size) {
    require_same_length("groups", size, "intervals", rows_.size());
    rows_.groups = codes;
}

}  // namespace calibrant::bindings
