#include "calibrant/calibration/bins.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/check.hpp"
#include "calibrant/state/bytes.hpp"
#include "numeric/wide_product.hpp"
#include "ordering/sorted_scores.hpp"
#include "rows/scored_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {
namespace {

constexpr std::size_t n_guide_cells = 1024;

// Scaling by a power of two is exact, so cells are exact intervals of scores. 32-bit integers are
// converted fastest.
std::size_t cell_of(double score, std::size_t n_cells) {
    const double scaled = score * static_cast<double>(n_cells);
    const double raised = scaled > 0.0 ? scaled : 0.0;
    const auto last = static_cast<double>(n_cells - 1);
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(raised < last ? raised : last));
}

// The first guide cell whose left end is at least the edge; n_guide_cells if there is none.
std::size_t first_cell_from(double edge) {
    return static_cast<std::size_t>(std::ceil(std::clamp(edge, 0.0, 1.0) * n_guide_cells));
}

// The last bin whose left edge is at most the score, searched in [first, last].
std::uint32_t bin_between(const std::vector<double>& edges, std::uint32_t first, std::uint32_t last,
                          double score) {
    while (first < last) {
        const std::uint32_t middle = last - (last - first) / 2;
        if (edges[middle] <= score) {
            first = middle;
        } else {
            last = middle - 1;
        }
    }
    return first;
}

constexpr std::size_t n_cells = std::size_t{1} << 14;

class Cells {
public:
    Cells(const ScoredRows& rows, Poll poll)
        : rows_(rows),
          poll_(poll),
          workers_(workers_for(rows.size(), chunks_per_worker * chunk_rows(rows))) {
        std::vector<std::vector<std::uint64_t>> counts(workers_);
        for (auto& of_worker : counts) of_worker.resize(n_cells);
        for_each_block(rows_, workers_, poll_,
                       [&](std::size_t worker, std::size_t, const ScoredBlock& block) {
                           std::uint64_t* const count = counts[worker].data();
                           for (std::size_t i = 0; i < block.n(); ++i)
                               ++count[cell_of(block.score()[i], n_cells)];
                       });
        before_.resize(n_cells + 1);
        for (std::size_t cell = 0; cell < n_cells; ++cell) {
            before_[cell + 1] = before_[cell];
            for (const auto& of_worker : counts) before_[cell + 1] += of_worker[cell];
        }
    }

    [[nodiscard]] std::uint64_t total() const { return before_[n_cells]; }

    // The cell of the rank-th smallest score; rank from 0.
    [[nodiscard]] std::size_t cell_at(std::uint64_t rank) const {
        const auto above = std::upper_bound(before_.begin(), before_.end(), rank);
        return static_cast<std::size_t>(above - before_.begin()) - 1;
    }

    // Marks a cell's scores for gather().
    void want(std::size_t cell) { wanted_.push_back(cell); }

    void gather() {
        std::sort(wanted_.begin(), wanted_.end());
        wanted_.erase(std::unique(wanted_.begin(), wanted_.end()), wanted_.end());
        slot_.assign(n_cells, no_slot);
        scores_.resize(wanted_.size());
        filled_ = std::make_unique<std::atomic<std::size_t>[]>(wanted_.size());
        for (std::size_t i = 0; i < wanted_.size(); ++i) {
            const std::size_t cell = wanted_[i];
            slot_[cell] = static_cast<std::uint32_t>(i);
            scores_[i].resize(before_[cell + 1] - before_[cell]);
            filled_[i] = 0;
        }
        for_each_block(
            rows_, workers_, poll_, [&](std::size_t, std::size_t, const ScoredBlock& block) {
                for (std::size_t i = 0; i < block.n(); ++i) {
                    const std::uint32_t slot = slot_[cell_of(block.score()[i], n_cells)];
                    if (slot == no_slot) continue;
                    const std::size_t at = filled_[slot].fetch_add(1, std::memory_order_relaxed);
                    // The array may have changed since it was counted.
                    if (at < scores_[slot].size()) scores_[slot][at] = block.score()[i];
                }
            });
        for (auto& scores : scores_) std::sort(scores.begin(), scores.end());
    }

    // The rank-th smallest score, in a gathered cell.
    [[nodiscard]] double score_at(std::uint64_t rank) const {
        const std::size_t cell = cell_at(rank);
        return scores_[slot_[cell]][rank - before_[cell]];
    }

    // The next larger score than the rank-th, if its cell and the next with scores have been
    // gathered; 1 if there is none.
    [[nodiscard]] double next_larger(std::uint64_t rank) const {
        const double score = score_at(rank);
        const auto& same_cell = scores_[slot_[cell_at(rank)]];
        const auto larger = std::upper_bound(same_cell.begin(), same_cell.end(), score);
        if (larger != same_cell.end()) return *larger;
        const std::uint64_t next = before_[cell_at(rank) + 1];
        return next < total() ? score_at(next) : 1.0;
    }

    [[nodiscard]] std::uint64_t rank_after_cell(std::uint64_t rank) const {
        return before_[cell_at(rank) + 1];
    }

private:
    static constexpr std::uint32_t no_slot = 0xFFFFFFFF;

    const ScoredRows& rows_;
    Poll poll_;
    std::size_t workers_;
    std::vector<std::uint64_t> before_;  // scores in cells below
    std::vector<std::size_t> wanted_;
    std::vector<std::uint32_t> slot_;
    std::vector<std::vector<double>> scores_;
    std::unique_ptr<std::atomic<std::size_t>[]> filled_;
};

// ceil(k n / m) without overflow: the number of scores that bins 0 to k - 1 must hold.
std::uint64_t share(std::uint64_t k, std::uint64_t n, std::uint64_t m) {
    const UInt128 product = static_cast<UInt128>(k) * n;
    return static_cast<std::uint64_t>((product + m - 1) / m);
}

std::vector<double> unweighted_edges(const ScoredRows& rows, std::size_t n_bins, Poll poll) {
    std::vector<double> edges(n_bins + 1, 0.0);
    edges[n_bins] = 1.0;
    Cells cells(rows, poll);
    const std::uint64_t n = cells.total();
    if (n == 0) return equal_width_edges(n_bins);
    const auto last_rank = [&](std::size_t k) { return share(k, n, n_bins) - 1; };
    for (std::size_t k = 1; k < n_bins; ++k) {
        cells.want(cells.cell_at(last_rank(k)));
        const std::uint64_t next = cells.rank_after_cell(last_rank(k));
        if (next < n) cells.want(cells.cell_at(next));
    }
    cells.gather();
    for (std::size_t k = 1; k < n_bins; ++k) edges[k] = cells.next_larger(last_rank(k));
    return edges;
}

// For fewer rows, a sort is faster than a histogram.
constexpr std::size_t rows_worth_cells = 4096;

std::vector<double> few_edges(const ScoredRows& rows, std::size_t n_bins, Poll poll) {
    std::vector<double> scores;
    scores.reserve(rows.size() * rows.scores_per_event());
    for_each_block(rows, 1, poll, [&](std::size_t, std::size_t, const ScoredBlock& block) {
        scores.insert(scores.end(), block.score(), block.score() + block.n());
    });
    if (scores.empty()) return equal_width_edges(n_bins);
    std::sort(scores.begin(), scores.end());
    std::vector<double> edges(n_bins + 1, 0.0);
    edges[n_bins] = 1.0;
    for (std::size_t k = 1; k < n_bins; ++k) {
        const double last = scores[share(k, scores.size(), n_bins) - 1];
        const auto larger = std::upper_bound(scores.begin(), scores.end(), last);
        edges[k] = larger != scores.end() ? *larger : 1.0;
    }
    return edges;
}

std::vector<double> weighted_edges(const ScoredRows& rows, std::size_t n_bins, Poll poll) {
    const SortedScores sorted(rows, poll);
    UInt128 total = 0;
    sorted.for_each_score(poll, [&](double, UInt128 weight, UInt128) { total += weight; });
    if (total == 0) return equal_width_edges(n_bins);

    std::vector<double> edges(n_bins + 1, 1.0);
    edges[0] = 0.0;
    UInt128 below = 0;
    std::size_t k = 1;
    sorted.for_each_score(poll, [&](double score, UInt128 weight, UInt128) {
        // below / total >= k / n_bins: bin k ends before this score.
        while (k < n_bins && !product_less(below, n_bins, k, total)) edges[k++] = score;
        below += weight;
    });
    return edges;
}

}  // namespace

Bins::Bins(std::vector<double> edges, const char* argument) {
    const std::string name = argument;
    if (edges.size() < 2 || edges.size() > most_bins + 1) {
        throw InvalidInput(name + " must list 2 to 1000001 edges, got " +
                           std::to_string(edges.size()));
    }
    for (std::size_t k = 0; k < edges.size(); ++k) {
        if (!std::isfinite(edges[k])) {
            throw InvalidInput(name + " must be finite, found " + number_text(edges[k]) +
                               " at position " + std::to_string(k));
        }
        if (k > 0 && edges[k] < edges[k - 1]) {
            throw InvalidInput(name + " must not fall, found " + number_text(edges[k]) + " after " +
                               number_text(edges[k - 1]) + " at position " + std::to_string(k));
        }
    }
    if (edges.front() > 0.0 || edges.back() < 1.0) {
        throw InvalidInput(name + " must cover [0, 1], got edges from " +
                           number_text(edges.front()) + " to " + number_text(edges.back()));
    }
    const auto lookup = std::make_shared<Lookup>();
    const auto last = static_cast<std::uint32_t>(edges.size() - 2);
    auto& guide = lookup->guide;
    guide.assign(n_guide_cells + 1, last);
    std::size_t cell = 0;
    for (std::uint32_t bin = 0; bin < last; ++bin) {
        const std::size_t end = first_cell_from(edges[bin + 1]);
        for (; cell < end; ++cell) guide[cell] = bin;
    }
    lookup->ends.assign(edges.begin() + 1, edges.end());
    lookup->ends.back() = std::numeric_limits<double>::infinity();
    std::uint32_t most_steps = 0;
    for (std::size_t k = 0; k < n_guide_cells; ++k) {
        most_steps = std::max(most_steps, guide[k + 1] - guide[k]);
    }
    lookup->one_step = most_steps <= 1;
    lookup->edges = std::move(edges);
    lookup_ = lookup;
}

std::vector<double> equal_width_edges(std::size_t n_bins) {
    std::vector<double> edges(n_bins + 1);
    for (std::size_t k = 0; k <= n_bins; ++k) {
        edges[k] = static_cast<double>(k) / static_cast<double>(n_bins);
    }
    return edges;
}

Bins Bins::equal_width(std::size_t n_bins) { return Bins(equal_width_edges(n_bins)); }

void Bins::write(Writer& out) const {
    out.u64(edges().size());
    for (const double edge : edges()) out.f64(edge);
}

Bins Bins::read(Reader& in) {
    std::vector<double> edges(in.count(sizeof(double)));
    for (double& edge : edges) edge = in.f64();
    return make_from_state([&] { return Bins(std::move(edges)); });
}

void Bins::locate(const double* scores, std::size_t n, std::uint32_t* bins) const {
    const auto& [edges, ends, guide, one_step] = *lookup_;
    for (std::size_t i = 0; one_step && i < n; ++i) {  // few bins: no branch to mispredict
        const std::uint32_t first = guide[cell_of(scores[i], n_guide_cells)];
        bins[i] = first + (ends[first] <= scores[i] ? 1U : 0U);
    }
    if (one_step) return;
    for (std::size_t i = 0; i < n; ++i) {
        const double score = scores[i];
        const std::size_t cell = cell_of(score, n_guide_cells);
        bins[i] = bin_between(edges, guide[cell], guide[cell + 1], score);
    }
}

std::vector<double> equal_count_edges(const ScoredRows& rows, std::size_t n_bins, Poll poll) {
    if (rows.events.sample_weight != nullptr) return weighted_edges(rows, n_bins, poll);
    return rows.size() < rows_worth_cells ? few_edges(rows, n_bins, poll)
                                          : unweighted_edges(rows, n_bins, poll);
}

}  // namespace calibrant
