// Bins of scores, and the one place that decides boundaries.
//
// m + 1 edges, from at most 0 to at least 1 and never falling, make m bins [e[k], e[k+1]);
// the last also holds its right edge. So every score in [0, 1] falls in exactly one bin, and
// bins between equal edges are empty and stay.
//
// Equal-count edges cut the sorted scores as near to k n / m as ties allow: bin k ends with
// the smallest score v for which at least k n / m scores are <= v, all scores equal to v
// included, and the edge is the next larger score (1 where there is none). So a tie is never
// split and edges do not depend on the order of rows. Weights count as repetitions do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

class Reader;
class Writer;

inline constexpr std::size_t most_bins = 1'000'000;

// Edges k / n_bins, each correctly rounded; 1 <= n_bins <= most_bins, here and below.
[[nodiscard]] std::vector<double> equal_width_edges(std::size_t n_bins);

class Bins {
public:
    // Throws InvalidInput, naming `argument`, if the edges are not as above.
    explicit Bins(std::vector<double> edges, const char* argument = "edges");
    static Bins equal_width(std::size_t n_bins);

    [[nodiscard]] std::size_t size() const { return lookup_->edges.size() - 1; }
    [[nodiscard]] const std::vector<double>& edges() const { return lookup_->edges; }

    // The bin of each of n scores in [0, 1]; other values land in some bin, harmlessly.
    void locate(const double* scores, std::size_t n, std::uint32_t* bins) const;

    // The edges, in a state.
    void write(Writer& out) const;
    static Bins read(Reader& in);

private:
    struct Lookup {
        std::vector<double> edges;
        std::vector<double> ends;          // right edges, infinity for the last
        std::vector<std::uint32_t> guide;  // the bin of each cell's left end
        bool one_step = true;              // no cell has more than one edge in it
    };
    std::shared_ptr<const Lookup> lookup_;  // never changed, so that copies share it
};

// Exact, in parallel and without a full sort: a histogram over fine cells says which cells hold
// the cuts, and only the scores in those are gathered and sorted. With weights, or of few rows, all
// are sorted.
// Throws as for_each_chunk does, and InvalidInput at a bad row.
[[nodiscard]] std::vector<double> equal_count_edges(const ScoredRows& rows, std::size_t n_bins,
                                                    Poll poll);

// The bins of n_bins clusters of scores, those whose weighted sum of squared distances from the
// means of their clusters is least (k-means in one dimension, solved exactly; sums are rounded to
// doubles). The edge between two is the least score of the upper one. Equal scores are never
// split, and neither the order of rows nor a seed matters. Where there are fewer distinct scores
// than clusters, each is one, and bins stay empty.
//
// Time: distinct scores, times their logarithm, times n_bins; four bytes of memory for each of the
// first and the last.
inline constexpr std::size_t most_clustered_cells = std::size_t{1} << 26;
[[nodiscard]] std::vector<double> clustered_edges(const ScoredRows& rows, std::size_t n_bins,
                                                  Poll poll);

}  // namespace calibrant
