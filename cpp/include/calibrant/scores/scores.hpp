// Proper scores of probabilities, averaged over rows with weights w:
//
//     Brier        (p - y)^2 for y_proba of shape (n,), in [0, 1];
//                  sum_j (p_j - [j = label])^2 for shape (n, k): in [0, 2] where rows sum to 1,
//                  and twice the value of shape (n,) where there are two columns
//     log          -log q, in nats; infinite if some q is 0
//     spherical    q / sqrt(sum_j p_j^2), in [0, 1]; a row of zeros scores 0
//
// where q is the probability given to the outcome, clipped to [q_lim, 1 - q_lim] for the log
// score alone. The weights of each class are summed too: the frequencies are the best constant
// forecast, and its Brier score (sum form) is the Gini impurity.
//
// A row's term is a fixed function of the row, rounded onto a grid: Brier and spherical terms
// to 2^-80 (for k columns, Brier to (k + 2) 2^-81 and spherical to k 2^-60), log
// terms to 2^-58, the same that RiskProfile sums for its accuracy. Terms are summed exactly, so
// any order of rows, batches and merges gives the same bits, an integer weight k gives the
// bits of k repetitions, and a score is rounded once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/events.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "calibrant/state/bytes.hpp"

namespace calibrant {

// Which scores are kept: nobody pays for the others.
enum class Score : std::uint8_t { brier = 0, log = 1, spherical = 2 };
inline constexpr std::size_t n_scores = 3;

class ScoreSet {
public:
    constexpr ScoreSet() = default;
    constexpr explicit ScoreSet(std::uint8_t bits) : bits_(bits) {}
    [[nodiscard]] constexpr ScoreSet with(Score score) const {
        return ScoreSet(static_cast<std::uint8_t>(bits_ | bit(score)));
    }
    [[nodiscard]] constexpr bool has(Score score) const { return (bits_ & bit(score)) != 0; }
    [[nodiscard]] constexpr std::uint8_t bits() const { return bits_; }
    bool operator==(const ScoreSet&) const = default;

private:
    static constexpr unsigned bit(Score score) { return 1U << static_cast<unsigned>(score); }
    std::uint8_t bits_ = 0;
};

template <class State>
struct CellLayout;  // which sums the same terms, for groups

class ScoreSums {
public:
    static constexpr Kind kind = Kind::score_sums;
    static constexpr std::size_t most_classes = std::size_t{1} << 20;

    // Throws std::invalid_argument unless 0 <= q_lim < 1/2.
    ScoreSums(ScoreSet scores, double q_lim);
    // Of sums that were made elsewhere. The weights are those of all classes.
    ScoreSums(const ScoreSums& parameters, std::size_t columns, const RowCounts& rows,
              std::vector<ExactSum> class_weight, std::array<ExactSum, n_scores> sums);
    [[nodiscard]] ScoreSums empty() const { return {scores_, q_lim_}; }

    // Adds the rows, on several threads where they are many; events have labels. If a row is
    // bad or the poll says stop, throws and leaves this unspecified: update an empty() one and
    // merge it. rows_before is for messages only.
    void update(const Events& events, std::uint64_t rows_before, Poll poll);
    // The first rows decide the shape of y_proba; throws std::invalid_argument if it differs.
    void merge(const ScoreSums& other);

    [[nodiscard]] std::uint64_t count() const { return n_; }
    [[nodiscard]] std::uint64_t omitted() const { return omitted_; }
    [[nodiscard]] bool has_weight() const;
    [[nodiscard]] ScoreSet scores() const { return scores_; }
    [[nodiscard]] double q_lim() const { return q_lim_; }
    // 1 for y_proba of shape (n,), k for shape (n, k), 0 before the first row.
    [[nodiscard]] std::size_t columns() const { return columns_; }
    [[nodiscard]] const std::vector<ExactSum>& class_weight() const { return class_weight_; }
    // The sum of w times the term, of log q without the minus.
    [[nodiscard]] const ExactSum& sum(Score score) const {
        return sums_[static_cast<std::size_t>(score)];
    }

    // All throw std::invalid_argument where no row has weight; mean also if the score is not
    // kept.
    [[nodiscard]] double mean(Score score) const;
    [[nodiscard]] std::vector<double> class_frequencies() const;
    // sum_j pi_j (1 - pi_j) over the class frequencies.
    [[nodiscard]] double gini() const;
    // 1 - Brier score / Brier score of the reference: the class frequencies of the same rows,
    // or another's forecasts. Throws std::invalid_argument if the latter is 0.
    [[nodiscard]] double brier_skill() const;
    [[nodiscard]] double brier_skill(const ScoreSums& reference) const;

    [[nodiscard]] std::string to_bytes() const;
    static ScoreSums from_bytes(std::string_view bytes);

private:
    friend struct CellLayout<ScoreSums>;
    friend class ScoreWorker;

    [[nodiscard]] ExactSum weight() const;  // of all rows; throws if it is 0
    [[nodiscard]] DoubleDouble mean_of(Score score) const;
    [[nodiscard]] DoubleDouble impurity() const;

    ScoreSet scores_;
    double q_lim_;
    std::size_t columns_ = 0;
    std::uint64_t n_ = 0;        // rows taken in
    std::uint64_t omitted_ = 0;  // rows dropped because a value was missing
    std::uint64_t zeros_ = 0;    // rows of positive weight with q = 0; only with the log score
    std::vector<ExactSum> class_weight_;  // by class; empty before the first row
    std::array<ExactSum, n_scores> sums_;
};

}  // namespace calibrant
