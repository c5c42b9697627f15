// Blocks of scored rows (scored_rows.hpp), and loops over them on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/rows/column.hpp"
#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "kernels/kernels.hpp"
#include "rows/event_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {

// rows_of_class for all classes, whatever the matrix is: together they cost about what its values
// do.
class ClassRows {
public:
    // Throws as for_each_chunk does. `events` must outlive it.
    ClassRows(const Events& events, Poll poll);
    ClassRows(const ClassRows&) = delete;  // events_ points into it
    ClassRows& operator=(const ClassRows&) = delete;
    ~ClassRows() = default;

    [[nodiscard]] std::size_t size() const { return events_.y_proba.width; }
    [[nodiscard]] ScoredRows operator[](std::size_t of_class) const;

private:
    void read_values(Poll poll);
    void leave_out_rows(Poll poll);

    const Column& whole_;
    Events events_;
    std::vector<double> values_;  // where one column cannot be found by itself
    std::vector<double> labels_;  // missing in the rows that are left out
    Column label_column_;
};

// Calls use(of_class, rows, poll) for each class: in threads of their own where the rows are few,
// else one after the other. Throws as for_each_chunk does.
template <class Use>
void for_each_class(const Events& events, Poll poll, const Use& use) {
    const ClassRows classes(events, poll);
    const bool are_many = events.size() >= chunks_per_worker * chunk_values;
    const std::size_t chunk =
        are_many ? 1 : std::max<std::size_t>(chunk_values / (events.size() + 1), 1);
    const std::size_t workers = are_many ? 1 : workers_for(classes.size(), chunk);
    for_each_chunk(classes.size(), chunk, workers, poll,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                       const Alone no_others(!are_many);
                       for (std::size_t j = begin; j < end; ++j)
                           use(j, classes[j], are_many ? poll : nullptr);
                       return true;
                   });
}

class ScoredBlock {
public:
    explicit ScoredBlock(const ScoredRows& rows);

    // Fills the block with events [begin, begin + count), count <= most_rows(). Returns false, and
    // leaves the block unspecified, if one of them is bad.
    [[nodiscard]] bool load(const ScoredRows& rows, std::size_t begin, std::size_t count);

    [[nodiscard]] std::size_t most_rows() const { return outcomes_.most_rows; }
    // What n() is at most: more than most_rows() only for pairs.
    [[nodiscard]] std::size_t most_scores() const { return most_rows() * scores_per_event_; }
    [[nodiscard]] std::size_t n() const { return outcomes_.n * scores_per_event_; }
    [[nodiscard]] std::size_t events() const { return outcomes_.n; }
    [[nodiscard]] std::size_t omitted() const { return outcomes_.omitted; }
    [[nodiscard]] const double* score() const {
        if (paired_) return pair_scores_.data();
        return binary_ ? outcomes_.p.data() : score_;
    }
    [[nodiscard]] const std::int32_t* hit() const {
        if (paired_) return pair_hits_.data();
        return binary_ ? outcomes_.label : hit_;
    }
    // Of rows of top_label of a matrix: the class whose score it is, the first of equals.
    void find_top_labels(std::int32_t* label) const;
    // Filled only where there are weights.
    [[nodiscard]] const double* weight() const {
        return paired_ ? pair_weights_.data() : outcomes_.weight;
    }

private:
    [[nodiscard]] static bool is_alone(const ScoredRows& rows);
    [[nodiscard]] bool load_column(const ScoredRows& rows, std::size_t begin, std::size_t count);
    void score_class(const ScoredRows& rows);
    void score_pairs(const ScoredRows& rows);
    void score_either();
    [[nodiscard]] bool load_top_labels(const Events& events, std::size_t begin, std::size_t count);

    OutcomeBlock outcomes_;
    bool binary_ = true;
    const double* values_ = nullptr;  // where load_top_labels read: one of the two
    const float* floats_ = nullptr;
    std::size_t width_;
    alignas(64) double score_[block_rows];
    alignas(64) std::int32_t hit_[block_rows];

    bool paired_;
    std::size_t scores_per_event_;
    std::vector<double> pair_scores_, pair_weights_;
    std::vector<std::int32_t> pair_hits_;
};

// Loads events [begin, end) block by block and calls visit(row), the number of the block's first.
// Returns false, at once, if one of them is bad.
template <class Visit>
[[nodiscard]] bool load_each(ScoredBlock& block, const ScoredRows& rows, std::size_t begin,
                             std::size_t end, const Visit& visit) {
    for (std::size_t row = begin; row < end; row += block.most_rows()) {
        if (!block.load(rows, row, std::min(block.most_rows(), end - row))) return false;
        visit(row);
    }
    return true;
}

// How many rows a worker takes at a time.
[[nodiscard]] inline std::size_t chunk_rows(const ScoredRows& rows) {
    return std::max<std::size_t>(chunk_values / rows.events.y_proba.width, 1);
}

// Calls visit(worker, row, block) for all rows, on several threads; the block holds those from
// `row` on that are not omitted. Throws as for_each_chunk does, and InvalidInput at a bad row.
template <class Visit>
void for_each_block(const ScoredRows& rows, std::size_t workers, Poll poll, const Visit& visit) {
    const std::size_t chunk = chunk_rows(rows);
    const std::size_t failed =
        for_each_chunk(rows.size(), chunk, workers, poll,
                       [&](std::size_t worker, std::size_t begin, std::size_t end) {
                           ScoredBlock block(rows);
                           return load_each(block, rows, begin, end,
                                            [&](std::size_t row) { visit(worker, row, block); });
                       });
    if (failed != npos) {
        reject_events(rows.events, failed, std::min(rows.size(), failed + chunk), 0);
    }
}

}  // namespace calibrant
