#include "calibrant/ranks/ranks.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"
#include "numeric/philox.hpp"

namespace calibrant {
namespace {

template <class Visit>
void visit_counts(const DrawRows& rows, std::uint64_t first_pair, Poll poll, Visit&& visit) {
    const auto call = [](void* target, std::size_t worker, std::size_t first, std::size_t count,
                         const std::int64_t* less, const std::int64_t* equal) {
        (*static_cast<std::remove_reference_t<Visit>*>(target))(worker, first, count, less, equal);
    };
    count_draws(rows, first_pair, poll, call, &visit);
}

// Ranks of a block of pairs, from `pair` on.
void break_ties(const std::int64_t* less, const std::int64_t* equal, const DrawRows& rows,
                std::size_t pairs, std::uint64_t seed, std::uint64_t pair, std::int64_t* ranks) {
    const std::size_t n_ranks = rows.n_ranks();
    const auto n_draws = static_cast<std::int64_t>(rows.n_draws());
    for (std::size_t i = 0; i < pairs * n_ranks; ++i) {
        ranks[i] = less[i];
        if (less[i] == missing_pair || equal[i] == 0) continue;
        if (less[i] + equal[i] > n_draws) {
            throw InvalidInput("the arrays changed while they were being read");
        }
        ranks[i] = broken_tie(less[i], equal[i], seed, pair + i / n_ranks,
                              static_cast<std::uint32_t>(i % n_ranks));
    }
}

// Counts are signed where they are read, so there is one bit less for them.
std::uint64_t added(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    if (b > most || a > most - b) {
        throw std::overflow_error("a count is full: more than 2^63 - 1 pairs");
    }
    return a + b;
}

}  // namespace

std::int64_t broken_tie(std::int64_t less, std::int64_t equal, std::uint64_t seed,
                        std::uint64_t pair, std::uint32_t dimension) {
    if (equal == 0) return less;
    return less + uniform_below(static_cast<std::uint32_t>(equal) + 1,
                                {seed, pair, dimension, Purpose::tie});
}

void ranks_of(const DrawRows& rows, std::uint64_t seed, std::uint64_t first_pair, Poll poll,
              std::int64_t* ranks) {
    visit_counts(rows, first_pair, poll,
                 [&](std::size_t, std::size_t first, std::size_t count, const std::int64_t* less,
                     const std::int64_t* equal) {
                     break_ties(less, equal, rows, count, seed, first_pair + first,
                                ranks + first * rows.n_ranks());
                 });
}

void counts_of(const DrawRows& rows, std::uint64_t first_pair, Poll poll, std::int64_t* less,
               std::int64_t* equal) {
    visit_counts(rows, first_pair, poll,
                 [&](std::size_t, std::size_t first, std::size_t count, const std::int64_t* below,
                     const std::int64_t* same) {
                     std::copy_n(below, count * rows.n_ranks(), less + first * rows.n_ranks());
                     std::copy_n(same, count * rows.n_ranks(), equal + first * rows.n_ranks());
                 });
}

Ranks::Ranks(std::size_t n_draws, std::size_t n_dims, std::uint64_t seed)
    : n_draws_(n_draws), n_dims_(n_dims), seed_(seed) {
    if (n_draws < 1 || n_draws > most_draws) {
        throw InvalidInput("n_draws must lie in [1, 2^31 - 2], got " + std::to_string(n_draws));
    }
    if (n_dims < 1 || n_dims > std::numeric_limits<std::uint32_t>::max()) {
        throw InvalidInput("n_dims must lie in [1, 2^32 - 1], got " + std::to_string(n_dims));
    }
    counts_.resize(n_dims * (n_draws + 1));
}

void Ranks::add(const std::int64_t* ranks, std::size_t pairs) {
    for (std::size_t i = 0; i < pairs; ++i, ranks += n_dims_) {
        if (ranks[0] == no_rank) {
            ++omitted_;
            continue;
        }
        ++n_;
        for (std::size_t d = 0; d < n_dims_; ++d) {
            ++counts_[d * (n_draws_ + 1) + static_cast<std::size_t>(ranks[d])];
        }
    }
}

void Ranks::update(const DrawRows& rows, std::uint64_t first_pair, Poll poll) {
    if (rows.n_draws() != n_draws_ || rows.n_ranks() != n_dims_) {
        throw InvalidInput("draws must have " + std::to_string(n_draws_) +
                           " draws a pair, of dimension " + std::to_string(n_dims_) + ", got " +
                           std::to_string(rows.n_draws()) + " of dimension " +
                           std::to_string(rows.n_ranks()));
    }
    std::vector<Ranks> team(draw_workers(rows), empty());
    std::vector<std::vector<std::int64_t>> ranks(team.size());
    visit_counts(rows, first_pair, poll,
                 [&](std::size_t worker, std::size_t first, std::size_t count,
                     const std::int64_t* less, const std::int64_t* equal) {
                     ranks[worker].resize(count * n_dims_);
                     break_ties(less, equal, rows, count, seed_, first_pair + first,
                                ranks[worker].data());
                     team[worker].add(ranks[worker].data(), count);
                 });
    Ranks batch = empty();
    for (const Ranks& worker : team) batch.merge(worker);
    merge(batch);
}

void Ranks::update_ranks(const Column& ranks, Poll poll) {
    if (ranks.width != n_dims_) {
        throw InvalidInput("ranks must have " + std::to_string(n_dims_) + " dimensions, got " +
                           std::to_string(ranks.width));
    }
    Ranks batch = empty();
    std::vector<std::int32_t> codes(block_rows);
    const std::size_t blocks = (ranks.size + block_rows - 1) / block_rows;  // of each dimension
    const auto count = [&](std::size_t, std::size_t block, std::size_t) {
        const std::size_t d = block / blocks, begin = block % blocks * block_rows;
        std::int64_t* const counts = &batch.counts_[d * (n_draws_ + 1)];
        const std::size_t n = std::min(block_rows, ranks.size - begin);
        load_labels(column_at(ranks, d), begin, n, codes.data());
        for (std::size_t i = 0; i < n; ++i) {
            if (codes[i] < 0 || static_cast<std::size_t>(codes[i]) > n_draws_) {
                throw InvalidInput("ranks must be whole numbers from 0 to " +
                                   std::to_string(n_draws_) + ", found " +
                                   value_text(ranks, begin + i, d) + " at pair " +
                                   std::to_string(begin + i) +
                                   (n_dims_ > 1 ? ", dimension " + std::to_string(d) : ""));
            }
            ++counts[codes[i]];
        }
        return true;
    };
    for_each_chunk(n_dims_ * blocks, 1, 1, poll, count);
    batch.n_ = ranks.size;
    merge(batch);
}

void Ranks::merge(const Ranks& other) {
    if (other.n_draws_ != n_draws_ || other.n_dims_ != n_dims_) {
        throw std::invalid_argument("cannot merge Ranks of " + std::to_string(other.n_draws_) +
                                    " draws in dimension " + std::to_string(other.n_dims_) +
                                    " into those of " + std::to_string(n_draws_) +
                                    " draws in dimension " + std::to_string(n_dims_));
    }
    if (other.seed_ != seed_) {
        throw std::invalid_argument("cannot merge Ranks of seed " + std::to_string(other.seed_) +
                                    " into those of seed " + std::to_string(seed_));
    }
    // Together, so that the index of a pair is never beyond 2^63 either.
    added(added(n_, omitted_), added(other.n_, other.omitted_));
    n_ += other.n_;
    omitted_ += other.omitted_;
    std::transform(counts_.begin(), counts_.end(), other.counts_.begin(), counts_.begin(),
                   std::plus<>());
}

}  // namespace calibrant
