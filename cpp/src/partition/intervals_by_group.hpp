// Interval rows brought together by group (rows_together.hpp), as doubles. They are not checked
// before they are taken in.
#pragma once

#include <cstddef>
#include <vector>

#include "calibrant/ordering/grouped_scores.hpp"
#include "calibrant/partition/group_runs.hpp"
#include "calibrant/partition/rows_together.hpp"
#include "calibrant/rows/interval_rows.hpp"
#include "calibrant/runtime/large_pages.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

class IntervalsByGroup {
public:
    // The rows have no groups of their own, and must outlive this.
    IntervalsByGroup(const IntervalRows& rows, const GroupCodes& groups, Poll poll);

    [[nodiscard]] const RowsTogether& together() const { return together_; }

    // Room for rows, and interval rows that are those.
    class Memory {
    public:
        Memory(const IntervalsByGroup& source, std::size_t rows);
        Memory(const Memory&) = delete;  // the rows point into it
        Memory& operator=(const Memory&) = delete;
        ~Memory() = default;
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
    RowsTogether together_;
};

}  // namespace calibrant
