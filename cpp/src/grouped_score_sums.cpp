#include "calibrant/grouped_score_sums.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "calibrant/check.hpp"
#include "calibrant/double_double.hpp"
#include "calibrant/rows_by_group.hpp"
#include "calibrant/workers.hpp"
#include "score_terms.hpp"

namespace calibrant {
namespace {

constexpr Score all_scores[n_scores] = {Score::brier, Score::log, Score::spherical};

constexpr const Grid& grid_of(Score score) { return score == Score::log ? log_grid : score_grid; }

constexpr int gap_of(Score score) { return grid_of(score).low_bits - grid_of(score).high_bits; }

std::size_t columns_of(const Events& events) { return events.is_matrix ? events.y_proba.width : 1; }

// Threads have cells of their own: no more of them than rows pay for.
std::size_t workers_of(std::size_t rows, std::size_t chunk, std::size_t groups) {
    const std::size_t affordable = rows / (2 * std::max<std::size_t>(groups, 1));
    return std::clamp<std::size_t>(affordable, 1, workers_for(rows, chunks_per_worker * chunk));
}

}  // namespace

// One thread's share of an update without weights. The terms of a block are those of ScoreSums;
// only then does each row go to its group.
class GroupedScoreWorker {
public:
    GroupedScoreWorker(const GroupedScoreSums& total, const Events& events,
                       const GroupCodes& groups)
        : sums_(total.empty()), events_(events), groups_(groups), block_(events), terms_(events) {
        sums_.set_columns(columns_of(events));
        sums_.grow_to(groups.size);
        look_after_ = std::min(GroupedScoreSums::rows_before_carry, sums_.most_rows()) - 1;
    }

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; row += block_.most_rows) {
            const std::size_t count = std::min(block_.most_rows, end - row);
            if (!load_outcomes(events_, row, count, block_)) return false;
            if (block_.omitted == 0) {
                add_block(row);
            } else if (!add_one_by_one(row, count)) {
                return false;
            }
        }
        return true;
    }

    void finish_into(GroupedScoreSums& total) {
        if (total.size() == 0) {
            total = std::move(sums_);
            return;
        }
        std::vector<std::size_t> places(sums_.size());
        for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
        total.merge(sums_, places);
    }

private:
    using Cell = GroupedScoreSums::Cell;

    // To know of which group the rows are that are dropped.
    [[nodiscard]] bool add_one_by_one(std::size_t row, std::size_t count) {
        for (std::size_t i = row; i < row + count; ++i) {
            if (!load_outcomes(events_, i, 1, block_)) return false;
            const std::int32_t code = groups_.of_row[i];
            if (block_.omitted == 0) {
                add_block(i);
            } else if (code >= 0) {
                const auto group = static_cast<std::size_t>(code);
                ++sums_.cells_[group].omitted;
                sums_.make_room(group);
            }
        }
        return true;
    }

    void add_block(std::size_t row) {
        terms_.look_at(block_);
        const ScoreSet scores = sums_.parameters_.scores();
        std::size_t zeros = 0;
        if (scores.has(Score::log)) {
            terms_.true_class(sums_.parameters_.q_lim(), clipped_);
            zeros = kernels().logs(clipped_, block_.n, high_, low_);
            find_units(Score::log);
        }
        if (scores.has(Score::brier)) {
            terms_.brier(high_, low_);
            find_units(Score::brier);
        }
        if (scores.has(Score::spherical)) {
            terms_.spherical(high_, low_);
            find_units(Score::spherical);
        }
        sums_.n_classes_ == 0 ? add_rows<false>(row) : add_rows<true>(row);
        for (std::size_t i = 0; zeros != 0 && i < block_.n; ++i) {
            const std::int32_t code = groups_.of_row[row + i];
            if (clipped_[i] == 0.0 && code >= 0) {
                ++sums_.cells_[static_cast<std::size_t>(code)].zeros;
            }
        }
    }

    // Everything it looks at is copied first, since the compiler must think that cells lie over it.
    template <bool with_classes>
    void add_rows(std::size_t row) {
        const std::int32_t* const codes = groups_.of_row + row;
        const std::size_t n = block_.n;
        const std::uint32_t look_after = look_after_;
        Cell* const cells = sums_.cells_.data();
        for (std::size_t i = 0; i < n; ++i) {
            const std::int32_t next = codes[i + ahead < n ? i + ahead : i];
            __builtin_prefetch(&cells[next < 0 ? 0 : next], 1);
            if (codes[i] < 0) continue;
            const auto group = static_cast<std::size_t>(codes[i]);
            Cell& cell = cells[group];
            for (std::size_t score = 0; score < n_scores; ++score) {
                cell.high[score] += high_units_[score][i];
                cell.low[score] += low_units_[score][i];
            }
            cell.ones += static_cast<std::uint32_t>(block_.label[i] == 1);
            if constexpr (with_classes) {
                ++sums_.classes_of(group)[static_cast<std::size_t>(block_.label[i])];
            }
            if ((++cell.n & look_after) == 0) {
                cell.carry();
                sums_.make_room(group);
            }
        }
    }

    // The parts of the terms as integers, as in the kernel that sums them: they are multiples of
    // the grid, so that nothing is rounded, and the bits of the shift are taken away again.
    void find_units(Score score) {
        const auto at = static_cast<std::size_t>(score);
        const Grid& grid = grid_of(score);
        const auto units = [n = block_.n](const double* terms, double shift, std::int64_t* out) {
            const auto bits_of_shift = std::bit_cast<std::int64_t>(shift);
            for (std::size_t i = 0; i < n; ++i) {
                out[i] = std::bit_cast<std::int64_t>(terms[i] + shift) - bits_of_shift;
            }
        };
        units(high_, grid.high_shift, high_units_[at]);
        units(low_, grid.low_shift, low_units_[at]);
    }

    // Rows between asking for a cell and using it: as long as the memory takes.
    static constexpr std::size_t ahead = 24;

    GroupedScoreSums sums_;
    std::uint32_t look_after_;  // a mask: when a cell may have too many rows
    const Events& events_;
    const GroupCodes& groups_;
    OutcomeBlock block_;
    ScoreTerms terms_;
    alignas(64) double clipped_[block_rows];
    alignas(64) double high_[block_rows], low_[block_rows];
    // A line longer than a block: columns that lie a power of two apart share the places of a
    // cache.
    static constexpr std::size_t stride = block_rows + 8;
    alignas(64) std::int64_t high_units_[n_scores][stride] = {};
    alignas(64) std::int64_t low_units_[n_scores][stride] = {};
};

void GroupedScoreSums::update(const Events& events, const GroupCodes& groups,
                              std::uint64_t rows_before, Poll poll) {
    if (events.size() == 0) return;
    if (events.n_classes() > ScoreSums::most_classes) {
        throw InvalidInput("scores need 2 to 2^20 classes, got " +
                           std::to_string(events.n_classes()));
    }
    if (events.sample_weight != nullptr) {
        set_columns(columns_of(events));
        grow_to(groups.size);
        const RowsByGroup rows(events, groups, rows_before, poll);
        auto parts = parts_by_group(parameters_, rows, poll,
                                    [](ScoreSums& part, const Events& of_group, Poll inner_poll) {
                                        part.update(of_group, 0, inner_poll);
                                    });
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (parts[i].columns() != 0) besides_.emplace(i, std::move(parts[i]));
        }
        return;
    }
    const std::size_t n = events.size();
    const std::size_t chunk = std::max<std::size_t>(chunk_values / events.y_proba.width, 1);
    const std::size_t workers = workers_of(n, chunk, groups.size);
    std::vector<GroupedScoreWorker> team;
    team.reserve(workers);
    for (std::size_t i = 0; i < workers; ++i) team.emplace_back(*this, events, groups);
    const std::size_t failed = for_each_chunk(
        n, chunk, workers, poll, [&](std::size_t worker, std::size_t begin, std::size_t end) {
            return team[worker].add(begin, end);
        });
    if (failed != npos) refuse_events(events, failed, std::min(n, failed + chunk), rows_before);
    for (GroupedScoreWorker& worker : team) worker.finish_into(*this);
}

void GroupedScoreSums::set_columns(std::size_t columns) {
    if (columns == 0) return;
    if (columns_ != 0 && columns_ != columns) {
        const auto shape = [](std::size_t of) {
            return of == 1 ? std::string("(n,)") : "(n, " + std::to_string(of) + ")";
        };
        throw InvalidInput("y_proba must keep its shape: " + shape(columns_) + " so far, now " +
                           shape(columns));
    }
    columns_ = columns;
    n_classes_ = columns > 2 ? columns : 0;
    classes_.resize(size() * n_classes_);
}

void GroupedScoreSums::grow_to(std::size_t groups) {
    if (groups <= size()) return;
    classes_.resize(groups * n_classes_);
    cells_.resize(groups);
}

void GroupedScoreSums::merge(const GroupedScoreSums& other,
                             const std::vector<std::size_t>& places) {
    if (places.size() != other.size()) throw std::invalid_argument("one place for each group");
    (void)ScoreSums(parameters_.empty()).merge(other.parameters_);  // the parameters agree
    set_columns(other.columns_);
    std::size_t groups = 0;
    for (const std::size_t place : places) groups = std::max(groups, place + 1);  // npos + 1 is 0
    grow_to(groups);
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i] != npos) add(other.cells_[i], other.classes_of(i), places[i]);
    }
    for (const auto& [index, sums] : other.besides_) {
        besides_.try_emplace(places[index], parameters_).first->second.merge(sums);
    }
}

void GroupedScoreSums::append(const ScoreSums& group) {
    (void)ScoreSums(parameters_.empty()).merge(group);
    set_columns(group.columns());
    grow_to(size() + 1);
    if (group.columns() != 0) besides_.emplace(size() - 1, group);
}

void GroupedScoreSums::Cell::carry() {
    for (const Score score : all_scores) {
        const auto at = static_cast<std::size_t>(score);
        const int gap = gap_of(score);
        high[at] += low[at] >> gap;
        low[at] &= (std::int64_t{1} << gap) - 1;
    }
}

Int128 GroupedScoreSums::Cell::sum(Score score) const {
    const auto at = static_cast<std::size_t>(score);
    return static_cast<Int128>(high[at]) * (std::int64_t{1} << gap_of(score)) + low[at];
}

void GroupedScoreSums::add(const Cell& cell, const std::uint64_t* classes, std::size_t group) {
    Cell& mine = cells_[group];
    mine.carry();
    for (std::size_t score = 0; score < n_scores; ++score) {
        mine.high[score] += cell.high[score];
        mine.low[score] += cell.low[score];
    }
    mine.carry();
    mine.n += cell.n;
    mine.omitted += cell.omitted;
    mine.zeros += cell.zeros;
    mine.ones += cell.ones;
    for (std::size_t j = 0; j < n_classes_; ++j) classes_of(group)[j] += classes[j];
    make_room(group);
}

void GroupedScoreSums::make_room(std::size_t group) {
    const Cell& cell = cells_[group];
    if (cell.n >= most_rows() || cell.omitted >= most_rows()) spill(group);
}

// Moves what the cell of a group holds to its ScoreSums.
void GroupedScoreSums::spill(std::size_t group) {
    const ScoreSums held = whole(cells_[group], classes_of(group));
    besides_.try_emplace(group, parameters_).first->second.merge(held);
    cells_[group] = {};
    std::fill_n(classes_of(group), n_classes_, 0);
}

ScoreSums GroupedScoreSums::whole(const Cell& cell, const std::uint64_t* classes) const {
    ScoreSums sums = parameters_.empty();
    if (cell.n == 0 && cell.omitted == 0) return sums;
    sums.columns_ = columns_;
    sums.n_ = cell.n;
    sums.omitted_ = cell.omitted;
    sums.zeros_ = cell.zeros;
    sums.class_weight_.resize(n_classes_ == 0 ? 2 : n_classes_);
    for (std::size_t j = 0; j < n_classes_; ++j) {
        sums.class_weight_[j].add(static_cast<Int128>(classes[j]), 0);
    }
    if (n_classes_ == 0) {
        sums.class_weight_[0].add(static_cast<Int128>(cell.n - cell.ones), 0);
        sums.class_weight_[1].add(static_cast<Int128>(cell.ones), 0);
    }
    for (const Score score : all_scores) {
        const auto at = static_cast<std::size_t>(score);
        sums.sums_[at].add(cell.sum(score), -grid_of(score).low_bits);
    }
    return sums;
}

ScoreSums GroupedScoreSums::group(std::size_t index) const {
    ScoreSums sums = whole(cells_[index], classes_of(index));
    if (const auto found = besides_.find(index); found != besides_.end()) {
        sums.merge(found->second);
    }
    return sums;
}

double GroupedScoreSums::mean(Score score, std::size_t group) const {
    const Cell& cell = cells_[group];
    if (besides_.contains(group)) {
        const ScoreSums sums = this->group(group);
        const bool any = std::any_of(sums.class_weight_.begin(), sums.class_weight_.end(),
                                     [](const ExactSum& weight) { return !weight.is_zero(); });
        return any ? sums.mean(score) : std::numeric_limits<double>::quiet_NaN();
    }
    if (score == Score::log && cell.zeros != 0) return std::numeric_limits<double>::infinity();
    const double mean = calibrant::mean(scaled_multiple(cell.sum(score), -grid_of(score).low_bits),
                                        scaled_multiple(static_cast<Int128>(cell.n), 0));
    return score == Score::log ? 0.0 - mean : mean;  // never -0
}

std::vector<double> GroupedScoreSums::means(Score score) const {
    constexpr std::size_t chunk = 1024;
    std::vector<double> means(size());
    (void)for_each_chunk(size(), chunk, workers_for(size(), 2 * chunk), nullptr,
                         [&](std::size_t, std::size_t begin, std::size_t end) {
                             for (std::size_t i = begin; i < end; ++i) means[i] = mean(score, i);
                             return true;
                         });
    return means;
}

std::vector<std::uint64_t> GroupedScoreSums::counts() const {
    std::vector<std::uint64_t> counts(size());
    for (std::size_t i = 0; i < size(); ++i) counts[i] = cells_[i].n;
    for (const auto& [index, sums] : besides_) counts[index] += sums.count();
    return counts;
}

std::vector<std::uint64_t> GroupedScoreSums::omitted() const {
    std::vector<std::uint64_t> omitted(size());
    for (std::size_t i = 0; i < size(); ++i) omitted[i] = cells_[i].omitted;
    for (const auto& [index, sums] : besides_) omitted[index] += sums.omitted();
    return omitted;
}

}  // namespace calibrant
