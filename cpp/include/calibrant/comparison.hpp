// PairedScores: two models on the same rows, score by score. Row i has the difference
//
//     d_i = t_i(first) - t_i(second)
//
// of the terms t of the Brier, log and spherical scores (scores.hpp) and of hits (1 where the most
// probable class happened, as for a Scorecard). Because both are of the same row, what is hard or
// easy about it cancels: the mean of d is known far better than either mean.
//
//     difference       sum w d / W, W = sum w
//     standard error   sqrt(sum w (d - mean)^2) / W: a weight is a number of repetitions
//
// The sum of w d is exact in the terms, so that the difference is that of the two scores; d^2 is
// rounded to a double before it is summed exactly. Any order of rows, batches and merges gives the
// same bits. The log score's difference is undefined where a model gave 0 to what happened.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "calibrant/bytes.hpp"
#include "calibrant/events.hpp"
#include "calibrant/parallel.hpp"
#include "calibrant/sum.hpp"

namespace calibrant {

// Of the same rows: labels, weights and what may be omitted are those of the first.
struct PairedRows {
    const Events& first;
    const Events& second;
};

class PairedScores {
public:
    static constexpr Kind kind = Kind::paired_scores;

    enum Term : std::size_t { brier, log_score, spherical, hit, n_terms };

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
};

}  // namespace calibrant
