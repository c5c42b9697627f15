// Which score of a row is meant, as Python says it, and the rows scored that way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bindings/rows/event_inputs.hpp"
#include "calibrant/rows/scored_rows.hpp"

namespace calibrant::bindings {

// What `scoring` may be besides a class, which needs y_proba of shape (n, k).
inline constexpr std::int64_t scoring_either = -1;     // binary for (n,), top label for (n, k)
inline constexpr std::int64_t scoring_binary = -2;     // shape (n,) only
inline constexpr std::int64_t scoring_top_label = -3;  // shape (n, k) only

// Valid as long as the inputs. Throws where y_true is missing or the shape does not fit.
[[nodiscard]] ScoredRows scored(const EventInputs& inputs, std::int64_t scoring);

}  // namespace calibrant::bindings
