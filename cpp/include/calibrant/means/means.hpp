// Generalized means of the probabilities q given to the outcome (Nelson 2017):
//
//     G_m = (sum w q^m / sum w)^(1/m),   G_0 = exp(sum w log q / sum w),
//     G_inf = max q,   G_-inf = min q    (over rows of positive weight).
//
// Decisiveness is G_1, accuracy G_0, robustness G_-2/3. A q of 0 makes every mean with m <= 0
// zero.
//
// A row's term is a fixed function of its q (elementary.hpp, to about 2^-57), and terms are
// summed exactly, so any order of rows, batches and merges gives the same bits; an integer
// weight k gives the bits of k repetitions. A mean is rounded once; it lies within 1 ulp of
// the true mean of the given doubles for m = 0 and |m| >= 2^-3; between, the lesser of 2^-57 / m
// and 2^-52 |log q|, of the least q, is added to that. The double nearest to -2/3 stands for
// -2/3 itself, and one below 2^-80 in magnitude for 0. The logarithm of a mean is within 1 ulp
// and 2^-57 (1 + 1/|m|), 2^-57 for m = 0: its relative error is large where the mean is near 1.
#pragma once

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

template <class State>
struct CellLayout;  // which sums the same terms, for groups

class RiskProfile {
public:
    static constexpr Kind kind = Kind::risk_profile;
    static constexpr double largest_power = 0x1p26;
    static constexpr std::size_t most_powers = 4096;

    // Throws std::invalid_argument unless 0 <= q_lim < 1/2 and every power is infinite or
    // at most largest_power in magnitude.
    RiskProfile(std::vector<double> powers, double q_lim);
    // Of sums that were made elsewhere, one for each finite power; none is infinite.
    RiskProfile(const RiskProfile& parameters, const RowCounts& rows, ExactSum weight,
                std::vector<ExactSum> sums);
    [[nodiscard]] RiskProfile empty() const { return {powers_, q_lim_}; }

    // Adds the rows, on several threads where they are many. If a row is bad or the poll
    // says stop, throws and leaves this unspecified: update an empty() one and merge it.
    // rows_before is for messages only.
    void update(const Events& events, std::uint64_t rows_before, Poll poll);
    void merge(const RiskProfile& other);

    [[nodiscard]] std::uint64_t count() const { return n_; }
    [[nodiscard]] std::uint64_t omitted() const { return omitted_; }
    [[nodiscard]] const std::vector<double>& powers() const { return powers_; }
    [[nodiscard]] double q_lim() const { return q_lim_; }
    [[nodiscard]] double weight_sum() const { return weight_.to_double(); }
    [[nodiscard]] const ExactSum& weight() const { return weight_; }
    [[nodiscard]] std::uint64_t zeros() const { return zeros_; }  // of positive weight with q = 0
    // The sum of w q^m, of w log q where m = 0, over the rows with q > 0.
    [[nodiscard]] const ExactSum& sum(std::size_t index) const { return sums_[index]; }

    // Of the index-th power. All throw std::invalid_argument where no row has weight.
    [[nodiscard]] double mean(std::size_t index) const;
    [[nodiscard]] double log_mean(std::size_t index) const;
    // sum w q^m / sum w - 1, without cancellation; m finite and not 0.
    [[nodiscard]] double mean_power_minus_one(std::size_t index) const;
    // G_m of this over G_m of other.
    [[nodiscard]] double mean_ratio(std::size_t index, const RiskProfile& other) const;

    [[nodiscard]] std::string to_bytes() const;
    static RiskProfile from_bytes(std::string_view bytes);
    // The same without the header: for states that hold profiles.
    void write(Writer& out) const;
    static RiskProfile read(Reader& in);

private:
    friend class RiskProfileWorker;
    friend struct CellLayout<RiskProfile>;
    friend class RiskSums;
    friend class RiskAdder;

    void track_extremes(const double* q, std::size_t n);

    void require_weight() const;
    [[nodiscard]] bool is_zero(std::size_t index) const;
    [[nodiscard]] DoubleDouble log_of_mean(std::size_t index) const;

    std::vector<double> powers_;
    double q_lim_;
    std::uint64_t n_ = 0;        // rows taken in
    std::uint64_t omitted_ = 0;  // rows dropped because a value was missing
    std::uint64_t zeros_ = 0;    // rows of positive weight with q = 0
    double least_ = 1.0;         // over rows of positive weight
    double most_ = 0.0;
    ExactSum weight_;
    std::vector<ExactSum> sums_;  // by power; empty for infinite powers
};

// Powers 1, 0 and -2/3: decisiveness, accuracy, robustness. Throws InvalidInput unless
// 0 <= q_lim < 1/2.
[[nodiscard]] RiskProfile named_profile(double q_lim);

// The geometric standard deviation of the probabilities given to the outcome (Nelson 2017,
// equation 10): exp(sqrt(sum w (log q - log G_0)^2 / sum w)), q clipped to [q_lim, 1 - q_lim].
// Infinite where some q, but not all, are 0; 1 where all are equal. The sums are exact; the
// relative error is below 2^-51 (1 + the logarithm of the result). Throws as RiskProfile::update
// does.
[[nodiscard]] double geometric_deviation(const Events& events, double q_lim, Poll poll);

}  // namespace calibrant
