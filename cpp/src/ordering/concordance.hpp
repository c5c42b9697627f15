// Pairs of a hit and a miss, and how many of them the scores put in order: what the area under
// the ROC curve is made of.
//
// Two ways to the same integers. Many rows without weights are not sorted: hits and misses are put
// apart into buckets of neighbouring scores, pairs from different buckets are decided by counts,
// and in a bucket each hit is compared only with the misses of its own small cell; linear in the
// rows, at 8 bytes a row. Few rows, weighted ones, and scores that crowd together in a way that
// score cells do not tell apart go through SortedScores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "kernels/kernels.hpp"
#include "numeric/wide_product.hpp"
#include "ordering/grouped_scores.hpp"
#include "ordering/sorted_scores.hpp"
#include "rows/scored_blocks.hpp"

namespace calibrant {

struct Concordance {
    UInt128 hits = 0, misses = 0;  // their weight, in units of 2^unit_exponent
    WideProduct doubled_concordant{
        0, 0};  // 2 (pairs where the hit scores higher) + (ties), in units^2
    int unit_exponent = 0;
    std::uint64_t n = 0;  // rows read, weight 0 included

    void add(const WideProduct& more);  // to doubled_concordant
    void add_pairs(UInt128 of_hits, UInt128 doubled_misses);
    // The share of the pairs that are won, ties by half, rounded once; NaN where there is none.
    [[nodiscard]] double area() const;
    [[nodiscard]] DoubleDouble wide_area() const;  // with 100 bits
};

// The scores of rows, put into buckets.
class BucketedScores {
public:
    // None where sorting is better.
    static std::optional<BucketedScores> worth_making(const ScoredRows& rows, std::size_t workers);

    BucketedScores(BucketedScores&&) noexcept;
    BucketedScores& operator=(BucketedScores&&) noexcept;
    ~BucketedScores();

    // Reads the rows it was made for. Throws as for_each_block does.
    void fill(const ScoredRows& rows, Poll poll);

    // Shows the rows in the cells for which `wanted` is not 0, and others near them, in no order:
    // bits of scores with the same outcome.
    using LookAtPage =
        std::function<void(std::size_t worker, std::span<const std::uint64_t> scores, bool hit)>;
    void for_each_page(const std::vector<std::uint8_t>& wanted, Poll poll,
                       const LookAtPage& look) const;
    // Shows each bucket, the bits of its scores, to whoever wants to look at them.
    using Look = std::function<void(std::size_t worker, std::span<const std::uint64_t> misses,
                                    std::span<const std::uint64_t> hits)>;
    [[nodiscard]] Concordance count_concordant(Poll poll, const Look& look = nullptr) const;

private:
    void add(std::size_t worker, const ScoredBlock& block, const PrefetchHint& ahead);

    struct Parts;
    explicit BucketedScores(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

// Throw as for_each_chunk does, and InvalidInput at a bad row.
[[nodiscard]] Concordance count_concordant(const ScoredRows& rows, Poll poll);
[[nodiscard]] Concordance count_concordant(const SortedScores& scores, Poll poll);

}  // namespace calibrant
