#include "partition/partitioned_intervals.hpp"

#include "ordering/grouped_scores.hpp"

namespace calibrant {
namespace {

std::vector<const Column*> columns_of(const IntervalRows& rows) {
    std::vector<const Column*> columns;
    if (rows.y_true != nullptr) columns.push_back(rows.y_true);
    for (std::size_t level = 0; level < rows.n_levels(); ++level) {
        columns.push_back(&rows.lower[level]);
        columns.push_back(&rows.upper[level]);
    }
    if (rows.sample_weight != nullptr) columns.push_back(rows.sample_weight);
    return columns;
}

// The double of a row and that of the next column are neighbours, as in an array of shape (n, 2).
bool are_neighbours(const Column& left, const Column& right) {
    const auto is_plain = [](const Column& column) {
        return column.dtype == Dtype::float64 && !column.swapped && column.validity == nullptr;
    };
    return is_plain(left) && is_plain(right) && left.stride == 2 * sizeof(double) &&
           right.stride == left.stride && right.data == left.data + sizeof(double);
}

}  // namespace

// Says where the values of rows are, as doubles.
class PartitionedIntervals::Reader {
public:
    static constexpr std::size_t most_rows = 128;

    explicit Reader(const IntervalRows& rows) {
        const std::vector<const Column*> columns = columns_of(rows);
        for (std::size_t k = 0; k < columns.size(); ++k) {
            const bool twins =
                k + 1 < columns.size() && are_neighbours(*columns[k], *columns[k + 1]);
            sources_.push_back({columns[k], twins, std::vector<double>(twins ? 0 : most_rows)});
            if (twins) ++k;
        }
    }

    [[nodiscard]] std::vector<std::size_t> value_bytes() const {
        std::vector<std::size_t> bytes;
        for (const Source& from : sources_) bytes.push_back((from.twins ? 2 : 1) * sizeof(double));
        return bytes;
    }

    [[nodiscard]] bool read(std::size_t row, std::size_t n, const std::byte** values) {
        for (Source& from : sources_) *values++ = from.read(row, n);
        return true;
    }

private:
    struct Source {
        const Column* column;
        bool twins;  // the column and its neighbour, as they lie
        std::vector<double> buffer;

        [[nodiscard]] const std::byte* read(std::size_t row, std::size_t n) {
            if (twins) return column->data + row * 2 * sizeof(double);
            const double* values = in_place(*column, row);
            if (values == nullptr) {
                load(*column, row, n, buffer.data());
                values = buffer.data();
            }
            return reinterpret_cast<const std::byte*>(values);
        }
    };
    std::vector<Source> sources_;
};

PartitionedIntervals::PartitionedIntervals(const IntervalRows& rows, const GroupCodes& groups,
                                           Poll poll)
    : rows_(rows),
      together_(groups, rows.size(), Reader(rows).value_bytes(), GroupPartition::most_at_once,
                poll) {
    together_.write_as(std::vector(columns_of(rows).size(), sizeof(double)));
    std::vector<Reader> team(together_.workers(), Reader(rows));
    (void)together_.read(
        Reader::most_rows, poll,
        [&](std::size_t worker, std::size_t row, std::size_t n, const std::byte** values) {
            return team[worker].read(row, n, values);
        });
}

PartitionedIntervals::Scratch::Scratch(const PartitionedIntervals& source, std::size_t rows)
    : rows_(source.rows_) {
    if (rows_.y_true != nullptr) {
        y_true_ = add_column(rows);
        rows_.y_true = &y_true_;
    }
    for (std::size_t level = 0; level < rows_.n_levels(); ++level) {
        rows_.lower[level] = add_column(rows);
        rows_.upper[level] = add_column(rows);
    }
    if (rows_.sample_weight != nullptr) {
        sample_weight_ = add_column(rows);
        rows_.sample_weight = &sample_weight_;
    }
}

Column PartitionedIntervals::Scratch::add_column(std::size_t rows) {
    double* const values = values_.emplace_back(rows).data();
    columns_.push_back(reinterpret_cast<std::byte*>(values));
    return side_by_side(values, rows, 1, Dtype::float64);
}

}  // namespace calibrant
