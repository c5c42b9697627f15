// Scorecard: all headline numbers of the same rows from one pass, each with an interval.
//
// It holds a RiskProfile, ScoreSums and a Reliability of its rows, and second moments, for the
// intervals:
//
//   the squares of each term, rounded to a double before they are summed exactly;
//   per bin of scores, and apart for hits and misses, the sum of scores and of (score - hit)^2,
//   from which the moments of the scores and the numerator of Spiegelhalter's z follow;
//   the sum of (1 - 2s)^2 s (1 - s) over the scores s, z's variance.
//
// What needs the order of scores (KS, Kuiper's test, the area under the ROC curve) is read off a
// ScoreTable of the same rows, with bounds, if the card was told to keep one; in memory it is
// computed from the rows (scorecard_of_rows) and no table is needed.
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
#include <utility>
#include <vector>

#include "calibrant/calibration/bins.hpp"
#include "calibrant/calibration/calibration.hpp"
#include "calibrant/means/means.hpp"
#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/events.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "calibrant/score_table/score_table.hpp"
#include "calibrant/scores/scores.hpp"
#include "calibrant/state/bytes.hpp"

namespace calibrant {

// NaN stands for what is undefined; `reason` then says why. `method` says how the interval was
// found: "Wilson", "CLT", "delta", "bootstrap", "Clopper-Pearson", "DeLong"; "certified" where it
// is guaranteed to hold the number that all rows at once give, "DeLong, certified" where it is
// widened so that it does; "none" where there is no interval.
struct Estimate {
    double value, low, high;
    std::string reason;
    const char* method = "none";
};

struct NamedEstimate {
    const char* name;
    Estimate estimate;
};

struct ScorecardResult {
    std::vector<NamedEstimate> rows;  // in the order in which they are shown
    std::vector<Estimate> class_frequencies;
};

struct ScorecardSums;  // scorecard_sums.hpp

class Scorecard {
public:
    static constexpr Kind kind = Kind::scorecard;
    static constexpr std::size_t n_replicates = 399;  // quantiles are whole ranks of 400

    // Throws std::invalid_argument unless 0 <= q_lim < 1/2 and n_bins is as bins.hpp wants it.
    Scorecard(std::size_t n_bins, double q_lim, bool with_table);
    // Of sums that were made elsewhere; without a table.
    Scorecard(const Scorecard& parameters, ScorecardSums sums);
    [[nodiscard]] Scorecard empty() const;

    // As ScoreSums::update and ScoreSums::merge. A card that keeps no table leaves none to one
    // that does.
    void update(const Events& events, std::uint64_t rows_before, Poll poll);
    void merge(const Scorecard& other);

    [[nodiscard]] std::uint64_t count() const { return sums_.risk.count(); }
    [[nodiscard]] std::uint64_t omitted() const { return sums_.risk.omitted(); }
    [[nodiscard]] std::size_t n_bins() const { return sums_.reliability.bins().size(); }
    [[nodiscard]] double q_lim() const { return sums_.risk.q_lim(); }
    [[nodiscard]] std::size_t columns() const { return sums_.scores.columns(); }
    [[nodiscard]] const ExactSum& weight() const { return sums_.risk.weight(); }
    // Throws InvalidInput where no row has weight.
    void require_weight() const;

    // The accumulators of the same rows.
    [[nodiscard]] const RiskProfile& risk_profile() const { return sums_.risk; }
    [[nodiscard]] const ScoreSums& scores() const { return sums_.scores; }
    [[nodiscard]] const Reliability& reliability() const { return sums_.reliability; }
    [[nodiscard]] const std::optional<ScoreTable>& table() const { return table_; }

    // All numbers, with intervals of `confidence_level`; all undefined where no row has weight.
    [[nodiscard]] ScorecardResult result(double confidence_level, Poll poll) const;

    [[nodiscard]] std::string to_bytes() const;
    static Scorecard from_bytes(std::string_view bytes);

    // What is kept of a bin besides its Reliability::Bin.
    struct OutcomeSums {
        std::uint64_t hits = 0;              // rows
        ExactSum hit_scores;                 // sum of weight * score
        ExactSum miss_squares, hit_squares;  // sum of weight * (score - hit)^2
    };
    [[nodiscard]] const std::vector<OutcomeSums>& outcomes() const { return sums_.outcomes; }

    // The terms of a row: q, log q and q^(-2/3) of the risk profile, Brier and spherical score.
    enum Term : std::size_t { q, log_q, power_q, brier, spherical, n_terms };
    [[nodiscard]] const ExactSum& sum(Term term) const;
    [[nodiscard]] const ExactSum& square_sum(Term term) const { return sums_.squares[term]; }
    [[nodiscard]] ExactSum brier_of_class(std::size_t label) const;  // sum of its rows' terms
    [[nodiscard]] const ExactSum& right() const { return sums_.right; }
    [[nodiscard]] const ExactSum& spread() const { return sums_.spread; }
    [[nodiscard]] std::uint64_t zeros() const { return sums_.risk.zeros(); }

private:
    struct Sums {
        RiskProfile risk;
        ScoreSums scores;
        Reliability reliability;
        std::vector<OutcomeSums> outcomes = std::vector<OutcomeSums>(reliability.bins().size());
        std::vector<ExactSum> class_brier = {};  // of shape (n, k) only; else the outcomes say it
        std::array<ExactSum, n_terms> squares = {};
        ExactSum right = {};   // weight of the rows whose most probable class happened
        ExactSum spread = {};  // sum of w (1 - 2s)^2 s (1 - s)
    };

    explicit Scorecard(Sums sums) : sums_(std::move(sums)) {}

    Sums sums_;
    std::optional<ScoreTable> table_;
};

// The scorecard of rows in memory, in which all is exact.
struct ScorecardOfRows {
    Scorecard card;
    ScorecardResult result;
};

// Throws as Scorecard::update and require_weight. `parameters` have no table.
[[nodiscard]] ScorecardOfRows scorecard_of_rows(const Scorecard& parameters, const Events& events,
                                                double confidence_level, Poll poll);

struct GroupedRows {
    const Events& events;
    const std::int32_t* groups;  // of each row, in [0, n_groups); or -1: in none, omitted
    std::size_t n_groups;
};

// The scorecards of the groups, and last that of all rows in groups. Throws as scorecard_of_rows,
// but not for a group without weight.
[[nodiscard]] std::vector<ScorecardOfRows> scorecards_by_group(const Scorecard& parameters,
                                                               const GroupedRows& rows,
                                                               double confidence_level, Poll poll);

}  // namespace calibrant
