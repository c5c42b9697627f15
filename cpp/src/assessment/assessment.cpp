#include "calibrant/assessment/assessment.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"
#include "means/risk_sums.hpp"
#include "rows/scored_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {
namespace {

// The 64-bit sums of a bin hold this many pairs.
constexpr std::size_t pairs_before_flush = std::size_t{1} << 22;

constexpr std::uint16_t version_with_table = 2;  // without: 1

// Scores of true pairs are buffered by bin until there are enough for the kernel; all bins together
// should stay in a second-level cache.
std::size_t waiting_per_bin(std::size_t bins) {
    return std::clamp<std::size_t>((std::size_t{1} << 15) / bins, 8, block_rows);
}

}  // namespace

// One thread's share of an update.
class AssessmentWorker {
public:
    AssessmentWorker(const Assessment& parameters, const ScoredRows& rows)
        : rows_(rows),
          block_(rows),
          nothing_(parameters.without_table()),
          total_(nothing_),
          weighted_(rows.events.sample_weight != nullptr),
          bins_(block_.most_scores()),
          counts_(total_.bins_.size()),
          scores_(total_.bins_.size()),
          most_buffered_(waiting_per_bin(total_.bins_.size())),
          buffered_(total_.bins_.size() * most_buffered_),
          waiting_weights_(weighted_ ? buffered_.size() : 0) {
        const RiskProfile parameters_of_model = named_profile(total_.q_lim_);
        models_.assign(total_.bins_.size(), RiskSums(parameters_of_model));
    }

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        return load_each(block_, rows_, begin, end, [&](std::size_t) {
            total_.n_ += block_.events();
            total_.omitted_ += block_.omitted();
            total_.bins_.locate(block_.score(), block_.n(), bins_.data());
            for (std::size_t i = 0; i < block_.n(); i += block_rows) {
                const std::size_t n = std::min(block_rows, block_.n() - i);
                weighted_ ? add_weighted(i, n) : add_unweighted(i, n);
                keep_true(i, n);
            }
        });
    }

    // The rows so far, to begin anew.
    [[nodiscard]] Assessment take() {
        flush();
        for (std::size_t k = 0; k < models_.size(); ++k) {
            flush_buffered(k);
            std::exchange(scores_[k], {}).add_to(total_.table_[k].scores);
            models_[k].move_to(total_.table_[k].model);
        }
        if (total_.n_ + total_.omitted_ != 0) total_.scores_per_event_ = rows_.scores_per_event();
        return std::exchange(total_, nothing_);
    }

    void finish_into(Assessment& result) { result.merge(take()); }

private:
    struct Counts {
        std::uint64_t n = 0;
        std::int64_t score_high = 0, score_low = 0;
        std::size_t buffered = 0;
    };

    void add_unweighted(std::size_t first, std::size_t n) {
        const double* const score = block_.score() + first;
        const std::uint32_t* const bin = bins_.data() + first;
        const bool tiny = kernels().split(score, n, high_, low_);
        for (std::size_t i = 0; i < n; ++i) {
            Counts& counts = counts_[bin[i]];
            ++counts.n;
            counts.score_high += high_[i];
            counts.score_low += low_[i];
        }
        for (std::size_t i = 0; tiny && i < n; ++i) {
            if (score[i] < least_gridded) total_.table_[bin[i]].scores.add(score[i]);
        }
        pairs_since_flush_ += n;
        if (pairs_since_flush_ >= pairs_before_flush) flush();
    }

    void add_weighted(std::size_t first, std::size_t n) {
        for (std::size_t i = first; i < first + n; ++i) {
            Assessment::Bin& bin = total_.table_[bins_[i]];
            ++bin.n;
            bin.weight.add(block_.weight()[i]);
            bin.scores.add_product(block_.weight()[i], block_.score()[i]);
        }
    }

    void keep_true(std::size_t first, std::size_t n) {
        for (std::size_t i = first; i < first + n; ++i) {
            if (block_.hit()[i] == 0) continue;
            const std::size_t k = bins_[i];
            const std::size_t at = k * most_buffered_ + counts_[k].buffered++;
            buffered_[at] = block_.score()[i];
            if (weighted_) waiting_weights_[at] = block_.weight()[i];
            if (counts_[k].buffered == most_buffered_) flush_buffered(k);
        }
    }

    void flush_buffered(std::size_t k) {
        if (counts_[k].buffered == 0) return;
        double* const weights = weighted_ ? &waiting_weights_[k * most_buffered_] : nullptr;
        adder_.add(models_[k], &buffered_[k * most_buffered_], weights, counts_[k].buffered);
        counts_[k].buffered = 0;
    }

    void flush() {
        for (std::size_t k = 0; k < counts_.size(); ++k) {
            Counts& counts = counts_[k];
            if (counts.n == 0) continue;
            total_.table_[k].n += counts.n;
            total_.table_[k].weight.add(static_cast<Int128>(counts.n), 0);
            scores_[k].add((static_cast<Int128>(counts.score_high) << 40) + counts.score_low);
            counts.n = 0;
            counts.score_high = counts.score_low = 0;
        }
        pairs_since_flush_ = 0;
    }

    const ScoredRows& rows_;
    ScoredBlock block_;
    Assessment nothing_, total_;
    bool weighted_;
    std::vector<std::uint32_t> bins_;
    std::vector<Counts> counts_;
    std::vector<FixedSum<80>> scores_;
    std::size_t most_buffered_;
    std::vector<double> buffered_, waiting_weights_;
    std::vector<RiskSums> models_;
    RiskAdder adder_;
    std::size_t pairs_since_flush_ = 0;
    alignas(64) std::int64_t high_[block_rows], low_[block_rows];
};

Assessment::Assessment(Bins bins, double q_lim, bool with_table)
    : bins_(std::move(bins)),
      q_lim_(q_lim + 0.0),
      table_(bins_.size(), Bin{0, {}, {}, named_profile(q_lim)}) {
    if (with_table) rows_.emplace();
}

void Assessment::update(const ScoredRows& rows, std::uint64_t rows_before, Poll poll) {
    if (rows.size() == 0) return;
    Assessment added = without_table();
    update_by_workers<AssessmentWorker>(added, rows, rows.events, rows_before, poll);
    if (rows_) {
        added.rows_.emplace();
        added.rows_->update(added.rows_->rows_of(rows.events), rows_before, poll);
    }
    merge(added);
}

void Assessment::merge(const Assessment& other) {
    if (bins_.edges() != other.bins_.edges() || q_lim_ != other.q_lim_) {
        throw std::invalid_argument("cannot merge an Assessment with " +
                                    std::to_string(other.bins_.size()) + " bins and q_lim " +
                                    number_text(other.q_lim_) + " into one with " +
                                    std::to_string(bins_.size()) + " bins and q_lim " +
                                    number_text(q_lim_) + ": both need the same edges and q_lim");
    }
    if (scores_per_event_ != 0 && other.scores_per_event_ != 0 &&
        scores_per_event_ != other.scores_per_event_) {
        throw InvalidInput("y_proba must keep its number of classes, got " +
                           std::to_string(other.scores_per_event_) + " after " +
                           std::to_string(scores_per_event_));
    }
    if (rows_.has_value() != other.rows_.has_value()) {
        throw std::invalid_argument("cannot merge Assessments of which only one keeps its rows");
    }
    if (n_ == 0 && omitted_ == 0) {
        *this = other;
        return;
    }
    Assessment merged = without_table();
    merged.table_ = table_;
    merged.n_ = checked_add(n_, other.n_);
    merged.omitted_ = checked_add(omitted_, other.omitted_);
    merged.scores_per_event_ = std::max(scores_per_event_, other.scores_per_event_);
    for (std::size_t k = 0; k < table_.size(); ++k) {
        Bin& bin = merged.table_[k];
        const Bin& from = other.table_[k];
        bin.n = checked_add(bin.n, from.n);
        bin.weight.merge(from.weight);
        bin.scores.merge(from.scores);
        bin.model.merge(from.model);
    }
    if (rows_) rows_->merge(*other.rows_);  // all or nothing, and the last to fail
    merged.rows_ = std::move(rows_);
    *this = std::move(merged);
}

RiskProfile Assessment::model() const {
    RiskProfile all = named_profile(q_lim_);
    for (const Bin& bin : table_) all.merge(bin.model);
    return all;
}

std::string Assessment::to_bytes() const {
    Writer out;
    out.f64(q_lim_);
    bins_.write(out);
    out.u64(n_);
    out.u64(omitted_);
    out.u64(scores_per_event_);
    for (const Bin& bin : table_) {
        out.u64(bin.n);
        bin.weight.write(out);
        bin.scores.write(out);
        bin.model.write(out);
    }
    if (rows_) out.raw(rows_->to_bytes());
    return seal(kind, rows_ ? version_with_table : 1, out);
}

Assessment Assessment::from_bytes(std::string_view bytes) {
    Reader in = open(bytes, kind, version_with_table);
    const bool with_table = in.version() == version_with_table;
    const double q_lim = in.f64();
    Bins bins = Bins::read(in);
    Assessment result =
        make_from_state([&] { return Assessment(std::move(bins), q_lim, with_table); });
    result.n_ = in.u64();
    result.omitted_ = in.u64();
    result.scores_per_event_ = in.u64();
    std::uint64_t pairs = 0, true_pairs = 0;
    bool possible = true;
    for (Bin& bin : result.table_) {
        bin.n = in.u64();
        bin.weight = ExactSum::read(in);
        bin.scores = ExactSum::read(in);
        bin.model = RiskProfile::read(in);
        possible = possible && bin.model.powers() == named_profile(0.0).powers() &&
                   bin.model.q_lim() == q_lim && bin.model.omitted() == 0 &&
                   bin.model.count() <= bin.n && (bin.n != 0 || bin.weight.is_zero()) &&
                   !__builtin_add_overflow(pairs, bin.n, &pairs) &&
                   !__builtin_add_overflow(true_pairs, bin.model.count(), &true_pairs);
        // 0 <= true weight, scores <= weight
        for (const ExactSum* part : {&bin.model.weight(), &std::as_const(bin.scores)}) {
            ExactSum rest = bin.weight;
            rest.subtract(*part);
            possible = possible && part->value().high >= 0.0 && rest.value().high >= 0.0;
        }
    }
    if (with_table) {
        result.rows_ = ScoreTable::from_bytes(in.raw(in.remaining()));
        possible = possible && result.rows_->count() == result.n_ &&
                   result.rows_->omitted() == result.omitted_ && !result.rows_->of_pairs() &&
                   std::max<std::uint64_t>(result.rows_->columns(), 2) ==
                       std::max<std::uint64_t>(result.scores_per_event_, 2);
    }
    in.finish();
    std::uint64_t expected = 0;
    possible = possible &&
               !__builtin_mul_overflow(result.n_, result.scores_per_event_, &expected) &&
               pairs == expected && true_pairs <= result.n_ &&
               (result.scores_per_event_ != 0 || result.n_ + result.omitted_ == 0);
    if (!possible || result.to_bytes() != bytes) {
        throw CorruptState("malformed state: the bins of the Assessment do not add up");
    }
    return result;
}

}  // namespace calibrant
