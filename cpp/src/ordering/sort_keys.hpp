// Sorting rows by their keys on several threads: for SortedScores and GroupedScores.
//
// An Item is a ScoreKey, or has one called `key` beside what belongs to the row.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "calibrant/runtime/parallel.hpp"
#include "ordering/sorted_scores.hpp"
#include "runtime/large_pages.hpp"

namespace calibrant {

inline std::uint64_t bits_of(ScoreKey item) { return item.bits; }
template <class Item>
std::uint64_t bits_of(const Item& item) {
    return item.key.bits;
}

inline constexpr auto by_key = [](const auto& a, const auto& b) { return bits_of(a) < bits_of(b); };

// Cells have few items as a rule, and std::sort pays only for more.
inline constexpr std::size_t most_by_insertion = 16;

template <class Item>
void insert_in_order(Item* items, std::size_t n) {
    for (std::size_t i = 1; i < n; ++i) {
        const Item item = items[i];
        std::size_t place = i;
        for (; place > 0 && by_key(item, items[place - 1]); --place) {
            items[place] = items[place - 1];
        }
        items[place] = item;
    }
}

// Sorts n items: into about as many cells as items, of equal width between the least and the
// greatest key, and then each cell. Linear for keys that are spread out or all equal; a cell that
// gets most of them costs n log n. `scratch` has room for n items.
template <class Item>
void sort_few(Item* items, std::size_t n, Item* scratch, std::vector<std::uint32_t>& ends) {
    if (n < 64 || n > std::numeric_limits<std::uint32_t>::max()) {
        std::sort(items, items + n, by_key);
        return;
    }
    std::uint64_t least = bits_of(items[0]), greatest = least;
    for (std::size_t i = 1; i < n; ++i) {
        least = std::min(least, bits_of(items[i]));
        greatest = std::max(greatest, bits_of(items[i]));
    }
    if (least == greatest) return;
    const auto width = static_cast<int>(std::bit_width(greatest - least));
    const int shift = std::max(width - static_cast<int>(std::bit_width(n)), 0);
    const auto cell_of = [&](const Item& item) { return (bits_of(item) - least) >> shift; };
    ends.assign(((greatest - least) >> shift) + 2, 0);
    for (std::size_t i = 0; i < n; ++i) ++ends[cell_of(items[i]) + 1];
    for (std::size_t cell = 1; cell < ends.size(); ++cell) ends[cell] += ends[cell - 1];
    for (std::size_t i = 0; i < n; ++i) scratch[ends[cell_of(items[i])]++] = items[i];
    std::copy(scratch, scratch + n, items);
    // ends[cell] has moved from where the cell begins to where it ends.
    std::size_t begin = 0;
    for (const std::uint32_t end : ends) {
        if (end - begin > most_by_insertion) {
            std::sort(items + begin, items + end, by_key);
        } else if (end - begin > 1) {
            insert_in_order(items + begin, end - begin);
        }
        begin = end;
    }
}

// KeyBuckets between keys of a sample, so that they hold about equally many rows whatever the
// scores are like. Ties are never split.
class KeyBuckets {
public:
    template <class Item>
    KeyBuckets(const Item* items, std::size_t n) {
        const std::size_t wanted = std::bit_floor(std::max<std::size_t>(n / bucket_rows, 1));
        size_ = std::min(wanted, most_buckets);
        if (size_ == 1) return;
        std::vector<std::uint64_t> sample(sampled_per_bucket * size_);
        // Steps of an odd number of rows: periods in the data should not matter much.
        const std::size_t step = std::max<std::size_t>(n / sample.size(), 1) | 1;
        std::size_t row = 0;
        for (std::uint64_t& key : sample) {
            key = bits_of(items[row]);
            row = (row + step) % n;
        }
        std::sort(sample.begin(), sample.end());
        for (std::size_t k = 1; k < size_; ++k) {
            last_.push_back(sample[sampled_per_bucket * k]);
        }
    }

    [[nodiscard]] std::size_t size() const { return size_; }

    // The number of bounds below the key, found without branches; the number of buckets for an
    // absent row.
    [[nodiscard]] std::size_t of(std::uint64_t key) const {
        if (key == absent) return size_;
        const std::uint64_t* at = last_.data();
        for (std::size_t half = size_ / 2; half > 0; half /= 2) {
            at += half * static_cast<std::size_t>(at[half - 1] < key);
        }
        return static_cast<std::size_t>(at - last_.data());
    }

private:
    static constexpr std::size_t bucket_rows = std::size_t{1} << 14;
    static constexpr std::size_t most_buckets = 1024;
    static constexpr std::size_t sampled_per_bucket = 16;

    std::size_t size_;
    std::vector<std::uint64_t> last_;  // bucket k ends with the key last_[k]
};

// Sorts n items on several threads, leaving out absent ones, of which there then are fewer.
template <class Item>
LargeArray<Item> sorted_by_key(LargeArray<Item> items, std::size_t& n, Poll poll) {
    const KeyBuckets buckets(items.data(), n);
    // Parts of the rows: each counts its buckets, and so knows where it may put its items.
    const std::size_t part_rows = std::max(std::size_t{1} << 15, n / 512);
    const std::size_t parts = n / part_rows + 1;
    const std::size_t workers = workers_for(n, 4 * part_rows);
    std::vector<std::vector<std::size_t>> places(parts);
    LargeArray<std::uint16_t> bucket(n);
    for_each_chunk(n, part_rows, workers, poll,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                       auto& count = places[begin / part_rows];
                       count.assign(buckets.size() + 1, 0);
                       for (std::size_t i = begin; i < end; ++i) {
                           const std::size_t k = buckets.of(bits_of(items[i]));
                           bucket[i] = static_cast<std::uint16_t>(k);
                           ++count[k];
                       }
                       return true;
                   });
    std::vector<std::size_t> begins(buckets.size() + 2, 0);
    for (std::size_t k = 0; k <= buckets.size(); ++k) {
        begins[k + 1] = begins[k];
        for (auto& place : places) {
            if (!place.empty()) begins[k + 1] += std::exchange(place[k], begins[k + 1]);
        }
    }
    LargeArray<Item> result(n);
    for_each_chunk(n, part_rows, workers, poll,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                       auto& place = places[begin / part_rows];
                       for (std::size_t i = begin; i < end; ++i) {
                           result[place[bucket[i]]++] = items[i];
                       }
                       return true;
                   });
    std::vector<std::vector<std::uint32_t>> ends(workers);
    for_each_chunk(buckets.size(), 1, workers, poll,
                   [&](std::size_t worker, std::size_t k, std::size_t) {
                       sort_few(&result[begins[k]], begins[k + 1] - begins[k], &items[begins[k]],
                                ends[worker]);
                       return true;
                   });
    n = begins[buckets.size()];
    return result;
}

}  // namespace calibrant
