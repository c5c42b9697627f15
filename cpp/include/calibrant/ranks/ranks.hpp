// Ranks: where the truth lies among the draws of its posterior, and how often it lies where.
//
// The rank of a truth among M draws is the number of draws below it, plus, if some are equal to
// it, a number drawn uniformly from 0 .. equal. If the posterior is calibrated, it is exactly
// uniform on the M + 1 values 0 .. M, for every M (Talts et al. 2018); strict comparison would skew
// it low where there are ties. The number is a function of (seed, pair, dimension) alone
// (philox.hpp): the pair is its index in the whole of the data, which a batch is told by
// first_pair.
//
// The accumulator keeps the counts of each rank, per dimension: integers, so that any batches,
// threads and merges give the same. Its memory is O(D M).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calibrant/rows/draw_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "calibrant/state/bytes.hpp"

namespace calibrant {

// What a rank is where the pair has a missing value.
inline constexpr std::int64_t no_rank = missing_pair;

// equal >= 0, less + equal <= most_draws.
[[nodiscard]] std::int64_t broken_tie(std::int64_t less, std::int64_t equal, std::uint64_t seed,
                                      std::uint64_t pair, std::uint32_t dimension);

// size() x n_ranks() ranks, row by row. Throws as count_draws does.
void ranks_of(const DrawRows& rows, std::uint64_t seed, std::uint64_t first_pair, Poll poll,
              std::int64_t* ranks);

// less and equal of size() x n_ranks(), which can be added up over parts of the draws.
void counts_of(const DrawRows& rows, std::uint64_t first_pair, Poll poll, std::int64_t* less,
               std::int64_t* equal);

class Ranks {
public:
    static constexpr Kind kind = Kind::ranks;

    // Throws InvalidInput unless 1 <= n_draws <= most_draws and 1 <= n_dims < 2^32.
    Ranks(std::size_t n_draws, std::size_t n_dims, std::uint64_t seed);
    [[nodiscard]] Ranks empty() const { return {n_draws_, n_dims_, seed_}; }

    // Rows of as many draws, with a rank a dimension. If it throws, nothing has changed.
    void update(const DrawRows& rows, std::uint64_t first_pair, Poll poll);
    // Ranks that are there already: a row a pair, a column a dimension.
    void update_ranks(const Column& ranks, Poll poll);
    void merge(const Ranks& other);

    [[nodiscard]] std::uint64_t count() const { return n_; }
    [[nodiscard]] std::uint64_t omitted() const { return omitted_; }
    [[nodiscard]] std::size_t n_draws() const { return n_draws_; }
    [[nodiscard]] std::size_t n_dims() const { return n_dims_; }
    [[nodiscard]] std::uint64_t seed() const { return seed_; }
    // n_dims() x (n_draws() + 1).
    [[nodiscard]] const std::vector<std::int64_t>& counts() const { return counts_; }

    [[nodiscard]] std::string to_bytes() const;
    static Ranks from_bytes(std::string_view bytes);

private:
    // Of ranks of one pair after the other, all in 0 .. n_draws or no_rank.
    void add(const std::int64_t* ranks, std::size_t pairs);

    std::size_t n_draws_, n_dims_;
    std::uint64_t seed_;
    std::uint64_t n_ = 0;
    std::uint64_t omitted_ = 0;
    std::vector<std::int64_t> counts_;
};

}  // namespace calibrant
