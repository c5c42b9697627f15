// Prediction intervals of one or many levels: how many cover, how wide they are, and how far off
// the others lie. Per level, over rows as interval_rows.hpp defines them,
//
//     coverage     weight of the covered rows over that of all; likewise below and above
//     mean width   sum w (width) / sum w
//     score        mean width + 2 / (1 - level) * sum w |excess| / sum w: the mean interval score
//                  (Winkler 1972)
//     criterion    (1 - mean width / range of y) * exp(-eta (coverage - level)^2)
//
// and, for fixed edges of widths, the coverage of each group by width: m edges make m + 1 groups,
// the widths below the first, those from each edge to before the next, and those from the last on.
//
// Sums are exact (sum.hpp): any order of rows, batches and merges gives the same bits, and means
// are rounded once. Least and largest of y and of widths are over rows of positive weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "calibrant/intervals/strata.hpp"
#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/interval_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "calibrant/state/bytes.hpp"

namespace calibrant {

class Intervals {
public:
    static constexpr Kind kind = Kind::intervals;
    static constexpr std::size_t most_levels = 4096;
    static constexpr std::size_t most_edges = 4096;

    struct Level {
        ExactSum below, above;  // weight of rows whose y lies there
        ExactSum width;         // sum of weight * width
        ExactSum excess;        // sum of weight * |excess|
        double least_width = std::numeric_limits<double>::infinity();
        double largest_width = -std::numeric_limits<double>::infinity();
        std::vector<Stratum> by_width;  // one more than there are edges; none without edges
    };

    // The nominal levels, each strictly between 0 and 1, one a level of the intervals; or none, and
    // then the first rows say how many there are. Edges are finite and rise. Throws InvalidInput.
    Intervals(std::vector<double> confidence_levels, std::vector<double> width_edges);
    [[nodiscard]] Intervals empty() const { return {confidence_levels_, width_edges_}; }

    // As RiskProfile::update. y_true may be absent; then nothing but widths means anything.
    void update(const IntervalRows& rows, std::uint64_t rows_before, Poll poll);
    void merge(const Intervals& other);

    [[nodiscard]] std::uint64_t count() const { return n_; }
    [[nodiscard]] std::uint64_t omitted() const { return omitted_; }
    [[nodiscard]] const std::vector<double>& confidence_levels() const {
        return confidence_levels_;
    }
    [[nodiscard]] const std::vector<double>& width_edges() const { return width_edges_; }
    [[nodiscard]] const std::vector<Level>& levels() const { return levels_; }
    [[nodiscard]] const ExactSum& weight() const { return weight_; }
    [[nodiscard]] double least_y() const { return least_y_; }
    [[nodiscard]] double largest_y() const { return largest_y_; }

    // Throws InvalidInput where no row has weight, as it is needed for all below.
    void require_weight() const;
    [[nodiscard]] ExactSum covered(std::size_t level) const;
    [[nodiscard]] double mean_width(std::size_t level) const;
    [[nodiscard]] double score(std::size_t level, double confidence_level) const;
    // NaN where all y are equal.
    [[nodiscard]] double criterion(std::size_t level, double confidence_level, double eta) const;

    [[nodiscard]] std::string to_bytes() const;
    static Intervals from_bytes(std::string_view bytes);

private:
    friend class IntervalsWorker;

    void require_levels(const IntervalRows& rows) const;
    void set_levels(std::size_t n_levels);
    void see_y(double y) {
        least_y_ = y < least_y_ ? y : least_y_;
        largest_y_ = y > largest_y_ ? y : largest_y_;
    }
    void read_level(Reader& in, Level& level) const;

    std::vector<double> confidence_levels_, width_edges_;
    std::uint64_t n_ = 0;
    std::uint64_t omitted_ = 0;
    ExactSum weight_;
    double least_y_ = std::numeric_limits<double>::infinity();
    double largest_y_ = -std::numeric_limits<double>::infinity();
    std::vector<Level> levels_;
};

// The coverage of each group (rows.groups, all below n_groups), for each level.
[[nodiscard]] std::vector<std::vector<Stratum>> coverage_by_group(const IntervalRows& rows,
                                                                  std::size_t n_groups, Poll poll);

// The coverage of equal-count groups by width, for each level: group k ends with the smallest width
// for which at least k / n_groups of the weight is not wider, all intervals of that width included.
// So ties are never split, the order of rows does not matter, and there may be fewer groups than
// asked for, down to none where no row has weight. Without weights, a histogram over fine cells of
// widths says which cells hold the cuts, and only the widths in those are gathered and sorted; with
// weights, or of few rows, all are sorted.
[[nodiscard]] std::vector<std::vector<Stratum>> coverage_by_width(const IntervalRows& rows,
                                                                  std::size_t n_groups, Poll poll);

}  // namespace calibrant
