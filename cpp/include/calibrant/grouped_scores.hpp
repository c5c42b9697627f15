// Scores of a population in ascending order, with the places of each group's rows among them: for
// what is asked of every group and needs order.
//
// Weights are counted as in sorted_scores.hpp. Cost: 34 bytes a row while sorting and 24
// afterwards, 8 more with weights; the time of one sort, however many groups there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "calibrant/parallel.hpp"
#include "calibrant/scored_rows.hpp"
#include "calibrant/sorted_scores.hpp"
#include "calibrant/sum.hpp"

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

    // Calls visit(sums, place) for each distinct score of a group in ascending order; the place is
    // that of one of its rows.
    template <class Visit>
    void for_each_score(std::size_t group, const Visit& visit) const;

private:
    struct RankedRow {
        ScoreKey key;
        std::uint64_t row;
    };
    // Sums of the rows before are kept for the first of so many.
    static constexpr std::size_t rows_per_mark = 64;

    [[nodiscard]] std::unique_ptr<RankedRow[]> read(const ScoredRows& rows,
                                                    const GroupCodes& groups, Poll poll);
    void find_places(const GroupCodes& groups, Poll poll);
    void add(Sums& sums, std::size_t place) const {
        const RankedRow& ranked = ranked_[place];
        const UInt128 units = weight_.empty() ? 1 : unit_.count(weight_[ranked.row]);
        sums.weight += units;
        sums.hits += ranked.key.hit() ? units : 0;
    }

    std::size_t size_ = 0;
    std::unique_ptr<RankedRow[]> ranked_;  // the population
    std::vector<double> weight_;           // of each row, where there are weights
    std::vector<Sums> marks_;
    std::vector<std::size_t> places_, ends_;  // of the rows of the groups, one after the other
    std::vector<std::uint64_t> rows_;         // of each group, weight 0 included
    WeightUnit unit_;
    std::uint64_t omitted_ = 0;
};

template <class Visit>
void GroupedScores::for_each_score(std::size_t group, const Visit& visit) const {
    std::size_t i = group == 0 ? 0 : ends_[group - 1];
    while (i < ends_[group]) {
        const std::size_t place = places_[i];
        Sums sums;
        for (; i < ends_[group] && score(places_[i]) == score(place); ++i) add(sums, places_[i]);
        if (sums.weight != 0) visit(sums, place);
    }
}

}  // namespace calibrant
