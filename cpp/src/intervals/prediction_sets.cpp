#include "calibrant/intervals/prediction_sets.hpp"

#include <algorithm>
#include <utility>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"
#include "rows/set_blocks.hpp"

namespace calibrant {
namespace {

// One thread's share: rows by a key of theirs, for each level.
class Tallies {
public:
    Tallies(std::size_t levels, std::size_t keys, bool weighted)
        : weighted_(weighted), tallies_(levels, StratumTally(keys)) {}

    // key(level, i) of row i of the block
    template <class Key>
    void add(const SetBlock& block, const Key& key) {
        n += block.n();
        omitted += block.omitted();
        for (std::size_t level = 0; level < tallies_.size(); ++level) {
            for (std::size_t i = 0; i < block.n(); ++i) {
                const double size = block.set_size(level)[i];
                const bool covered = block.covered(level)[i] != 0;
                if (weighted_) {
                    tallies_[level].add(key(level, i), size, covered, block.weight()[i]);
                } else {
                    tallies_[level].add(key(level, i), size, covered);
                }
            }
        }
    }

    // The strata so far, for each level; n and omitted are left as they are.
    [[nodiscard]] std::vector<std::vector<Stratum>> take() {
        std::vector<std::vector<Stratum>> result;
        result.reserve(tallies_.size());
        for (StratumTally& tally : tallies_) result.push_back(tally.take());
        return result;
    }

    void finish_into(std::vector<std::vector<Stratum>>& result) {
        for (std::size_t level = 0; level < tallies_.size(); ++level) {
            tallies_[level].finish_into(result[level]);
        }
    }

    std::uint64_t n = 0, omitted = 0;

private:
    bool weighted_;
    std::vector<StratumTally> tallies_;
};

std::size_t largest_size(const SetRows& rows) {
    if (rows.form != SetForm::lists) return rows.n_classes();
    std::int64_t largest = 0;
    for (std::size_t i = 0; i < rows.size; ++i) {
        largest = std::max(largest, static_cast<std::int64_t>(rows.list(i).size()));
    }
    return static_cast<std::size_t>(largest);
}

void trim(std::vector<Stratum>& sizes) {
    while (!sizes.empty() && sizes.back().weight.is_zero()) sizes.pop_back();
}

}  // namespace

// One thread's share of an update, or of many groups.
class PredictionSetsWorker {
public:
    PredictionSetsWorker(const PredictionSets&, const SetRows& rows)
        : rows_(rows),
          block_(rows),
          tallies_(rows.n_levels(), largest_size(rows) + 1, rows.sample_weight != nullptr) {}

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; row += block_rows) {
            if (!block_.load(rows_, row, std::min(block_rows, end - row))) return false;
            tallies_.add(block_, [&](std::size_t level, std::size_t i) {
                return std::size_t{block_.set_size(level)[i]};
            });
        }
        return true;
    }

    // The rows so far, to begin anew.
    [[nodiscard]] PredictionSets take() {
        PredictionSets result;
        result.n_ = std::exchange(tallies_.n, 0);
        result.omitted_ = std::exchange(tallies_.omitted, 0);
        result.by_size_ = tallies_.take();
        for (auto& sizes : result.by_size_) trim(sizes);
        return result;
    }

private:
    const SetRows& rows_;
    SetBlock block_;
    Tallies tallies_;
};

void PredictionSets::update(const SetRows& rows, std::uint64_t rows_before, Poll poll) {
    if (rows.size == 0) return;  // and says nothing of the levels
    const std::size_t workers = workers_of(rows), chunk = chunk_rows(rows);
    std::vector<PredictionSetsWorker> team;
    team.reserve(workers);
    for (std::size_t i = 0; i < workers; ++i) team.emplace_back(*this, rows);
    const std::size_t failed =
        for_each_chunk(rows.size, chunk, workers, poll,
                       [&](std::size_t worker, std::size_t begin, std::size_t end) {
                           return team[worker].add(begin, end);
                       });
    if (failed != npos) {
        reject_sets(rows, failed, std::min(rows.size, failed + chunk), rows_before);
    }
    PredictionSets batch = team.front().take();
    for (std::size_t i = 1; i < workers; ++i) batch.merge(team[i].take());
    if (by_size_.empty()) {
        *this = std::move(batch);
    } else {
        merge(batch);
    }
}

void PredictionSets::merge(const PredictionSets& other) {
    if (other.by_size_.empty()) return;
    PredictionSets merged = *this;
    if (by_size_.empty()) merged.by_size_.resize(other.by_size_.size());
    if (merged.by_size_.size() != other.by_size_.size()) {
        throw InvalidInput("sets must have " + std::to_string(by_size_.size()) +
                           " levels, as those before, got " +
                           std::to_string(other.by_size_.size()));
    }
    merged.n_ = checked_add(n_, other.n_);
    merged.omitted_ = checked_add(omitted_, other.omitted_);
    for (std::size_t level = 0; level < merged.by_size_.size(); ++level) {
        auto& sizes = merged.by_size_[level];
        const auto& from = other.by_size_[level];
        sizes.resize(std::max(sizes.size(), from.size()));
        for (std::size_t size = 0; size < from.size(); ++size) sizes[size].merge(from[size]);
    }
    *this = std::move(merged);
}

Stratum PredictionSets::total(std::size_t level) const {
    Stratum all;
    for (const Stratum& stratum : by_size_[level]) all.merge(stratum);
    return all;
}

void PredictionSets::require_weight() const {
    if (!by_size_.empty() && !total(0).weight.is_zero()) return;
    reject_weightless("sets need", n_);
}

double PredictionSets::mean_size(std::size_t level) const {
    ExactSum sizes;
    for (std::size_t size = 1; size < by_size_[level].size(); ++size) {
        ExactSum factor;
        factor.add(static_cast<Int128>(size), 0);
        sizes.merge(by_size_[level][size].weight * factor);
    }
    return mean(sizes, total(level).weight);
}

std::vector<Stratum> PredictionSets::equal_count_groups(std::size_t level,
                                                        std::size_t n_groups) const {
    const auto times = [](const ExactSum& sum, std::size_t factor) {
        ExactSum whole;
        whole.add(static_cast<Int128>(factor), 0);
        return sum * whole;
    };
    const ExactSum all = total(level).weight;
    std::vector<Stratum> groups;
    ExactSum below;
    std::size_t k = 0;  // groups that have ended
    for (const Stratum& stratum : by_size_[level]) {
        if (stratum.weight.is_zero()) continue;
        bool begins = groups.empty();
        const ExactSum scaled = times(below, n_groups);
        while (k + 1 < n_groups && at_most(times(all, k + 1), scaled)) {
            ++k;
            begins = true;
        }
        if (begins) groups.emplace_back();
        groups.back().merge(stratum);
        below.merge(stratum.weight);
    }
    return groups;
}

std::string PredictionSets::to_bytes() const {
    Writer out;
    out.u64(n_);
    out.u64(omitted_);
    out.u64(by_size_.size());
    for (const auto& sizes : by_size_) {
        out.u64(sizes.size());
        for (const Stratum& stratum : sizes) {
            stratum.weight.write(out);
            stratum.covered.write(out);
        }
    }
    return seal(kind, 1, out);
}

PredictionSets PredictionSets::from_bytes(std::string_view bytes) {
    Reader in = open(bytes, kind, 1);
    PredictionSets result;
    result.n_ = in.u64();
    result.omitted_ = in.u64();
    const std::size_t n_levels = in.count(8);
    bool possible = n_levels <= most_levels;
    if (n_levels == 0) possible = result.n_ == 0 && result.omitted_ == 0;
    result.by_size_.resize(possible ? n_levels : 0);
    ExactSum weight;
    for (std::size_t level = 0; level < result.by_size_.size(); ++level) {
        auto& sizes = result.by_size_[level];
        sizes.resize(in.count(34));
        for (std::size_t size = 0; size < sizes.size(); ++size) {
            sizes[size].weight = ExactSum::read(in);
            sizes[size].covered = ExactSum::read(in);
            if (!sizes[size].weight.is_zero()) sizes[size].see(static_cast<double>(size));
            possible = possible && at_most(ExactSum(), sizes[size].covered) &&
                       at_most(sizes[size].covered, sizes[size].weight);
        }
        possible = possible && (sizes.empty() || !sizes.back().weight.is_zero());
        possible = possible && (sizes.empty() || sizes.front().covered.is_zero());
        const ExactSum of_level = result.total(level).weight;
        if (level == 0) weight = of_level;
        possible = possible && at_most(weight, of_level) && at_most(of_level, weight);
        possible = possible && (result.n_ > 0 || of_level.is_zero());
    }
    if (!possible) throw CorruptState("malformed state: the sets do not add up");
    in.finish();
    return result;
}

std::vector<std::vector<Stratum>> coverage_by_group(const SetRows& rows, std::size_t n_groups,
                                                    Poll poll) {
    const std::size_t workers = workers_of(rows);
    std::vector<Tallies> team(workers,
                              Tallies(rows.n_levels(), n_groups, rows.sample_weight != nullptr));
    for_each_block(rows, workers, 0, poll,
                   [&](std::size_t worker, std::size_t, const SetBlock& block) {
                       team[worker].add(block, [&](std::size_t, std::size_t i) {
                           return static_cast<std::size_t>(block.group()[i]);
                       });
                   });
    std::vector<std::vector<Stratum>> result(rows.n_levels(), std::vector<Stratum>(n_groups));
    for (Tallies& worker : team) worker.finish_into(result);
    return result;
}

}  // namespace calibrant
