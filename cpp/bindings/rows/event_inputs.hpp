// Labels, probabilities and weights as Python gives them, turned into Events.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "bindings/rows/inputs.hpp"
#include "calibrant/rows/events.hpp"

namespace calibrant::bindings {

// Keeps the arrays alive; like Input, made and freed with the GIL held.
class EventInputs {
public:
    // y_true None: bare probabilities. Throws where kinds, shapes or lengths are wrong, naming
    // the argument; proba_name must outlive this.
    // may_be_omitted: the caller's own signature offers nan_policy.
    EventInputs(const py::object& y_true, const py::object& y_proba,
                const py::object& sample_weight, bool omit_missing,
                const char* proba_name = "y_proba", bool may_be_omitted = true);
    // Labels without probabilities.
    EventInputs(const py::object& y_true, std::size_t n_classes, const py::object& sample_weight,
                bool omit_missing);
    EventInputs(const EventInputs&) = delete;  // events_ points into it
    EventInputs& operator=(const EventInputs&) = delete;
    ~EventInputs() = default;

    [[nodiscard]] const Events& events() const { return events_; }
    // How many probabilities there are to read; or labels, if there are only those.
    [[nodiscard]] std::size_t n_values() const {
        return events_.size() * std::max<std::size_t>(events_.y_proba.width, 1);
    }

private:
    std::optional<Input> y_true_, y_proba_, sample_weight_;
    Events events_;
};

// The positive column of a binary problem that was given as two columns: None if y_proba has not
// shape (n, 2), else shape (n,), a view if y_proba is an ndarray. Rows must sum to 1, up to
// `row_sum_tolerance`; where column 0 is missing or no probability, its value stands in for that
// of column 1, for the core to omit or to reject.
[[nodiscard]] py::object positive_column(const py::object& y_proba, const char* name);

// Rounding to float16 moves a sum by less than this; so does rounding to four decimals.
inline constexpr double row_sum_tolerance = 1e-3;

}  // namespace calibrant::bindings
