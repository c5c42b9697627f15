#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "calibrant/bins.hpp"
#include "calibrant/grouped_events.hpp"
#include "calibrant/scored_rows.hpp"
#include "calibrant/workers.hpp"
#include "score_terms.hpp"

namespace calibrant {
namespace {

const GroupCellKernels& loops() { return *kernels().group_cells; }

// Some rows, and what each adds to the cells of its group:
//     load(begin, count)   count <= most_rows(); false if one of them is bad
//     make(words)          returns whether there are rows that do not fit into a cell
//     fits(i)              whether row i does; asked only if not all do
//     cell(i)              which cell of its group it belongs to
template <class State>
class CellRows;

template <>
class CellRows<ScoreSums> {
public:
    CellRows(const ScoreSums& parameters, const Events& events)
        : scores_(parameters.scores()),
          q_lim_(parameters.q_lim()),
          events_(events),
          block_(events),
          terms_(events) {}

    [[nodiscard]] std::size_t most_rows() const { return block_.most_rows; }
    [[nodiscard]] bool load(std::size_t begin, std::size_t count) {
        return load_outcomes(events_, begin, count, block_);
    }
    [[nodiscard]] std::size_t n() const { return block_.n; }
    [[nodiscard]] std::size_t omitted() const { return block_.omitted; }
    [[nodiscard]] static bool fits(std::size_t) { return true; }
    [[nodiscard]] static std::size_t cell(std::size_t) { return 0; }

    bool make(CellWords<8>* words) {
        terms_.look_at(block_);
        terms_.true_class(q_lim_, q_);
        if (scores_.has(Score::log)) {
            (void)kernels().logs(q_, block_.n, high_[1], low_[1]);
        } else {
            std::fill_n(q_, block_.n, 1.0);  // zeros count for the log score only
        }
        const bool all = scores_.has(Score::brier) && scores_.has(Score::spherical);
        if (!events_.is_matrix && all) {
            loops().of_binary(block_.p.data(), block_.label, q_, high_[1], low_[1], block_.n,
                              words);
            return false;
        }
        if (scores_.has(Score::brier)) terms_.brier(high_[0], low_[0]);
        if (scores_.has(Score::spherical)) terms_.spherical(high_[2], low_[2]);
        const double* const high[] = {high_[0], high_[1], high_[2]};
        const double* const low[] = {low_[0], low_[1], low_[2]};
        loops().of_scores(high, low, block_.label, q_, block_.n, words);
        return false;
    }

    // Of more than two classes, in further cells; before the words are added, so that none is left
    // behind in a group whose rows have been moved.
    void count_classes(const std::int64_t* first, CellWords<8>* cells) const {
        if (events_.n_classes() <= 2) return;
        for (std::size_t i = 0; i < block_.n; ++i) {
            const std::int64_t label = block_.label[i];
            if (first[i] >= 0) ++cells[first[i] + 1 + label / 8].at[label % 8];
        }
    }

private:
    ScoreSet scores_;
    double q_lim_;
    const Events& events_;
    OutcomeBlock block_;
    ScoreTerms terms_;
    alignas(64) double q_[block_rows];
    alignas(64) double high_[n_scores][block_rows] = {}, low_[n_scores][block_rows] = {};
};

template <>
class CellRows<RiskProfile> {
public:
    CellRows(const RiskProfile& parameters, const Events& events)
        : q_lim_(parameters.q_lim()), events_(events) {}

    [[nodiscard]] static std::size_t most_rows() { return block_rows; }
    [[nodiscard]] bool load(std::size_t begin, std::size_t count) {
        return load_events(events_, begin, count, q_lim_, block_);
    }
    [[nodiscard]] std::size_t n() const { return block_.n; }
    [[nodiscard]] std::size_t omitted() const { return block_.omitted; }
    [[nodiscard]] bool fits(std::size_t i) const {
        return block_.q[i] >= least_gridded || block_.q[i] == 0.0;
    }
    [[nodiscard]] static std::size_t cell(std::size_t) { return 0; }

    bool make(CellWords<8>* words) { return loops().of_risk(block_.q, block_.n, words); }

private:
    double q_lim_;
    const Events& events_;
    EventBlock block_;
};

ScoredRows binary_or_top_label(const Events& events) {
    return {events, events.is_matrix ? Scoring::top_label : Scoring::binary};
}

template <>
class CellRows<Spiegelhalter> {
public:
    CellRows(const Spiegelhalter&, const Events& events)
        : rows_(binary_or_top_label(events)), block_(rows_) {}

    [[nodiscard]] std::size_t most_rows() const { return block_.most_rows(); }
    [[nodiscard]] bool load(std::size_t begin, std::size_t count) {
        return block_.load(rows_, begin, count);
    }
    [[nodiscard]] std::size_t n() const { return block_.n(); }
    [[nodiscard]] std::size_t omitted() const { return block_.omitted(); }
    [[nodiscard]] bool fits(std::size_t i) const {
        const double variance = terms_[2][i];
        return !(variance > 0.0 && variance < least_gridded_variance);
    }
    [[nodiscard]] static std::size_t cell(std::size_t) { return 0; }

    bool make(CellWords<8>* words) {
        kernels().spiegelhalter.terms(block_.score(), block_.hit(), block_.n(), terms_[0],
                                      terms_[1], terms_[2], terms_[3]);
        return loops().of_spiegelhalter(terms_[0], terms_[1], terms_[2], terms_[3], block_.n(),
                                        words);
    }

private:
    ScoredRows rows_;
    ScoredBlock block_;
    alignas(64) double terms_[4][block_rows];
};

template <>
class CellRows<Reliability> {
public:
    CellRows(const Reliability& parameters, const Events& events)
        : bins_(parameters.bins()), rows_(binary_or_top_label(events)), block_(rows_) {}

    [[nodiscard]] std::size_t most_rows() const { return block_.most_rows(); }
    [[nodiscard]] bool load(std::size_t begin, std::size_t count) {
        return block_.load(rows_, begin, count);
    }
    [[nodiscard]] std::size_t n() const { return block_.n(); }
    [[nodiscard]] std::size_t omitted() const { return block_.omitted(); }
    [[nodiscard]] bool fits(std::size_t i) const {
        return block_.score()[i] >= least_gridded || block_.score()[i] == 0.0;
    }
    [[nodiscard]] std::size_t cell(std::size_t i) const { return bin_[i]; }

    bool make(CellWords<4>* words) {
        bins_.locate(block_.score(), block_.n(), bin_);
        return loops().of_bins(block_.score(), block_.hit(), block_.n(), words);
    }

private:
    Bins bins_;
    ScoredRows rows_;
    ScoredBlock block_;
    std::uint32_t bin_[block_rows];
};

// One thread's share of an update.
template <class State>
class CellWorker {
public:
    CellWorker(const GroupedParts<State>& total, const Events& events, const GroupCodes& groups)
        : sums_(total.parameters()),
          events_(events),
          groups_(groups),
          rows_(total.parameters(), events) {
        sums_.set_columns(CellLayout<State>::columns(events));
        sums_.make_cells();
        sums_.grow_to(groups.size);
    }

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        const std::size_t step = std::min(most_cell_block, rows_.most_rows());
        for (std::size_t row = begin; row < end; row += step) {
            const std::size_t count = std::min(step, end - row);
            if (!rows_.load(row, count)) return false;
            ask_for_rows(row + rows_ahead);
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
        if (total.size() == 0) {
            total = std::move(sums_);
            return;
        }
        std::vector<std::size_t> places(sums_.size());
        for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
        total.merge(sums_, places);
    }

private:
    using Words = typename CellLayout<State>::Words;

    // Rows from asking for them to using them. The processor asks by itself, but not enough where
    // it looks for cells besides.
    static constexpr std::size_t rows_ahead = 4 * most_cell_block;

    void ask_for_rows(std::size_t row) const {
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
        const std::int32_t* const codes = groups_.of_row + row;
        std::int32_t largest = -1;
        for (std::size_t i = 0; i < n; ++i) {
            largest = std::max(largest, codes[i]);
            const auto cell = static_cast<std::int64_t>(rows_.cell(i));
            cell_[i] = codes[i] < 0 ? -1 : codes[i] * per_group + cell;
        }
        if (largest >= 0 && static_cast<std::size_t>(largest) >= groups_.size) {
            throw std::out_of_range("no such group");
        }
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
        Words* const cells = sums_.cells();
        for (std::size_t done = 0; done < n;) {
            if constexpr (sizeof(Words) == sizeof(CellWords<8>)) {
                done += loops().add_8(words_ + done, cell_ + done, n - done, cells);
            } else {
                done += loops().add_4(words_ + done, cell_ + done, n - done, cells);
            }
            const std::int64_t last = cell_[done - 1];
            if (last >= 0 && static_cast<std::uint32_t>(cells[last].at[0]) == most_cell_rows) {
                sums_.spill(static_cast<std::size_t>(last) / sums_.cells_per_group());
            }
        }
    }

    GroupedParts<State> sums_;
    std::vector<std::size_t> others_;  // rows
    const Events& events_;
    const GroupCodes& groups_;
    CellRows<State> rows_;
    Words words_[most_cell_block];
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
    if (failed != npos) refuse_events(events, failed, std::min(n, failed + chunk), rows_before);
    std::vector<std::size_t> others;
    for (CellWorker<State>& worker : team) worker.finish_into(parts, others);
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
