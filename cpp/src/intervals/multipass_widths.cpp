#include "intervals/multipass_widths.hpp"

#include <algorithm>
#include <bit>

#include "calibrant/rows/check.hpp"
#include "intervals/box_counter.hpp"
#include "intervals/width_boxes.hpp"
#include "kernels/box_kernels.hpp"
#include "kernels/kernels.hpp"
#include "ordering/sort_keys.hpp"
#include "rows/interval_blocks.hpp"

namespace calibrant {
namespace {

using Word = std::uint64_t;

constexpr std::size_t range_rows = std::size_t{1} << 20;
constexpr std::size_t n_buckets = std::size_t{1} << 16;

double width_of(Word word) { return std::bit_cast<double>(word >> 1); }

// Boxes made one after the other from words in order.
class BoxMaker {
public:
    BoxMaker(double bandwidth, BoxFormer& former) : grid_(bandwidth), former_(former) {}

    void add(const ScoreKey* keys, std::size_t n) {
        double width[box_rows], excess[box_rows], terms[box_rows * box_limbs];
        std::int64_t key[box_rows];
        for (std::size_t i = 0; i < n; ++i) {
            width[i] = keys[i].score();
            excess[i] = keys[i].hit() ? 0.0 : 1.0;
        }
        if (!kernels().boxes->terms(width, excess, n, grid_.box, grid_.boxes_per_unit, key,
                                    terms)) {
            throw InvalidInput(
                "intervals must be narrower than 2^46 bandwidths, found a width of " +
                number_text(width[n - 1]));
        }
        for (std::size_t i = 0; i < n; ++i) {
            if (key[i] >> 1 != box_) close();
            box_ = key[i] >> 1;
            std::uint64_t limbs[box_limbs];
            for (std::size_t limb = 0; limb < box_limbs; ++limb) {
                limbs[limb] = std::bit_cast<std::uint64_t>(terms[limb * box_rows + i]);
            }
            pair_[key[i] & 1].add(1, limbs);
        }
    }

    void close() {
        for (const int indicator : {0, 1}) {
            if (pair_[indicator].count > 0) former_.add(2 * box_ + indicator, pair_[indicator]);
            pair_[indicator] = BoxCell{};
        }
    }

private:
    BoxGrid grid_;
    BoxFormer& former_;
    BoxCell pair_[2];
    std::int64_t box_ = -1;
};

}  // namespace

MultipassWidths::MultipassWidths(const IntervalRows& rows, std::size_t level, Poll poll)
    : rows_(rows), workers_(1), poll_(poll) {
    rows_.lower = {rows.lower[level]};
    rows_.upper = {rows.upper[level]};
    workers_ = workers_of(rows_);
    struct Summary {
        std::uint64_t n = 0, covered = 0;
        Word least = ~Word{0}, most = 0;
    };
    std::vector<Summary> team(workers_);
    for_each_word([&](std::size_t worker, Word word) {
        Summary& summary = team[worker];
        ++summary.n;
        summary.covered += word & 1;
        summary.least = std::min(summary.least, word);
        summary.most = std::max(summary.most, word);
    });
    for (const Summary& summary : team) {
        n_ += summary.n;
        covered_ += summary.covered;
        least_ = std::min(least_, summary.least);
        most_ = std::max(most_, summary.most);
    }
}

double MultipassWidths::least() const { return width_of(least_); }
double MultipassWidths::most() const { return width_of(most_); }

template <class Visit>
void MultipassWidths::for_each_word(const Visit& visit) const {
    for_each_block(rows_, workers_, 0, poll_,
                   [&](std::size_t worker, std::size_t, const IntervalBlock& block) {
                       for (std::size_t i = 0; i < block.n(); ++i) {
                           const auto bits = std::bit_cast<Word>(block.width(0)[i] + 0.0);
                           visit(worker, (bits << 1) | (block.excess(0)[i] == 0.0 ? 1U : 0U));
                       }
                   });
}

// Where to cut: after each range_rows rows or so, by a table of equal steps of words.
std::vector<Word> MultipassWidths::range_ends() const {
    const auto width = static_cast<int>(std::bit_width(most_ - least_));
    const int shift = std::max(width - static_cast<int>(std::bit_width(n_buckets - 1)), 0);
    std::vector<std::vector<std::uint64_t>> team(workers_,
                                                 std::vector<std::uint64_t>(n_buckets, 0));
    for_each_word([&](std::size_t worker, Word word) {
        ++team[worker][(std::clamp(word, least_, most_) - least_) >> shift];
    });
    std::vector<Word> ends;
    std::uint64_t rows = 0;
    for (std::size_t bucket = 0; bucket + 1 < n_buckets; ++bucket) {
        std::uint64_t here = 0, next = 0;
        for (const auto& counts : team) {
            here += counts[bucket];
            next += counts[bucket + 1];
        }
        rows += here;
        if (rows == 0 || rows + next <= range_rows) continue;
        ends.push_back(least_ + (static_cast<Word>(bucket + 1) << shift) - 1);
        rows = 0;
    }
    ends.push_back(~Word{0});
    return ends;
}

LargeArray<ScoreKey> MultipassWidths::sorted_range(Word low, Word high, std::size_t& n) const {
    std::vector<std::vector<ScoreKey>> team(workers_);
    for_each_word([&](std::size_t worker, Word word) {
        if (word >= low && word <= high) team[worker].push_back({word});
    });
    n = 0;
    for (const auto& keys : team) n += keys.size();
    LargeArray<ScoreKey> all(n);
    ScoreKey* end = all.data();
    for (const auto& keys : team) end = std::copy(keys.begin(), keys.end(), end);
    return n == 0 ? std::move(all) : sorted_by_key(std::move(all), n, poll_);
}

void MultipassWidths::add_boxes(double bandwidth, BoxFormer& former) const {
    BoxMaker maker(bandwidth, former);
    Word low = 0;
    for (const Word high : range_ends()) {
        std::size_t n = 0;
        const LargeArray<ScoreKey> keys = sorted_range(low, high, n);
        // One worker: the chunks come in order.
        for_each_chunk(n, box_rows, 1, poll_, [&](std::size_t, std::size_t begin, std::size_t end) {
            maker.add(keys.data() + begin, end - begin);
            return true;
        });
        low = high + 1;
    }
    maker.close();
}

}  // namespace calibrant
