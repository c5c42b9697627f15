#include "calibrant/scores/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/numeric/tails.hpp"
#include "calibrant/rows/check.hpp"
#include "calibrant/scores/scores.hpp"
#include "kernels/elementary.hpp"
#include "kernels/kernels.hpp"
#include "numeric/binomial.hpp"
#include "numeric/gamma_tail.hpp"
#include "numeric/student.hpp"
#include "rows/event_blocks.hpp"
#include "rows/workers.hpp"
#include "scores/score_terms.hpp"

namespace calibrant {
namespace {

std::size_t columns_of(const Events& events) { return events.is_matrix ? events.y_proba.width : 1; }

// The terms of one model for a block of rows.
class ModelTerms {
public:
    explicit ModelTerms(const Events& events)
        : block(events), terms_(events), width_(events.is_matrix ? events.y_proba.width : 0) {}

    void look(double q_lim) {
        terms_.look_at(block);
        terms_.true_class(q_lim, q_);
    }

    [[nodiscard]] bool gave_zero(std::size_t i) const { return q_[i] == 0.0; }

    // For one column: the log terms had the other label been the right one, one double each.
    void find_other_logs(double q_lim) {
        for (std::size_t i = 0; i < block.n; ++i) other_label_[i] = 1 - block.label[i];
        // Checked already.
        (void)kernels().int32_labels.true_class(block.p.data(), other_label_, block.n, q_lim,
                                                other_q_);
        other_zeros = kernels().logs(other_q_, block.n, other_log, other_low_);
        for (std::size_t i = 0; i < block.n; ++i) other_log[i] += other_low_[i];
    }
    [[nodiscard]] bool would_give_zero(std::size_t i) const { return other_q_[i] == 0.0; }

    // For several, class by class: the probabilities, and the logarithms of the clipped ones; that
    // of 0 is 0. Returns how many are 0.
    [[nodiscard]] std::size_t find_class_logs(double q_lim) {
        const std::size_t n = block.n * width_;
        by_class.resize(block.p.size());
        class_log.resize(block.p.size());
        for (std::size_t i = 0; i < block.n; ++i) {
            for (std::size_t k = 0; k < width_; ++k) {
                by_class[k * block.n + i] = block.p[i * width_ + k];
            }
        }
        std::size_t zeros = 0;
        for (std::size_t i = 0; i < n; i += block_rows) {
            const std::size_t count = std::min(block_rows, n - i);
            (void)kernels().clip(&by_class[i], count, q_lim, other_q_);
            zeros += kernels().logs(other_q_, count, &class_log[i], other_low_);
            for (std::size_t j = 0; j < count; ++j) class_log[i + j] += other_low_[j];
        }
        return zeros;
    }

    // Spherical is computed last, as ScoreTerms says.
    void find(PairedScores::Term term) {
        switch (term) {
            case PairedScores::brier:
                terms_.brier(high, low);
                break;
            case PairedScores::log_score:
                (void)kernels().logs(q_, block.n, high, low);
                break;
            case PairedScores::spherical:
                terms_.spherical(high, low);
                break;
            default:
                find_hits();
        }
    }

    OutcomeBlock block;
    alignas(64) double high[block_rows], low[block_rows];
    alignas(64) double other_log[block_rows];
    std::size_t other_zeros = 0;
    std::vector<double> by_class, class_log;

private:
    void find_hits() {
        std::fill_n(low, block.n, 0.0);
        if (width_ == 0) {
            for (std::size_t i = 0; i < block.n; ++i) {
                high[i] = static_cast<double>((block.p[i] >= 0.5) == (block.label[i] == 1));
            }
            return;
        }
        for (std::size_t i = 0; i < block.n; ++i) {
            const double* const values = &block.p[i * width_];
            const double* const top = std::max_element(values, values + width_);
            high[i] = top - values == block.label[i] ? 1.0 : 0.0;
        }
    }

    ScoreTerms terms_;
    std::size_t width_;
    alignas(64) double q_[block_rows];
    alignas(64) double other_q_[block_rows], other_low_[block_rows];
    alignas(64) std::int32_t other_label_[block_rows];
};

}  // namespace

// One thread's share of an update.
class PairedWorker {
public:
    PairedWorker(const PairedScores& parameters, const PairedRows& rows)
        : rows_(rows),
          first_(rows.first),
          second_(rows.second),
          total_(parameters.empty()),
          weighted_(rows.first.sample_weight != nullptr),
          width_(rows.first.is_matrix ? rows.first.y_proba.width : 0) {
        total_.columns_ = columns_of(rows.first);
    }

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        // Where rows may be dropped, one at a time: both models must drop the same.
        const std::size_t step = rows_.first.omit_missing ? 1 : first_.block.most_rows;
        for (std::size_t row = begin; row < end; row += step) {
            const std::size_t count = std::min(step, end - row);
            if (!load_outcomes(rows_.first, row, count, first_.block)) return false;
            if (!load_outcomes(rows_.second, row, count, second_.block)) return false;
            if (first_.block.omitted != 0 || second_.block.omitted != 0) {
                ++total_.omitted_;
                continue;
            }
            add_block();
        }
        return true;
    }

    void finish_into(PairedScores& result) { result.merge(total_); }

private:
    void add_block() {
        n_ = first_.block.n;
        total_.n_ += n_;
        first_.look(total_.q_lim_);
        second_.look(total_.q_lim_);
        if (weighted_) {
            total_.weight_.add_block(first_.block.weight, n_);
        } else {
            total_.weight_.add(static_cast<Int128>(n_), 0);
        }
        count_zeros();
        // Spherical terms last: they may scale the block.
        add_term(PairedScores::brier);
        add_term(PairedScores::log_score);
        if (width_ == 0) {
            find_even_moments_of_two();
        } else {
            find_even_moments();
        }
        for (std::size_t i = 0; i < PairedScores::n_even; ++i) {
            add(total_.variances_[i], moments_.variance[i]);
            add(total_.thirds_[i], moments_.third[i]);
        }
        add_term(PairedScores::hit);
        add_term(PairedScores::spherical);
    }

    void count_zeros() {
        for (std::size_t i = 0; i < n_; ++i) {
            const bool counts = !weighted_ || first_.block.weight[i] != 0.0;
            if (counts && (first_.gave_zero(i) || second_.gave_zero(i))) ++total_.zeros_;
        }
    }

    void add_term(PairedScores::Term term) {
        first_.find(term);
        second_.find(term);
        // Both on one grid, of few bits: these two differences are exact.
        for (std::size_t i = 0; i < n_; ++i) {
            high_[i] = first_.high[i] - second_.high[i];
            low_[i] = first_.low[i] - second_.low[i];
            const double difference = high_[i] + low_[i];
            square_[i] = difference * difference;
        }
        add(total_.sums_[term], high_);
        add(total_.sums_[term], low_);
        add(total_.squares_[term], square_);
    }

    // After the log terms, whose differences are in high_ and low_.
    void find_even_moments_of_two() {
        first_.find_other_logs(total_.q_lim_);
        second_.find_other_logs(total_.q_lim_);
        for (std::size_t i = 0; i < n_; ++i) {
            high_[i] += low_[i];
            low_[i] = first_.other_log[i] - second_.other_log[i];
        }
        if (first_.other_zeros + second_.other_zeros != 0) {
            for (std::size_t i = 0; i < n_; ++i) {
                const bool one = first_.would_give_zero(i), other = second_.would_give_zero(i);
                if (!one && !other) continue;
                low_[i] = 0.0;
                if (one != other) count_unbounded(i);
            }
        }
        kernels().scores.even_moments_of_two(first_.block.p.data(), second_.block.p.data(), high_,
                                             low_, n_, &moments_);
    }

    void find_even_moments() {
        const std::size_t zeros = first_.find_class_logs(total_.q_lim_);
        if (second_.find_class_logs(total_.q_lim_) + zeros != 0) {
            for (std::size_t i = 0; i < n_; ++i) look_for_zeros(i);
        }
        kernels().scores.even_moments_of_classes(first_.by_class.data(), second_.by_class.data(),
                                                 first_.class_log.data(), second_.class_log.data(),
                                                 n_, width_, &moments_);
    }

    // q_lim is 0. Logarithms of 0 do not count in the moments.
    void look_for_zeros(std::size_t row) {
        bool unbounded = false;
        for (std::size_t k = 0; k < width_; ++k) {
            const std::size_t at = k * n_ + row;
            const bool one = first_.by_class[at] == 0.0, other = second_.by_class[at] == 0.0;
            if (!one && !other) continue;
            first_.class_log[at] = second_.class_log[at] = 0.0;
            const bool happened = static_cast<std::int32_t>(k) == first_.block.label[row];
            unbounded |= one != other && !happened;
        }
        if (unbounded) count_unbounded(row);
    }

    void count_unbounded(std::size_t row) {
        if (!weighted_ || first_.block.weight[row] != 0.0) ++total_.unbounded_;
    }

    void add(ExactSum& sum, const double* values) {
        if (weighted_) {
            sum.add_products(first_.block.weight, values, n_);
        } else {
            sum.add_block(values, n_);
        }
    }

    const PairedRows& rows_;
    ModelTerms first_, second_;
    PairedScores total_;
    bool weighted_;
    std::size_t width_;  // 0 for one column
    std::size_t n_ = 0;
    alignas(64) double high_[block_rows], low_[block_rows], square_[block_rows];
    EvenMoments moments_;
};

PairedScores::PairedScores(double q_lim) : q_lim_(q_lim + 0.0) {
    if (!(q_lim >= 0.0 && q_lim < 0.5)) {
        throw InvalidInput("q_lim must satisfy 0 <= q_lim < 0.5, got " + number_text(q_lim));
    }
}

void PairedScores::update(const PairedRows& rows, std::uint64_t rows_before, Poll poll) {
    if (columns_of(rows.first) != columns_of(rows.second)) {
        throw InvalidInput(std::string(rows.first.proba_name) + " and " + rows.second.proba_name +
                           " must have the same number of columns, got " +
                           std::to_string(columns_of(rows.first)) + " and " +
                           std::to_string(columns_of(rows.second)));
    }
    require_same_length(rows.first.proba_name, rows.first.size(), rows.second.proba_name,
                        rows.second.size());
    if (rows.first.size() == 0) return;
    const auto reject = [&](std::size_t begin, std::size_t end) {
        OutcomeBlock block(rows.first);
        for (std::size_t row = begin; row < end; row += block.most_rows) {
            const std::size_t count = std::min(block.most_rows, end - row);
            if (!load_outcomes(rows.first, row, count, block)) {
                reject_events(rows.first, row, row + count, rows_before);
            }
        }
        reject_events(rows.second, begin, end, rows_before);
    };
    run_workers<PairedWorker>(*this, rows, rows.first, reject, poll);
}

void PairedScores::merge(const PairedScores& other) {
    if (q_lim_ != other.q_lim_) {
        throw std::invalid_argument("cannot merge PairedScores with q_lim " +
                                    number_text(other.q_lim_) + " into one with q_lim " +
                                    number_text(q_lim_));
    }
    if (other.columns_ == 0) return;
    if (columns_ != 0 && columns_ != other.columns_) {
        throw InvalidInput("models must keep their number of columns: " + std::to_string(columns_) +
                           " so far, now " + std::to_string(other.columns_));
    }
    PairedScores merged = *this;
    merged.columns_ = other.columns_;
    merged.n_ = checked_add(n_, other.n_);
    merged.omitted_ = checked_add(omitted_, other.omitted_);
    merged.zeros_ = checked_add(zeros_, other.zeros_);
    merged.weight_.merge(other.weight_);
    for (std::size_t i = 0; i < n_terms; ++i) {
        merged.sums_[i].merge(other.sums_[i]);
        merged.squares_[i].merge(other.squares_[i]);
    }
    merged.unbounded_ = checked_add(unbounded_, other.unbounded_);
    for (std::size_t i = 0; i < n_even; ++i) {
        merged.variances_[i].merge(other.variances_[i]);
        merged.thirds_[i].merge(other.thirds_[i]);
    }
    *this = std::move(merged);
}

PairedScores::Difference PairedScores::difference(Term term) const {
    if (weight_.is_zero()) {
        reject_weightless("a comparison needs", n_);
    }
    const double sign = term == log_score ? -1.0 : 1.0;
    // W sum w d^2 - (sum w d)^2 = W^2 times the variance of d; exact but for the squares.
    ExactSum spread = weight_ * squares_[term];
    spread.subtract(sums_[term] * sums_[term]);
    if (spread.value().high <= 0.0) return {sign * mean(sums_[term], weight_) + 0.0, 0.0};
    const double variance = mean(spread, weight_ * weight_);
    const double standard_error = std::sqrt(variance) / std::sqrt(weight_.to_double());
    return {sign * mean(sums_[term], weight_) + 0.0, standard_error};
}

namespace {

// The sign test of `rows`, of which one model was right in sum more than the other.
double sign_pvalue(double sum, double rows) {
    constexpr double many = 0x1p30;
    // Not below 0 for what rows can sum to; a forged state may say anything.
    const double less = std::max(std::ceil(0.5 * (rows - std::fabs(sum)) - 0x1p-20), 0.0);
    const double all = std::floor(rows + 0x1p-20);
    if (!(2.0 * less < all)) return 1.0;
    if (all > many) return normal_two_sided(sum / std::sqrt(rows));
    const Binomial law{static_cast<std::int64_t>(all), 1, 2};
    return std::min(1.0, 2.0 * exp(law.log_cdf(static_cast<std::int64_t>(less))));
}

}  // namespace

bool PairedScores::has_two_rows() const { return weight_.to_double() >= 2.0; }

PairedScores::Judgement PairedScores::judge(Term term, double level) const {
    const Difference found = difference(term);
    const double weight = weight_.to_double();
    const double sum = found.mean * weight;
    double even = 1.0, below = 2.0, above = 2.0;  // of hits
    bool few_events = false;
    if (term == hit) {
        if (variances_[brier].is_zero() && squares_[hit].is_zero()) return {1.0, 0.0, 0.0, false};
        even = sign_pvalue(sum, squares_[hit].to_double());
    } else {
        const double sign = term == log_score ? -1.0 : 1.0;
        const double variance = variances_[term].to_double();
        const double third = sign * thirds_[term].to_double();
        if (variance == 0.0 && squares_[term].is_zero()) return {1.0, 0.0, 0.0, false};
        const double jump = variance > 0.0 ? third / variance : 0.0;
        even = variance > 0.0 ? tails_of_events(sum, variance, third).two_sided() : 1.0;
        // The chance of such a likelihood ratio is at most its inverse if the loser is right.
        if (term == log_score && unbounded_ != 0) {
            even = std::max(even, std::min(1.0, 2.0 * exp(-std::fabs(sum))));
        }
        below = above = 4.0 * variance / weight;
        (jump < 0.0 ? below : above) = 4.0 * std::max(jump * jump, variance / weight);
        few_events = 2.0 * exp(-(variance / jump / jump)) > 1.0 - level;
    }
    const double spread = found.standard_error * weight;
    const auto error = [&](double jumps) {
        return std::sqrt((spread * spread + jumps) * (weight / (weight - 1.0))) / weight;
    };
    const double towards_0 = error(found.mean > 0.0 ? below : above);
    const double pvalue = std::max(even, student_two_sided(found.mean / towards_0, weight - 1.0));
    const double quantile = student_quantile(1.0 - level, weight - 1.0);
    double low = found.mean - quantile * error(below);
    double high = found.mean + quantile * error(above);
    if (even > 1.0 - level) {
        low = std::min(low, 0.0);
        high = std::max(high, 0.0);
    }
    if (term != log_score) {
        const double most = term == brier && columns_ > 1 ? 2.0 : 1.0;
        low = std::max(low, -most);
        high = std::min(high, most);
    }
    return {pvalue, low, high, few_events && pvalue > 1.0 - level};
}

std::string PairedScores::to_bytes() const {
    Writer out;
    out.f64(q_lim_);
    out.u64(columns_);
    out.u64(n_);
    out.u64(omitted_);
    out.u64(zeros_);
    weight_.write(out);
    for (std::size_t i = 0; i < n_terms; ++i) {
        sums_[i].write(out);
        squares_[i].write(out);
    }
    out.u64(unbounded_);
    for (std::size_t i = 0; i < n_even; ++i) {
        variances_[i].write(out);
        thirds_[i].write(out);
    }
    return seal(kind, 2, out);
}

PairedScores PairedScores::from_bytes(std::string_view bytes) {
    Reader in = open(bytes, kind, 2);
    if (in.version() < 2) {
        throw CorruptState(
            "PairedScores of payload version 1, which no release wrote, lack what a judgement "
            "needs; gather the rows again");
    }
    const double q_lim = in.f64();
    if (std::signbit(q_lim) || !(q_lim < 0.5)) {
        throw CorruptState("malformed state: q_lim is out of range");
    }
    PairedScores result(q_lim);
    const std::uint64_t columns = in.u64();
    if (columns > ScoreSums::most_classes) throw CorruptState("malformed state: too many columns");
    result.columns_ = static_cast<std::size_t>(columns);
    result.n_ = in.u64();
    result.omitted_ = in.u64();
    result.zeros_ = in.u64();
    result.weight_ = ExactSum::read(in);
    bool possible = result.zeros_ <= result.n_ && result.weight_.value().high >= 0.0 &&
                    (result.n_ != 0 || result.weight_.is_zero()) &&
                    (columns != 0) == (result.n_ != 0 || result.omitted_ != 0);
    for (std::size_t i = 0; i < n_terms; ++i) {
        result.sums_[i] = ExactSum::read(in);
        result.squares_[i] = ExactSum::read(in);
        possible = possible && result.squares_[i].value().high >= 0.0 &&
                   (!result.weight_.is_zero() ||
                    (result.sums_[i].is_zero() && result.squares_[i].is_zero()));
    }
    result.unbounded_ = in.u64();
    possible = possible && result.unbounded_ <= result.n_;
    for (std::size_t i = 0; i < n_even; ++i) {
        result.variances_[i] = ExactSum::read(in);
        result.thirds_[i] = ExactSum::read(in);
        possible = possible && result.variances_[i].value().high >= 0.0 &&
                   (!result.variances_[i].is_zero() || result.thirds_[i].is_zero()) &&
                   (!result.weight_.is_zero() || result.variances_[i].is_zero());
    }
    in.finish();
    if (!possible) throw CorruptState("malformed state: counts and sums of PairedScores disagree");
    return result;
}

}  // namespace calibrant
