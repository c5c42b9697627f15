#include "calibrant/scores/scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"
#include "rows/event_blocks.hpp"
#include "rows/workers.hpp"
#include "scores/score_terms.hpp"

namespace calibrant {
namespace {

std::size_t columns_of(const Events& events) {
    if (events.y_proba.width == 0) return events.label_classes;
    return events.is_matrix ? events.y_proba.width : 1;
}

double skill_of(DoubleDouble score, DoubleDouble reference, const char* why_zero) {
    if (reference.high == 0.0) {
        throw InvalidInput(std::string("the Brier skill score is undefined: ") + why_zero +
                           ", so its Brier score is 0");
    }
    return ((reference - score) / reference).high;
}

}  // namespace

// One thread's share of an update. Every score makes the terms of a block, high and low, and
// all terms are summed in the same two ways: with weights or without.
class ScoreWorker {
public:
    ScoreWorker(const ScoreSums& parameters, const Events& events)
        : sums_(parameters.empty()), events_(events), block_(events), terms_(events) {
        sums_.columns_ = columns_of(events);
        sums_.class_weight_.resize(events.n_classes());
        counts_.resize(events.n_classes());
    }

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; row += block_.most_rows) {
            const std::size_t count = std::min(block_.most_rows, end - row);
            if (!load_outcomes(events_, row, count, block_)) return false;
            sums_.n_ += block_.n;
            sums_.omitted_ += block_.omitted;
            add_classes();
            terms_.look_at(block_);
            if (sums_.scores_.has(Score::log)) add_log();
            if (sums_.scores_.has(Score::brier)) {
                terms_.brier(high_, low_);
                add_terms(Score::brier, score_grid);
            }
            if (sums_.scores_.has(Score::spherical)) {
                terms_.spherical(high_, low_);
                add_terms(Score::spherical, score_grid);
            }
        }
        return true;
    }

    void finish_into(ScoreSums& total) {
        for (std::size_t j = 0; j < counts_.size(); ++j) {
            sums_.class_weight_[j].add(static_cast<Int128>(counts_[j]), 0);
        }
        total.merge(sums_);
    }

private:
    [[nodiscard]] bool weighted() const { return events_.sample_weight != nullptr; }

    void add_classes() {
        const std::size_t n = block_.n;
        if (counts_.size() > 2) {
            for (std::size_t i = 0; i < n; ++i) {
                const auto label = static_cast<std::size_t>(block_.label[i]);
                if (weighted()) {
                    sums_.class_weight_[label].add(block_.weight[i]);
                } else {
                    ++counts_[label];
                }
            }
        } else if (weighted()) {
            // Block by block, which is faster: times the label, and times its opposite.
            for (std::int32_t label = 0; label < 2; ++label) {
                const std::int32_t flip = 1 - label;
                for (std::size_t i = 0; i < n; ++i) {
                    high_[i] = block_.weight[i] * static_cast<double>(block_.label[i] ^ flip);
                }
                sums_.class_weight_[static_cast<std::size_t>(label)].add_block(high_, n);
            }
        } else {
            std::int32_t ones = 0;
            for (std::size_t i = 0; i < n; ++i) ones += block_.label[i];
            counts_[1] += static_cast<std::uint64_t>(ones);
            counts_[0] += n - static_cast<std::uint64_t>(ones);
        }
    }

    void add_log() {
        const std::size_t n = block_.n;
        terms_.true_class(sums_.q_lim_, clipped_);
        // A q of 0 has no term: zeros are counted, and decide the score.
        std::size_t zeros = kernels().logs(clipped_, n, high_, low_);
        for (std::size_t i = 0; weighted() && zeros != 0 && i < n; ++i) {
            if (clipped_[i] == 0.0 && block_.weight[i] == 0.0) --zeros;
        }
        sums_.zeros_ += zeros;
        add_terms(Score::log, log_grid);
    }

    void add_terms(Score score, const Grid& grid) {
        ExactSum& sum = sums_.sums_[static_cast<std::size_t>(score)];
        if (weighted()) {
            sum.add_products(block_.weight, high_, block_.n);
            sum.add_products(block_.weight, low_, block_.n);
            return;
        }
        std::int64_t high_sum = 0;
        std::int64_t low_sum = 0;
        kernels().sum_terms(high_, low_, block_.n, grid, &high_sum, &low_sum);
        sum.add(static_cast<Int128>(high_sum), -grid.high_bits);
        sum.add(static_cast<Int128>(low_sum), -grid.low_bits);
    }

    ScoreSums sums_;
    const Events& events_;
    OutcomeBlock block_;
    ScoreTerms terms_;
    std::vector<std::uint64_t> counts_;  // of rows without weights, by class
    alignas(64) double clipped_[block_rows];
    alignas(64) double high_[block_rows], low_[block_rows];
};

ScoreSums::ScoreSums(ScoreSet scores, double q_lim) : scores_(scores), q_lim_(q_lim + 0.0) {
    if (!(q_lim >= 0.0 && q_lim < 0.5)) {
        throw InvalidInput("q_lim must satisfy 0 <= q_lim < 0.5, got " + number_text(q_lim));
    }
}

ScoreSums::ScoreSums(const ScoreSums& parameters, std::size_t columns, const RowCounts& rows,
                     std::vector<ExactSum> class_weight, std::array<ExactSum, n_scores> sums)
    : scores_(parameters.scores_),
      q_lim_(parameters.q_lim_),
      columns_(columns),
      n_(rows.n),
      omitted_(rows.omitted),
      zeros_(rows.zeros),
      class_weight_(std::move(class_weight)),
      sums_(std::move(sums)) {}

void ScoreSums::update(const Events& events, std::uint64_t rows_before, Poll poll) {
    if (events.size() == 0) return;
    if (events.n_classes() < 2 || events.n_classes() > most_classes) {
        throw InvalidInput("scores need 2 to 2^20 classes, got " +
                           std::to_string(events.n_classes()));
    }
    update_by_workers<ScoreWorker>(*this, events, events, rows_before, poll);
}

void ScoreSums::merge(const ScoreSums& other) {
    if (scores_ != other.scores_) {
        throw std::invalid_argument("cannot merge sums of different scores");
    }
    if (q_lim_ != other.q_lim_) {
        throw std::invalid_argument("cannot merge scores with q_lim " + number_text(other.q_lim_) +
                                    " into scores with q_lim " + number_text(q_lim_));
    }
    if (other.columns_ == 0) return;
    if (columns_ != 0) require_same_columns(columns_, other.columns_);
    ScoreSums merged = *this;
    merged.columns_ = other.columns_;
    merged.n_ = checked_add(n_, other.n_);
    merged.omitted_ = checked_add(omitted_, other.omitted_);
    merged.zeros_ = checked_add(zeros_, other.zeros_);
    merged.class_weight_.resize(other.class_weight_.size());
    for (std::size_t j = 0; j < merged.class_weight_.size(); ++j) {
        merged.class_weight_[j].merge(other.class_weight_[j]);
    }
    for (std::size_t i = 0; i < n_scores; ++i) merged.sums_[i].merge(other.sums_[i]);
    *this = std::move(merged);
}

bool ScoreSums::has_weight() const {
    return std::ranges::any_of(class_weight_,
                               [](const ExactSum& weight) { return !weight.is_zero(); });
}

ExactSum ScoreSums::weight() const {
    ExactSum total;
    for (const ExactSum& weight : class_weight_) total.merge(weight);
    if (total.is_zero()) {
        reject_weightless("a score needs", n_);
    }
    return total;
}

DoubleDouble ScoreSums::mean_of(Score score) const {
    if (!scores_.has(score)) throw std::invalid_argument("the score was not kept");
    return quotient(sums_[static_cast<std::size_t>(score)], weight());
}

double ScoreSums::mean(Score score) const {
    const double mean = mean_of(score).high;
    if (score != Score::log) return mean;
    return zeros_ != 0 ? std::numeric_limits<double>::infinity() : 0.0 - mean;  // never -0
}

std::vector<double> ScoreSums::class_frequencies() const {
    const ExactSum total = weight();
    std::vector<double> frequencies;
    frequencies.reserve(class_weight_.size());
    for (const ExactSum& weight : class_weight_) {
        frequencies.push_back(quotient(weight, total).high);
    }
    return frequencies;
}

DoubleDouble ScoreSums::impurity() const {
    const ExactSum total = weight();
    DoubleDouble sum;
    for (const ExactSum& weight : class_weight_) {
        ExactSum others = total;  // 1 - pi from exact sums, so that nothing cancels
        others.subtract(weight);
        sum = sum + quotient(weight, total) * quotient(others, total);
    }
    return sum;
}

double ScoreSums::gini() const { return impurity().high; }

double ScoreSums::brier_skill() const {
    const DoubleDouble in_sum_form = impurity();
    const double scale = columns_ == 1 ? 0.5 : 1.0;
    return skill_of(mean_of(Score::brier), {scale * in_sum_form.high, scale * in_sum_form.low},
                    "all rows are of one class");
}

double ScoreSums::brier_skill(const ScoreSums& reference) const {
    return skill_of(mean_of(Score::brier), reference.mean_of(Score::brier),
                    "the reference is perfect");
}

std::string ScoreSums::to_bytes() const {
    Writer out;
    out.u8(scores_.bits());
    out.f64(q_lim_);
    out.u64(columns_);
    out.u64(n_);
    out.u64(omitted_);
    out.u64(zeros_);
    out.u64(class_weight_.size());
    for (const ExactSum& weight : class_weight_) weight.write(out);
    for (std::size_t i = 0; i < n_scores; ++i) {
        if (scores_.has(static_cast<Score>(i))) sums_[i].write(out);
    }
    return seal(kind, 1, out);
}

ScoreSums ScoreSums::from_bytes(std::string_view bytes) {
    constexpr std::size_t least_sum_bytes = 17;
    Reader in = open(bytes, kind, 1);
    const ScoreSet scores(in.u8());
    const double q_lim = in.f64();
    if (scores.bits() >= 1U << n_scores || std::signbit(q_lim) || !(q_lim < 0.5)) {
        throw CorruptState("malformed state: unknown scores, or q_lim out of range");
    }
    ScoreSums result(scores, q_lim);
    const std::uint64_t columns = in.u64();
    result.n_ = in.u64();
    result.omitted_ = in.u64();
    result.zeros_ = in.u64();
    result.class_weight_.resize(in.count(least_sum_bytes));
    const std::size_t classes = result.class_weight_.size();
    bool consistent = classes <= most_classes && classes == (columns == 1 ? 2 : columns) &&
                      result.zeros_ <= result.n_;
    result.columns_ = static_cast<std::size_t>(columns);
    for (ExactSum& weight : result.class_weight_) {
        weight = ExactSum::read(in);
        consistent =
            consistent && weight.value().high >= 0.0 && (result.n_ != 0 || weight.is_zero());
    }
    for (std::size_t i = 0; i < n_scores; ++i) {
        if (scores.has(static_cast<Score>(i))) result.sums_[i] = ExactSum::read(in);
        consistent = consistent && (result.n_ != 0 || result.sums_[i].is_zero());
    }
    in.finish();
    const bool any_rows = result.n_ != 0 || result.omitted_ != 0;
    if (!consistent || (columns != 0) != any_rows) {
        throw CorruptState("malformed state: counts and sums of the scores disagree");
    }
    return result;
}

}  // namespace calibrant
