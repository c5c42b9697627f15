#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "grouped/cell_rows.hpp"
#include "grouped/grouped_events.hpp"
#include "kernels/kernels.hpp"
#include "ordering/grouped_scores.hpp"
#include "rows/event_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {
namespace {

// One thread's share of an update.
template <class State>
class CellWorker {
public:
    CellWorker(const GroupedParts<State>& total, const Events& events, const GroupCodes& groups)
        : sums_(total.parameters()),
          events_(events),
          groups_(groups),
          rows_(total.parameters(), events),
          per_row_(CellLayout<State>::per_row(total.parameters())) {}

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        if (sums_.size() == 0) make_room();
        const std::size_t step = std::min(most_cell_block, rows_.most_rows());
        for (std::size_t row = begin; row < end; row += step) {
            const std::size_t count = std::min(step, end - row);
            if (!rows_.load(row, count)) return false;
            prefetch_rows(row + rows_ahead);
            if (rows_.omitted() == 0) {
                add_block(row);
            } else if (!add_one_by_one(row, count)) {
                return false;
            }
        }
        return true;
    }

    void finish_into(GroupedParts<State>& total, std::vector<std::size_t>& others) {
        others.insert(others.end(), others_.begin(), others_.end());
        if (sums_.size() == 0) return;
        if (total.size() == 0) {
            total = std::move(sums_);
            return;
        }
        std::vector<std::size_t> places(sums_.size());
        for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
        total.merge(sums_, places, nullptr);
    }

private:
    // By the thread itself: to set so much memory to zero takes its time.
    void make_room() {
        sums_.set_columns(CellLayout<State>::columns(events_));
        sums_.make_cells();
        sums_.grow_to(groups_.size);
    }

    // Rows from asking for them to using them. The processor asks by itself, but not enough where
    // it looks for cells besides.
    static constexpr std::size_t rows_ahead = 4 * most_cell_block;

    void prefetch_rows(std::size_t row) const {
        if (row + block_rows > events_.size()) return;
        prefetch(next_block(events_, row), 0, block_rows / most_cell_block);
        for (std::size_t i = 0; i < most_cell_block; i += 16) {
            __builtin_prefetch(groups_.of_row + row + i, 0, 2);
        }
    }

    // To know of which group the rows are that are dropped.
    [[nodiscard]] bool add_one_by_one(std::size_t row, std::size_t count) {
        for (std::size_t i = row; i < row + count; ++i) {
            if (!rows_.load(i, 1)) return false;
            if (rows_.omitted() == 0) {
                add_block(i);
            } else if (groups_.of_row[i] >= 0) {
                ++sums_.omitted_in(static_cast<std::size_t>(groups_.of_row[i]));
            }
        }
        return true;
    }

    void add_block(std::size_t row) {
        const bool others = rows_.make(words_);
        const std::size_t n = rows_.n();
        const auto per_group = static_cast<std::int64_t>(sums_.cells_per_group());
        const std::int32_t largest =
            loops().of_codes(groups_.of_row + row, rows_.bins(), n, per_group, cell_);
        if (largest >= 0 && static_cast<std::size_t>(largest) >= groups_.size) {
            throw std::out_of_range("no such group");
        }
        if (groups_.size == 0) return;
        for (std::size_t i = 0; others && i < n; ++i) {
            if (rows_.fits(i) || cell_[i] < 0) continue;
            others_.push_back(row + i);
            cell_[i] = -1;
        }
        if constexpr (requires { rows_.count_classes(cell_, sums_.cells()); }) {
            rows_.count_classes(cell_, sums_.cells());
        }
        add_words(n);
    }

    void add_words(std::size_t n) {
        CellWords* const cells = sums_.cells();
        const auto add_rows = per_row_ == 1 ? loops().add : loops().add_pairs;
        for (std::size_t done = 0; done < n;) {
            done += add_rows(words_ + per_row_ * done, cell_ + done, n - done, cells);
            const std::int64_t last = cell_[done - 1];
            if (last >= 0 && rows_of_cell(cells[last]) == most_cell_rows) {
                sums_.spill(static_cast<std::size_t>(last) / sums_.cells_per_group());
            }
        }
    }

    GroupedParts<State> sums_;
    std::vector<std::size_t> others_;  // rows
    const Events& events_;
    const GroupCodes& groups_;
    CellRows<State> rows_;
    std::size_t per_row_;
    alignas(64) CellWords words_[2 * most_cell_block];
    std::int64_t cell_[most_cell_block + cells_ahead] = {};
};

// Threads have cells of their own: no more of them than rows pay for.
std::size_t workers_of(std::size_t rows, std::size_t chunk, std::size_t cells) {
    const std::size_t affordable = rows / (2 * std::max<std::size_t>(cells, 1));
    return std::clamp<std::size_t>(affordable, 1, workers_for(rows, chunks_per_worker * chunk));
}

}  // namespace

template <class State>
std::vector<std::size_t> fill_cells(GroupedParts<State>& parts, const Events& events,
                                    const GroupCodes& groups, std::uint64_t rows_before,
                                    Poll poll) {
    using Layout = CellLayout<State>;
    const std::size_t n = events.size();
    const std::size_t chunk = std::max<std::size_t>(chunk_values / events.y_proba.width, 1);
    const std::size_t per_group = Layout::per_group(parts.parameters(), Layout::columns(events));
    const std::size_t workers = workers_of(n, chunk, groups.size * per_group);
    std::vector<CellWorker<State>> team;
    team.reserve(workers);
    for (std::size_t i = 0; i < workers; ++i) team.emplace_back(parts, events, groups);
    const std::size_t failed = for_each_chunk(
        n, chunk, workers, poll, [&](std::size_t worker, std::size_t begin, std::size_t end) {
            return team[worker].add(begin, end);
        });
    if (failed != npos) reject_events(events, failed, std::min(n, failed + chunk), rows_before);
    std::vector<std::size_t> others;
    for (CellWorker<State>& worker : team) worker.finish_into(parts, others);
    parts.grow_to(groups.size);
    return others;
}

template std::vector<std::size_t> fill_cells(GroupedParts<ScoreSums>&, const Events&,
                                             const GroupCodes&, std::uint64_t, Poll);
template std::vector<std::size_t> fill_cells(GroupedParts<RiskProfile>&, const Events&,
                                             const GroupCodes&, std::uint64_t, Poll);
template std::vector<std::size_t> fill_cells(GroupedParts<Spiegelhalter>&, const Events&,
                                             const GroupCodes&, std::uint64_t, Poll);
template std::vector<std::size_t> fill_cells(GroupedParts<Reliability>&, const Events&,
                                             const GroupCodes&, std::uint64_t, Poll);

}  // namespace calibrant
