#include "calibrant/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "calibrant/check.hpp"
#include "calibrant/double_double.hpp"
#include "calibrant/workers.hpp"

namespace calibrant {
namespace {

// The 64-bit sums of a bin hold this many rows.
constexpr std::size_t rows_before_flush = std::size_t{1} << 22;

// hits - scores, exactly.
ExactSum excess(const Reliability::Bin& bin) {
    ExactSum difference = bin.hits;
    difference.subtract(bin.scores);
    return difference;
}

double gap(const Reliability::Bin& bin) { return mean(excess(bin), bin.weight); }

}  // namespace

// One thread's share of an update. Unweighted rows are counted in plain integers, a score as
// its multiples of 2^-40 and of 2^-80.
class ReliabilityWorker {
public:
    ReliabilityWorker(const Reliability& parameters, const ScoredRows& rows)
        : rows_(rows),
          block_(rows),
          total_(parameters.empty()),
          counts_(total_.bins_.size()),
          score_sums_(total_.bins_.size()) {}

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        return load_each(block_, rows_, begin, end, [&](std::size_t) {
            total_.n_ += block_.n();
            total_.omitted_ += block_.omitted();
            total_.bins_.locate(block_.score(), block_.n(), bins_);
            if (rows_.events.sample_weight != nullptr) {
                add_weighted();
            } else {
                add_unweighted();
            }
        });
    }

    void finish_into(Reliability& result) {
        flush();
        for (std::size_t k = 0; k < score_sums_.size(); ++k) {
            Reliability::Bin& bin = total_.table_[k];
            score_sums_[k].add_to(bin.scores);
        }
        if (result.n_ == 0 && result.omitted_ == 0) {
            result = std::move(total_);
        } else {
            result.merge(total_);
        }
    }

private:
    struct Counts {
        std::uint64_t rows = 0;  // and the hits, times 2^32: one addition for both
        std::int64_t score_high = 0, score_low = 0;
    };

    void add_unweighted() {
        const bool tiny = kernels().split(block_.score(), block_.n(), high_, low_);
        for (std::size_t i = 0; i < block_.n(); ++i) {
            Counts& counts = counts_[bins_[i]];
            counts.rows += 1 + (static_cast<std::uint64_t>(block_.hit()[i]) << 32);
            counts.score_high += high_[i];
            counts.score_low += low_[i];
        }
        for (std::size_t i = 0; tiny && i < block_.n(); ++i) {
            if (block_.score()[i] < least_gridded) {
                total_.table_[bins_[i]].scores.add(block_.score()[i]);
            }
        }
        rows_since_flush_ += block_.n();
        if (rows_since_flush_ >= rows_before_flush) flush();
    }

    void add_weighted() {
        for (std::size_t i = 0; i < block_.n(); ++i) {
            const double weight = block_.weight()[i];
            Reliability::Bin& bin = total_.table_[bins_[i]];
            ++bin.n;
            bin.weight.add(weight);
            if (block_.hit()[i] != 0) bin.hits.add(weight);
            bin.scores.add_product(weight, block_.score()[i]);
        }
    }

    void flush() {
        for (std::size_t k = 0; k < counts_.size(); ++k) {
            Counts& counts = counts_[k];
            if (counts.rows == 0) continue;
            const std::uint64_t n = counts.rows & 0xFFFFFFFF;
            Reliability::Bin& bin = total_.table_[k];
            bin.n += n;
            bin.weight.add(static_cast<Int128>(n), 0);
            bin.hits.add(static_cast<Int128>(counts.rows >> 32), 0);
            score_sums_[k].add((static_cast<Int128>(counts.score_high) << 40) + counts.score_low);
            counts = {};
        }
        rows_since_flush_ = 0;
    }

    const ScoredRows& rows_;
    ScoredBlock block_;
    Reliability total_;
    std::vector<Counts> counts_;
    std::vector<FixedSum<80>> score_sums_;
    std::size_t rows_since_flush_ = 0;
    std::uint32_t bins_[block_rows];
    alignas(64) std::int64_t high_[block_rows], low_[block_rows];
};

Reliability::Reliability(Bins bins) : bins_(std::move(bins)), table_(bins_.size()) {}

Reliability::Reliability(Bins bins, std::vector<Bin> table, std::uint64_t omitted)
    : bins_(std::move(bins)), omitted_(omitted), table_(std::move(table)) {
    for (const Bin& bin : table_) n_ = checked_add(n_, bin.n);
}

void Reliability::update(const ScoredRows& rows, std::uint64_t rows_before, Poll poll) {
    update_by_workers<ReliabilityWorker>(*this, rows, rows.events, rows_before, poll);
}

void Reliability::merge(const Reliability& other) {
    if (bins_.edges() != other.bins_.edges()) {
        throw std::invalid_argument("cannot merge a Reliability with " +
                                    std::to_string(other.bins_.size()) + " bins into one with " +
                                    std::to_string(bins_.size()) + ": both need the same edges");
    }
    if (n_ == 0 && omitted_ == 0) {
        *this = other;
        return;
    }
    Reliability merged = *this;
    merged.n_ = checked_add(n_, other.n_);
    merged.omitted_ = checked_add(omitted_, other.omitted_);
    for (std::size_t k = 0; k < table_.size(); ++k) {
        Bin& bin = merged.table_[k];
        const Bin& from = other.table_[k];
        bin.n = checked_add(bin.n, from.n);
        bin.weight.merge(from.weight);
        bin.hits.merge(from.hits);
        bin.scores.merge(from.scores);
    }
    *this = std::move(merged);
}

ExactSum Reliability::total_weight() const {
    ExactSum weight;
    for (const Bin& bin : table_) weight.merge(bin.weight);
    if (weight.is_zero()) {
        throw InvalidInput(n_ == 0 ? "a calibration error needs at least one row, got none"
                                   : "a calibration error needs a row with positive weight, all " +
                                         std::to_string(n_) + " have weight 0");
    }
    return weight;
}

double Reliability::mean_gap() const {
    ExactSum gaps;
    for (const Bin& bin : table_) {
        if (bin.n == 0) continue;
        const ExactSum difference = excess(bin);
        if (difference.is_negative()) {
            gaps.subtract(difference);
        } else {
            gaps.merge(difference);
        }
    }
    return mean(gaps, total_weight());
}

double Reliability::root_mean_square_gap(bool debiased) const {
    const ExactSum total = total_weight();
    double mean_square = 0.0;
    for (const Bin& bin : table_) {
        const double weight = bin.weight.to_double();
        if (bin.weight.is_zero() || (debiased && weight < 2.0)) continue;
        const double share = mean(bin.weight, total);
        const double difference = gap(bin);
        const double frequency = mean(bin.hits, bin.weight);
        const double variance = debiased ? frequency * (1.0 - frequency) / (weight - 1.0) : 0.0;
        mean_square += share * (difference * difference - variance);
    }
    return mean_square > 0.0 ? std::sqrt(mean_square) : 0.0;
}

double Reliability::largest_gap() const {
    (void)total_weight();
    double largest = 0.0;
    for (const Bin& bin : table_) {
        if (!bin.weight.is_zero()) largest = std::max(largest, std::fabs(gap(bin)));
    }
    return largest;
}

std::string Reliability::to_bytes() const {
    Writer out;
    bins_.write(out);
    out.u64(n_);
    out.u64(omitted_);
    for (const Bin& bin : table_) {
        out.u64(bin.n);
        bin.weight.write(out);
        bin.hits.write(out);
        bin.scores.write(out);
    }
    return seal(kind, 1, out);
}

Reliability Reliability::from_bytes(std::string_view bytes) {
    Reader in = open(bytes, kind, 1);
    Reliability result(Bins::read(in));
    result.n_ = in.u64();
    result.omitted_ = in.u64();
    std::uint64_t rows = 0;
    bool possible = true;
    for (Bin& bin : result.table_) {
        bin.n = in.u64();
        bin.weight = ExactSum::read(in);
        bin.hits = ExactSum::read(in);
        bin.scores = ExactSum::read(in);
        possible = possible && !__builtin_add_overflow(rows, bin.n, &rows);
        // 0 <= hits, scores <= weight, and nothing without rows.
        for (const ExactSum* part : {&bin.hits, &bin.scores}) {
            ExactSum rest = bin.weight;
            rest.subtract(*part);
            possible = possible && part->value().high >= 0.0 && rest.value().high >= 0.0;
        }
        possible = possible && (bin.n != 0 || bin.weight.is_zero());
    }
    in.finish();
    if (!possible || rows != result.n_) {
        throw CorruptState("malformed state: the bins of the Reliability do not add up");
    }
    return result;
}

}  // namespace calibrant
