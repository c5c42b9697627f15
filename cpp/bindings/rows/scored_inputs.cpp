#include "bindings/rows/scored_inputs.hpp"

#include <string>

#include "calibrant/rows/check.hpp"

namespace calibrant::bindings {

ScoredRows scored(const EventInputs& inputs, std::int64_t scoring) {
    const Events& events = inputs.events();
    if (events.y_true == nullptr) throw py::type_error("y_true must be an array, got None");
    if (events.is_matrix && scoring == scoring_binary) {
        throw InvalidInput("y_proba must have shape (n,), got shape (n, " +
                           std::to_string(events.y_proba.width) +
                           "); use top_label_ece or classwise_ece");
    }
    if (!events.is_matrix && scoring != scoring_binary && scoring != scoring_either) {
        throw InvalidInput(
            "y_proba must have shape (n, k), got shape (n,); use expected_calibration_error");
    }
    if (!events.is_matrix) return {events};
    if (scoring < 0) return {events, Scoring::top_label};
    const auto of_class = static_cast<std::size_t>(scoring);
    if (of_class >= events.y_proba.width) throw py::index_error("no such class");
    return rows_of_class(events, of_class);
}

}  // namespace calibrant::bindings
