#include "calibrant/rows/events.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"
#include "rows/event_blocks.hpp"

namespace calibrant {
namespace {

// Of a matrix: 32 kB.
constexpr std::size_t values_at_once = 8 * block_rows;

bool is_probability(double p) { return p >= 0.0 && p <= 1.0; }

bool all_are_weights(const double* weight, std::size_t n) {
    // Of a weight, -0.0 plus 0.0 being 0.0, neither has the sign bit.
    constexpr auto largest = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::max());
    std::uint64_t bad = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto bits = std::bit_cast<std::uint64_t>(weight[i] + 0.0);
        bad |= bits | (largest - bits);
    }
    return bad >> 63 == 0;
}

bool all_below(const std::int32_t* labels, std::size_t n, std::size_t n_classes) {
    // Negative codes (missing, invalid) become large.
    const auto limit = static_cast<std::uint32_t>(n_classes);
    std::uint32_t bad = 0;
    for (std::size_t i = 0; i < n; ++i) {
        bad |= static_cast<std::uint32_t>(labels[i]) >= limit ? 1U : 0U;
    }
    return bad == 0;
}

// The labels from `begin` on, where the kernel can read them as they lie.
template <class T>
const T* contiguous(const Column& labels, Dtype dtype, std::size_t begin) {
    if (labels.dtype != dtype || labels.swapped || labels.validity != nullptr) return nullptr;
    if (labels.stride != sizeof(T)) return nullptr;
    const std::byte* at = labels.data + begin * sizeof(T);
    if (reinterpret_cast<std::uintptr_t>(at) % alignof(T) != 0) return nullptr;
    return reinterpret_cast<const T*>(at);
}

// Calls action(labels, kernel) with the kernel that reads labels as they lie, or else with the
// one for class codes, to which they are converted.
template <class Action>
bool with_labels(const Column& labels, std::size_t begin, std::size_t count, Action action) {
    if (const auto* in_place = contiguous<std::int64_t>(labels, Dtype::int64, begin)) {
        return action(in_place, kernels().int64_labels);
    }
    if (const auto* in_place = contiguous<std::uint8_t>(labels, Dtype::uint8, begin)) {
        return action(in_place, kernels().uint8_labels);
    }
    alignas(64) std::int32_t codes[block_rows];
    load_labels(labels, begin, count, codes);
    return action(codes, kernels().int32_labels);
}

// The common case: one probability per row, nothing may be missing.
bool load_vector(const Events& events, std::size_t begin, std::size_t count, double q_lim,
                 EventBlock& block) {
    alignas(64) double buffer[block_rows];
    const double* p = in_place(events.y_proba, begin);
    if (p == nullptr) {
        load(events.y_proba, begin, count, buffer);
        p = buffer;
    }
    if (events.y_true == nullptr) return kernels().clip(p, count, q_lim, block.q);
    return with_labels(*events.y_true, begin, count, [&](const auto* labels, const auto& kernel) {
        return kernel.true_class(p, labels, count, q_lim, block.q);
    });
}

// Classes in columns, nothing may be missing.
bool load_matrix(const Events& events, std::size_t begin, std::size_t count, double q_lim,
                 EventBlock& block) {
    const std::size_t width = events.y_proba.width;
    alignas(64) std::int32_t labels[block_rows];
    load_labels(*events.y_true, begin, count, labels);
    if (!all_below(labels, count, width)) return false;

    const std::size_t rows_at_once = std::clamp<std::size_t>(values_at_once / width, 1, count);
    std::vector<double> values(rows_at_once * width);
    for (std::size_t first = 0; first < count; first += rows_at_once) {
        const std::size_t rows = std::min(rows_at_once, count - first);
        load_block(events.y_proba, begin + first, rows, values.data());
        for (std::size_t i = 0; i < rows * width; i += block_rows) {
            const std::size_t n = std::min(block_rows, rows * width - i);
            if (!kernels().clip(&values[i], n, q_lim, &values[i])) return false;
        }
        for (std::size_t i = 0; i < rows; ++i) {
            block.q[first + i] = values[i * width + static_cast<std::size_t>(labels[first + i])];
        }
    }
    return true;
}

// Where values may be missing: a row at a time.
class RowReader {
public:
    enum class Verdict { good, missing, bad };

    explicit RowReader(const Events& events) : values(events.y_proba.width), events_(events) {}

    Verdict read(std::size_t row) {
        label = 1;
        if (events_.y_true != nullptr) load_labels(*events_.y_true, row, 1, &label);
        load_row(events_.y_proba, row, values.data());
        bool missing = label == label_missing;
        bool bad = label == label_invalid ||
                   (label >= 0 && static_cast<std::size_t>(label) >= events_.n_classes());
        for (const double p : values) {
            missing = missing || std::isnan(p);
            bad = bad || (!std::isnan(p) && !is_probability(p));
        }
        weight = 1.0;
        if (events_.sample_weight != nullptr) {
            load(*events_.sample_weight, row, 1, &weight);
            missing = missing || std::isnan(weight);
            bad = bad || (!std::isnan(weight) && !is_weight(weight));
        }
        if (bad || (missing && !events_.omit_missing)) return Verdict::bad;
        if (missing) return Verdict::missing;
        return Verdict::good;
    }

    // The probability given to the outcome.
    [[nodiscard]] double q() const {
        if (events_.is_matrix) return values[static_cast<std::size_t>(label)];
        return label == 1 ? values[0] : 1.0 - values[0];
    }

    std::vector<double> values;
    std::int32_t label = 1;
    double weight = 1.0;

private:
    const Events& events_;
};

// Calls keep(row in the block, reader) for each row in which nothing is missing.
template <class Block, class Keep>
bool load_rows(const Events& events, std::size_t begin, std::size_t count, Block& block,
               Keep keep) {
    RowReader reader(events);
    std::size_t kept = 0;
    for (std::size_t row = begin; row < begin + count; ++row) {
        const RowReader::Verdict verdict = reader.read(row);
        if (verdict == RowReader::Verdict::bad) return false;
        if (verdict == RowReader::Verdict::missing) continue;
        keep(kept, reader);
        block.weight[kept] = reader.weight;
        ++kept;
    }
    block.n = kept;
    block.omitted = count - kept;
    return true;
}

bool load_weights(const Events& events, std::size_t begin, std::size_t count, double* weight) {
    if (events.sample_weight == nullptr) return true;
    load(*events.sample_weight, begin, count, weight);
    return all_are_weights(weight, count);
}

}  // namespace

bool load_events(const Events& events, std::size_t begin, std::size_t count, double q_lim,
                 EventBlock& block) {
    if (events.omit_missing) {
        return load_rows(events, begin, count, block, [&](std::size_t i, const RowReader& row) {
            block.q[i] = clipped(row.q(), q_lim);
        });
    }
    block.n = count;
    block.omitted = 0;
    const bool good = events.is_matrix ? load_matrix(events, begin, count, q_lim, block)
                                       : load_vector(events, begin, count, q_lim, block);
    return good && load_weights(events, begin, count, block.weight);
}

OutcomeBlock::OutcomeBlock(const Events& events)
    : most_rows(std::clamp<std::size_t>(
          values_at_once / std::max<std::size_t>(events.y_proba.width, 1), 1, block_rows)),
      p(most_rows * events.y_proba.width) {}

bool load_classes(const Events& events, std::size_t begin, std::size_t count, OutcomeBlock& block) {
    block.n = count;
    block.omitted = 0;
    load_labels(*events.y_true, begin, count, block.label);
    return all_below(block.label, count, events.n_classes()) &&
           load_weights(events, begin, count, block.weight);
}

bool load_outcomes(const Events& events, std::size_t begin, std::size_t count,
                   OutcomeBlock& block) {
    const std::size_t width = events.y_proba.width;
    if (events.omit_missing) {
        return load_rows(events, begin, count, block, [&](std::size_t i, const RowReader& row) {
            std::ranges::copy(row.values, block.p.data() + i * width);
            block.label[i] = row.label;
        });
    }
    if (!events.is_matrix) {
        block.n = count;
        block.omitted = 0;
        if (!load_weights(events, begin, count, block.weight)) return false;
        const double* p = in_place(events.y_proba, begin);
        if (p == nullptr) {
            load(events.y_proba, begin, count, block.p.data());
            p = block.p.data();
        }
        return with_labels(
            *events.y_true, begin, count, [&](const auto* labels, const auto& kernel) {
                return kernel.outcomes(p, labels, count, block.p.data(), block.label);
            });
    }
    if (!load_classes(events, begin, count, block)) return false;
    load_block(events.y_proba, begin, count, block.p.data());
    for (std::size_t i = 0; i < count * width; i += block_rows) {
        const std::size_t n = std::min(block_rows, count * width - i);
        if (!kernels().clip(&block.p[i], n, 0.0, &block.p[i])) return false;
    }
    return true;
}

PrefetchHint next_block(const Events& events, std::size_t begin) {
    PrefetchHint ahead;
    const std::size_t rows = std::min(block_rows, events.size() - begin);
    const Column* const columns[] = {&events.y_proba, events.y_true};
    for (int i = 0; i < 2; ++i) {
        const Column* const column = columns[i];
        if (column == nullptr ||
            column->stride != static_cast<std::ptrdiff_t>(item_size(column->dtype)))
            continue;
        ahead.at[i] = column->data + begin * item_size(column->dtype);
        ahead.bytes[i] = rows * item_size(column->dtype);
    }
    return ahead;
}

void reject_events(const Events& events, std::size_t begin, std::size_t end,
                   std::uint64_t rows_before) {
    const Column& y_proba = events.whole != nullptr ? *events.whole : events.y_proba;
    std::vector<double> values(y_proba.width);
    for (std::size_t row = begin; row < end; ++row) {
        const Row where{row, std::nullopt, rows_before, events.may_be_omitted};
        std::int32_t label = 0;
        if (events.y_true != nullptr) load_labels(*events.y_true, row, 1, &label);
        const bool label_may_miss = label == label_missing && events.omit_missing;
        if (!label_may_miss &&
            (label < 0 || static_cast<std::size_t>(label) >= events.n_classes())) {
            reject_label("y_true", *events.y_true, where, events.n_classes());
        }
        load_row(y_proba, row, values.data());
        for (std::size_t j = 0; j < values.size(); ++j) {
            const double p = values[j];
            if (is_probability(p) || (std::isnan(p) && events.omit_missing)) continue;
            Row place = where;
            if (events.is_matrix) place.column = j;
            reject_probability(events.proba_name, p, place, y_proba.dtype);
        }
        if (events.sample_weight == nullptr) continue;
        double weight = 0.0;
        load(*events.sample_weight, row, 1, &weight);
        if (is_weight(weight) || (std::isnan(weight) && events.omit_missing)) continue;
        reject_weight("sample_weight", weight, where, events.sample_weight->dtype);
    }
    // Another thread has mended the row since it was found bad.
    throw InvalidInput("the arrays changed while they were being read");
}

}  // namespace calibrant
