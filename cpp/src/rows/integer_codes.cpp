#include "rows/integer_codes.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace calibrant {
namespace {

constexpr std::size_t chunk = std::size_t{1} << 15;
// A key without rows must cost little besides the rows.
constexpr std::size_t span_worth_a_table = std::size_t{1} << 12, rows_per_key = 8;

// Keys in [0, limit) are their own codes. Returns their largest, or -1 if there are others.
std::int32_t copy_small(const std::int64_t* keys, std::size_t n, std::uint64_t limit,
                        std::int32_t* codes, std::size_t workers, Poll poll) {
    std::vector<std::int32_t> largest(workers, 0);
    const std::size_t failed = for_each_chunk(
        n, chunk, workers, poll, [&](std::size_t worker, std::size_t begin, std::size_t end) {
            std::uint64_t bits = 0;  // of all keys: simpler for the processor than comparing
            std::int32_t most = 0;
            for (std::size_t i = begin; i < end; ++i) {
                const std::int64_t key = keys[i];
                bits |= static_cast<std::uint64_t>(key);
                codes[i] = static_cast<std::int32_t>(key);
                most = std::max(most, codes[i]);
            }
            largest[worker] = std::max(largest[worker], most);
            return bits < limit;
        });
    return failed == npos ? *std::max_element(largest.begin(), largest.end()) : -1;
}

struct Range {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t largest = std::numeric_limits<std::int64_t>::min();
};

Range range_of(const std::int64_t* keys, std::size_t n, std::size_t workers, Poll poll) {
    std::vector<Range> ranges(workers);
    (void)for_each_chunk(n, chunk, workers, poll,
                         [&](std::size_t worker, std::size_t begin, std::size_t end) {
                             Range range = ranges[worker];
                             for (std::size_t i = begin; i < end; ++i) {
                                 range.least = std::min(range.least, keys[i]);
                                 range.largest = std::max(range.largest, keys[i]);
                             }
                             ranges[worker] = range;
                             return true;
                         });
    Range whole;
    for (const Range& range : ranges) {
        whole.least = std::min(whole.least, range.least);
        whole.largest = std::max(whole.largest, range.largest);
    }
    return whole;
}

// Distinct keys in the order of their first rows: open addressing, at most half full.
class KeyTable {
public:
    std::int32_t code(std::int64_t key) {
        std::size_t at = home(key);
        while (slots_[at] >= 0) {
            const std::int32_t found = slots_[at];
            if (keys_[static_cast<std::size_t>(found)] == key) return found;
            at = (at + 1) & (slots_.size() - 1);
        }
        if (keys_.size() == static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
            throw std::length_error("at most 2^31 - 1 groups");
        }
        const auto added = static_cast<std::int32_t>(keys_.size());
        keys_.push_back(key);
        slots_[at] = added;
        if (2 * keys_.size() > slots_.size()) grow();
        return added;
    }
    [[nodiscard]] const std::vector<std::int64_t>& keys() const { return keys_; }

private:
    [[nodiscard]] std::size_t home(std::int64_t key) const {
        const std::uint64_t mixed = static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15U;
        return static_cast<std::size_t>((mixed ^ (mixed >> 32)) * 0xD6E8FEB86659FD93U >> shift_);
    }

    void grow() {
        --shift_;
        slots_.assign(2 * slots_.size(), -1);
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            std::size_t at = home(keys_[i]);
            while (slots_[at] >= 0) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = static_cast<std::int32_t>(i);
        }
    }

    int shift_ = 54;
    std::vector<std::int32_t> slots_ = std::vector<std::int32_t>(1024, -1);
    std::vector<std::int64_t> keys_;
};

std::vector<std::int64_t> codes_by_table(const std::int64_t* keys, std::size_t n,
                                         std::int32_t* codes, std::size_t workers, Poll poll) {
    std::vector<KeyTable> tables(workers);
    std::vector<std::size_t> worker_of((n + chunk - 1) / chunk);
    (void)for_each_chunk(n, chunk, workers, poll,
                         [&](std::size_t worker, std::size_t begin, std::size_t end) {
                             worker_of[begin / chunk] = worker;
                             for (std::size_t i = begin; i < end; ++i) {
                                 codes[i] = tables[worker].code(keys[i]);
                             }
                             return true;
                         });
    std::vector<std::int64_t> distinct;
    for (const KeyTable& table : tables) {
        distinct.insert(distinct.end(), table.keys().begin(), table.keys().end());
    }
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    if (distinct.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
        throw std::length_error("at most 2^31 - 1 groups");
    }
    std::vector<std::vector<std::int32_t>> ranks(workers);
    for (std::size_t worker = 0; worker < workers; ++worker) {
        for (const std::int64_t key : tables[worker].keys()) {
            const auto at = std::lower_bound(distinct.begin(), distinct.end(), key);
            ranks[worker].push_back(static_cast<std::int32_t>(at - distinct.begin()));
        }
    }
    (void)for_each_chunk(n, chunk, workers, poll,
                         [&](std::size_t, std::size_t begin, std::size_t end) {
                             const auto& rank = ranks[worker_of[begin / chunk]];
                             for (std::size_t i = begin; i < end; ++i) {
                                 codes[i] = rank[static_cast<std::size_t>(codes[i])];
                             }
                             return true;
                         });
    return distinct;
}

std::vector<std::int64_t> from_to(std::int64_t least, std::int64_t largest) {
    std::vector<std::int64_t> keys(static_cast<std::size_t>(largest - least) + 1);
    std::iota(keys.begin(), keys.end(), least);
    return keys;
}

}  // namespace

std::vector<std::int64_t> integer_codes(const std::int64_t* keys, std::size_t n,
                                        std::int32_t* codes, Poll poll) {
    if (n == 0) return {};
    const std::size_t workers = workers_for(n, 4 * chunk);
    const std::uint64_t limit =
        std::bit_ceil(std::max<std::uint64_t>(span_worth_a_table, n / rows_per_key));
    if (limit <= std::uint64_t{1} << 30) {
        const std::int32_t largest = copy_small(keys, n, limit, codes, workers, poll);
        if (largest >= 0) return from_to(0, largest);
    }
    const Range range = range_of(keys, n, workers, poll);
    // As unsigned numbers, whose difference cannot overflow.
    const std::uint64_t span =
        static_cast<std::uint64_t>(range.largest) - static_cast<std::uint64_t>(range.least);
    if (span >= limit) {
        return codes_by_table(keys, n, codes, workers, poll);
    }
    // Should another thread write to the keys meanwhile, codes stay below the number of them.
    (void)for_each_chunk(
        n, chunk, workers, poll, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const std::int64_t key = std::clamp(keys[i], range.least, range.largest);
                codes[i] = static_cast<std::int32_t>(key - range.least);
            }
            return true;
        });
    return from_to(range.least, range.largest);
}

}  // namespace calibrant
