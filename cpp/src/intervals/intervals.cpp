#include "calibrant/intervals/intervals.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/rows/check.hpp"
#include "kernels/elementary.hpp"
#include "kernels/kernels.hpp"
#include "ordering/grouped_scores.hpp"
#include "rows/interval_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {

// One thread's share of an update.
class IntervalsWorker {
public:
    IntervalsWorker(const Intervals& parameters, const IntervalRows& rows)
        : rows_(rows),
          block_(rows),
          edges_(parameters.width_edges_),
          has_y_(rows.y_true != nullptr),
          weighted_(rows.sample_weight != nullptr),
          nothing_(parameters.empty()) {
        nothing_.set_levels(rows.n_levels());
        total_ = nothing_;
        if (edges_.empty()) return;
        strata_.assign(rows.n_levels(), StratumTally(edges_.size() + 1));
    }

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; row += block_rows) {
            if (!block_.load(rows_, row, std::min(block_rows, end - row))) return false;
            add(block_);
        }
        return true;
    }

    // The rows so far, to begin anew.
    [[nodiscard]] Intervals take() {
        if (!weighted_) total_.weight_.add(static_cast<Int128>(total_.n_), 0);
        for (std::size_t level = 0; level < strata_.size(); ++level) {
            total_.levels_[level].by_width = strata_[level].take();
        }
        return std::exchange(total_, nothing_);
    }

private:
    void add(const IntervalBlock& block) {
        const std::size_t n = block.n();
        total_.n_ += n;
        total_.omitted_ += block.omitted();
        if (weighted_) total_.weight_.add_block(block.weight(), n);
        if (has_y_ && n > 0) see_outcomes(block);
        for (std::size_t level = 0; level < total_.levels_.size(); ++level) {
            const double* const width = block.width(level);
            const double* const excess = block.excess(level);
            if (weighted_) {
                add_weighted(total_.levels_[level], width, excess, block.weight(), n);
            } else {
                add_unweighted(total_.levels_[level], width, excess, n);
            }
            if (!strata_.empty()) add_strata(strata_[level], width, excess, block);
        }
    }

    void see_outcomes(const IntervalBlock& block) {
        if (!weighted_) {
            double least = 0.0, largest = 0.0;
            kernels().range(block.y_true(), block.n(), &least, &largest);
            total_.see_y(least);
            total_.see_y(largest);
            return;
        }
        for (std::size_t i = 0; i < block.n(); ++i) {
            if (block.weight()[i] > 0.0) total_.see_y(block.y_true()[i] + 0.0);
        }
    }

    void add_unweighted(Intervals::Level& sums, const double* width, const double* excess,
                        std::size_t n) {
        IntervalTally tally;
        kernels().tally_intervals(width, excess, n, distance_, &tally);
        sums.below.add(static_cast<Int128>(tally.below), 0);
        sums.above.add(static_cast<Int128>(tally.above), 0);
        sums.width.add_block(width, n);
        if (tally.below + tally.above > 0) sums.excess.add_block(distance_, n);
        if (n == 0) return;
        sums.least_width = std::min(sums.least_width, tally.least_width);
        sums.largest_width = std::max(sums.largest_width, tally.largest_width);
    }

    void add_weighted(Intervals::Level& sums, const double* width, const double* excess,
                      const double* weight, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            below_[i] = excess[i] < 0.0 ? weight[i] : 0.0;
            above_[i] = excess[i] > 0.0 ? weight[i] : 0.0;
            distance_[i] = std::fabs(excess[i]);
            if (weight[i] == 0.0) continue;
            sums.least_width = std::min(sums.least_width, width[i]);
            sums.largest_width = std::max(sums.largest_width, width[i]);
        }
        sums.below.add_block(below_, n);
        sums.above.add_block(above_, n);
        sums.width.add_products(weight, width, n);
        sums.excess.add_products(weight, distance_, n);
    }

    void add_strata(StratumTally& strata, const double* width, const double* excess,
                    const IntervalBlock& block) {
        for (std::size_t i = 0; i < block.n(); ++i) {
            const auto after = std::upper_bound(edges_.begin(), edges_.end(), width[i]);
            const auto k = static_cast<std::size_t>(after - edges_.begin());
            if (weighted_) {
                strata.add(k, width[i], excess[i] == 0.0, block.weight()[i]);
            } else {
                strata.add(k, width[i], excess[i] == 0.0);
            }
        }
    }

    const IntervalRows& rows_;
    IntervalBlock block_;
    std::vector<double> edges_;
    bool has_y_, weighted_;
    Intervals nothing_, total_{{}, {}};
    std::vector<StratumTally> strata_;
    alignas(64) double below_[block_rows], above_[block_rows], distance_[block_rows];
};

Intervals::Intervals(std::vector<double> confidence_levels, std::vector<double> width_edges)
    : confidence_levels_(std::move(confidence_levels)), width_edges_(std::move(width_edges)) {
    if (confidence_levels_.size() > most_levels || width_edges_.size() > most_edges) {
        throw InvalidInput("at most 4096 confidence levels and width edges, got " +
                           std::to_string(confidence_levels_.size()) + " and " +
                           std::to_string(width_edges_.size()));
    }
    for (const double level : confidence_levels_) {
        if (level > 0.0 && level < 1.0) continue;
        throw InvalidInput("confidence_level must lie strictly between 0 and 1, got " +
                           number_text(level));
    }
    for (std::size_t k = 0; k < width_edges_.size(); ++k) {
        const double edge = width_edges_[k];
        if (std::isfinite(edge) && edge > (k == 0 ? 0.0 : width_edges_[k - 1])) continue;
        throw InvalidInput("width_edges must be positive, finite and rise, found " +
                           number_text(edge) + " at position " + std::to_string(k));
    }
    set_levels(confidence_levels_.size());
}

void Intervals::set_levels(std::size_t n_levels) {
    if (n_levels > most_levels) {
        throw InvalidInput("intervals must have at most 4096 levels, got " +
                           std::to_string(n_levels));
    }
    levels_.resize(n_levels);
    if (width_edges_.empty()) return;
    for (Level& level : levels_) level.by_width.resize(width_edges_.size() + 1);
}

void Intervals::require_levels(const IntervalRows& rows) const {
    if (levels_.empty() || rows.n_levels() == levels_.size()) return;
    throw InvalidInput("intervals must have " + std::to_string(levels_.size()) +
                       " levels, one for each confidence level, got " +
                       std::to_string(rows.n_levels()));
}

void Intervals::update(const IntervalRows& rows, std::uint64_t rows_before, Poll poll) {
    require_levels(rows);
    const std::size_t workers = workers_of(rows), chunk = chunk_rows(rows);
    IntervalsWorker first(*this, rows);  // on the stack: for few rows, memory would take longer
    std::vector<IntervalsWorker> others;
    others.reserve(workers - 1);
    for (std::size_t i = 1; i < workers; ++i) others.emplace_back(*this, rows);
    const std::size_t failed =
        for_each_chunk(rows.size(), chunk, workers, poll,
                       [&](std::size_t worker, std::size_t begin, std::size_t end) {
                           return (worker == 0 ? first : others[worker - 1]).add(begin, end);
                       });
    if (failed != npos) {
        reject_intervals(rows, failed, std::min(rows.size(), failed + chunk), rows_before);
    }
    Intervals batch = first.take();
    for (IntervalsWorker& worker : others) batch.merge(worker.take());
    if (n_ == 0 && omitted_ == 0) {
        *this = std::move(batch);
    } else {
        merge(batch);
    }
}

void Intervals::merge(const Intervals& other) {
    const auto reject_merge = [](const std::string& what) {
        throw std::invalid_argument("cannot merge Intervals of other " + what +
                                    ": both need the same");
    };
    if (confidence_levels_ != other.confidence_levels_) reject_merge("confidence levels");
    if (width_edges_ != other.width_edges_) reject_merge("width edges");
    if (other.levels_.empty()) return;
    if (levels_.empty()) set_levels(other.levels_.size());
    if (levels_.size() != other.levels_.size()) reject_merge("numbers of levels");
    Intervals merged = *this;
    merged.n_ = checked_add(n_, other.n_);
    merged.omitted_ = checked_add(omitted_, other.omitted_);
    merged.weight_.merge(other.weight_);
    merged.least_y_ = std::min(least_y_, other.least_y_);
    merged.largest_y_ = std::max(largest_y_, other.largest_y_);
    for (std::size_t i = 0; i < levels_.size(); ++i) {
        Level& level = merged.levels_[i];
        const Level& from = other.levels_[i];
        level.below.merge(from.below);
        level.above.merge(from.above);
        level.width.merge(from.width);
        level.excess.merge(from.excess);
        level.least_width = std::min(level.least_width, from.least_width);
        level.largest_width = std::max(level.largest_width, from.largest_width);
        for (std::size_t k = 0; k < level.by_width.size(); ++k) {
            level.by_width[k].merge(Stratum(from.by_width[k]));  // a copy: it may be this very one
        }
    }
    *this = std::move(merged);
}

void Intervals::require_weight() const {
    if (!weight_.is_zero()) return;
    reject_weightless("intervals need", n_);
}

ExactSum Intervals::covered(std::size_t level) const {
    ExactSum result = weight_;
    result.subtract(levels_[level].below);
    result.subtract(levels_[level].above);
    return result;
}

double Intervals::mean_width(std::size_t level) const {
    return mean(levels_[level].width, weight_);
}

double Intervals::score(std::size_t level, double confidence_level) const {
    const double penalty = 2.0 / (1.0 - confidence_level);
    return mean_width(level) + penalty * mean(levels_[level].excess, weight_);
}

double Intervals::criterion(std::size_t level, double confidence_level, double eta) const {
    const double range = largest_y_ - least_y_;
    if (!(range > 0.0)) return std::numeric_limits<double>::quiet_NaN();
    const double gap = mean(covered(level), weight_) - confidence_level;
    return (1.0 - mean_width(level) / range) * calibrant::exp(-eta * (gap * gap));
}

std::vector<std::vector<Stratum>> coverage_by_group(const IntervalRows& rows, std::size_t n_groups,
                                                    Poll poll) {
    const std::size_t workers = workers_of(rows);
    const std::size_t levels = rows.n_levels();
    std::vector<std::vector<StratumTally>> team(
        workers, std::vector<StratumTally>(levels, StratumTally(n_groups)));
    for_each_block(rows, workers, 0, poll,
                   [&](std::size_t worker, std::size_t, const IntervalBlock& block) {
                       for (std::size_t level = 0; level < levels; ++level) {
                           const double* const excess = block.excess(level);
                           const double* const width = block.width(level);
                           StratumTally& tally = team[worker][level];
                           for (std::size_t i = 0; i < block.n(); ++i) {
                               const auto group = static_cast<std::size_t>(block.group()[i]);
                               const bool covered = excess[i] == 0.0;
                               if (rows.sample_weight != nullptr) {
                                   tally.add(group, width[i], covered, block.weight()[i]);
                               } else {
                                   tally.add(group, width[i], covered);
                               }
                           }
                       }
                   });
    std::vector<std::vector<Stratum>> result(levels, std::vector<Stratum>(n_groups));
    for (auto& of_worker : team) {
        for (std::size_t level = 0; level < levels; ++level) {
            of_worker[level].finish_into(result[level]);
        }
    }
    return result;
}

}  // namespace calibrant
