// Bins read off a ScoreTable, with bounds that hold what the rows themselves would give.
//
// A cut between bins falls between two cells, and then nothing is uncertain, or into one: then
// some of its rows belong to the bin before and the rest to the bin after, and what is known of
// them (how many at least, their hits, their least and greatest score) bounds what moves. Bounds
// on the errors come from bin_split_bounds.hpp: exact over all that the cells allow, up to the
// treatment of a bin's own weight (squares) and of bins one by one (the largest gap).
//
// They are computed in doubles, of shares of the total weight, from sums that are exact, and then
// widened by more than all roundings together. Where no cut is uncertain, low and high are the
// very value that Reliability gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "calibrant/calibration/bins.hpp"
#include "calibrant/calibration/calibration.hpp"
#include "calibrant/roc/roc.hpp"
#include "calibrant/score_table/score_table.hpp"

namespace calibrant {

// More than the roundings of a few operations on shares of the weight.
inline constexpr double share_slack = 0x1p-49;

struct Bounds {
    double value, low, high;
};

// What is known of bins whose neighbours may hold some rows of each other (bin_split_bounds.hpp).
struct Chain {
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    struct Bin {
        double amount = 0.0;
        double hits = 0.0, misses = 0.0;
        double least_weight = 0.0, most_weight = 0.0;
        double reach = 1.0;                     // |amount| is at most so many times the weight
        std::size_t left = none, right = none;  // groups at its ends
        bool inside = false;                    // a group: it holds rows of that group only
    };

    // With one cut, the bin before gets an amount in [least_left, most_left], the bin after the
    // rest. With several, positive and negative parts go anywhere.
    struct Group {
        double positive = 0.0, negative = 0.0;  // sums of parts, both >= 0
        double least_left = 0.0, most_left = 0.0;
        double hits = 0.0, misses = 0.0;
        double needed = 0.0;  // weight that the bin before gets at least; 0 with several cuts
        double weight = 0.0;
        bool several = false;

        [[nodiscard]] double amount() const { return positive - negative; }
    };

    std::vector<Bin> bins;
    std::vector<Group> groups;
};

class ScoreBounds {
public:
    // As the rules of bins.hpp have it. Throws InvalidInput where no row has weight. The columns
    // low() and high() cost more than all else, and are empty unless requested.
    static ScoreBounds equal_count(const ScoreTable& table, std::size_t n_bins, bool columns);
    static ScoreBounds between(const ScoreTable& table, const Bins& bins, bool columns);

    [[nodiscard]] Bounds mean_gap() const;
    [[nodiscard]] Bounds root_mean_square_gap() const;
    [[nodiscard]] Bounds largest_gap() const;

    // How a likely division of the cells looks: the rows of a cell spread evenly.
    [[nodiscard]] const Reliability& likely() const { return likely_; }

    // Per bin, and per edge. Means lie between these if the bin has weight; NaN where it has none
    // for certain.
    struct Columns {
        std::vector<double> edges, weights, hits, mean_scores, frequencies;
        std::vector<std::uint64_t> counts;
    };
    [[nodiscard]] const Columns& low() const { return low_; }
    [[nodiscard]] const Columns& high() const { return high_; }
    [[nodiscard]] bool certain() const { return chain_.groups.empty(); }
    // Shares of the total weight. The amounts are hits - scores.
    [[nodiscard]] const Chain& chain() const { return chain_; }

private:
    friend class ScoreCutter;

    explicit ScoreBounds(Reliability likely) : likely_(std::move(likely)) {}
    [[nodiscard]] Bounds widened(double value, double low, double high) const;

    Reliability likely_;
    Chain chain_;
    Columns low_, high_;
};

// What roc_auc of the rows of a table is, as far as the cells tell: pairs in a cell that is no tie
// may all be won or lost, and `value` counts them by half.
[[nodiscard]] Bounds roc_auc(const ScoreTable& table);
// The points of the curve at the least score of each cell, whose rates are those of the rows,
// rounded once; areas and standard error as if the rows of a cell were tied.
[[nodiscard]] RocCurve roc_curve(const ScoreTable& table, std::size_t max_points);

}  // namespace calibrant
