// Spiegelhalter's test (1986) of calibration: is the Brier score what the scores themselves lead
// one to expect? With p the score, y = 1 for a hit and 0 else, and weights w,
//
//     excess     sum w [(y - p)^2 - p (1 - p)]  =  sum w (y - p) (1 - 2p)
//     variance   sum w (1 - 2p)^2 p (1 - p), of the excess if y is 1 with probability p
//     z          excess / sqrt(variance), standard normal in large samples
//
// z > 0 says that the Brier score is worse than expected: scores lie too near 0 and 1. A weight
// is a number of repetitions, so it enters the variance once, not squared.
//
// Where the variance is 0, all scores are 0, 1/2 or 1, and the excess is the weight of certain
// forecasts that were wrong. If there are none, z = 0 and p = 1; otherwise z is infinite and p is
// 0, or 1 for the alternative "less": the exact probabilities, as the excess is then surely 0.
//
// Terms are fixed functions of the row, rounded to 2^-80; where the variance of a row is below
// 2^-28 they are good to 2^-100 of themselves instead. They are summed exactly, so that any order
// of rows, batches and merges gives the same bits, and z is rounded once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "calibrant/state/bytes.hpp"

namespace calibrant {

// Which z speak against calibration: far ones, large ones, small ones.
enum class Alternative : std::uint8_t { two_sided, greater, less };

template <class State>
struct CellLayout;  // which sums the same terms, for groups

class Spiegelhalter {
public:
    static constexpr Kind kind = Kind::spiegelhalter;

    [[nodiscard]] Spiegelhalter empty() const { return {}; }

    // Adds the rows, on several threads where they are many. If a row is bad or the poll says
    // stop, throws and leaves this as it was. rows_before is for messages only.
    void update(const ScoredRows& rows, std::uint64_t rows_before, Poll poll);
    void merge(const Spiegelhalter& other);

    [[nodiscard]] std::uint64_t count() const { return n_; }
    [[nodiscard]] std::uint64_t omitted() const { return omitted_; }

    // All throw std::invalid_argument where no row has weight.
    [[nodiscard]] double statistic() const;
    [[nodiscard]] double pvalue(Alternative alternative) const;
    [[nodiscard]] double log_pvalue(Alternative alternative) const;

    [[nodiscard]] std::string to_bytes() const;
    static Spiegelhalter from_bytes(std::string_view bytes);

private:
    friend class SpiegelhalterWorker;
    friend struct CellLayout<Spiegelhalter>;

    void require_weight() const;

    std::uint64_t n_ = 0;
    std::uint64_t omitted_ = 0;
    std::uint64_t with_weight_ = 0;  // rows of positive weight
    ExactSum excess_, variance_;
};

}  // namespace calibrant
