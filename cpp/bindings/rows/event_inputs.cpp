#include "bindings/rows/event_inputs.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>

#include "bindings/runtime/gil.hpp"
#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"

namespace calibrant::bindings {
namespace {

std::optional<Input> optional_column(const py::object& value, const char* name, Holds holds) {
    if (value.is_none()) return std::nullopt;
    return as_column(value, name, Shape::vector, holds);
}

const Column* column_pointer(const std::optional<Input>& input) {
    return input ? &input->column() : nullptr;
}

bool is_probability(double p) { return p >= 0.0 && p <= 1.0; }

// The sum of two columns where it is a sum of probabilities.
bool sums_to_one(double first, double second) {
    return !is_probability(first) || !is_probability(second) ||
           std::abs(first + second - 1.0) <= row_sum_tolerance;
}

// Calls visit(row, first, second) -> bool for all rows, by several threads; returns the begin of
// a block of block_rows with the first row for which it is false.
template <class Visit>
std::size_t for_each_pair(const Column& pairs, const Visit& visit) {
    constexpr std::size_t chunk = 8 * block_rows;
    const std::size_t workers = workers_for(pairs.size, chunk);
    return for_each_chunk(pairs.size, chunk, workers, poll_signals,
                          [&](std::size_t, std::size_t begin, std::size_t end) {
                              double values[2 * block_rows];
                              for (std::size_t row = begin; row < end;) {
                                  const std::size_t count = std::min(block_rows, end - row);
                                  load_block(pairs, row, count, values);
                                  for (std::size_t i = 0; i < count; ++i, ++row) {
                                      if (!visit(row, values[2 * i], values[2 * i + 1]))
                                          return false;
                                  }
                              }
                              return true;
                          });
}

[[noreturn]] void reject_sum(const Column& pairs, std::size_t begin, const std::string& name) {
    double pair[2] = {0.0, 0.0};
    for (std::size_t row = begin; row < pairs.size; ++row) {
        load_row(pairs, row, pair);
        if (sums_to_one(pair[0], pair[1])) continue;
        throw InvalidInput(name + " of shape (n, 2) must have rows that sum to 1, found " +
                           number_text(pair[0], pairs.dtype) + " + " +
                           number_text(pair[1], pairs.dtype) + " at " + place_text({row}) +
                           "; pass the probability of class 1, of shape (n,), or "
                           "multi_class='top_label' to score two columns as those of k classes");
    }
    throw InvalidInput(name + " has changed while it was read");
}

template <class Value>
py::object column_where_valid(const Column& pairs) {
    py::array_t<Value> out(static_cast<py::ssize_t>(pairs.size));
    Value* const values = out.mutable_data();
    without_gil(pairs.size, [&] {
        for_each_pair(pairs, [&](std::size_t row, double first, double second) {
            values[row] = static_cast<Value>(is_probability(first) ? second : first);
            return true;
        });
    });
    return out;
}

}  // namespace

py::object positive_column(const py::object& y_proba, const char* name) {
    const Input input = as_column(y_proba, name, Shape::vector_or_matrix);
    const Column& pairs = input.column();
    if (!input.is_matrix() || pairs.width != 2) return py::none();
    std::atomic<bool> all_valid{true};
    const std::size_t failed = without_gil(pairs.size, [&] {
        return for_each_pair(pairs, [&](std::size_t, double first, double second) {
            if (!is_probability(first)) all_valid.store(false, std::memory_order_relaxed);
            return sums_to_one(first, second);
        });
    });
    if (failed != npos) reject_sum(pairs, failed, name);
    const bool is_array = Py_TYPE(y_proba.ptr()) == py::detail::npy_api::get().PyArray_Type_;
    if (all_valid && is_array) {
        return y_proba[py::make_tuple(py::slice(py::none(), py::none(), py::none()), 1)];
    }
    const bool is_float = pairs.dtype == Dtype::float32 || pairs.dtype == Dtype::float16;
    return is_float ? column_where_valid<float>(pairs) : column_where_valid<double>(pairs);
}

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
    events_.y_true = column_pointer(y_true_);
    events_.y_proba = y_proba_->column();
    events_.is_matrix = y_proba_->is_matrix();
    events_.sample_weight = column_pointer(sample_weight_);
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
    events_.y_true = column_pointer(y_true_);
    events_.y_proba.size = y_true_->size();
    events_.y_proba.width = 0;
    events_.is_matrix = true;
    events_.label_classes = n_classes;
    events_.sample_weight = column_pointer(sample_weight_);
    events_.omit_missing = omit_missing;
}

}  // namespace calibrant::bindings
