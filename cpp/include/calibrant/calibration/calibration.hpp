// Reliability: per bin of scores, the rows, their weight, the weight of the hits and the weighted
// sum of the scores. The reliability diagram and binned calibration errors are read off it.
//
// Where bins end is said in bins.hpp, what is a score and a hit in scored_rows.hpp. All sums are
// exact: any order of rows, batches and merges gives the same bits, and an integer weight k
// those of k repetitions. Memory is O(bins).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calibrant/calibration/bins.hpp"
#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/state/bytes.hpp"

namespace calibrant {

class ScoredBlock;

template <class State>
struct CellLayout;  // which sums the same terms, for groups

// How the gaps of the bins are combined.
enum class GapNorm : std::uint8_t { mean, root_mean_square, largest };

class Reliability {
public:
    static constexpr Kind kind = Kind::reliability;

    struct Bin {
        std::uint64_t n = 0;
        ExactSum weight;  // of all its rows
        ExactSum hits;    // weight of the rows that are hits
        ExactSum scores;  // sum of weight * score
    };

    explicit Reliability(Bins bins);
    // Of sums that were made elsewhere, one Bin for each of the bins.
    Reliability(Bins bins, std::vector<Bin> table, std::uint64_t omitted);
    [[nodiscard]] Reliability empty() const { return Reliability(bins_); }

    // As RiskProfile::update.
    void update(const ScoredRows& rows, std::uint64_t rows_before, Poll poll);
    void merge(const Reliability& other);

    [[nodiscard]] std::uint64_t count() const { return n_; }
    [[nodiscard]] std::uint64_t omitted() const { return omitted_; }
    [[nodiscard]] const Bins& bins() const { return bins_; }
    [[nodiscard]] const std::vector<Bin>& table() const { return table_; }

    // The mean of |frequency - mean score| over the rows, exact but for one rounding: the sum
    // of |hits - scores| over the bins, divided by the weight. These throw InvalidInput
    // where no row has weight.
    [[nodiscard]] double mean_gap() const;
    // The mean score less the frequency of hits over all rows: the same with signs, which does not
    // depend on the bins. Positive where scores are too high. Exact but for one rounding.
    [[nodiscard]] double mean_difference() const;
    // The root of the mean square gap. Debiased, the sampling variance of each bin's frequency
    // f, f (1 - f) / (weight - 1), is taken off its square; bins of a weight below 2 are left
    // out, and a negative total gives 0.
    [[nodiscard]] double root_mean_square_gap(bool debiased) const;
    [[nodiscard]] double largest_gap() const;
    // One of them; debiased matters to the second only.
    [[nodiscard]] double error(GapNorm norm, bool debiased) const;

    [[nodiscard]] std::string to_bytes() const;
    static Reliability from_bytes(std::string_view bytes);

private:
    friend class ReliabilityWorker;
    friend struct CellLayout<Reliability>;

    [[nodiscard]] ExactSum total_weight() const;

    Bins bins_;
    std::uint64_t n_ = 0;
    std::uint64_t omitted_ = 0;
    std::vector<Bin> table_;
};

// The label that is predicted for each row: that of its largest probability, or a given one.
class PredictedLabels {
public:
    // of_row: one for each row, in [0, size); nullptr for rows of Scoring::top_label of a matrix.
    // Rows with given labels must not be omitted.
    PredictedLabels(std::size_t size, const std::int32_t* of_row) : size_(size), of_row_(of_row) {}

    [[nodiscard]] std::size_t size() const { return size_; }
    // Of the block that begins with `row`; perhaps in `room`, of block_rows.
    [[nodiscard]] const std::int32_t* of_block(const ScoredBlock& block, std::size_t row,
                                               std::int32_t* room) const;

private:
    std::size_t size_;
    const std::int32_t* of_row_;
};

using EdgesOfLabel = std::vector<double> (*)(const ScoredRows& rows, std::size_t n_bins, Poll poll);

// The edges of as many bins of the rows of each label, as equal_count_edges or clustered_edges
// find them. Keeps their scores: 8
// bytes a row, and 8 for weights.
[[nodiscard]] std::vector<std::vector<double>> edges_of_labels(const ScoredRows& rows,
                                                               const PredictedLabels& labels,
                                                               std::size_t n_bins,
                                                               EdgesOfLabel find, Poll poll);

// The calibration errors of rows by their predicted label, summed up over the labels that are
// predicted with a positive weight.
struct LabelErrors {
    ExactSum sum, weighted_sum, weight;
    std::size_t labels = 0;

    // Their mean, and that by the weight of each label's rows. Rounded once.
    [[nodiscard]] double macro() const;
    [[nodiscard]] double weighted() const;
};

// In one pass, with O(labels * bins) memory; bins are those of all labels, or one for each. Throws
// as Reliability::update does, and InvalidInput where no row has weight.
[[nodiscard]] LabelErrors label_errors(const ScoredRows& rows, const PredictedLabels& labels,
                                       const std::vector<Bins>& bins, GapNorm norm, bool debiased,
                                       Poll poll);

}  // namespace calibrant
