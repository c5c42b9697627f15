// Scored rows: what calibration compares, (score, hit, weight), read block by block from labels
// and probabilities and checked on the way.
//
//   binary       the probability of label 1; hit where the label is 1
//   of_class     the probability of one class; hit where the label is that class
//   top_label    the largest probability of the row, the first of equals; hit where the label
//                is its class
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "calibrant/events.hpp"
#include "calibrant/workers.hpp"

namespace calibrant {

enum class Scoring { binary, of_class, top_label };

struct ScoredRows {
    Events events;
    Scoring scoring = Scoring::binary;
    std::size_t of_class = 0;

    [[nodiscard]] std::size_t size() const { return events.size(); }
};

class ScoredBlock {
public:
    explicit ScoredBlock(const ScoredRows& rows) : outcomes_(rows.events) {}

    // Fills the block with rows [begin, begin + count), count <= most_rows(). Returns false, and
    // leaves the block unspecified, if one of them is bad.
    [[nodiscard]] bool load(const ScoredRows& rows, std::size_t begin, std::size_t count);

    [[nodiscard]] std::size_t most_rows() const { return outcomes_.most_rows; }
    [[nodiscard]] std::size_t n() const { return outcomes_.n; }
    [[nodiscard]] std::size_t omitted() const { return outcomes_.omitted; }
    [[nodiscard]] const double* score() const { return binary_ ? outcomes_.p.data() : score_; }
    [[nodiscard]] const std::int32_t* hit() const { return binary_ ? outcomes_.label : hit_; }
    [[nodiscard]] const double* weight() const { return outcomes_.weight; }

private:
    OutcomeBlock outcomes_;
    bool binary_ = true;
    alignas(64) double score_[block_rows];
    alignas(64) std::int32_t hit_[block_rows];
};

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
                           for (std::size_t row = begin; row < end; row += block.most_rows()) {
                               const std::size_t count = std::min(block.most_rows(), end - row);
                               if (!block.load(rows, row, count)) return false;
                               visit(worker, row, block);
                           }
                           return true;
                       });
    if (failed != npos) {
        refuse_events(rows.events, failed, std::min(rows.size(), failed + chunk), 0);
    }
}

}  // namespace calibrant
