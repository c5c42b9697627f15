// Where the cuts between bins fall in a ScoreTable. Of score_bounds.cpp only.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "calibrant/calibration/bins.hpp"
#include "calibrant/numeric/double_double.hpp"
#include "calibrant/score_table/score_bounds.hpp"
#include "calibrant/score_table/score_table.hpp"
#include "kernels/score_cells.hpp"

namespace calibrant {
namespace {

// Positions in the list of filled cells: cells before `begin` lie left of the cut, cells from
// `end` on right of it; rows of weight 0 in [zero_begin, zero_end) on either side.
struct Cut {
    std::size_t begin = 0, end = 0, zero_begin = 0, zero_end = 0;
    double needed = 0.0;    // at least this share of all weight lies in [begin, end) and left
    double fraction = 0.0;  // of the weight in [begin, end) that lies left, likely
    double edge = 1.0, edge_low = 1.0, edge_high = 1.0;
};

class CutFinder {
public:
    CutFinder(const ScoreTable& table, const std::vector<const ScoreTable::Cell*>& cells,
              const ExactSum& total)
        : table_(table), cells_(cells), total_(total) {}

    // The smallest score for which at least cut / n_bins of the weight is at or below.
    [[nodiscard]] std::vector<Cut> equal_count(std::size_t n_bins) const {
        const std::vector<UInt128> below = integer_weights();
        std::vector<Cut> cuts;
        if (below.empty()) {
            const std::vector<double> shares = weight_shares();
            const double fuzz = weight_fuzz();
            const std::vector<bool> vanishing = vanishing_cells();
            for (std::size_t k = 1; k < n_bins; ++k) {
                const double target = static_cast<double>(k) / static_cast<double>(n_bins);
                cuts.push_back(at_share(shares, target, fuzz));
                if (!vanishing.empty()) skip_vanishing(vanishing, cuts.back());
            }
            put_in_order(cuts);
        } else {
            for (std::size_t k = 1; k < n_bins; ++k) cuts.push_back(at_rank(below, k, n_bins));
        }
        return cuts;
    }

    // Scores below the edge lie left.
    [[nodiscard]] Cut at_edge(double edge) const {
        Cut cut;
        cut.edge = cut.edge_low = cut.edge_high = edge;
        const auto past_all = static_cast<std::uint32_t>(n_score_cells);
        const std::uint32_t cell = edge > 1.0 ? past_all : edge <= 0.0 ? 0 : cell_of_score(edge);
        const auto found = std::lower_bound(
            cells_.begin(), cells_.end(), cell,
            [](const ScoreTable::Cell* a, std::uint32_t b) { return a->cell < b; });
        auto i = static_cast<std::size_t>(found - cells_.begin());
        cut.begin = cut.end = cut.zero_begin = cut.zero_end = i;
        // The parts of the cell, or its scores.
        while (cut.zero_end < cells_.size() && cells_[cut.zero_end]->cell == cell) ++cut.zero_end;
        const std::size_t past_cell = cut.zero_end;
        const auto is_left = [&](const ScoreTable::Cell& at) {
            if (table_.lists_scores()) return std::bit_cast<double>(at.part) < edge;
            return at.n != 0 && at.greatest < edge;
        };
        while (i < past_cell && is_left(*cells_[i])) ++i;
        cut.begin = cut.end = i;
        if (table_.lists_scores()) cut.zero_begin = cut.zero_end = i;
        if (i == past_cell || table_.lists_scores()) return cut;
        const ScoreTable::Cell& at = *cells_[i];
        if (at.n == 0 || at.least >= edge) return cut;
        cut.end = i + 1;
        cut.fraction = (edge - at.least) / (at.greatest - at.least);
        return cut;
    }

private:
    // The running sums of weights in one unit, if they fit and if in that unit they are what
    // equal_count_bins counts: there weights are rounded where they reach over 80 digits.
    [[nodiscard]] std::vector<UInt128> integer_weights() const {
        const ScoreTable::Weights& weights = table_.weights();
        std::vector<UInt128> below;
        const bool ones = has_ones();
        std::int64_t unit = 0;
        if (weights.n != 0) {
            unit = ones ? std::min<std::int64_t>(weights.lowest_bit, 0) : weights.lowest_bit;
            if (digits() > weight_digits || total_.value().exponent - unit > 104) return {};
        }
        UInt128 sum = 0;
        for (const ScoreTable::Cell* cell : cells_) {
            sum += weights.n == 0 ? UInt128{cell->ones} : weight_of(*cell, unit);
            below.push_back(sum);
        }
        // Unequal, or 0, only where a forged state says less of its weights than is true.
        if (sum == 0 || (weights.n != 0 && sum != in_units(total_, unit))) return {};
        return below;
    }

    [[nodiscard]] UInt128 weight_of(const ScoreTable::Cell& cell, std::int64_t unit) const {
        ScoreTable::Sums sums;
        table_.add_to(sums, cell);
        return in_units(sums.weight, unit);
    }

    [[nodiscard]] static UInt128 in_units(const ExactSum& sum, std::int64_t unit) {
        const Scaled weight = sum.value();
        if (weight.high == 0.0) return 0;
        const int shift = static_cast<int>(weight.exponent - unit);
        return static_cast<UInt128>(static_cast<Int128>(std::ldexp(weight.high, shift)) +
                                    static_cast<Int128>(std::ldexp(weight.low, shift)));
    }

    [[nodiscard]] std::vector<double> weight_shares() const {
        std::vector<double> shares;
        ScoreTable::Sums sums;
        for (const ScoreTable::Cell* cell : cells_) {
            table_.add_to(sums, *cell);
            shares.push_back(mean(sums.weight, total_));
        }
        return shares;
    }

    // SortedScores keeps so many binary digits of weights; smaller ones round to 0 and vanish.
    static constexpr std::int64_t weight_digits = 80;

    [[nodiscard]] bool has_ones() const {
        return std::any_of(cells_.begin(), cells_.end(),
                           [](const ScoreTable::Cell* cell) { return cell->ones != 0; });
    }

    [[nodiscard]] double largest_weight() const {
        return std::max(table_.weights().largest, has_ones() ? 1.0 : 0.0);
    }

    // That all weights together reach over.
    [[nodiscard]] std::int64_t digits() const {
        const std::int64_t lowest = table_.weights().lowest_bit;
        const std::int64_t last = has_ones() ? std::min<std::int64_t>(lowest, 0) : lowest;
        return std::ilogb(largest_weight()) - last + 1;
    }

    // Which cells may hold no row whose weight is left; none at all if all weights are.
    [[nodiscard]] std::vector<bool> vanishing_cells() const {
        std::vector<bool> result;
        if (digits() <= weight_digits) return result;
        ExactSum half_unit;
        half_unit.add(1.0, std::ilogb(largest_weight()) - weight_digits);
        for (const ScoreTable::Cell* cell : cells_) {
            ScoreTable::Sums sums;
            table_.add_to(sums, *cell);
            const double halves = mean(sums.weight, half_unit) * (1.0 - share_slack);
            result.push_back(halves <= static_cast<double>(cell->n));
        }
        return result;
    }

    // The edge is the next score whose weight is left, and rows before it lie left of the cut.
    void skip_vanishing(const std::vector<bool>& vanishing, Cut& cut) const {
        if (cut.begin == cut.end) cut.needed = cut.fraction = 0.0;  // it was of cells before
        std::size_t next = cut.end;
        while (next < cells_.size() && vanishing[next]) ++next;
        const bool is_end = next >= before_one();
        const bool tie = !is_end && cells_[next]->least == cells_[next]->greatest;
        cut.edge_high = is_end ? 1.0 : cells_[next]->greatest;
        const std::size_t end = is_end ? before_one() : tie ? next : next + 1;
        cut.end = std::max(cut.end, end);
        const std::size_t past = is_end ? before_one() : next + 1;
        cut.zero_end = std::max(cut.zero_end, past);
    }

    // How far the rounded weights of equal_count_bins may be from these, as a share of all.
    [[nodiscard]] double weight_fuzz() const {
        std::uint64_t ones = 0;
        for (const ScoreTable::Cell* cell : cells_) ones += cell->ones;
        ExactSum largest;
        largest.add(largest_weight());
        const double rows = static_cast<double>(table_.weights().n) + static_cast<double>(ones);
        return rows * mean(largest, total_) * 0x1p-60 + share_slack;
    }

    // A cut does not come before the last one, nor after the next.
    static void put_in_order(std::vector<Cut>& cuts) {
        for (std::size_t i = 1; i < cuts.size(); ++i) {
            if (cuts[i].begin >= cuts[i - 1].begin) continue;
            cuts[i].begin = cuts[i - 1].begin;
            cuts[i].end = std::max(cuts[i].end, cuts[i].begin);
            cuts[i].needed = cuts[i].fraction = 0.0;
        }
        for (std::size_t i = cuts.size(); i-- > 1;) {
            cuts[i - 1].end = std::min(cuts[i - 1].end, cuts[i].end);
        }
    }

    [[nodiscard]] Cut at_rank(const std::vector<UInt128>& below, std::size_t k,
                              std::size_t n_bins) const {
        const UInt128 total = below.back();
        const auto found = std::partition_point(
            below.begin(), below.end(), [&](UInt128 sum) { return sum * n_bins < k * total; });
        const auto i = static_cast<std::size_t>(found - below.begin());
        const UInt128 before = i == 0 ? 0 : below[i - 1];
        const UInt128 wanted = k * total - before * n_bins;  // in 1 / n_bins of a unit
        const bool all = below[i] * n_bins == k * total;
        const double scale = static_cast<double>(n_bins);
        Cut cut = through(i, i, all);
        cut.needed = static_cast<double>(wanted) / (scale * static_cast<double>(total));
        cut.fraction =
            static_cast<double>(wanted) / (scale * static_cast<double>(below[i] - before));
        return cut;
    }

    [[nodiscard]] Cut at_share(const std::vector<double>& shares, double target,
                               double fuzz) const {
        const auto first_from = [&](double share) {
            const auto found = std::partition_point(shares.begin(), shares.end(),
                                                    [&](double sum) { return sum < share; });
            return std::min(static_cast<std::size_t>(found - shares.begin()), shares.size() - 1);
        };
        const std::size_t first = first_from(target - fuzz);
        const std::size_t last = first_from(target + fuzz);
        const double before = first == 0 ? 0.0 : shares[first - 1];
        Cut cut = through(first, last, false);
        cut.needed = std::max(target - fuzz - before, 0.0);
        const double width = shares[last] - before;
        cut.fraction = width > 0.0 ? std::clamp((target - before) / width, 0.0, 1.0) : 0.0;
        return cut;
    }

    // A cut that ends with a score in the cells [first, last]; `all`: with the last of them.
    [[nodiscard]] Cut through(std::size_t first, std::size_t last, bool all) const {
        Cut cut;
        std::size_t next = last + 1;
        while (next < cells_.size() && cells_[next]->n == 0) ++next;
        const bool is_end = next == cells_.size();
        const std::size_t end = is_end ? before_one() : next;
        cut.edge = cut.edge_low = cut.edge_high = is_end ? 1.0 : cells_[next]->least;
        cut.begin = cut.end = cut.zero_begin = cut.zero_end = std::min(end, before_one());
        const bool is_known = table_.lists_scores();  // also where rows of weight 0 are
        if (!is_end && !is_known && cells_[next]->zeros != 0) cut.zero_end = cut.end + 1;
        const ScoreTable::Cell& at = *cells_[first];
        if (all || (first == last && at.n != 0 && at.least == at.greatest)) return cut;
        const std::size_t last_end = std::min(last + 1, before_one());
        if (first >= last_end) return cut;
        cut.begin = cut.zero_begin = first;
        cut.end = last_end;
        const double least = at.n == 0 ? 0.0 : at.least;
        cut.edge_low = std::nextafter(least, 1.0);
        return cut;
    }

    // Scores of 1 are right of every cut: no edge is larger.
    [[nodiscard]] std::size_t before_one() const {
        const bool has_one = !cells_.empty() && cells_.back()->cell == n_score_cells - 1;
        return cells_.size() - (has_one ? 1 : 0);
    }

    const ScoreTable& table_;
    const std::vector<const ScoreTable::Cell*>& cells_;
    const ExactSum& total_;
};

}  // namespace
}  // namespace calibrant
