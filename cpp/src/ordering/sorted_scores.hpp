// Scores in ascending order, equal ones pooled: per distinct score the exact weight of its rows
// and of its hits. What needs order (isotonic fits, equal-count bins with weights, ranks) walks
// over it.
//
// Weights are whole multiples of a unit 2^unit_exponent(), so that sums of them are exact and the
// order of rows cannot matter. Without weights the unit is 1. With weights it is the largest that
// measures all of them; should they reach over more than 80 binary digits, it is 2^-79 of the
// largest weight's power of two, and weights are rounded to it. Sums hold 2^48 rows.
//
// Rows of weight 0, omitted rows and weights that round to 0 do not appear. -0.0 counts as 0.
//
// Cost: 18 bytes a row while sorting and 8 afterwards; with weights, 34 and 16. On several
// threads; linear in the rows for scores that are spread out or tied, never worse than
// n log n. (A score and its hit are one 64-bit word: a score in [0, 1] leaves its sign bit free.)
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "runtime/large_pages.hpp"

namespace calibrant {

// How weights are counted: in whole units of 2^exponent.
class WeightUnit {
public:
    explicit WeightUnit(int exponent = 0);
    // The unit of weights of which the largest and the lowest bit are these.
    static WeightUnit for_weights(double largest, int lowest_bit);
    [[nodiscard]] int exponent() const { return exponent_; }
    // weight / 2^exponent, half to even; the weight is below 2^(exponent + 80).
    [[nodiscard]] UInt128 count(double weight) const;

private:
    int exponent_;
    double scale_;  // 2^-exponent; infinite if that is no double
};

// The exponent of the lowest bit that is set in a positive number.
[[nodiscard]] int lowest_bit_of(double x);

struct ScoreKey {
    std::uint64_t bits;  // (bits of the score << 1) | hit

    static ScoreKey of(double score, bool hit) {
        const auto score_bits = std::bit_cast<std::uint64_t>(score + 0.0);
        return {(score_bits << 1) | (hit ? 1U : 0U)};
    }
    [[nodiscard]] double score() const { return std::bit_cast<double>(bits >> 1); }
    [[nodiscard]] bool hit() const { return (bits & 1) != 0; }
};

struct WeightedKey {
    ScoreKey key;
    double weight;
};

// What the workers that read the rows find.
struct FoundRows {
    std::uint64_t n = 0, omitted = 0;
    double largest = 0.0;  // weight
    int lowest_bit = std::numeric_limits<int>::max();

    void see_weight(double weight);
    [[nodiscard]] WeightUnit unit() const { return WeightUnit::for_weights(largest, lowest_bit); }
    void merge(const FoundRows& other);
};

inline constexpr std::uint64_t absent = ~std::uint64_t{0};  // no score has this key

// Keys as workers read them, each row in its place; widths, or anything else that is not negative,
// do as well as scores.
class ScoreKeys {
public:
    ScoreKeys(std::size_t n, bool weighted, std::size_t workers);

    [[nodiscard]] FoundRows& found(std::size_t worker) { return found_[worker]; }
    // The weight counts only if there are weights; found is the worker's own.
    void put(FoundRows& found, std::size_t at, ScoreKey key, double weight) {
        if (!weighted_) {
            keys_[at] = key;
            return;
        }
        weighted_[at] = {weight > 0.0 ? key : ScoreKey{absent}, weight};
        if (weight > 0.0) found.see_weight(weight);
    }
    // No row has the places [at, at + count).
    void leave_out(std::size_t at, std::size_t count);

private:
    friend class SortedScores;

    std::size_t size_;
    LargeArray<ScoreKey> keys_;  // one of the two
    LargeArray<WeightedKey> weighted_;
    std::vector<FoundRows> found_;
};

class SortedScores {
public:
    using WeightedKey = calibrant::WeightedKey;

    // Throws as for_each_chunk does, and InvalidInput at a bad row.
    SortedScores(const ScoredRows& rows, Poll poll);
    SortedScores(ScoreKeys keys, Poll poll);
    // Rows of weight 1 that workers have kept, such as those in a few cells.
    SortedScores(const std::vector<std::vector<ScoreKey>>& kept, Poll poll);

    [[nodiscard]] std::uint64_t count() const { return n_; }  // rows read, weight 0 included
    [[nodiscard]] std::uint64_t omitted() const { return omitted_; }
    [[nodiscard]] bool weighted() const { return static_cast<bool>(weighted_); }
    [[nodiscard]] int unit_exponent() const { return unit_.exponent(); }

    // Calls visit(score, weight, hits), the latter two UInt128 in units, for each distinct score
    // in ascending order. Asks the poll now and then, and throws Interrupted.
    template <class Visit>
    void for_each_score(Poll poll, const Visit& visit) const;

private:
    static constexpr std::size_t rows_between_polls = std::size_t{1} << 16;

    [[nodiscard]] ScoreKey key(std::size_t i) const {
        return weighted_ ? weighted_[i].key : keys_[i];
    }
    [[nodiscard]] UInt128 units(std::size_t i) const {
        return weighted_ ? unit_.count(weighted_[i].weight) : UInt128{1};
    }

    std::size_t size_ = 0;
    LargeArray<ScoreKey> keys_;  // one of the two
    LargeArray<WeightedKey> weighted_;
    WeightUnit unit_;
    std::uint64_t n_ = 0;
    std::uint64_t omitted_ = 0;
};

template <class Visit>
void SortedScores::for_each_score(Poll poll, const Visit& visit) const {
    if (size_ == 0) return;
    std::uint64_t score = key(0).bits >> 1;
    UInt128 weight = 0, hits = 0;
    const auto finish = [&] {
        if (weight != 0) visit(std::bit_cast<double>(score), weight, hits);
    };
    // One worker: the chunks come in order.
    for_each_chunk(size_, rows_between_polls, 1, poll,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                       for (std::size_t i = begin; i < end; ++i) {
                           const std::uint64_t bits = key(i).bits;
                           if (bits >> 1 != score) {
                               finish();
                               score = bits >> 1;
                               weight = hits = 0;
                           }
                           const UInt128 row = units(i);
                           weight += row;
                           hits += (bits & 1) != 0 ? row : 0;
                       }
                       return true;
                   });
    finish();
}

}  // namespace calibrant
