#include "calibrant/scores/decompositions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/kernels.hpp"
#include "rows/scored_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {
namespace {

// The 64-bit sums of a bin hold this many rows.
constexpr std::size_t rows_before_flush = std::size_t{1} << 22;

// weight * score^2. The square is a sum of two doubles, once it is far from underflow.
void add_square(ExactSum& sum, double weight, double score) {
    const bool small = score < 0x1p-300;
    const double scaled = small ? score * 0x1p700 : score;
    const std::int64_t exponent = small ? -1400 : 0;
    const double square = scaled * scaled;
    sum.add_product(weight, square, exponent);
    sum.add_product(weight, std::fma(scaled, scaled, -square), exponent);
}

}  // namespace

// One thread's share of an update. Unweighted rows are counted in integers: a score is
// high 2^-40 + low 2^-80, and its square has the parts high^2, high low and low^2.
class BrierBinsWorker {
public:
    BrierBinsWorker(const BrierBins& parameters, const ScoredRows& rows)
        : rows_(rows),
          block_(rows),
          total_(parameters.empty()),
          counts_(rows.events.sample_weight == nullptr ? total_.table_.size() : 0) {}

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        return load_each(block_, rows_, begin, end, [&](std::size_t) {
            total_.bins_.locate(block_.score(), block_.n(), bins_);
            if (rows_.events.sample_weight != nullptr) {
                add_weighted();
            } else {
                add_unweighted();
            }
        });
    }

    void finish_into(BrierBins& result) {
        flush();
        for (std::size_t k = 0; k < total_.table_.size(); ++k) {
            const BrierBins::Bin& from = total_.table_[k];
            BrierBins::Bin& bin = result.table_[k];
            bin.weight.merge(from.weight);
            bin.hits.merge(from.hits);
            bin.scores.merge(from.scores);
            bin.hit_scores.merge(from.hit_scores);
            bin.squares.merge(from.squares);
        }
    }

private:
    struct Counts {
        std::int64_t n = 0, hits = 0;
        std::int64_t high = 0, low = 0, hit_high = 0, hit_low = 0;
        Int128 high_high = 0, high_low = 0, low_low = 0;
    };

    void add_unweighted() {
        const bool tiny = kernels().split(block_.score(), block_.n(), high_, low_);
        for (std::size_t i = 0; i < block_.n(); ++i) {
            Counts& counts = counts_[bins_[i]];
            const std::int64_t hit = block_.hit()[i];
            const std::int64_t high = high_[i], low = low_[i];
            ++counts.n;
            counts.hits += hit;
            counts.high += high;
            counts.low += low;
            counts.hit_high += hit * high;
            counts.hit_low += hit * low;
            counts.high_high += static_cast<Int128>(high) * high;
            counts.high_low += static_cast<Int128>(high) * low;
            counts.low_low += static_cast<Int128>(low) * low;
        }
        for (std::size_t i = 0; tiny && i < block_.n(); ++i) {
            const double score = block_.score()[i];
            if (score >= least_gridded) continue;
            BrierBins::Bin& bin = total_.table_[bins_[i]];
            bin.scores.add(score);
            if (block_.hit()[i] != 0) bin.hit_scores.add(score);
            bin.squares.add_product(score, score);
        }
        rows_since_flush_ += block_.n();
        if (rows_since_flush_ >= rows_before_flush) flush();
    }

    void add_weighted() {
        for (std::size_t i = 0; i < block_.n(); ++i) {
            const double weight = block_.weight()[i];
            const double score = block_.score()[i];
            BrierBins::Bin& bin = total_.table_[bins_[i]];
            bin.weight.add(weight);
            bin.scores.add_product(weight, score);
            add_square(bin.squares, weight, score);
            if (block_.hit()[i] == 0) continue;
            bin.hits.add(weight);
            bin.hit_scores.add_product(weight, score);
        }
    }

    void flush() {
        for (std::size_t k = 0; k < counts_.size(); ++k) {
            Counts& counts = counts_[k];
            if (counts.n == 0) continue;
            BrierBins::Bin& bin = total_.table_[k];
            bin.weight.add(static_cast<Int128>(counts.n), 0);
            bin.hits.add(static_cast<Int128>(counts.hits), 0);
            bin.scores.add(static_cast<Int128>(counts.high), -40);
            bin.scores.add(static_cast<Int128>(counts.low), -80);
            bin.hit_scores.add(static_cast<Int128>(counts.hit_high), -40);
            bin.hit_scores.add(static_cast<Int128>(counts.hit_low), -80);
            bin.squares.add(counts.high_high, -80);
            bin.squares.add(counts.high_low, -119);  // twice
            bin.squares.add(counts.low_low, -160);
            counts = {};
        }
        rows_since_flush_ = 0;
    }

    const ScoredRows& rows_;
    ScoredBlock block_;
    BrierBins total_;
    std::vector<Counts> counts_;
    std::size_t rows_since_flush_ = 0;
    std::uint32_t bins_[block_rows];
    alignas(64) std::int64_t high_[block_rows], low_[block_rows];
};

BrierBins::BrierBins(Bins bins) : bins_(std::move(bins)), table_(bins_.size()) {}

void BrierBins::update(const ScoredRows& rows, std::uint64_t rows_before, Poll poll) {
    update_by_workers<BrierBinsWorker>(*this, rows, rows.events, rows_before, poll);
}

BrierBins::Bin BrierBins::total() const {
    Bin all;
    for (const Bin& bin : table_) {
        all.weight.merge(bin.weight);
        all.hits.merge(bin.hits);
    }
    return all;
}

}  // namespace calibrant
