#include "calibrant/score_table/score_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <span>
#include <stdexcept>
#include <utility>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"
#include "kernels/score_cells.hpp"
#include "means/risk_sums.hpp"
#include "ordering/sort_keys.hpp"
#include "rows/scored_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {
namespace {

// Rows that are sorted by cell rather than counted in an array of all cells, which costs as much
// as some thousands of rows.
constexpr std::size_t listed_rows = ScoreTable::most_listed_rows;
// Offsets are below 2^46.
constexpr std::uint32_t rows_before_flush = 1U << 17;

struct ListedRow {
    double score, weight;
    std::int64_t offset;
    std::uint32_t cell;
    bool hit;
};

// Where a row is in the list, by its cell.
struct ListedPlace {
    struct {
        std::uint64_t bits;
    } key;

    [[nodiscard]] std::uint64_t cell() const { return key.bits >> 32; }
};

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

bool in_lowest(std::uint32_t cell) { return cell < cells::tail; }

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

// One thread's share of an update: many rows of weight 1 are counted in an array of all cells,
// others are gathered, sorted by cell and added cell by cell.
class ScoreTableWorker {
public:
    ScoreTableWorker(const ScoreTable& parameters, const ScoredRows& rows)
        : rows_(rows),
          block_(rows),
          weighted_(rows.events.sample_weight != nullptr),
          model_(parameters.model_),
          nothing_(parameters.empty()),
          total_(nothing_) {}

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        rows_taken_ += end - begin;
        if (rows_taken_ > listed_rows) make_room();
        for (std::size_t row = begin; row < end; row += block_.most_rows()) {
            const std::size_t count = std::min(block_.most_rows(), end - row);
            if (!block_.load(rows_, row, count)) return false;
            total_.n_ += block_.events();
            total_.omitted_ += block_.omitted();
            for (std::size_t i = 0; i < block_.n(); i += block_rows) {
                const Scores scores = scores_from(i);
                if (!counts_.empty()) {
                    count_scores(scores);
                } else {
                    list_scores(scores);
                }
                if (rows_.scoring == Scoring::binary) add_to_model(scores);
                if (rows_.scoring == Scoring::pairs) add_true_pairs(scores);
            }
        }
        return true;
    }

    // The rows so far, to begin anew.
    [[nodiscard]] ScoreTable take() {
        flush_list();
        std::vector<ScoreTable::Cell> counted;
        for (std::size_t cell = 0; cell < counts_.size(); ++cell) {
            if (counts_[cell].n == 0) continue;
            counted.push_back(cell_of(static_cast<std::uint32_t>(cell)));
        }
        add_cells(std::move(counted));
        model_.move_to(total_.model_);
        if (total_.n_ != 0 || total_.omitted_ != 0) {
            total_.columns_ = rows_.events.is_matrix ? rows_.events.y_proba.width : 1;
        }
        rows_taken_ = 0;
        counts_.clear();
        sums_of_.clear();
        return std::exchange(total_, nothing_);
    }

    void finish_into(ScoreTable& result) {
        if (result.n_ == 0 && result.omitted_ == 0) {
            result = take();
        } else {
            result.merge(take());
        }
    }

private:
    // The least score is kept as what its bits lack to those of 1, so that all begins at 0.
    struct Counts {
        std::uint32_t n, hits;
        std::int64_t offsets, hit_offsets;
        std::uint64_t greatest, least;
    };
    static constexpr std::uint64_t one_bits = std::bit_cast<std::uint64_t>(1.0);

    // For so many rows that all cells are worth having.
    void make_room() {
        if (!total_.lists_scores_) return;
        flush_list();
        total_ = total_.of_whole_cells();
        if (weighted_) {
            sums_of_.resize(n_score_cells);
        } else {
            counts_.resize(n_score_cells);
        }
    }

    void add_cells(std::vector<ScoreTable::Cell> cells) {
        if (total_.cells_.empty()) {
            total_.cells_ = std::move(cells);
        } else {
            total_.merge_cells(cells);
        }
    }

    [[nodiscard]] ScoreTable::Cell cell_of(std::uint32_t cell) const {
        const Counts& c = counts_[cell];
        return {cell,
                0,
                c.n,
                0,
                c.n,
                c.hits,
                c.offsets,
                c.hit_offsets,
                std::bit_cast<double>(one_bits - c.least),
                std::bit_cast<double>(c.greatest)};
    }

    // At most block_rows scores of the block.
    struct Scores {
        const double* score;
        const std::int32_t* hit;
        const double* weight;  // nullptr: all are 1
        std::size_t n;
    };

    [[nodiscard]] Scores scores_from(std::size_t first) const {
        return {block_.score() + first, block_.hit() + first,
                weighted_ ? block_.weight() + first : nullptr,
                std::min(block_rows, block_.n() - first)};
    }

    void count_scores(const Scores& scores) {
        kernels().places(scores.score, scores.n, cell_, offset_);
        for (std::size_t i = 0; i < scores.n; ++i) {
            const std::uint32_t cell = cell_[i];
            const std::int64_t offset = offset_[i];
            const std::int64_t hit = scores.hit[i];
            const auto bits = std::bit_cast<std::uint64_t>(scores.score[i] + 0.0);
            Counts& counts = counts_[cell];
            ++counts.n;
            counts.hits += static_cast<std::uint32_t>(hit);
            counts.offsets += offset;
            counts.hit_offsets += offset & -hit;
            counts.greatest = std::max(counts.greatest, bits);
            counts.least = std::max(counts.least, one_bits - bits);
            if (counts.n == rows_before_flush) flush_counts(cell);
            if (in_lowest(cell)) add_low_score({cell, 0}, scores.score[i], hit != 0);
        }
    }

    void add_to_model(const Scores& scores) {
        // The rows have been checked.
        (void)kernels().int32_labels.true_class(scores.score, scores.hit, scores.n, 0.0, q_);
        if (weighted_) std::copy_n(scores.weight, scores.n, weight_);
        adder_.add(model_, q_, weighted_ ? weight_ : nullptr, scores.n);
    }

    void add_true_pairs(const Scores& scores) {
        std::size_t n = 0;
        for (std::size_t i = 0; i < scores.n; ++i) {
            if (scores.hit[i] == 0) continue;
            q_[n] = scores.score[i];
            if (weighted_) weight_[n] = scores.weight[i];
            ++n;
        }
        adder_.add(model_, q_, weighted_ ? weight_ : nullptr, n);
    }

    void flush_counts(std::uint32_t cell) {
        add_cells({cell_of(cell)});
        counts_[cell] = {};
    }

    // Of the whole cell, or of one score.
    [[nodiscard]] ScoreTable::Sums& sums_of(ScoreTable::Key key) {
        return total_.lists_scores_ ? total_.sums_[key] : sums_of(key.cell);
    }

    void add_low_score(ScoreTable::Key key, double score, bool hit) {
        if (score == 0.0) return;
        ScoreTable::Sums& sums = sums_of(key);
        sums.scores.add(score);
        if (hit) sums.hit_scores.add(score);
    }

    [[nodiscard]] ScoreTable::Sums& sums_of(std::uint32_t cell) {
        if (sums_of_.empty()) return total_.sums_[{cell, 0}];
        if (sums_of_[cell] == nullptr) sums_of_[cell] = &total_.sums_[{cell, 0}];
        return *sums_of_[cell];
    }

    void list_scores(const Scores& scores) {
        kernels().places(scores.score, scores.n, cell_, offset_);
        for (std::size_t i = 0; i < scores.n; ++i) {
            const double weight = weighted_ ? scores.weight[i] : 1.0;
            list_.push_back(
                {scores.score[i] + 0.0, weight, offset_[i], cell_[i], scores.hit[i] != 0});
        }
        if (list_.size() + block_rows > listed_rows) flush_list();
    }

    [[nodiscard]] const ListedRow& row_of(const ListedPlace& place) const {
        return list_[static_cast<std::uint32_t>(place.key.bits)];
    }
    [[nodiscard]] const ListedRow& row_at(std::size_t i) const { return row_of(order_[i]); }

    [[nodiscard]] ScoreTable::Key key_of(const ListedRow& row) const {
        const bool apart = total_.lists_scores_;
        return {row.cell, apart ? std::bit_cast<std::uint64_t>(row.score) : 0};
    }

    void sort_inside_cells() {
        for (std::size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
            while (end < order_.size() && order_[end].cell() == order_[begin].cell()) ++end;
            if (end - begin == 1) continue;
            std::sort(order_.begin() + static_cast<std::ptrdiff_t>(begin),
                      order_.begin() + static_cast<std::ptrdiff_t>(end),
                      [&](const ListedPlace& a, const ListedPlace& b) {
                          return row_of(a).score < row_of(b).score;
                      });
        }
    }

    // Cells between asking for memory and using it: it is new, and a cell longer than a line.
    static constexpr std::size_t cells_ahead = 8;

    void flush_list() {
        order_.resize(list_.size());
        scratch_.resize(list_.size());
        for (std::size_t i = 0; i < list_.size(); ++i) {
            order_[i].key.bits = (std::uint64_t{list_[i].cell} << 32) | i;
        }
        sort_few(order_.data(), order_.size(), scratch_.data(), ends_);
        if (total_.lists_scores_) sort_inside_cells();
        std::size_t distinct = 0;
        for (std::size_t i = 0; i < order_.size(); ++i) {
            distinct += i == 0 || key_of(row_at(i)) != key_of(row_at(i - 1)) ? 1 : 0;
        }
        std::vector<ScoreTable::Cell> cells;
        cells.reserve(distinct);
        for (const ListedPlace& place : order_) {
            const ListedRow& row = row_of(place);
            const ScoreTable::Key key = key_of(row);
            if (cells.empty() || cells.back().key() != key) {
                __builtin_prefetch(cells.data() + cells.size() + cells_ahead, 1);  // harmless
                cells.push_back({.cell = key.cell, .part = key.part});
            }
            add_row(row, cells.back());
        }
        add_cells(std::move(cells));
        list_.clear();
    }

    void add_row(const ListedRow& row, ScoreTable::Cell& cell) {
        if (row.weight == 0.0) {
            ++cell.zeros;
            return;
        }
        ++cell.n;
        cell.least = std::min(cell.least, row.score);
        cell.greatest = std::max(cell.greatest, row.score);
        if (row.weight != 1.0) {
            add_weighted(row);
            return;
        }
        const std::int64_t hit = row.hit ? 1 : 0;  // no branch: nobody could foretell it
        ++cell.ones;
        cell.hits += static_cast<std::uint64_t>(hit);
        cell.offsets += row.offset;
        cell.hit_offsets += row.offset & -hit;
        if (in_lowest(row.cell)) add_low_score(key_of(row), row.score, row.hit);
    }

    void add_weighted(const ListedRow& row) {
        total_.weights_.add(row.weight);
        ScoreTable::Sums& sums = sums_of(key_of(row));
        sums.weight.add(row.weight);
        sums.scores.add_product(row.weight, row.score);
        if (!row.hit) return;
        sums.hits.add(row.weight);
        sums.hit_scores.add_product(row.weight, row.score);
    }

    const ScoredRows& rows_;
    ScoredBlock block_;
    bool weighted_;
    RiskSums model_;
    RiskAdder adder_;
    ScoreTable nothing_, total_;
    std::size_t rows_taken_ = 0;
    std::vector<Counts> counts_;
    std::vector<ListedRow> list_;
    std::vector<ListedPlace> order_, scratch_;
    std::vector<std::uint32_t> ends_;
    std::vector<ScoreTable::Sums*> sums_of_;  // per cell, once it is known
    alignas(64) std::uint32_t cell_[block_rows];
    alignas(64) std::int64_t offset_[block_rows];
    alignas(64) double q_[block_rows], weight_[block_rows];
};

void ScoreTable::update(const ScoredRows& rows, std::uint64_t rows_before, Poll poll) {
    update_by_workers<ScoreTableWorker>(*this, rows, rows.events, rows_before, poll);
}

ScoreTable ScoreTable::of_all_pairs(double q_lim) {
    ScoreTable result;
    result.of_pairs_ = true;
    result.lists_scores_ = false;
    result.model_ = named_profile(q_lim);
    return result;
}

ScoreTable ScoreTable::empty() const { return of_pairs_ ? of_all_pairs(q_lim()) : ScoreTable(); }

ScoredRows ScoreTable::rows_of(const Events& events) const {
    if (of_pairs_) return {events, Scoring::pairs, 0, q_lim()};
    return binary_or_top_label(events);
}

ScoreTable::Cell& ScoreTable::at(std::uint32_t cell) { return cells_[cell]; }

bool ScoreTable::is_worth_all(std::size_t added) const {
    const std::size_t listed = cells_.size() + added;
    if (dense() || listed <= always_listed) return false;
    return listed > n_score_cells / 4 || cells_.size() > most_copied * added;
}

bool ScoreTable::dense() const { return cells_.size() == n_score_cells; }

void ScoreTable::make_dense() {
    if (dense()) return;
    std::vector<Cell> all(n_score_cells);
    for (std::uint32_t cell = 0; cell < n_score_cells; ++cell) all[cell].cell = cell;
    for (const Cell& cell : cells_) all[cell.cell] = cell;
    cells_ = std::move(all);
}

// Counts cannot overflow where their total does not. Throws, for want of memory, before
// anything is changed.
void ScoreTable::merge_cells(const std::vector<Cell>& cells) {
    if (cells.empty()) return;
    if (cells_.empty()) {
        cells_ = cells;
        return;
    }
    if (!lists_scores_ && is_worth_all(cells.size())) make_dense();
    if (dense()) {
        for (const Cell& cell : cells) at(cell.cell).merge(cell);
        return;
    }
    if (cells.size() <= most_inserted) {
        insert_cells(cells);
        return;
    }
    std::vector<Cell> merged;
    merged.reserve(cells_.size() + cells.size());
    std::merge(cells_.begin(), cells_.end(), cells.begin(), cells.end(), std::back_inserter(merged),
               [](const Cell& a, const Cell& b) { return a.key() < b.key(); });
    std::size_t last = 0;
    for (std::size_t i = 1; i < merged.size(); ++i) {
        if (merged[i].key() == merged[last].key()) {
            merged[last].merge(merged[i]);
        } else {
            merged[++last] = merged[i];
        }
    }
    if (!merged.empty()) merged.resize(last + 1);
    cells_ = std::move(merged);
}

// As merge_cells, of few: nothing is copied that stays where it is.
void ScoreTable::insert_cells(const std::vector<Cell>& cells) {
    const std::size_t most = cells_.size() + cells.size();
    if (most > cells_.capacity()) cells_.reserve(std::max(most, 2 * cells_.capacity()));
    for (const Cell& cell : cells) {
        const auto at =
            std::lower_bound(cells_.begin(), cells_.end(), cell,
                             [](const Cell& a, const Cell& b) { return a.key() < b.key(); });
        if (at != cells_.end() && at->key() == cell.key()) {
            at->merge(cell);
        } else {
            cells_.insert(at, cell);
        }
    }
}

// The same rows, the scores of a cell together.
ScoreTable ScoreTable::of_whole_cells() const {
    ScoreTable result = *this;
    result.lists_scores_ = false;
    result.cells_.clear();
    for (Cell cell : cells_) {
        cell.part = 0;
        if (!result.cells_.empty() && result.cells_.back().cell == cell.cell) {
            result.cells_.back().merge(cell);
        } else {
            result.cells_.push_back(cell);
        }
    }
    result.sums_.clear();
    for (const auto& [key, sums] : sums_) result.sums_[{key.cell, 0}].merge(sums);
    return result;
}

void ScoreTable::merge(const ScoreTable& other) {
    if (this == &other) {
        const ScoreTable copy = other;
        merge(copy);
        return;
    }
    if (of_pairs_ != other.of_pairs_ || q_lim() != other.q_lim()) {
        throw std::invalid_argument(
            "cannot merge a ScoreTable of pairs with one of rows, or with another q_lim");
    }
    if (other.columns_ == 0) return;
    if (columns_ != 0) require_same_columns(columns_, other.columns_);
    const std::uint64_t n = checked_add(n_, other.n_);
    const std::uint64_t rows = checked_add(n, checked_add(omitted_, other.omitted_));
    const bool both_list = lists_scores_ && other.lists_scores_;
    if (both_list && rows <= most_listed_rows) {
        merge_like(other);
    } else if (lists_scores_) {
        ScoreTable merged = of_whole_cells();  // a short list
        merged.merge(other);
        *this = std::move(merged);
    } else if (other.lists_scores_) {
        merge_like(other.of_whole_cells());
    } else {
        merge_like(other);
    }
}

void ScoreTable::merge_like(const ScoreTable& other) {
    const std::uint64_t n = checked_add(n_, other.n_);
    const std::uint64_t omitted = checked_add(omitted_, other.omitted_);
    auto sums = other.sums_;
    for (auto& [key, sum] : sums) {
        if (const auto mine = sums_.find(key); mine != sums_.end()) sum.merge(mine->second);
    }
    RiskProfile model = model_;
    model.merge(other.model_);
    merge_cells(other.cells_);
    n_ = n;
    omitted_ = omitted;
    columns_ = other.columns_;
    model_ = std::move(model);
    weights_.merge(other.weights_);
    for (const auto& [key, sum] : sums) sums_.erase(key);
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

ScoreTable::RoundedSums ScoreTable::rounded(const Cell& cell) const {
    if (in_lowest(cell.cell) || sums_.contains(cell.key())) {
        Sums sums;
        add_to(sums, cell);
        return {sums.weight.to_double(), sums.hits.to_double(), sums.scores.to_double(),
                sums.hit_scores.to_double()};
    }
    const CellUnits units = units_of(cell.cell);
    const double unit = std::ldexp(1.0, static_cast<int>(units.exponent));
    const auto of = [&](std::uint64_t rows, Int128 offsets) {
        const Int128 part = static_cast<Int128>(units.base) * rows + offsets;
        const double sum = static_cast<double>(part) * unit;
        return units.of_complement ? static_cast<double>(rows) - sum : sum;
    };
    return {static_cast<double>(cell.ones), static_cast<double>(cell.hits),
            of(cell.ones, cell.offsets), of(cell.hits, cell.hit_offsets)};
}

// A mirrored cell counts from the same base: below 1/2 by the score, above by the complement. Only
// the two lowest cells have their scores in Sums.
ScoreTable ScoreTable::mirrored() const {
    ScoreTable result;
    result.n_ = n_;
    result.columns_ = columns_;
    result.weights_ = weights_;
    result.lists_scores_ = lists_scores_;
    const std::vector<const Cell*> all = filled();
    for (auto at = all.rbegin(); at != all.rend(); ++at) {
        Cell cell = **at;
        cell.cell = calibrant::mirrored(cell.cell);
        if (lists_scores_) {
            const double score = 1.0 - std::bit_cast<double>(cell.part);
            cell.part = std::bit_cast<std::uint64_t>(score);
        }
        cell.hits = cell.ones - cell.hits;
        cell.hit_offsets = cell.offsets - cell.hit_offsets;
        if (cell.n != 0) {
            cell.least = 1.0 - (*at)->greatest;
            cell.greatest = 1.0 - (*at)->least;
        }
        Sums sums;
        if (const auto found = sums_.find((*at)->key()); found != sums_.end()) {
            sums = found->second.mirrored();
        }
        if (in_lowest(cell.cell)) {
            sums.scores.add(cell.offsets, -53);
            sums.hit_scores.add(cell.hit_offsets, -53);
            cell.offsets = cell.hit_offsets = 0;
        }
        if (!sums.is_zero()) result.sums_[cell.key()].merge(sums);
        // Scores that are not far apart may have the same complement.
        if (!result.cells_.empty() && result.cells_.back().key() == cell.key()) {
            result.cells_.back().merge(cell);
        } else {
            result.cells_.push_back(cell);
        }
    }
    return result;
}

ScoreTable ScoreTable::pairs() const {
    ScoreTable other = mirrored();
    if (lists_scores_) {
        ScoreTable result = *this;
        result.merge_like(other);
        return result;
    }
    ScoreTable apart;  // the upper parts
    const auto move_apart = [&](ScoreTable& from, Cell& cell) {
        Cell upper = std::exchange(cell, Cell{.cell = cell.cell});
        upper.part = 1;
        if (auto sums = from.sums_.extract(cell.key())) {
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
               [](const Cell& x, const Cell& y) { return x.key() < y.key(); });
    result.cells_ = std::move(all);
    return result;
}

ScoreTable::HitCells ScoreTable::hit_cells() const {
    if (!of_pairs_ && columns_ > 1) throw InvalidInput("the table has the top labels only");
    const ScoreTable all = of_pairs_ ? *this : pairs();
    HitCells found;
    for (const Cell* const cell : all.filled()) {
        const RoundedSums sums = all.rounded(*cell);
        if (!(sums.hits > 0.0)) continue;
        found.weights.push_back(sums.hits);
        found.means.push_back(std::clamp(sums.hit_scores / sums.hits, cell->least, cell->greatest));
        found.least.push_back(cell->least);
        found.greatest.push_back(cell->greatest);
    }
    return found;
}

}  // namespace calibrant
