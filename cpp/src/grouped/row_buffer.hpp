// Rows of a group that are buffered before they are added to its accumulator, 8 bytes each: for
// accumulators that are much larger than a few rows. 100 rows are 0.8 KB; of a Scorecard they would
// be 18 KB.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "calibrant/rows/events.hpp"
#include "rows/event_blocks.hpp"

namespace calibrant {

class Assessment;
class Scorecard;
class ScoreTable;

// How many rows are buffered: more are worth an accumulator. It has 6 KB where an Assessment has
// ten bins. Tables grow by 96 bytes with nearly each row, to megabytes; to add few rows to one is
// to copy all of it.
template <class State>
inline constexpr std::size_t most_buffered = 0;
template <>
inline constexpr std::size_t most_buffered<Assessment> = 512;
template <>
inline constexpr std::size_t most_buffered<Scorecard> = 16384;
template <>
inline constexpr std::size_t most_buffered<ScoreTable> = 16384;
template <class State>
inline constexpr bool buffers_rows = most_buffered<State> != 0;

// Of y_proba of shape (n,), without weights.
class RowBuffer {
public:
    RowBuffer() = default;
    // Nothing if one of the rows cannot be buffered: if it is bad or to be omitted, or is -0.
    [[nodiscard]] static std::optional<RowBuffer> of(const Events& events) {
        if (events.is_matrix || events.sample_weight != nullptr) return std::nullopt;
        OutcomeBlock block(events);
        RowBuffer buffered;
        buffered.rows_.reserve(events.size());
        for (std::size_t row = 0; row < events.size(); row += block.most_rows) {
            const std::size_t count = std::min(block.most_rows, events.size() - row);
            if (!load_outcomes(events, row, count, block) || block.omitted != 0) return {};
            for (std::size_t i = 0; i < count; ++i) {
                const auto bits = std::bit_cast<std::uint64_t>(block.p[i]);
                if (bits > std::bit_cast<std::uint64_t>(1.0)) return {};
                const auto label = static_cast<std::uint64_t>(block.label[i]);
                buffered.rows_.push_back(bits | (label << label_at));
            }
        }
        return buffered;
    }

    [[nodiscard]] std::size_t size() const { return rows_.size(); }
    [[nodiscard]] bool empty() const { return rows_.empty(); }
    // For the rows of another, so that adding them does not fail.
    void make_room(const RowBuffer& other) {
        const std::size_t needed = size() + other.size();
        if (needed > rows_.capacity()) rows_.reserve(std::max(needed, 2 * rows_.capacity()));
    }
    void add(const RowBuffer& other) {
        rows_.insert(rows_.end(), other.rows_.begin(), other.rows_.end());
    }

    template <class State>
    void add_to(State& state) const {
        std::vector<double> p(size());
        std::vector<std::int32_t> label(size());
        for (std::size_t i = 0; i < size(); ++i) {
            p[i] = std::bit_cast<double>(rows_[i] & ((std::uint64_t{1} << label_at) - 1));
            label[i] = static_cast<std::int32_t>(rows_[i] >> label_at);
        }
        const Column y_true = side_by_side(label.data(), size(), 1, Dtype::int32);
        Events events;
        events.y_true = &y_true;
        events.y_proba = side_by_side(p.data(), size(), 1, Dtype::float64);
        add_events(state, events, 0, nullptr);
    }

private:
    // Probabilities have no sign: its place is the label's.
    static constexpr int label_at = 63;
    std::vector<std::uint64_t> rows_;
};

}  // namespace calibrant
