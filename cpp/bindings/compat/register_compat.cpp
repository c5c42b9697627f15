#include <pybind11/numpy.h>

#include <algorithm>
#include <cstdint>

#include "bindings/register.hpp"
#include "bindings/runtime/gil.hpp"
#include "calibrant/rows/check.hpp"
#include "compat/compat.hpp"
#include "compat/plain_sums.hpp"

namespace calibrant::bindings {
namespace {

namespace py = pybind11;
using Doubles = py::array_t<double, py::array::c_style>;
using Labels = py::array_t<std::uint8_t, py::array::c_style>;
using Words = py::array_t<std::uint64_t, py::array::c_style>;

std::size_t size_of(const py::array& array) { return static_cast<std::size_t>(array.size()); }

void check_same_length(const py::array& a, const py::array& b) {
    if (a.ndim() != 1 || b.ndim() != 1 || a.size() != b.size() || a.size() == 0) {
        throw InvalidInput("arrays must be vectors of one length, and not empty");
    }
}

Strided strided(const py::array_t<double>& array) {
    if (array.strides(0) % static_cast<py::ssize_t>(sizeof(double)) != 0) {
        throw InvalidInput("values must lie whole numbers of values apart");
    }
    return {array.data(), array.strides(0) / static_cast<py::ssize_t>(sizeof(double))};
}

// Of labels of shape (n,) and sets of shape (n, k); None if a label is not one of 0 to k - 1.
py::object set_hits_of(const py::array_t<std::int64_t>& label, const py::array_t<bool>& sets) {
    if (label.ndim() != 1 || sets.ndim() != 2 || label.size() == 0 ||
        label.shape(0) != sets.shape(0)) {
        throw InvalidInput("label and sets must have shapes (n,) and (n, k), n > 0");
    }
    const SetTable table{reinterpret_cast<const std::uint8_t*>(sets.data()),
                         static_cast<std::size_t>(sets.shape(1)), sets.strides(0), sets.strides(1)};
    constexpr auto size = static_cast<py::ssize_t>(sizeof(std::int64_t));
    if (label.strides(0) % size != 0) {
        throw InvalidInput("labels must lie whole numbers of labels apart");
    }
    std::uint64_t hits = 0;
    const bool known = without_gil(size_of(label), [&] {
        return set_hits(label.data(), label.strides(0) / size, table, size_of(label), poll_signals,
                        &hits);
    });
    return known ? py::object(py::int_(hits)) : py::none();
}

}  // namespace

void register_compat(py::module_& m) {
    using namespace py::literals;
    m.def(
        "walk_range",
        [](const Labels& labels, const Doubles& scores) {
            check_same_length(labels, scores);
            const WalkRange range = without_gil(size_of(scores), [&] {
                return walk_range(labels.data(), scores.data(), size_of(scores), poll_signals);
            });
            return py::make_tuple(range.highest, range.lowest, range.depends_on_ties);
        },
        "labels"_a.noconvert(), "scores"_a.noconvert());
    m.def(
        "sort_labelled",
        [](const Labels& labels, const Doubles& scores) {
            check_same_length(labels, scores);
            Labels sorted_labels(labels.size());
            Doubles sorted_scores(scores.size());
            std::uint8_t* const to_labels = sorted_labels.mutable_data();
            double* const to_scores = sorted_scores.mutable_data();
            const Sorted sorted = without_gil(size_of(scores), [&] {
                return sort_labelled(labels.data(), scores.data(), size_of(scores), to_labels,
                                     to_scores, poll_signals);
            });
            return py::make_tuple(sorted_labels, sorted_scores, sorted != Sorted::fully);
        },
        "labels"_a.noconvert(), "scores"_a.noconvert());
    m.def(
        "sort_pairs",
        [](const Doubles& keys, const Words& values) {
            check_same_length(keys, values);
            Doubles sorted_keys(keys.size());
            Words sorted_values(values.size());
            double* const to_keys = sorted_keys.mutable_data();
            std::uint64_t* const to_values = sorted_values.mutable_data();
            const Sorted sorted = without_gil(size_of(keys), [&] {
                return sort_pairs(keys.data(), values.data(), size_of(keys), to_keys, to_values,
                                  poll_signals);
            });
            return py::make_tuple(sorted_keys, sorted_values, sorted != Sorted::fully);
        },
        "keys"_a.noconvert(), "values"_a.noconvert());
    m.def(
        "cumulative_walk",
        [](const Labels& labels, const Doubles& scores) {
            check_same_length(labels, scores);
            Doubles walk(scores.size());
            double* const to = walk.mutable_data();
            without_gil(size_of(scores), [&] {
                cumulative_walk(labels.data(), scores.data(), size_of(scores), to, poll_signals);
            });
            return walk;
        },
        "labels"_a.noconvert(), "scores"_a.noconvert());
    m.def(
        "mean_accuracy",
        [](const Labels& labels) {
            check_same_length(labels, labels);
            return without_gil(size_of(labels), [&] {
                return mean_accuracy(labels.data(), size_of(labels), poll_signals);
            });
        },
        "labels"_a.noconvert());
    m.def(
        "curve_up_to",
        [](const Labels& labels, const Doubles& scores, double most_false) {
            check_same_length(labels, scores);
            const CurveEnd end = without_gil(size_of(scores), [&] {
                return curve_up_to(labels.data(), scores.data(), size_of(scores), most_false,
                                   poll_signals);
            });
            return py::make_tuple(end.false_positives, end.true_positives, end.next_false,
                                  end.next_true, end.twice_area);
        },
        "labels"_a.noconvert(), "scores"_a.noconvert(), "most_false"_a);
    m.def(
        "same_text",
        [](const Labels& rows, const Labels& text) {
            if (rows.ndim() != 2 || text.ndim() != 1 || rows.shape(1) != text.size()) {
                throw InvalidInput("rows must have shape (n, width), text (width,)");
            }
            py::array_t<bool> same(rows.shape(0));
            auto* const to = reinterpret_cast<std::uint8_t*>(same.mutable_data());
            const auto n = static_cast<std::size_t>(rows.shape(0));
            without_gil(n, [&] {
                same_text(rows.data(), n, size_of(text), text.data(), to, poll_signals);
            });
            return same;
        },
        "rows"_a.noconvert(), "text"_a.noconvert());
    m.def(
        "worst_slab",
        [](const Labels& covered, std::size_t least_rows, std::uint64_t hits, std::uint64_t rows) {
            if (covered.ndim() != 2 || least_rows == 0 || hits > rows || rows == 0 ||
                std::max(rows, static_cast<std::uint64_t>(covered.shape(1))) >= 1ULL << 31) {
                throw InvalidInput("covered must have shape (slabs, n), n < 2^31");
            }
            const auto slabs = static_cast<std::size_t>(covered.shape(0));
            const auto n = static_cast<std::size_t>(covered.shape(1));
            const SlabMean mean = without_gil(slabs * n, [&] {
                return worst_slab(covered.data(), slabs, n, least_rows, {hits, rows}, poll_signals);
            });
            return py::make_tuple(mean.hits, mean.rows);
        },
        "covered"_a.noconvert(), "least_rows"_a, "hits"_a, "rows"_a);
    m.def(
        "interval_totals",
        [](const py::array_t<double>& y, const py::array_t<double>& lower,
           const py::array_t<double>& upper) {
            check_same_length(y, lower);
            check_same_length(y, upper);
            const Strided values = strided(y), low = strided(lower), high = strided(upper);
            const IntervalTotals total = without_gil(size_of(y), [&] {
                return interval_totals(values, low, high, size_of(y), poll_signals);
            });
            return py::make_tuple(total.covered, total.width, total.excess, total.least_y,
                                  total.largest_y, total.finite);
        },
        "y"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert());
    m.def(
        "interval_hits",
        [](const py::array_t<double>& y, const py::array_t<double>& lower,
           const py::array_t<double>& upper) {
            check_same_length(y, lower);
            check_same_length(y, upper);
            const Strided values = strided(y), low = strided(lower), high = strided(upper);
            const IntervalHits hits = without_gil(size_of(y), [&] {
                return interval_hits(values, low, high, size_of(y), poll_signals);
            });
            return py::make_tuple(hits.covered, hits.finite);
        },
        "y"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert());
    m.def(
        "interval_widths",
        [](const py::array_t<double>& lower, const py::array_t<double>& upper) {
            check_same_length(lower, upper);
            const Strided low = strided(lower), high = strided(upper);
            return without_gil(size_of(lower), [&] {
                return interval_widths(low, high, size_of(lower), poll_signals);
            });
        },
        "lower"_a.noconvert(), "upper"_a.noconvert());
    m.def(
        "score_variance",
        [](const py::array_t<double>& s) {
            check_same_length(s, s);
            const Strided values = strided(s);
            return without_gil(size_of(s),
                               [&] { return score_variance(values, size_of(s), poll_signals); });
        },
        "s"_a.noconvert());
    m.def("set_hits", set_hits_of, "label"_a.noconvert(), "sets"_a.noconvert());
    m.def(
        "largest_columns",
        [](const Doubles& matrix) {
            if (matrix.ndim() != 2 || matrix.shape(1) == 0) {
                throw InvalidInput("matrix must have shape (n, k), k > 0");
            }
            const auto n = static_cast<std::size_t>(matrix.shape(0));
            const auto k = static_cast<std::size_t>(matrix.shape(1));
            py::array_t<std::int64_t> column(matrix.shape(0));
            Doubles value(matrix.shape(0));
            std::int64_t* const to_column = column.mutable_data();
            double* const to_value = value.mutable_data();
            const bool clean = without_gil(n * k, [&] {
                return largest_columns(matrix.data(), n, k, to_column, to_value, poll_signals);
            });
            return py::make_tuple(column, value, clean);
        },
        "matrix"_a.noconvert());
}

}  // namespace calibrant::bindings
