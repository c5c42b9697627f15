// Interval rows brought together by group (group_partition.hpp), as doubles. They are not checked
// before they are taken in.
#pragma once

#include <cstddef>
#include <vector>

#include "calibrant/rows/interval_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "ordering/grouped_scores.hpp"
#include "partition/group_partition.hpp"
#include "partition/group_runs.hpp"
#include "runtime/large_pages.hpp"

namespace calibrant {

class PartitionedIntervals {
public:
    // The rows have no groups of their own, and must outlive this.
    PartitionedIntervals(const IntervalRows& rows, const GroupCodes& groups, Poll poll);

    [[nodiscard]] const GroupPartition& together() const { return together_; }

    // Room for rows, and interval rows that are those.
    class Scratch {
    public:
        Scratch(const PartitionedIntervals& source, std::size_t rows);
        Scratch(const Scratch&) = delete;  // the rows point into it
        Scratch& operator=(const Scratch&) = delete;
        ~Scratch() = default;
        [[nodiscard]] const std::vector<std::byte*>& columns() const { return columns_; }
        [[nodiscard]] const IntervalRows& rows() const { return rows_; }

    private:
        [[nodiscard]] Column add_column(std::size_t rows);

        std::vector<LargeArray<double>> values_;
        std::vector<std::byte*> columns_;
        Column y_true_, sample_weight_;
        IntervalRows rows_;
    };

private:
    class Reader;

    const IntervalRows& rows_;
    GroupPartition together_;
};

}  // namespace calibrant
