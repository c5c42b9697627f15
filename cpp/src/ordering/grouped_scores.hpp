// Scores of a population in ascending order, with the places of each group's rows among them: for
// what is asked of every group and needs order.
//
// Weights are counted as in sorted_scores.hpp. Cost: 34 bytes a row while sorting and afterwards,
// 8 more with weights; the time of one sort, however many groups there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/scored_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "ordering/sorted_scores.hpp"
#include "runtime/large_pages.hpp"

namespace calibrant {

// Of each row: its group, in [0, size); `in_none`: it belongs to the population only; `left_out`:
// not even to that, and it is counted as omitted.
struct GroupCodes {
    static constexpr std::int32_t in_none = -1, left_out = -2;

    const std::int32_t* of_row;
    std::size_t size;
};

class GroupedScores {
public:
    struct Sums {
        UInt128 weight = 0, hits = 0;  // in units
    };

    // Throws as for_each_chunk does, and InvalidInput at a bad row. Rows are not pairs.
    GroupedScores(const ScoredRows& rows, const GroupCodes& groups, Poll poll);

    [[nodiscard]] std::size_t groups() const { return ends_.size(); }
    [[nodiscard]] std::size_t population() const { return size_; }  // rows with weight
    [[nodiscard]] std::uint64_t omitted() const { return omitted_; }
    [[nodiscard]] std::uint64_t rows_of(std::size_t group) const { return rows_[group]; }
    [[nodiscard]] int unit_exponent() const { return unit_.exponent(); }

    // Of the row at a place of the population.
    [[nodiscard]] double score(std::size_t place) const { return ranked_[place].key.score(); }
    // Of the rows before a place.
    [[nodiscard]] Sums below(std::size_t place) const;

    // The rows of a group are [begin(group), end(group)) of all that are in groups.
    [[nodiscard]] std::size_t begin(std::size_t group) const {
        return group == 0 ? 0 : ends_[group - 1];
    }
    [[nodiscard]] std::size_t end(std::size_t group) const { return ends_[group]; }
    [[nodiscard]] std::size_t place(std::size_t member) const { return members_[member].place; }
    // The sums of those that have the same score as `member`, which moves on to the next score.
    [[nodiscard]] Sums next_score(std::size_t& member, std::size_t end) const;

    // Calls visit(score, sums) for each distinct score of a group in ascending order.
    template <class Visit>
    void for_each_score(std::size_t group, const Visit& visit) const;

private:
    // Only rows with weights need to be found again; of others their group is kept.
    struct RankedRow {
        ScoreKey key;
        std::uint64_t row_or_group;
    };
    struct Member {
        ScoreKey key;
        std::size_t place;
    };
    // Sums of the rows before are kept for the first of so many.
    static constexpr std::size_t rows_per_mark = 16;

    [[nodiscard]] LargeArray<RankedRow> read(const ScoredRows& rows, const GroupCodes& groups,
                                             Poll poll);
    void mark(Poll poll);
    void find_members(const GroupCodes& groups, Poll poll);
    void add(std::size_t place, Sums& sums) const {
        const UInt128 row = units(place);
        sums.weight += row;
        sums.hits += ranked_[place].key.hit() ? row : 0;
    }
    [[nodiscard]] UInt128 units(std::size_t place) const {
        return weight_.empty() ? 1 : unit_.count(weight_[ranked_[place].row_or_group]);
    }

    std::size_t size_ = 0;
    LargeArray<RankedRow> ranked_;  // the population
    std::vector<double> weight_;    // of each row, where there are weights
    std::vector<Sums> marks_;
    LargeArray<Member> members_;       // of the groups, one after the other
    std::vector<std::size_t> ends_;    // of each group's
    std::vector<std::uint64_t> rows_;  // of each group, weight 0 included
    WeightUnit unit_;
    std::uint64_t omitted_ = 0;
};

inline GroupedScores::Sums GroupedScores::next_score(std::size_t& member, std::size_t end) const {
    const double score = members_[member].key.score();
    Sums sums;
    for (; member < end && members_[member].key.score() == score; ++member) {
        const UInt128 row = units(members_[member].place);
        sums.weight += row;
        sums.hits += members_[member].key.hit() ? row : 0;
    }
    return sums;
}

template <class Visit>
void GroupedScores::for_each_score(std::size_t group, const Visit& visit) const {
    for (std::size_t member = begin(group); member < end(group);) {
        const double score = members_[member].key.score();
        const Sums sums = next_score(member, end(group));
        if (sums.weight != 0) visit(score, sums);
    }
}

}  // namespace calibrant
