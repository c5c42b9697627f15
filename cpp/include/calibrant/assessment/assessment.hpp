// The model against the source (Nelson 2017, section 4): per bin of scores, how often what was
// scored happened, and the generalized means of the scores of what did.
//
// Scored rows are the pairs (event, class) of all classes, or of one. In bin k, with the weight
// N_k of its pairs and N*_k of the true ones, which happened:
//
//     frequency     f_k = N*_k / N_k
//     model means   Q_k(m), the generalized means of the scores of the true pairs
//
// The model is the means over all true pairs; the source is the means of an estimate of the
// frequency at each true pair's score, f_k being the simplest. All sums are exact, as in
// means.hpp and calibration.hpp: any order of rows, batches and merges gives the same bits.
//
// Pairs of one event depend on each other, so tests need the rows themselves: an Assessment can
// keep a ScoreTable of them beside its bins, from which joint_test.hpp makes the verdict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrant/calibration/bins.hpp"
#include "calibrant/means/means.hpp"
#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/score_table/score_table.hpp"
#include "calibrant/state/bytes.hpp"

namespace calibrant {

class Assessment {
public:
    static constexpr Kind kind = Kind::assessment;

    struct Bin {
        std::uint64_t n = 0;  // pairs
        ExactSum weight;
        ExactSum scores;    // sum of weight * score
        RiskProfile model;  // of the true pairs
    };

    // Throws InvalidInput unless 0 <= q_lim < 1/2.
    Assessment(Bins bins, double q_lim, bool with_table);
    [[nodiscard]] Assessment empty() const { return {bins_, q_lim_, rows_.has_value()}; }

    // As RiskProfile::update; rows.q_lim is that of this. The first rows decide how many scores
    // an event has; throws InvalidInput if that changes.
    void update(const ScoredRows& rows, std::uint64_t rows_before, Poll poll);
    void merge(const Assessment& other);

    [[nodiscard]] std::uint64_t count() const { return n_; }
    [[nodiscard]] std::uint64_t omitted() const { return omitted_; }
    [[nodiscard]] std::uint64_t scores_per_event() const { return scores_per_event_; }
    [[nodiscard]] double q_lim() const { return q_lim_; }
    [[nodiscard]] const Bins& bins() const { return bins_; }
    [[nodiscard]] const std::vector<Bin>& table() const { return table_; }
    // Of the rows: the probability of class 1, or the top label's.
    [[nodiscard]] const std::optional<ScoreTable>& rows() const { return rows_; }

    // The generalized means over all true pairs: RiskProfile's own bits.
    [[nodiscard]] RiskProfile model() const;

    [[nodiscard]] std::string to_bytes() const;
    static Assessment from_bytes(std::string_view bytes);

private:
    friend class AssessmentWorker;

    [[nodiscard]] Assessment without_table() const { return {bins_, q_lim_, false}; }

    Bins bins_;
    double q_lim_;
    std::uint64_t n_ = 0;  // events
    std::uint64_t omitted_ = 0;
    std::uint64_t scores_per_event_ = 0;  // 0 before the first
    std::vector<Bin> table_;
    std::optional<ScoreTable> rows_;
};

}  // namespace calibrant
