#include "ordering/concordance.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "calibrant/numeric/double_double.hpp"
#include "kernels/kernels.hpp"
#include "kernels/score_cells.hpp"
#include "ordering/grouped_scores.hpp"
#include "rows/event_blocks.hpp"
#include "rows/scored_blocks.hpp"
#include "rows/workers.hpp"
#include "runtime/large_pages.hpp"

namespace calibrant {
namespace {

// While so many rows are put away, as large a part of the next block is asked for.
constexpr std::size_t rows_per_prefetch = 16;

using Bits = std::uint64_t;  // of a score: they are ordered as the scores are

// Buckets of neighbouring score cells that hold about equally many rows each, as a sample of the
// rows has it.
class CellBuckets {
public:
    explicit CellBuckets(const ScoredRows& rows) : of_cell_(n_score_cells, 0) {
        const std::size_t n = rows.size();
        const std::size_t wanted = std::clamp<std::size_t>(n / bucket_rows, 1, most_buckets);
        std::vector<Sampled> cells(n_score_cells);
        sample(rows, cells);
        std::uint64_t total = 0, before = 0;
        for (const Sampled& cell : cells) total += cell.n;
        for (std::size_t k = 0; k < cells.size(); ++k) {
            of_cell_[k] = static_cast<std::uint16_t>(before * wanted / std::max<Bits>(total, 1));
            before += cells[k].n;
            crowded_ = crowded_ || (cells[k].n > total / crowded_share && !cells[k].one_tie());
        }
        size_ = of_cell_.back() + std::size_t{1};
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::uint16_t of(std::uint32_t cell) const { return of_cell_[cell]; }
    // Whether one cell has much of all rows: only one thread could be at work on it.
    [[nodiscard]] bool crowded() const { return crowded_; }

private:
    static constexpr std::size_t bucket_rows = std::size_t{1} << 14;
    static constexpr std::size_t most_buckets = 512;
    static constexpr std::size_t sampled_blocks = 64;
    static constexpr std::uint64_t crowded_share = 16;

    struct Sampled {
        std::uint32_t n = 0;
        double least = 1.0, greatest = 0.0;
        [[nodiscard]] bool one_tie() const { return least == greatest; }
    };

    // Blocks at equal distances. A bad row among them is found again when all are read.
    static void sample(const ScoredRows& rows, std::vector<Sampled>& cells) {
        ScoredBlock block(rows);
        const std::size_t blocks = std::min(sampled_blocks, rows.size() / block.most_rows());
        alignas(64) std::uint32_t cell[block_rows];
        for (std::size_t k = 0; k < blocks; ++k) {
            const std::size_t begin = rows.size() / blocks * k;
            if (!block.load(rows, begin, std::min(block.most_rows(), rows.size() - begin)))
                continue;
            kernels().cells(block.score(), block.n(), cell);
            for (std::size_t i = 0; i < block.n(); ++i) {
                Sampled& to = cells[cell[i]];
                ++to.n;
                to.least = std::min(to.least, block.score()[i]);
                to.greatest = std::max(to.greatest, block.score()[i]);
            }
        }
    }

    std::vector<std::uint16_t> of_cell_;
    std::size_t size_ = 1;
    bool crowded_ = false;
};

// One thread's keys in lists of pages, two lists a bucket: of misses and of hits.
class Pages {
public:
    explicit Pages(std::size_t lists) : next_(lists), begins_(lists) {
        for (std::size_t list = 0; list < lists; ++list) {
            // Lists grow at like speed. If all began at the start of a page, the places they are
            // written to would forever compete for the same few lines of the cache.
            open_page(list, line_keys * list % page_keys);
        }
    }

    void put(std::size_t list, Bits key) {
        Bits* at = next_[list];
        *at = key;
        __builtin_prefetch(at + line_keys, 1);  // until it is needed, other lists come
        next_[list] = ++at;
        if ((reinterpret_cast<std::uintptr_t>(at) & (page_bytes - 1)) == 0) open_page(list, 0);
    }

    [[nodiscard]] std::size_t size(std::size_t list) const {
        std::size_t keys = 0;
        for_each_page(list, [&](const Bits* begin, const Bits* end) {
            keys += static_cast<std::size_t>(end - begin);
        });
        return keys;
    }

    // Returns where the copy ends.
    Bits* copy(std::size_t list, Bits* to) const {
        for_each_page(list,
                      [&](const Bits* begin, const Bits* end) { to = std::copy(begin, end, to); });
        return to;
    }

    template <class Visit>  // (begin, end)
    void for_each_page(std::size_t list, const Visit& visit) const {
        const auto& begins = begins_[list];
        for (std::size_t k = 0; k < begins.size(); ++k) {
            const auto in_page = reinterpret_cast<std::uintptr_t>(begins[k]) % page_bytes;
            const bool last = k + 1 == begins.size();
            visit(begins[k],
                  last ? next_[list] : begins[k] + (page_bytes - in_page) / sizeof(Bits));
        }
    }

private:
    static constexpr std::size_t page_keys = 512;
    static constexpr std::size_t page_bytes = page_keys * sizeof(Bits);
    static constexpr std::size_t line_keys = 8;
    static constexpr std::size_t slab_pages = 512;  // 2 MB: a large page of the system
    static constexpr std::size_t slab_bytes = slab_pages * page_bytes;

    struct Free {
        void operator()(Bits* slab) const { ::operator delete(slab, std::align_val_t{slab_bytes}); }
    };

    void open_page(std::size_t list, std::size_t from) {
        if (left_ == 0) {
            auto* const slab =
                static_cast<Bits*>(::operator new(slab_bytes, std::align_val_t{slab_bytes}));
            slabs_.emplace_back(slab);
            prefer_large_pages(slab, slab_bytes);
            left_ = slab_pages;
        }
        next_[list] = slabs_.back().get() + (slab_pages - left_) * page_keys + from;
        begins_[list].push_back(next_[list]);
        --left_;
    }

    std::vector<Bits*> next_;
    std::vector<std::vector<Bits*>> begins_;
    std::vector<std::unique_ptr<Bits, Free>> slabs_;
    std::size_t left_ = 0;
};

// Counts 2 (hits above misses) + (ties) of some keys.
class PairCounter {
public:
    [[nodiscard]] std::uint64_t doubled_concordant(std::span<const Bits> misses,
                                                   std::span<const Bits> hits) {
        if (misses.empty() || hits.empty()) return 0;
        const auto [least, greatest] = range(misses, hits);
        if (least == greatest) return misses.size() * hits.size();
        const int shift = sort_into_cells(misses, least, greatest);
        std::uint64_t total = 0;  // there are less than 2^32 rows
        for (const Bits hit : hits) total += twice_below(hit, (hit - least) >> shift);
        return total;
    }

private:
    // A hit is compared with so many misses, whether or not they are in its cell: those that follow
    // are larger, and count nothing. No branch depends on how many there are.
    static constexpr std::uint32_t few_misses = 4;
    static constexpr std::size_t cells_per_miss = 2;
    static constexpr std::size_t most_cells = std::size_t{1} << 16;

    static std::uint64_t order(Bits miss, Bits hit) {
        return static_cast<std::uint64_t>(miss < hit) + static_cast<std::uint64_t>(miss <= hit);
    }

    static std::pair<Bits, Bits> range(std::span<const Bits> misses, std::span<const Bits> hits) {
        Bits least = misses[0], greatest = least;
        for (const auto keys : {misses, hits}) {
            for (const Bits key : keys) {
                least = std::min(least, key);
                greatest = std::max(greatest, key);
            }
        }
        return {least, greatest};
    }

    // Cells of equal width, 2^shift, which it returns. The misses of cell k are then from ends_[k]
    // to ends_[k + 1], and in order where they are many.
    int sort_into_cells(std::span<const Bits> misses, Bits least, Bits greatest) {
        const std::size_t wanted = std::min(cells_per_miss * misses.size(), most_cells);
        const auto width = static_cast<int>(std::bit_width(greatest - least));
        const int shift = std::max(width - static_cast<int>(std::bit_width(wanted - 1)), 0);
        // ends_[k + 2] counts cell k; summed up, ends_[k + 1] is where cell k begins, and moves
        // to where it ends as the misses are put there.
        ends_.assign(((greatest - least) >> shift) + 3, 0);
        std::uint32_t* const ends = ends_.data();
        for (const Bits miss : misses) ++ends[((miss - least) >> shift) + 2];
        crowded_.clear();
        std::uint32_t sum = 0;
        for (std::size_t k = 2; k < ends_.size(); ++k) {
            if (ends[k] > few_misses) crowded_.push_back(k - 2);
            ends[k] = sum += ends[k];
        }
        if (sorted_.size() < misses.size() + few_misses) sorted_.resize(misses.size() + few_misses);
        Bits* const sorted = sorted_.data();
        for (const Bits miss : misses) sorted[ends[((miss - least) >> shift) + 1]++] = miss;
        std::fill_n(sorted + misses.size(), few_misses, std::numeric_limits<Bits>::max());
        for (const std::size_t k : crowded_) {
            if (!std::is_sorted(sorted + ends[k], sorted + ends[k + 1])) {  // ties are
                std::sort(sorted + ends[k], sorted + ends[k + 1]);
            }
        }
        return shift;
    }

    // Twice the misses below the hit, and those beside it.
    [[nodiscard]] std::uint64_t twice_below(Bits hit, std::size_t cell) const {
        const std::size_t begin = ends_[cell], end = ends_[cell + 1];
        const Bits* const sorted = sorted_.data();
        std::uint64_t below = 2 * begin;
        if (end - begin <= few_misses) {
            for (std::size_t i = 0; i < few_misses; ++i) below += order(sorted[begin + i], hit);
            return below;
        }
        if (sorted[begin] == sorted[end - 1])
            return below + order(sorted[begin], hit) * (end - begin);
        const auto [low, high] = std::equal_range(sorted + begin, sorted + end, hit);
        return static_cast<std::uint64_t>((low - sorted) + (high - sorted));
    }

    std::vector<std::uint32_t> ends_;
    std::vector<std::size_t> crowded_;
    std::vector<Bits> sorted_;
};

// Per bucket.
struct BucketPairs {
    std::uint64_t misses = 0, hits = 0, doubled_concordant = 0;
};

// The keys of a bucket, side by side.
class BucketKeys {
public:
    void copy(const std::vector<Pages>& pages, std::size_t bucket) {
        std::size_t n = 0;
        n_misses_ = 0;
        for (const Pages& part : pages) {
            n_misses_ += part.size(2 * bucket);
            n += part.size(2 * bucket + 1);
        }
        n += n_misses_;
        if (keys_.size() < n) keys_.resize(n);
        Bits* to = keys_.data();
        for (const std::size_t list : {2 * bucket, 2 * bucket + 1}) {
            for (const Pages& part : pages) to = part.copy(list, to);
        }
        n_ = n;
    }

    [[nodiscard]] std::span<const Bits> misses() const { return {keys_.data(), n_misses_}; }
    [[nodiscard]] std::span<const Bits> hits() const {
        return {keys_.data() + n_misses_, n_ - n_misses_};
    }

private:
    std::vector<Bits> keys_;
    std::size_t n_ = 0, n_misses_ = 0;
};

ExactSum exact(const WideProduct& number) {
    ExactSum sum;
    for (int part = 0; part < 4; ++part) {
        const UInt128 half = part < 2 ? number.low : number.high;
        const auto digits = static_cast<std::uint64_t>(half >> (64 * (part % 2)));
        sum.add(static_cast<Int128>(digits), 64 * part);
    }
    return sum;
}

}  // namespace

void Concordance::add(const WideProduct& more) {
    doubled_concordant.low += more.low;
    doubled_concordant.high += more.high + (doubled_concordant.low < more.low ? 1 : 0);
}

void Concordance::add_pairs(UInt128 of_hits, UInt128 doubled_misses) {
    add(wide_product(of_hits, doubled_misses));
}

double Concordance::area() const {
    return mean(exact(doubled_concordant), exact(wide_product(2 * hits, misses)));
}

DoubleDouble Concordance::wide_area() const {
    const ScaledDoubleDouble share =
        divide(exact(doubled_concordant).value(), exact(wide_product(2 * hits, misses)).value());
    const auto exponent = static_cast<int>(std::max<std::int64_t>(share.exponent, -2000));
    return {std::ldexp(share.value.high, exponent), std::ldexp(share.value.low, exponent)};
}

Concordance count_concordant(const SortedScores& scores, Poll poll) {
    Concordance pairs;
    pairs.unit_exponent = scores.unit_exponent();
    pairs.n = scores.count();
    scores.for_each_score(poll, [&](double, UInt128 weight, UInt128 hits) {
        const UInt128 misses = weight - hits;
        if (hits != 0) pairs.add_pairs(hits, 2 * pairs.misses + misses);
        pairs.hits += hits;
        pairs.misses += misses;
    });
    return pairs;
}

struct BucketedScores::Parts {
    CellBuckets buckets;
    std::vector<Pages> pages;  // of each worker
};

BucketedScores::BucketedScores(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
BucketedScores::BucketedScores(BucketedScores&&) noexcept = default;
BucketedScores& BucketedScores::operator=(BucketedScores&&) noexcept = default;
BucketedScores::~BucketedScores() = default;

std::optional<BucketedScores> BucketedScores::worth_making(const ScoredRows& rows,
                                                           std::size_t workers) {
    constexpr std::size_t least_rows = std::size_t{1} << 15;  // below, sorting is as fast
    constexpr std::size_t most_rows = std::numeric_limits<std::uint32_t>::max();
    if (rows.events.sample_weight != nullptr || rows.scoring == Scoring::pairs ||
        rows.size() < least_rows || rows.size() > most_rows) {
        return std::nullopt;
    }
    CellBuckets buckets(rows);
    if (buckets.crowded()) return std::nullopt;
    auto parts = std::make_unique<Parts>(Parts{std::move(buckets), {}});
    for (std::size_t k = 0; k < workers; ++k) parts->pages.emplace_back(2 * parts->buckets.size());
    return BucketedScores(std::move(parts));
}

void BucketedScores::fill(const ScoredRows& rows, Poll poll) {
    for_each_block(rows, parts_->pages.size(), poll,
                   [&](std::size_t worker, std::size_t row, const ScoredBlock& block) {
                       const std::size_t next = row + block.events() + block.omitted();
                       add(worker, block, next_block(rows.events, next));
                   });
}

void BucketedScores::add(std::size_t worker, const ScoredBlock& block, const PrefetchHint& ahead) {
    const CellBuckets& buckets = parts_->buckets;
    Pages& mine = parts_->pages[worker];
    const double* const score = block.score();
    const std::int32_t* const hit = block.hit();
    alignas(64) std::uint32_t cell[block_rows];
    kernels().cells(score, block.n(), cell);
    for (std::size_t i = 0; i < block.n(); ++i) {
        if (i % rows_per_prefetch == 0) {
            prefetch(ahead, i / rows_per_prefetch, block_rows / rows_per_prefetch);
        }
        const std::size_t list =
            2 * std::size_t{buckets.of(cell[i])} + static_cast<unsigned>(hit[i]);
        mine.put(list, std::bit_cast<Bits>(score[i] + 0.0));  // no -0.0
    }
}

void BucketedScores::for_each_page(const std::vector<std::uint8_t>& wanted, Poll poll,
                                   const LookAtPage& look) const {
    const CellBuckets& buckets = parts_->buckets;
    const auto& pages = parts_->pages;
    std::vector<std::uint8_t> wanted_bucket(buckets.size(), 0);
    for (std::uint32_t cell = 0; cell < wanted.size(); ++cell) {
        if (wanted[cell] != 0) wanted_bucket[buckets.of(cell)] = 1;
    }
    for_each_chunk(buckets.size(), 1, pages.size(), poll,
                   [&](std::size_t worker, std::size_t bucket, std::size_t) {
                       if (wanted_bucket[bucket] == 0) return true;
                       for (std::size_t hit = 0; hit < 2; ++hit) {
                           for (const Pages& part : pages) {
                               part.for_each_page(2 * bucket + hit,
                                                  [&](const Bits* begin, const Bits* end) {
                                                      look(worker, {begin, end}, hit != 0);
                                                  });
                           }
                       }
                       return true;
                   });
}

Concordance BucketedScores::count_concordant(Poll poll, const Look& look) const {
    const std::size_t workers = parts_->pages.size();
    std::vector<BucketPairs> of_bucket(parts_->buckets.size());
    std::vector<PairCounter> counters(workers);
    std::vector<BucketKeys> keys(workers);
    for_each_chunk(of_bucket.size(), 1, workers, poll,
                   [&](std::size_t worker, std::size_t k, std::size_t) {
                       keys[worker].copy(parts_->pages, k);
                       const auto misses = keys[worker].misses(), hits = keys[worker].hits();
                       of_bucket[k] = {misses.size(), hits.size(),
                                       counters[worker].doubled_concordant(misses, hits)};
                       if (look) look(worker, misses, hits);
                       return true;
                   });
    Concordance total;
    for (const BucketPairs& bucket : of_bucket) {
        total.add_pairs(bucket.hits, 2 * total.misses);
        total.add({0, bucket.doubled_concordant});
        total.hits += bucket.hits;
        total.misses += bucket.misses;
        total.n += bucket.hits + bucket.misses;
    }
    return total;
}

Concordance count_concordant(const ScoredRows& rows, Poll poll) {
    const std::size_t workers = workers_for(rows.size(), chunks_per_worker * chunk_rows(rows));
    std::optional<BucketedScores> buckets = BucketedScores::worth_making(rows, workers);
    if (!buckets) return count_concordant(SortedScores(rows, poll), poll);
    buckets->fill(rows, poll);
    return buckets->count_concordant(poll);
}

}  // namespace calibrant
