#include "calibrant/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "calibrant/check.hpp"
#include "calibrant/double_double.hpp"
#include "calibrant/scores.hpp"
#include "calibrant/workers.hpp"
#include "score_terms.hpp"

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

    // Spherical is the last to be asked for, as ScoreTerms says.
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

private:
    void find_hits() {
        for (std::size_t i = 0; i < block.n; ++i) {
            low[i] = 0.0;
            if (width_ == 0) {
                high[i] = (block.p[i] >= 0.5) == (block.label[i] == 1) ? 1.0 : 0.0;
                continue;
            }
            const double* const values = &block.p[i * width_];
            const double* const top = std::max_element(values, values + width_);
            high[i] = top - values == block.label[i] ? 1.0 : 0.0;
        }
    }

    ScoreTerms terms_;
    std::size_t width_;
    alignas(64) double q_[block_rows];
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
          weighted_(rows.first.sample_weight != nullptr) {
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
        // Hits before spherical terms, which may scale the block.
        for (const auto term : {PairedScores::brier, PairedScores::log_score, PairedScores::hit,
                                PairedScores::spherical}) {
            add_term(term);
        }
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
    std::size_t n_ = 0;
    alignas(64) double high_[block_rows], low_[block_rows], square_[block_rows];
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
    const auto refuse = [&](std::size_t begin, std::size_t end) {
        OutcomeBlock block(rows.first);
        for (std::size_t row = begin; row < end; row += block.most_rows) {
            const std::size_t count = std::min(block.most_rows, end - row);
            if (!load_outcomes(rows.first, row, count, block)) {
                refuse_events(rows.first, row, row + count, rows_before);
            }
        }
        refuse_events(rows.second, begin, end, rows_before);
    };
    run_workers<PairedWorker>(*this, rows, rows.first, refuse, poll);
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
    *this = std::move(merged);
}

PairedScores::Difference PairedScores::difference(Term term) const {
    if (weight_.is_zero()) {
        throw InvalidInput(n_ == 0 ? "a comparison needs at least one row, got none"
                                   : "a comparison needs a row with positive weight, all " +
                                         std::to_string(n_) + " have weight 0");
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
    return seal(kind, 1, out);
}

PairedScores PairedScores::from_bytes(std::string_view bytes) {
    Reader in = open(bytes, kind, 1);
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
    in.finish();
    if (!possible) throw CorruptState("malformed state: counts and sums of PairedScores disagree");
    return result;
}

}  // namespace calibrant
