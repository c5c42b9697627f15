// ScoreSums of many groups, small enough to be filled in the order in which the rows come: of rows
// without weights a group takes 64 bytes, one line of the cache, since terms are multiples of a
// grid and their sums integers. Groups with weights, or of more rows than that has room for, have
// ScoreSums besides.
//
// The sums are the same as those of a ScoreSums for each group, to the last bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "calibrant/events.hpp"
#include "calibrant/grouped_scores.hpp"
#include "calibrant/large_pages.hpp"
#include "calibrant/parallel.hpp"
#include "calibrant/scores.hpp"

namespace calibrant {

class GroupedScoreSums {
public:
    // No groups yet, each to be as `parameters` without rows.
    explicit GroupedScoreSums(const ScoreSums& parameters) : parameters_(parameters.empty()) {}
    [[nodiscard]] GroupedScoreSums empty() const { return GroupedScoreSums(parameters_); }

    // Sets the groups of an empty one to those of the rows; events have labels. Rows in no group
    // are checked and left out. If a row is bad or the poll says stop, throws and leaves this
    // unspecified.
    void update(const Events& events, const GroupCodes& groups, std::uint64_t rows_before,
                Poll poll);
    // Adds group i of the other, which is not this, to group places[i] of this, which gets as many
    // groups as that takes; npos for a group without rows. All or nothing: throws InvalidInput if
    // the shapes of y_proba differ.
    void merge(const GroupedScoreSums& other, const std::vector<std::size_t>& places);
    void append(const ScoreSums& group);  // as the last one; throws if it does not fit

    [[nodiscard]] std::size_t size() const { return cells_.size(); }
    [[nodiscard]] ScoreSums group(std::size_t index) const;
    // Of each group; NaN where no row has weight.
    [[nodiscard]] std::vector<double> means(Score score) const;
    [[nodiscard]] std::vector<std::uint64_t> counts() const;
    [[nodiscard]] std::vector<std::uint64_t> omitted() const;

private:
    friend class GroupedScoreWorker;

    // The sum of a score is high 2^-high_bits + low 2^-low_bits, of its grid.
    struct alignas(64) Cell {
        std::int64_t high[n_scores] = {}, low[n_scores] = {};
        std::uint32_t n = 0, omitted = 0, zeros = 0;
        std::uint32_t ones = 0;  // rows of class 1

        void carry();                                 // from low to high, as much as there is
        [[nodiscard]] Int128 sum(Score score) const;  // in units of the finer grid
    };
    // The low part of a term is below 2^50 units, so that after so many rows it must be carried.
    static constexpr std::uint32_t rows_before_carry = std::uint32_t{1} << 13;
    // The high part is below 2^31 times the number of columns. Twice as many rows have room.
    [[nodiscard]] std::uint32_t most_rows() const {
        return std::uint32_t{1} << (columns_ <= 128 ? 23 : 11);
    }

    void set_columns(std::size_t columns);
    void add(const Cell& cell, const std::uint64_t* classes, std::size_t group);
    void make_room(std::size_t group);
    void spill(std::size_t group);
    void grow_to(std::size_t groups);
    [[nodiscard]] double mean(Score score, std::size_t group) const;
    [[nodiscard]] ScoreSums whole(const Cell& cell, const std::uint64_t* classes) const;
    [[nodiscard]] std::uint64_t* classes_of(std::size_t group) {
        return classes_.data() + group * n_classes_;
    }
    [[nodiscard]] const std::uint64_t* classes_of(std::size_t group) const {
        return classes_.data() + group * n_classes_;
    }

    ScoreSums parameters_;
    std::size_t columns_ = 0;    // as in ScoreSums
    std::size_t n_classes_ = 0;  // how many are counted in classes_: 0 for two classes
    std::vector<Cell, LargePages<Cell>> cells_;
    std::vector<std::uint64_t> classes_;  // rows by group and class, if there are more than two
    std::unordered_map<std::size_t, ScoreSums> besides_;
};

}  // namespace calibrant
