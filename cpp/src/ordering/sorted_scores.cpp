#include "ordering/sorted_scores.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "ordering/sort_keys.hpp"
#include "rows/scored_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {
namespace {

// Rows that do not count become absent.
ScoreKeys read(const ScoredRows& rows, Poll poll) {
    const std::size_t per_event = rows.scores_per_event();
    const bool weighted = rows.events.sample_weight != nullptr;
    const std::size_t workers = workers_for(rows.size(), chunks_per_worker * chunk_rows(rows));
    ScoreKeys keys(rows.size() * per_event, weighted, workers);
    for_each_block(rows, workers, poll,
                   [&](std::size_t worker, std::size_t row, const ScoredBlock& block) {
                       const std::size_t at = row * per_event;
                       FoundRows& found = keys.found(worker);
                       found.n += block.n();
                       found.omitted += block.omitted();
                       for (std::size_t i = 0; i < block.n(); ++i) {
                           const auto key = ScoreKey::of(block.score()[i], block.hit()[i] != 0);
                           keys.put(found, at + i, key, weighted ? block.weight()[i] : 1.0);
                       }
                       keys.leave_out(at + block.n(), block.omitted() * per_event);
                   });
    return keys;
}

}  // namespace

WeightUnit::WeightUnit(int exponent) : exponent_(exponent), scale_(std::scalbn(1.0, -exponent)) {}

UInt128 WeightUnit::count(double weight) const {
    const bool scales = std::isnormal(scale_);
    const double units = scales ? weight * scale_ : std::scalbn(weight, -exponent_);
    return static_cast<UInt128>(std::nearbyint(units));
}

WeightUnit WeightUnit::for_weights(double largest, int lowest_bit) {
    return WeightUnit(largest == 0.0 ? 0 : std::max(lowest_bit, std::ilogb(largest) - 79));
}

int lowest_bit_of(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const auto biased = static_cast<int>(bits >> 52);
    const std::uint64_t hidden = biased != 0 ? std::uint64_t{1} << 52 : 0;
    const std::uint64_t mantissa = (bits & 0x000FFFFFFFFFFFFF) | hidden;
    return std::max(biased, 1) - 1075 + std::countr_zero(mantissa);
}

void FoundRows::see_weight(double weight) {
    largest = std::max(largest, weight);
    lowest_bit = std::min(lowest_bit, lowest_bit_of(weight));
}

void FoundRows::merge(const FoundRows& other) {
    n += other.n;
    omitted += other.omitted;
    largest = std::max(largest, other.largest);
    lowest_bit = std::min(lowest_bit, other.lowest_bit);
}

ScoreKeys::ScoreKeys(std::size_t n, bool weighted, std::size_t workers)
    : size_(n), found_(workers) {
    if (weighted) {
        weighted_ = LargeArray<WeightedKey>(n);
    } else {
        keys_ = LargeArray<ScoreKey>(n);
    }
}

void ScoreKeys::leave_out(std::size_t at, std::size_t count) {
    for (std::size_t i = at; i < at + count; ++i) {
        if (weighted_) {
            weighted_[i] = {ScoreKey{absent}, 0.0};
        } else {
            keys_[i] = {absent};
        }
    }
}

SortedScores::SortedScores(const ScoredRows& rows, Poll poll)
    : SortedScores(read(rows, poll), poll) {}

SortedScores::SortedScores(ScoreKeys read, Poll poll) : size_(read.size_) {
    if (size_ == 0) return;
    FoundRows found;
    for (const FoundRows& of_worker : read.found_) found.merge(of_worker);
    if (read.keys_) {
        keys_ = sorted_by_key(std::move(read.keys_), size_, poll);
    } else {
        weighted_ = sorted_by_key(std::move(read.weighted_), size_, poll);
        unit_ = found.unit();
    }
    n_ = found.n;
    omitted_ = found.omitted;
}

SortedScores::SortedScores(const std::vector<std::vector<ScoreKey>>& kept, Poll poll) {
    for (const auto& keys : kept) size_ += keys.size();
    n_ = size_;
    if (size_ == 0) return;
    LargeArray<ScoreKey> all(size_);
    ScoreKey* end = all.data();
    for (const auto& keys : kept) end = std::copy(keys.begin(), keys.end(), end);
    keys_ = sorted_by_key(std::move(all), size_, poll);
}

}  // namespace calibrant
