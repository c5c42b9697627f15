#include "calibrant/rows/interval_rows.hpp"

#include <cmath>
#include <string>

#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"
#include "rows/interval_blocks.hpp"

namespace calibrant {
namespace {

// Keeps the rows marked in `keep`, in order.
template <class Value>
void compact(Value* values, const bool* keep, std::size_t n) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
        values[kept] = values[i];
        kept += keep[i] ? 1 : 0;
    }
}

// "intervals[:, 1, 2]": where the user finds the column.
std::string bound_name(const IntervalRows& rows, std::size_t level, bool upper) {
    const std::string side = upper ? "1" : "0";
    const std::string of_level = std::to_string(level);
    if (rows.is_pair) {
        return "intervals[" + side + "]" + (rows.has_levels ? "[:, " + of_level + "]" : "");
    }
    return "intervals[:, " + side + (rows.has_levels ? ", " + of_level : "") + "]";
}

class RowChecker {
public:
    RowChecker(const IntervalRows& rows, Row where) : rows_(rows), where_(where) {}

    // Throws if the row cannot be used, unless it is one to be left out.
    void check() const {
        if (is_omitted()) return;
        const double y = rows_.y_true != nullptr ? finite("y_true", *rows_.y_true) : 0.0;
        for (std::size_t level = 0; level < rows_.n_levels(); ++level) {
            check_level(level, y);
        }
        if (rows_.sample_weight == nullptr) return;
        double weight = 0.0;
        load(*rows_.sample_weight, where_.row, 1, &weight);
        if (is_weight(weight)) return;
        reject_weight("sample_weight", weight, where_, rows_.sample_weight->dtype);
    }

private:
    [[nodiscard]] bool is_omitted() const {
        if (rows_.groups != nullptr && rows_.groups[where_.row] < 0) return true;
        if (!rows_.omit_missing) return false;
        bool missing = is_missing(rows_.y_true) || is_missing(rows_.sample_weight);
        for (std::size_t level = 0; level < rows_.n_levels(); ++level) {
            missing = missing || is_missing(&rows_.lower[level]) || is_missing(&rows_.upper[level]);
        }
        return missing;
    }

    [[nodiscard]] bool is_missing(const Column* column) const {
        double value = 0.0;
        if (column != nullptr) load(*column, where_.row, 1, &value);
        return std::isnan(value);
    }

    double finite(const std::string& name, const Column& column) const {
        double value = 0.0;
        load(column, where_.row, 1, &value);
        if (!std::isfinite(value)) reject_not_finite(name, value, where_, column.dtype);
        return value;
    }

    void check_level(std::size_t level, double y) const {
        const Column& lower_column = rows_.lower[level];
        double lower = finite(bound_name(rows_, level, false), lower_column);
        double upper = finite(bound_name(rows_, level, true), rows_.upper[level]);
        if (upper < lower && !rows_.swap_crossed) {
            const std::string at = rows_.has_levels ? " for level " + std::to_string(level) : "";
            throw InvalidInput("intervals must have lower <= upper, found lower " +
                               number_text(lower, lower_column.dtype) + " and upper " +
                               number_text(upper, rows_.upper[level].dtype) + " at " +
                               place_text(where_) + at +
                               "; pass crossed=\"swap\" to swap such bounds");
        }
        if (upper < lower) std::swap(lower, upper);
        if (std::isinf(upper - lower)) {
            reject(bound_name(rows_, level, true), "be less than 1.8e308 above the lower bound",
                   number_text(upper), where_);
        }
        if (rows_.y_true != nullptr && (std::isinf(y - lower) || std::isinf(y - upper))) {
            reject("y_true", "be less than 1.8e308 away from its interval", number_text(y), where_);
        }
    }

    const IntervalRows& rows_;
    Row where_;
};

}  // namespace

IntervalBlock::IntervalBlock(const IntervalRows& rows)
    : values_(2 * rows.n_levels() * block_rows) {}

bool IntervalBlock::load(const IntervalRows& rows, std::size_t begin, std::size_t count) {
    n_ = count;
    omitted_ = 0;
    if (rows.y_true != nullptr) calibrant::load(*rows.y_true, begin, count, y_true_);
    if (rows.sample_weight != nullptr) calibrant::load(*rows.sample_weight, begin, count, weight_);
    if (rows.groups != nullptr) std::copy_n(rows.groups + begin, count, group_);
    for (std::size_t level = 0; level < rows.n_levels(); ++level) {
        double* const bounds = &values_[2 * level * block_rows];
        calibrant::load(rows.lower[level], begin, count, bounds);
        calibrant::load(rows.upper[level], begin, count, bounds + block_rows);
    }
    if (rows.omit_missing || rows.groups != nullptr) drop_missing(rows);
    bool good = true;
    if (rows.sample_weight != nullptr) {
        for (std::size_t i = 0; i < n_; ++i) good = good && is_weight(weight_[i]);
    }
    for (std::size_t level = 0; good && level < rows.n_levels(); ++level) {
        double* const bounds = &values_[2 * level * block_rows];
        good = kernels().intervals(rows.y_true != nullptr ? y_true_ : nullptr, n_,
                                   rows.swap_crossed, bounds, bounds + block_rows);
    }
    return good;
}

void IntervalBlock::drop_missing(const IntervalRows& rows) {
    bool keep[block_rows];
    const std::size_t columns = 2 * rows.n_levels();
    for (std::size_t i = 0; i < n_; ++i) {
        keep[i] = rows.groups == nullptr || group_[i] >= 0;
        if (!rows.omit_missing) continue;
        keep[i] = keep[i] && !(rows.y_true != nullptr && std::isnan(y_true_[i]));
        keep[i] = keep[i] && !(rows.sample_weight != nullptr && std::isnan(weight_[i]));
        for (std::size_t j = 0; j < columns; ++j) {
            keep[i] = keep[i] && !std::isnan(values_[j * block_rows + i]);
        }
    }
    const auto kept = static_cast<std::size_t>(std::count(keep, keep + n_, true));
    if (kept == n_) return;
    if (rows.y_true != nullptr) compact(y_true_, keep, n_);
    if (rows.sample_weight != nullptr) compact(weight_, keep, n_);
    if (rows.groups != nullptr) compact(group_, keep, n_);
    for (std::size_t j = 0; j < columns; ++j) compact(&values_[j * block_rows], keep, n_);
    omitted_ = n_ - kept;
    n_ = kept;
}

void reject_intervals(const IntervalRows& rows, std::size_t begin, std::size_t end,
                      std::uint64_t rows_before) {
    for (std::size_t row = begin; row < end; ++row) {
        RowChecker(rows, {row, std::nullopt, rows_before}).check();
    }
    // Another thread has mended the row since it was found bad.
    throw InvalidInput("the arrays changed while they were being read");
}

}  // namespace calibrant
