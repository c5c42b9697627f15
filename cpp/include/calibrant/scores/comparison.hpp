// PairedScores: two models on the same rows, score by score. Row i has the difference
//
//     d_i = t_i(first) - t_i(second)
//
// of the terms t of the Brier, log and spherical scores (scores.hpp) and of hits (1 where the most
// probable class happened, as for a Scorecard). Because both are of the same row, what is hard or
// easy about it cancels: the mean of d is known far better than either mean.
//
//     difference       sum w d / W, W = sum w
//     standard error   sqrt(S) / W, S = sum w (d - mean)^2: a weight is a number of repetitions
//
// The sum of w d is exact in the terms, so that the difference is that of the two scores; d^2 is
// rounded to a double before it is summed exactly. Any order of rows, batches and merges gives the
// same bits. The log score's difference is undefined where a model gave 0 to the outcome.
//
// A sample without an event says little about d in the rows with one, but the probabilities do.
// The even law of a row is the mixture of the two models' probabilities under which the mean of d
// is 0: with it, neither model is better. Sums are kept of the variances v and third moments k of d
// under the even laws; V = sum w v and K = sum w k. For a proper score the law of either model is
// on its own side of the even law, and what is as improbable as can be under the even law is more
// improbable still if the loser's probabilities are right. See judge().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/events.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "calibrant/state/bytes.hpp"

namespace calibrant {

// Of the same rows: labels, weights and what may be omitted are those of the first.
struct PairedRows {
    Events first;
    Events second;
};

class PairedScores {
public:
    static constexpr Kind kind = Kind::paired_scores;

    enum Term : std::size_t { brier, log_score, spherical, hit, n_terms };
    static constexpr std::size_t n_even = 3;  // the first three of them

    // Throws std::invalid_argument unless 0 <= q_lim < 1/2; it is for the log score alone.
    explicit PairedScores(double q_lim);
    [[nodiscard]] PairedScores empty() const { return PairedScores(q_lim_); }

    // As ScoreSums::update; a row is omitted if a value of either model is missing. Throws
    // InvalidInput if the two have different numbers of columns.
    void update(const PairedRows& rows, std::uint64_t rows_before, Poll poll);
    void merge(const PairedScores& other);

    [[nodiscard]] std::uint64_t count() const { return n_; }
    [[nodiscard]] std::uint64_t omitted() const { return omitted_; }
    [[nodiscard]] double q_lim() const { return q_lim_; }
    // 1 for y_proba of shape (n,), k for shape (n, k), 0 before the first row.
    [[nodiscard]] std::size_t columns() const { return columns_; }
    // Rows of positive weight to whose outcome a model gave 0.
    [[nodiscard]] std::uint64_t zeros() const { return zeros_; }

    struct Difference {
        double mean, standard_error;
    };
    // Throws InvalidInput where no row has weight.
    [[nodiscard]] Difference difference(Term term) const;

    // Two rows at least: what judge() needs.
    [[nodiscard]] bool has_two_rows() const;
    // Rows of positive weight in which one of the models gave 0 to what did not happen, and the
    // other did not: nothing bounds the log score's difference.
    [[nodiscard]] std::uint64_t unbounded() const { return unbounded_; }

    struct Judgement {
        double pvalue, low, high;
        // Not even a sample without an event would have had a p-value below 1 - level.
        bool few_events;
    };
    // The ends of the interval are mean -+ t sqrt((S + 4 J^2) W / (W - 1)) / W with W - 1 degrees
    // of freedom: four rows are added to the squares, that miss the mean by a jump J. On the side
    // where K points, J = max(|K| / V, sqrt(V / W)): the first is the size of an event where events
    // are rare, and more of them might have happened; on the other side J = sqrt(V / W). For hits,
    // whose jump is 1, two rows. The p-value is the larger of that of the t with which 0 is an end
    // and that of sum w d under the even laws, as a shifted multiple of a Poisson number with
    // variance V and third moment K; for hits, the sign test of the rows in which one model was
    // right, parts of rows rounded against it. Where the latter exceeds 1 - level, the interval
    // reaches 0. All is 0, and the p-value 1, if the models are the same. For the log score
    // with unbounded() rows, which have no moments, the p-value is at least 2 exp(-|sum w d|), and
    // the interval holds only if what had probability 0 cannot happen. Requires has_two_rows(), and
    // 0 < level < 1.
    [[nodiscard]] Judgement judge(Term term, double level) const;

    [[nodiscard]] std::string to_bytes() const;
    static PairedScores from_bytes(std::string_view bytes);

private:
    friend class PairedWorker;

    double q_lim_;
    std::size_t columns_ = 0;
    std::uint64_t n_ = 0;
    std::uint64_t omitted_ = 0;
    std::uint64_t zeros_ = 0;
    ExactSum weight_;
    std::array<ExactSum, n_terms> sums_;  // of w d; of log q without the minus
    std::array<ExactSum, n_terms> squares_;
    std::uint64_t unbounded_ = 0;
    // Under the even laws; not of hits, which differ by 1 in either direction.
    std::array<ExactSum, n_even> variances_, thirds_;
};

}  // namespace calibrant
