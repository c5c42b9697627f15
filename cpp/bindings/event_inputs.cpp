#include "event_inputs.hpp"

#include <string>

#include "calibrant/check.hpp"

namespace calibrant::bindings {
namespace {

std::optional<Input> optional_column(const py::object& value, const char* name, Holds holds) {
    if (value.is_none()) return std::nullopt;
    return as_column(value, name, Shape::vector, holds);
}

const Column* column_of(const std::optional<Input>& input) {
    return input ? &input->column() : nullptr;
}

}  // namespace

EventInputs::EventInputs(const py::object& y_true, const py::object& y_proba,
                         const py::object& sample_weight, bool omit_missing, const char* proba_name,
                         bool may_be_omitted)
    : y_true_(optional_column(y_true, "y_true", Holds::labels)),
      y_proba_(as_column(y_proba, proba_name, y_true_ ? Shape::vector_or_matrix : Shape::vector)),
      sample_weight_(optional_column(sample_weight, "sample_weight", Holds::numbers)) {
    if (y_true_) require_same_length("y_true", y_true_->size(), proba_name, y_proba_->size());
    if (sample_weight_) {
        require_same_length(proba_name, y_proba_->size(), "sample_weight", sample_weight_->size());
    }
    if (y_proba_->is_matrix() && y_proba_->column().width < 2) {
        throw InvalidInput(std::string(proba_name) +
                           " of shape (n, k) needs k >= 2 classes, got k = " +
                           std::to_string(y_proba_->column().width) +
                           "; pass shape (n,) for the positive class of a binary problem");
    }
    events_.y_true = column_of(y_true_);
    events_.y_proba = y_proba_->column();
    events_.is_matrix = y_proba_->is_matrix();
    events_.sample_weight = column_of(sample_weight_);
    events_.omit_missing = omit_missing;
    events_.may_be_omitted = may_be_omitted;
    events_.proba_name = proba_name;
}

EventInputs::EventInputs(const py::object& y_true, std::size_t n_classes,
                         const py::object& sample_weight, bool omit_missing)
    : y_true_(as_column(y_true, "y_true", Shape::vector, Holds::labels)),
      sample_weight_(optional_column(sample_weight, "sample_weight", Holds::numbers)) {
    if (sample_weight_) {
        require_same_length("y_true", y_true_->size(), "sample_weight", sample_weight_->size());
    }
    events_.y_true = column_of(y_true_);
    events_.y_proba.size = y_true_->size();
    events_.y_proba.width = 0;
    events_.is_matrix = true;
    events_.label_classes = n_classes;
    events_.sample_weight = column_of(sample_weight_);
    events_.omit_missing = omit_missing;
}

}  // namespace calibrant::bindings
