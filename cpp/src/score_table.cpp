#include "calibrant/score_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "calibrant/check.hpp"
#include "calibrant/double_double.hpp"
#include "calibrant/risk_sums.hpp"
#include "calibrant/workers.hpp"

namespace calibrant {
namespace {

// Adds the sum of so many scores of a cell.
void add_scores(ExactSum& sum, const CellUnits& units, std::uint64_t rows, Int128 offsets) {
    const Int128 part = static_cast<Int128>(units.base) * rows + offsets;
    if (!units.of_complement) {
        sum.add(part, units.exponent);
        return;
    }
    sum.add(static_cast<Int128>(rows), 0);
    sum.add(-part, units.exponent);
}

std::int64_t lowest_bit_of(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const auto biased = static_cast<std::int64_t>(bits >> 52);
    const std::uint64_t hidden = biased != 0 ? std::uint64_t{1} << 52 : 0;
    const std::uint64_t mantissa = (bits & 0x000FFFFFFFFFFFFF) | hidden;
    return std::max<std::int64_t>(biased, 1) - 1075 + std::countr_zero(mantissa);
}

}  // namespace

void ScoreTable::Cell::merge(const Cell& other) {
    n += other.n;
    zeros += other.zeros;
    ones += other.ones;
    hits += other.hits;
    offsets += other.offsets;
    hit_offsets += other.hit_offsets;
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
}

void ScoreTable::Sums::merge(const Sums& other) {
    weight.merge(other.weight);
    hits.merge(other.hits);
    scores.merge(other.scores);
    hit_scores.merge(other.hit_scores);
}

// Of (1 - score, not hit).
ScoreTable::Sums ScoreTable::Sums::mirrored() const {
    Sums result;
    result.weight = weight;
    result.hits = difference(weight, hits);
    result.scores = difference(weight, scores);
    result.hit_scores = difference(result.hits, difference(scores, hit_scores));
    return result;
}

bool ScoreTable::Sums::is_zero() const {
    return weight.is_zero() && hits.is_zero() && scores.is_zero() && hit_scores.is_zero();
}

void ScoreTable::Weights::add(double weight) { merge({1, weight, lowest_bit_of(weight)}); }

void ScoreTable::Weights::merge(const Weights& other) {
    if (other.n == 0) return;
    lowest_bit = n == 0 ? other.lowest_bit : std::min(lowest_bit, other.lowest_bit);
    largest = std::max(largest, other.largest);
    n += other.n;
}

ScoreTable::Cell& ScoreTable::at(std::uint32_t cell) { return cells_[cell]; }

void ScoreTable::make_dense() {
    if (dense()) return;
    std::vector<Cell> all(n_score_cells);
    for (std::uint32_t cell = 0; cell < n_score_cells; ++cell) all[cell].cell = cell;
    for (const Cell& cell : cells_) all[cell.cell] = cell;
    cells_ = std::move(all);
}

// Counts cannot overflow where their total does not. Throws, for want of memory, before
// anything is changed.
void ScoreTable::merge_cells(const ScoreTable& other) {
    if (other.cells_.empty()) return;
    if (cells_.empty()) {
        cells_ = other.cells_;
        return;
    }
    if (!dense() && cells_.size() + other.cells_.size() > most_listed) make_dense();
    if (dense()) {
        for (const Cell& cell : other.cells_) at(cell.cell).merge(cell);
        return;
    }
    std::vector<Cell> merged;
    merged.reserve(cells_.size() + other.cells_.size());
    std::merge(cells_.begin(), cells_.end(), other.cells_.begin(), other.cells_.end(),
               std::back_inserter(merged),
               [](const Cell& a, const Cell& b) { return a.cell < b.cell; });
    std::size_t last = 0;
    for (std::size_t i = 1; i < merged.size(); ++i) {
        if (merged[i].cell == merged[last].cell) {
            merged[last].merge(merged[i]);
        } else {
            merged[++last] = merged[i];
        }
    }
    if (!merged.empty()) merged.resize(last + 1);
    cells_ = std::move(merged);
}

void ScoreTable::merge(const ScoreTable& other) {
    if (this == &other) {
        const ScoreTable copy = other;
        merge(copy);
        return;
    }
    if (other.columns_ == 0) return;
    if (columns_ != 0) require_same_columns(columns_, other.columns_);
    const std::uint64_t n = checked_add(n_, other.n_);
    const std::uint64_t omitted = checked_add(omitted_, other.omitted_);
    auto sums = other.sums_;
    for (auto& [cell, sum] : sums) {
        if (const auto mine = sums_.find(cell); mine != sums_.end()) sum.merge(mine->second);
    }
    RiskProfile model = model_;
    model.merge(other.model_);
    merge_cells(other);
    n_ = n;
    omitted_ = omitted;
    columns_ = other.columns_;
    model_ = std::move(model);
    weights_.merge(other.weights_);
    for (const auto& [cell, sum] : sums) sums_.erase(cell);
    sums_.merge(sums);  // moves nodes: nothing can fail
}

std::vector<const ScoreTable::Cell*> ScoreTable::filled() const {
    std::vector<const Cell*> result;
    for (const Cell& cell : cells_) {
        if (!cell.empty()) result.push_back(&cell);
    }
    return result;
}

void ScoreTable::add_to(Sums& sums, const Cell& cell) const {
    sums.weight.add(static_cast<Int128>(cell.ones), 0);
    sums.hits.add(static_cast<Int128>(cell.hits), 0);
    if (!in_lowest(cell.cell)) {
        const CellUnits units = units_of(cell.cell);
        add_scores(sums.scores, units, cell.ones, cell.offsets);
        add_scores(sums.hit_scores, units, cell.hits, cell.hit_offsets);
    }
    if (const auto more = sums_.find(cell.key()); more != sums_.end()) sums.merge(more->second);
}

// A mirrored cell counts from the same base: below 1/2 by the score, above by the complement. Only
// the two lowest cells have their scores in Sums.
ScoreTable ScoreTable::mirrored() const {
    ScoreTable result;
    result.n_ = n_;
    result.columns_ = columns_;
    result.weights_ = weights_;
    const std::vector<const Cell*> all = filled();
    for (auto at = all.rbegin(); at != all.rend(); ++at) {
        Cell cell = **at;
        cell.cell = calibrant::mirrored(cell.cell);
        cell.hits = cell.ones - cell.hits;
        cell.hit_offsets = cell.offsets - cell.hit_offsets;
        if (cell.n != 0) {
            cell.least = 1.0 - (*at)->greatest;
            cell.greatest = 1.0 - (*at)->least;
        }
        Sums sums;
        if (const auto found = sums_.find((*at)->cell); found != sums_.end()) {
            sums = found->second.mirrored();
        }
        if (in_lowest(cell.cell)) {
            sums.scores.add(cell.offsets, -53);
            sums.hit_scores.add(cell.hit_offsets, -53);
            cell.offsets = cell.hit_offsets = 0;
        }
        if (!sums.is_zero()) result.sums_.emplace(cell.cell, std::move(sums));
        result.cells_.push_back(cell);
    }
    return result;
}

ScoreTable ScoreTable::pairs() const {
    ScoreTable other = mirrored();
    ScoreTable apart;  // the upper parts
    const auto move_apart = [&](ScoreTable& from, Cell& cell) {
        Cell upper = std::exchange(cell, Cell{.cell = cell.cell});
        upper.part = 1;
        if (auto sums = from.sums_.extract(cell.cell)) {
            sums.key() = upper.key();
            apart.sums_.insert(std::move(sums));
        }
        apart.cells_.push_back(upper);
    };
    ScoreTable result = *this;
    auto theirs = other.cells_.begin();
    for (Cell& cell : result.cells_) {
        while (theirs != other.cells_.end() && theirs->cell < cell.cell) ++theirs;
        if (theirs == other.cells_.end()) break;
        if (theirs->cell != cell.cell || cell.n == 0 || theirs->n == 0) continue;
        if (cell.greatest < theirs->least) {
            move_apart(other, *theirs);
        } else if (theirs->greatest < cell.least) {
            move_apart(result, cell);
        }
    }
    result.merge(other);
    result.sums_.merge(apart.sums_);
    std::vector<Cell> all;
    std::merge(result.cells_.begin(), result.cells_.end(), apart.cells_.begin(), apart.cells_.end(),
               std::back_inserter(all),
               [](const Cell& x, const Cell& y) { return x.cell < y.cell; });
    result.cells_ = std::move(all);
    return result;
}

}  // namespace calibrant
