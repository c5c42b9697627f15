// Scorecard: all headline numbers of the same rows from one pass, each with an interval.
//
// It sums the terms that RiskProfile, ScoreSums and Reliability sum, and can be read as each of
// them: their numbers are the same bits. To these it adds second moments, for the intervals:
//
//   the squares of each term, rounded to a double before they are summed exactly;
//   per bin of scores, and apart for hits and misses, the sum of scores and of (score - hit)^2,
//   from which the moments of the scores and the numerator of Spiegelhalter's z follow;
//   the sum of (1 - 2s)^2 s (1 - s) over the scores s, z's variance.
//
// What needs the order of scores (KS, Kuiper's test, the area under the ROC curve) is read off a
// ScoreTable of the same rows, with bounds, if the card was told to keep one; in memory it is
// computed from the rows (rank_metrics.hpp) and no table is needed.
//
// Score and hit are those of scored_rows.hpp: binary for y_proba of shape (n,), the top label for
// (n, k). All is summed exactly, so any order of rows, batches and merges gives the same bits.
//
// Weights mean repetition, in the variances too: the terms t have the variance
// sum w (t - mean)^2 / (W - 1), W = sum w, to which that of one row more is added, which hits or
// misses: so no interval of few rows is without width. How the numbers of bins have theirs says
// scorecard_bootstrap.hpp: the hits of a bin of weight h have in a replicate a Poisson(h) weight,
// as if each row had a Poisson(1) weight of its own, and so have the misses. The random numbers are
// a hash of replicate, bin and hit or miss, so that an interval is a function of the state alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrant/calibration/bins.hpp"
#include "calibrant/calibration/calibration.hpp"
#include "calibrant/means/means.hpp"
#include "calibrant/numeric/sum.hpp"
#include "calibrant/score_table/score_table.hpp"
#include "calibrant/scores/scores.hpp"
#include "calibrant/state/bytes.hpp"

namespace calibrant {

// NaN stands for what is undefined; `reason` then says why.
struct Estimate {
    double value, low, high;
    std::string reason;
};

struct NamedEstimate {
    const char* name;
    Estimate estimate;
};

class Scorecard {
public:
    static constexpr Kind kind = Kind::scorecard;
    static constexpr std::size_t n_replicates = 399;  // quantiles are whole ranks of 400

    // Throws std::invalid_argument unless 0 <= q_lim < 1/2 and n_bins is as bins.hpp wants it.
    Scorecard(std::size_t n_bins, double q_lim, bool with_table);
    [[nodiscard]] Scorecard empty() const { return {bins_, q_lim_, table_.has_value()}; }

    // As ScoreSums::update and ScoreSums::merge.
    void update(const Events& events, std::uint64_t rows_before, Poll poll);
    void merge(const Scorecard& other);

    [[nodiscard]] std::uint64_t count() const { return n_; }
    [[nodiscard]] std::uint64_t omitted() const { return omitted_; }
    [[nodiscard]] std::size_t n_bins() const { return bins_.size(); }
    [[nodiscard]] double q_lim() const { return q_lim_; }
    [[nodiscard]] std::size_t columns() const { return columns_; }
    [[nodiscard]] const std::optional<ScoreTable>& table() const { return table_; }
    [[nodiscard]] ExactSum weight() const;
    // Throws InvalidInput where no row has weight.
    void require_weight() const;

    // The accumulators that the same rows would have filled.
    [[nodiscard]] RiskProfile risk_profile() const;
    [[nodiscard]] ScoreSums scores() const;
    [[nodiscard]] Reliability reliability() const;

    // All numbers, with intervals of `confidence_level`; `normal_quantile` is the number of
    // standard errors to either side. The estimate of Spiegelhalter's z has no interval.
    [[nodiscard]] std::vector<NamedEstimate> estimates(double confidence_level,
                                                       double normal_quantile, Poll poll) const;
    [[nodiscard]] std::vector<Estimate> class_frequencies(double normal_quantile) const;

    [[nodiscard]] std::string to_bytes() const;
    static Scorecard from_bytes(std::string_view bytes);

    // Rows of a bin that are misses, or that are hits.
    struct Cell {
        std::uint64_t n = 0;
        ExactSum weight;
        ExactSum scores;   // sum of weight * score
        ExactSum squares;  // sum of weight * (score - hit)^2
    };

    // The sums, for tests between cards; cells and terms are as the members say.
    enum Term : std::size_t { q, log_q, power_q, brier, spherical, n_terms };
    [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }
    [[nodiscard]] const ExactSum& sum(Term term) const { return sums_[term]; }
    [[nodiscard]] const ExactSum& square_sum(Term term) const { return squares_[term]; }
    [[nodiscard]] const ExactSum& right() const { return right_; }
    [[nodiscard]] std::uint64_t zeros() const { return zeros_; }
    [[nodiscard]] const std::vector<ExactSum>& class_weight() const { return class_weight_; }
    [[nodiscard]] const std::vector<ExactSum>& class_brier() const { return class_brier_; }

private:
    friend class BlockScorer;
    friend class PartialScorecard;
    friend class ScorecardEstimator;
    friend class ScorecardsByGroup;

    [[nodiscard]] bool is_possible() const;

    Scorecard(Bins bins, double q_lim, bool with_table);
    [[nodiscard]] Scorecard without_table() const;

    // The parts that each row is added to, by BlockScorer.
    Bins bins_;
    double q_lim_;
    std::size_t columns_ = 0;  // as ScoreSums::columns
    std::uint64_t n_ = 0;
    std::uint64_t omitted_ = 0;
    std::uint64_t zeros_ = 0;             // rows of positive weight with q = 0
    std::vector<Cell> cells_;             // misses and hits of bin k at 2k and 2k + 1
    std::vector<ExactSum> class_weight_;  // of shape (n, k) only; else the cells say it
    std::vector<ExactSum> class_brier_;   // the same
    std::array<ExactSum, n_terms> sums_;  // of w times the term; of log q without the minus
    std::array<ExactSum, n_terms> squares_;
    ExactSum right_;   // weight of the rows whose most probable class happened
    ExactSum spread_;  // sum of w (1 - 2s)^2 s (1 - s)
    std::optional<ScoreTable> table_;
};

// One Scorecard for each group of rows, in one pass.
struct GroupedRows {
    const Events& events;
    const std::int32_t* groups;  // of each row, in [0, n_groups); or -1: in none, omitted
    std::size_t n_groups;
};

// The scorecards of the groups, made like `parameters`, without tables, and last one without rows
// that counts the omitted rows of no group. Merged, they are the scorecard of all rows. Throws as
// update.
[[nodiscard]] std::vector<Scorecard> scorecards_by_group(const Scorecard& parameters,
                                                         const GroupedRows& rows, Poll poll);

}  // namespace calibrant
