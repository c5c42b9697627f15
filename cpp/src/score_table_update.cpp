// How rows come into a ScoreTable.
#include <algorithm>
#include <bit>
#include <utility>

#include "calibrant/kernels.hpp"
#include "calibrant/risk_sums.hpp"
#include "calibrant/score_table.hpp"
#include "calibrant/workers.hpp"

namespace calibrant {
namespace {

// Rows that are sorted by cell rather than counted in an array of all cells, which costs as much
// as some thousands of rows.
constexpr std::size_t listed_rows = 2048;
// Offsets are below 2^46.
constexpr std::uint32_t rows_before_flush = 1U << 17;

struct ListedRow {
    double score, weight;
    std::int64_t offset;
    std::uint32_t cell;
    bool hit;
};

}  // namespace

// One thread's share of an update: many rows of weight 1 are counted in an array of all cells,
// others are gathered, sorted by cell and added cell by cell.
class ScoreTableWorker {
public:
    ScoreTableWorker(const ScoreTable& parameters, const ScoredRows& rows)
        : rows_(rows),
          block_(rows),
          model_(parameters.model_),
          counting_(rows.events.sample_weight == nullptr && rows.size() > listed_rows),
          counts_(counting_ ? n_score_cells : 0),
          sums_of_(!counting_ && rows.size() > listed_rows ? n_score_cells : 0) {}

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        return load_each(block_, rows_, begin, end, [&](std::size_t) {
            total_.n_ += block_.n();
            total_.omitted_ += block_.omitted();
            if (counting_) {
                count_block();
            } else {
                list_block();
            }
            if (rows_.scoring == Scoring::binary) add_to_model();
        });
    }

    void finish_into(ScoreTable& result) {
        flush_list();
        ScoreTable counted;
        for (std::size_t cell = 0; cell < counts_.size(); ++cell) {
            if (counts_[cell].n == 0) continue;
            counted.cells_.push_back(cell_of(static_cast<std::uint32_t>(cell)));
        }
        total_.merge_cells(counted);
        total_.model_ = model_.profile();
        if (total_.n_ != 0 || total_.omitted_ != 0) {
            total_.columns_ = rows_.events.is_matrix ? rows_.events.y_proba.width : 1;
        }
        if (result.n_ == 0 && result.omitted_ == 0) {
            result = std::move(total_);
        } else {
            result.merge(total_);
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

    void count_block() {
        kernels().places(block_.score(), block_.n(), cell_, offset_);
        for (std::size_t i = 0; i < block_.n(); ++i) {
            const std::uint32_t cell = cell_[i];
            const std::int64_t offset = offset_[i];
            const std::int64_t hit = block_.hit()[i];
            const auto bits = std::bit_cast<std::uint64_t>(block_.score()[i] + 0.0);
            Counts& counts = counts_[cell];
            ++counts.n;
            counts.hits += static_cast<std::uint32_t>(hit);
            counts.offsets += offset;
            counts.hit_offsets += offset & -hit;
            counts.greatest = std::max(counts.greatest, bits);
            counts.least = std::max(counts.least, one_bits - bits);
            if (counts.n == rows_before_flush) flush_counts(cell);
            if (in_lowest(cell)) add_low_score(cell, block_.score()[i], hit != 0);
        }
    }

    void add_to_model() {
        // The rows have been checked.
        (void)kernels().int32_labels.true_class(block_.score(), block_.hit(), block_.n(), 0.0, q_);
        const bool weighted = rows_.events.sample_weight != nullptr;
        if (weighted) std::copy_n(block_.weight(), block_.n(), weight_);
        adder_.add(model_, q_, weighted ? weight_ : nullptr, block_.n());
    }

    void flush_counts(std::uint32_t cell) {
        ScoreTable part;
        part.cells_.push_back(cell_of(cell));
        total_.merge_cells(part);
        counts_[cell] = {};
    }

    void add_low_score(std::uint32_t cell, double score, bool hit) {
        if (score == 0.0) return;
        ScoreTable::Sums& sums = sums_of(cell);
        sums.scores.add(score);
        if (hit) sums.hit_scores.add(score);
    }

    [[nodiscard]] ScoreTable::Sums& sums_of(std::uint32_t cell) {
        if (sums_of_.empty()) return total_.sums_[cell];
        if (sums_of_[cell] == nullptr) sums_of_[cell] = &total_.sums_[cell];
        return *sums_of_[cell];
    }

    void list_block() {
        const bool weighted = rows_.events.sample_weight != nullptr;
        kernels().places(block_.score(), block_.n(), cell_, offset_);
        for (std::size_t i = 0; i < block_.n(); ++i) {
            const double score = block_.score()[i] + 0.0;
            const double weight = weighted ? block_.weight()[i] : 1.0;
            list_.push_back({score, weight, offset_[i], cell_[i], block_.hit()[i] != 0});
        }
        if (list_.size() + block_rows > listed_rows) flush_list();
    }

    void flush_list() {
        order_.clear();
        for (std::size_t i = 0; i < list_.size(); ++i) {
            order_.push_back((std::uint64_t{list_[i].cell} << 32) | i);
        }
        std::sort(order_.begin(), order_.end());
        ScoreTable part;
        for (const std::uint64_t key : order_) {
            const ListedRow& row = list_[static_cast<std::uint32_t>(key)];
            if (part.cells_.empty() || part.cells_.back().cell != row.cell) {
                part.cells_.push_back({.cell = row.cell});
            }
            add_row(row, part.cells_.back());
        }
        total_.merge_cells(part);
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
        ++cell.ones;
        cell.offsets += row.offset;
        if (row.hit) {
            ++cell.hits;
            cell.hit_offsets += row.offset;
        }
        if (in_lowest(row.cell)) add_low_score(row.cell, row.score, row.hit);
    }

    void add_weighted(const ListedRow& row) {
        total_.weights_.add(row.weight);
        ScoreTable::Sums& sums = sums_of(row.cell);
        sums.weight.add(row.weight);
        sums.scores.add_product(row.weight, row.score);
        if (!row.hit) return;
        sums.hits.add(row.weight);
        sums.hit_scores.add_product(row.weight, row.score);
    }

    const ScoredRows& rows_;
    ScoredBlock block_;
    RiskSums model_;
    RiskAdder adder_;
    bool counting_;
    ScoreTable total_;
    std::vector<Counts> counts_;
    std::vector<ListedRow> list_;
    std::vector<std::uint64_t> order_;
    std::vector<ScoreTable::Sums*> sums_of_;  // per cell, once it is known
    alignas(64) std::uint32_t cell_[block_rows];
    alignas(64) std::int64_t offset_[block_rows];
    alignas(64) double q_[block_rows], weight_[block_rows];
};

void ScoreTable::update(const ScoredRows& rows, std::uint64_t rows_before, Poll poll) {
    update_by_workers<ScoreTableWorker>(*this, rows, rows.events, rows_before, poll);
}

}  // namespace calibrant
