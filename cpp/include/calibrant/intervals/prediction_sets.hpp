// Prediction sets of one or many levels: per size of the set, the weight of all rows and of those
// whose class it holds. Coverage, mean size, coverage by size and empty sets are read off it.
//
// Sums are exact (sum.hpp): any order of rows, batches and merges gives the same bits. Memory
// grows with the largest set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calibrant/intervals/strata.hpp"
#include "calibrant/rows/set_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "calibrant/state/bytes.hpp"

namespace calibrant {

class PredictionSets {
public:
    static constexpr Kind kind = Kind::prediction_sets;
    static constexpr std::size_t most_levels = 4096;

    [[nodiscard]] PredictionSets empty() const { return {}; }

    // As RiskProfile::update. The first rows say how many levels there are.
    void update(const SetRows& rows, std::uint64_t rows_before, Poll poll);
    void merge(const PredictionSets& other);

    [[nodiscard]] std::uint64_t count() const { return n_; }
    [[nodiscard]] std::uint64_t omitted() const { return omitted_; }
    [[nodiscard]] std::size_t n_levels() const { return by_size_.size(); }
    // From the empty set to the largest that has weight.
    [[nodiscard]] const std::vector<Stratum>& by_size(std::size_t level) const {
        return by_size_[level];
    }

    // Throws InvalidInput where no row has weight.
    void require_weight() const;
    [[nodiscard]] Stratum total(std::size_t level) const;
    [[nodiscard]] double mean_size(std::size_t level) const;
    // Consecutive sizes pooled to equal-count groups, as coverage_by_width does it.
    [[nodiscard]] std::vector<Stratum> equal_count_groups(std::size_t level,
                                                          std::size_t n_groups) const;

    [[nodiscard]] std::string to_bytes() const;
    static PredictionSets from_bytes(std::string_view bytes);

private:
    friend class PredictionSetsWorker;

    std::uint64_t n_ = 0;
    std::uint64_t omitted_ = 0;
    std::vector<std::vector<Stratum>> by_size_;  // per level
};

// The coverage of each group (rows.groups, all below n_groups), for each level.
[[nodiscard]] std::vector<std::vector<Stratum>> coverage_by_group(const SetRows& rows,
                                                                  std::size_t n_groups, Poll poll);

}  // namespace calibrant
