#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "assessment/frequency_estimate.hpp"
#include "calibrant/rows/check.hpp"
#include "calibration/isotonic.hpp"
#include "score_table/frequency_estimate_sums.hpp"

namespace calibrant {
namespace {

// Ascending scores are in ascending bins.
class BinWalk {
public:
    explicit BinWalk(const Bins& bins) : edges_(bins.edges()) {}
    [[nodiscard]] std::size_t bin_of(double score) {
        while (bin_ + 2 < edges_.size() && edges_[bin_ + 1] <= score) ++bin_;
        return bin_;
    }

private:
    const std::vector<double>& edges_;
    std::size_t bin_ = 0;
};

// Sums up estimates that are the same over stretches of scores: one addition for each stretch
// in a bin.
class Runs {
public:
    Runs(const Bins& bins, const RiskProfile& whole, int unit_exponent)
        : sums_(bins.size(), whole), walk_(bins), unit_exponent_(unit_exponent) {}

    // Scores ascending; estimate(stretch) is called at most once a bin.
    template <class Estimate>
    void add(double score, UInt128 hits, std::size_t stretch, const Estimate& estimate) {
        if (hits == 0) return;
        const std::size_t bin = walk_.bin_of(score);
        if (hits_ == 0 || bin != bin_ || stretch != stretch_) {
            flush();
            bin_ = bin;
            stretch_ = stretch;
            estimate_ = estimate(stretch);
        }
        hits_ += hits;
    }

    [[nodiscard]] Source finish() {
        flush();
        return sums_.finish();
    }

private:
    void flush() {
        if (hits_ != 0) sums_.add(bin_, estimate_, static_cast<double>(hits_), unit_exponent_);
        hits_ = 0;
    }

    SourceSums sums_;
    BinWalk walk_;
    int unit_exponent_;
    std::size_t bin_ = 0, stretch_ = 0;
    double estimate_ = 0.0;
    UInt128 hits_ = 0;
};

// What is known of distinct scores, ascending; sums over those before each.
template <class Count>
struct Ranked {
    std::vector<double> score;
    std::vector<Count> weight_before{0}, hits_before{0};

    Ranked(const SortedScores& scores, Poll poll) {
        scores.for_each_score(poll, [&](double at, UInt128 weight, UInt128 hits) {
            score.push_back(at);
            weight_before.push_back(weight_before.back() + static_cast<Count>(weight));
            hits_before.push_back(hits_before.back() + static_cast<Count>(hits));
        });
    }
    [[nodiscard]] std::size_t size() const { return score.size(); }
    [[nodiscard]] Count hits(std::size_t i) const { return hits_before[i + 1] - hits_before[i]; }
};

struct Window {
    std::size_t first, last;
};

// The first index in [begin, end) for which `is_beyond` holds, which holds for all after it; end
// if there is none. Looked for near a guess, in ever longer steps: neighbours of what was found
// for the score before.
template <class Predicate>
std::size_t first_beyond(std::size_t begin, std::size_t end, std::size_t guess,
                         const Predicate& is_beyond) {
    std::size_t at = std::clamp(guess, begin, end);
    if (at < end && !is_beyond(at)) {
        for (std::size_t step = 1; at < end && !is_beyond(at); step *= 2) {
            begin = at + 1;
            at += std::min(step, end - at);
        }
        end = at;
    } else {
        for (std::size_t step = 1; at > begin && is_beyond(at - 1); step *= 2) {
            end = at - 1;
            at -= std::min(step, at - begin);
        }
        begin = std::min(at, end);
    }
    while (begin < end) {
        const std::size_t middle = begin + (end - begin) / 2;
        if (is_beyond(middle)) {
            end = middle;
        } else {
            begin = middle + 1;
        }
    }
    return begin;
}

// Finds, for one distinct score after the other, the nearest that hold `least` of the weight.
template <class Count>
class NearestWindows {
public:
    NearestWindows(const Ranked<Count>& ranked, Count least) : ranked_(ranked), least_(least) {}

    // i not falling from call to call.
    [[nodiscard]] Window around(std::size_t i) {
        // The distance to the left end falls as that end moves right, the distance to the right
        // end grows: the larger of the two has one minimum, which moves right with i. It may be
        // flat, by rounding too: then the right end of it is as good, now and later.
        double within = radius(first_, i);
        while (first_ < i) {
            const double next = radius(first_ + 1, i);
            if (!(next <= within)) break;
            within = next;
            ++first_;
        }
        const auto& score = ranked_.score;
        const std::size_t left = first_beyond(
            0, i, first_, [&](std::size_t k) { return score[i] - score[k] <= within; });
        const std::size_t right = first_beyond(
            i, score.size(), last_, [&](std::size_t k) { return score[k] - score[i] > within; });
        return {left, right - 1};
    }

private:
    // How far a window from `first` on must reach from score i.
    [[nodiscard]] double radius(std::size_t first, std::size_t i) {
        const auto& before = ranked_.weight_before;
        const Count needed = before[first] + least_;
        if (needed > before.back()) return std::numeric_limits<double>::infinity();
        last_ = first_beyond(first, before.size(), last_ + 1,
                             [&](std::size_t k) { return before[k] >= needed; }) -
                1;
        return std::max(ranked_.score[i] - ranked_.score[first],
                        ranked_.score[std::max(i, last_)] - ranked_.score[i]);
    }

    const Ranked<Count>& ranked_;
    Count least_;
    std::size_t first_ = 0;
    std::size_t last_ = 0;  // of the window that was looked at last
};

template <class Count>
Source nearest_among(const Ranked<Count>& ranked, int unit_exponent, const Bins& bins,
                     const RiskProfile& whole, Poll poll) {
    const Count total = ranked.weight_before.back();
    const std::size_t n_bins = bins.size();
    const Count least = std::max<Count>(total / n_bins + (total % n_bins != 0 ? 1 : 0), 1);
    NearestWindows<Count> windows(ranked, least);
    SourceSums sums(bins.size(), whole);
    BinWalk walk(bins);
    const std::size_t between_polls = std::size_t{1} << 16;
    (void)for_each_chunk(ranked.size(), between_polls, 1, poll,
                         [&](std::size_t, std::size_t begin, std::size_t end) {
                             for (std::size_t i = begin; i < end; ++i) {
                                 if (ranked.hits(i) == 0) continue;
                                 const Window near = windows.around(i);
                                 const Count hits = ranked.hits_before[near.last + 1] -
                                                    ranked.hits_before[near.first];
                                 const Count weight = ranked.weight_before[near.last + 1] -
                                                      ranked.weight_before[near.first];
                                 sums.add(walk.bin_of(ranked.score[i]),
                                          static_cast<double>(hits) / static_cast<double>(weight),
                                          static_cast<double>(ranked.hits(i)), unit_exponent);
                             }
                             return true;
                         });
    return sums.finish();
}

constexpr std::size_t n_cells = std::size_t{1} << 14;

std::size_t cell_of(double score) {
    return std::min(static_cast<std::size_t>(score * static_cast<double>(n_cells)), n_cells - 1);
}

// A row of counts, seen through the kernel around one of its cells.
double smoothed(const std::vector<double>& counts, const std::vector<double>& kernel,
                std::size_t cell) {
    double sum = counts[cell];
    for (std::size_t d = 1; d < kernel.size(); ++d) {
        const double left = cell >= d ? counts[cell - d] : 0.0;
        const double right = cell + d < n_cells ? counts[cell + d] : 0.0;
        sum += kernel[d] * (left + right);
    }
    return sum;
}

}  // namespace

Source isotonic_frequency_estimate(const SortedScores& scores, const Bins& bins,
                                   const RiskProfile& whole, Poll poll) {
    const std::vector<IsotonicBlock> blocks = isotonic_blocks(scores, poll);
    Runs runs(bins, whole, scores.unit_exponent());
    std::size_t block = 0;
    scores.for_each_score(poll, [&](double score, UInt128, UInt128 hits) {
        while (blocks[block].last < score) ++block;
        runs.add(score, hits, block, [&](std::size_t b) {
            return static_cast<double>(blocks[b].hits) / static_cast<double>(blocks[b].weight);
        });
    });
    return runs.finish();
}

Source nearest_frequency_estimate(const SortedScores& scores, const Bins& bins,
                                  const RiskProfile& whole, Poll poll) {
    // Without weights 64 bits suffice, and there may be many scores.
    if (!scores.weighted()) {
        return nearest_among(Ranked<std::uint64_t>(scores, poll), 0, bins, whole, poll);
    }
    return nearest_among(Ranked<UInt128>(scores, poll), scores.unit_exponent(), bins, whole, poll);
}

Source kernel_frequency_estimate(const SortedScores& scores, const Bins& bins,
                                 const RiskProfile& whole, Poll poll) {
    const std::size_t n_bins = bins.size();
    if (n_bins > most_kernel_bins) {
        throw InvalidInput("n_bins must be at most 2048 for the kernel source, got " +
                           std::to_string(n_bins));
    }
    std::vector<UInt128> cell_weight(n_cells), cell_hits(n_cells);
    scores.for_each_score(poll, [&](double score, UInt128 weight, UInt128 hits) {
        cell_weight[cell_of(score)] += weight;
        cell_hits[cell_of(score)] += hits;
    });
    const std::vector<double> weights(cell_weight.begin(), cell_weight.end());
    const std::vector<double> hits(cell_hits.begin(), cell_hits.end());
    std::vector<double> kernel;
    for (std::size_t d = 0; d * n_bins < n_cells; ++d) {
        const double distance = static_cast<double>(d * n_bins) / static_cast<double>(n_cells);
        kernel.push_back(1.0 - distance * distance);
    }
    Runs runs(bins, whole, scores.unit_exponent());
    scores.for_each_score(poll, [&](double score, UInt128, UInt128 true_pairs) {
        runs.add(score, true_pairs, cell_of(score), [&](std::size_t cell) {
            return smoothed(hits, kernel, cell) / smoothed(weights, kernel, cell);
        });
    });
    return runs.finish();
}

}  // namespace calibrant
