#include "calibrant/calibration/bins.hpp"

#include <algorithm>
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

// Counts of the scores in cells of equal width, so that only those near an edge need be sorted.
class CountedCells {
public:
    CountedCells(const ScoredRows& rows, Poll poll)
        : rows_(rows),
          workers_(workers_for(rows.size(), chunks_per_worker * chunk_rows(rows))),
          before_(n_cells + 1) {
        std::vector<std::vector<std::uint64_t>> counts(workers_,
                                                       std::vector<std::uint64_t>(n_cells));
        for_each_block(rows_, workers_, poll,
                       [&](std::size_t worker, std::size_t, const ScoredBlock& block) {
                           std::uint64_t* const count = counts[worker].data();
                           for (std::size_t i = 0; i < block.n(); ++i)
                               ++count[cell_of(block.score()[i], n_cells)];
                       });
        for (std::size_t cell = 0; cell < n_cells; ++cell) {
            before_[cell + 1] = before_[cell];
            for (const auto& of_worker : counts) before_[cell + 1] += of_worker[cell];
        }
    }

    [[nodiscard]] std::uint64_t total() const { return before_[n_cells]; }
    [[nodiscard]] std::uint64_t before(double score) const {
        return before_[cell_of(score, n_cells)];
    }

    // The rows in the cells that hold the last score of a bin, or the next larger one.
    [[nodiscard]] SortedScores near_edges(std::size_t n_bins, Poll poll) const {
        std::vector<std::uint8_t> wanted(n_cells, 0);
        for (std::size_t k = 1; k < n_bins; ++k) {
            const UInt128 last = (UInt128{k} * total() - 1) / n_bins;
            const std::size_t cell = cell_at(static_cast<std::uint64_t>(last));
            wanted[cell] = 1;
            if (before_[cell + 1] < total()) wanted[cell_at(before_[cell + 1])] = 1;
        }
        std::vector<std::vector<ScoreKey>> found(workers_);
        for_each_block(rows_, workers_, poll,
                       [&](std::size_t worker, std::size_t, const ScoredBlock& block) {
                           for (std::size_t i = 0; i < block.n(); ++i) {
                               const double score = block.score()[i];
                               if (wanted[cell_of(score, n_cells)] == 0) continue;
                               found[worker].push_back(ScoreKey::of(score, false));
                           }
                       });
        return {found, poll};
    }

private:
    // The cell of the rank-th smallest score; rank from 0.
    [[nodiscard]] std::size_t cell_at(std::uint64_t rank) const {
        const auto above = std::upper_bound(before_.begin(), before_.end(), rank);
        return static_cast<std::size_t>(above - before_.begin()) - 1;
    }

    const ScoredRows& rows_;
    std::size_t workers_;
    std::vector<std::uint64_t> before_;  // scores in cells below
};

// For fewer rows, a sort is faster than counting.
constexpr std::size_t rows_worth_cells = 4096;

// Bin k ends before the first score below which there is at least k / n_bins of the weight.
// below(score, seen) is the weight below a score, `seen` that below and at the last score before.
template <class Below>
std::vector<double> edges_among(const SortedScores& sorted, UInt128 total, std::size_t n_bins,
                                Poll poll, const Below& weight_below) {
    if (total == 0) return equal_width_edges(n_bins);
    std::vector<double> edges(n_bins + 1, 1.0);
    edges[0] = 0.0;
    std::size_t k = 1;
    UInt128 seen = 0;
    sorted.for_each_score(poll, [&](double score, UInt128 weight, UInt128) {
        const UInt128 below = weight_below(score, seen);
        while (k < n_bins && !product_less(below, n_bins, k, total)) edges[k++] = score;
        seen = below + weight;
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
    if (rows.events.sample_weight == nullptr && rows.size() >= rows_worth_cells) {
        const CountedCells cells(rows, poll);
        if (cells.total() == 0) return equal_width_edges(n_bins);
        return edges_among(cells.near_edges(n_bins, poll), cells.total(), n_bins, poll,
                           [&](double score, UInt128 seen) {
                               return std::max<UInt128>(seen, cells.before(score));
                           });
    }
    const SortedScores sorted(rows, poll);
    UInt128 total = 0;
    sorted.for_each_score(poll, [&](double, UInt128 weight, UInt128) { total += weight; });
    return edges_among(sorted, total, n_bins, poll, [](double, UInt128 seen) { return seen; });
}

}  // namespace calibrant
