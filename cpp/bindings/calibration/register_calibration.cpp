#include "calibrant/calibration/calibration.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/calibration/edges_of_rows.hpp"
#include "bindings/calibration/reliability_bins.hpp"
#include "bindings/partition/group_inputs.hpp"
#include "bindings/register.hpp"
#include "bindings/rows/arrays.hpp"
#include "bindings/rows/scored_inputs.hpp"
#include "bindings/state/register_accumulator.hpp"
#include "calibrant/numeric/double_double.hpp"
#include "calibrant/rows/check.hpp"
#include "rows/scored_blocks.hpp"

namespace calibrant::bindings {
namespace {

GapNorm norm_of(std::int64_t norm) {
    if (norm == 1) return GapNorm::mean;
    return norm == 2 ? GapNorm::root_mean_square : GapNorm::largest;
}

// The calibration errors by predicted label: their mean, and that by the labels' weights. edges: of
// all labels or of each; n_bins 0: they are given, else they are those of as many equal-count bins
// of each label. labels: the label of each row, n_labels of them, where y_true says whether it is a
// hit and y_proba is its probability; None for those of the largest of k columns.
py::tuple label_errors_of(const py::object& y_true, const py::object& y_proba,
                          const py::object& sample_weight, bool omit_missing,
                          std::vector<std::vector<double>> edges, std::size_t n_bins,
                          bool clustered, std::int64_t norm, bool debiased,
                          const std::optional<Groups>& labels, std::size_t n_labels) {
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const ScoredRows rows = scored(inputs, labels ? scoring_binary : scoring_top_label);
    const std::int32_t* of_row = nullptr;
    if (labels) {
        of_row = group_codes(*labels, n_labels, rows.size(), "labels").of_row;
        const std::int32_t* const end = of_row + rows.size();
        if (omit_missing || std::any_of(of_row, end, [](std::int32_t j) { return j < 0; })) {
            throw py::index_error("rows with given labels cannot be left out");
        }
    }
    const PredictedLabels predicted(labels ? n_labels : inputs.events().y_proba.width, of_row);
    LabelErrors errors;
    without_gil(inputs.n_values(), [&] {
        if (n_bins != 0)
            edges = edges_of_labels(rows, predicted, n_bins, edges_by(clustered), poll_signals);
        std::vector<Bins> bins;
        bins.reserve(edges.size());
        for (std::vector<double>& of_label : edges) bins.emplace_back(std::move(of_label));
        if (bins.size() != 1 && bins.size() != predicted.size()) {
            throw InvalidInput("edges must be one list, or one for each label");
        }
        errors = label_errors(rows, predicted, bins, norm_of(norm), debiased, poll_signals);
    });
    return with_ieee_environment([&] { return py::make_tuple(errors.macro(), errors.weighted()); });
}

// The calibration error of each class against the rest. n_bins 0: the edges are given, else they
// are those of as many equal-count bins.
py::array_t<double> classwise_errors(const py::object& y_true, const py::object& y_proba,
                                     const py::object& sample_weight, bool omit_missing,
                                     const std::vector<double>& edges, std::size_t n_bins,
                                     bool clustered, std::int64_t norm, bool debiased) {
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    (void)scored(inputs, 0);  // rejects a y_proba of another shape
    const std::size_t classes = inputs.events().y_proba.width;
    std::vector<double> errors(classes);
    std::optional<Bins> fixed;
    if (n_bins == 0) fixed.emplace(edges);
    without_gil(inputs.n_values() * classes, [&] {
        for_each_class(
            inputs.events(), poll_signals, [&](std::size_t j, const ScoredRows& rows, Poll poll) {
                Reliability table(fixed ? *fixed : Bins(edges_by(clustered)(rows, n_bins, poll)));
                table.update(rows, 0, poll);
                errors[j] = table.error(norm_of(norm), debiased);
            });
    });
    return as_array(errors);
}

void register_edges(py::module_& m, const char* name, EdgesOfRows function) {
    using namespace py::literals;
    m.def(
        name,
        [function](const py::object& y_true, const py::object& y_proba,
                   const py::object& sample_weight, bool omit_missing, std::int64_t scoring,
                   std::size_t n_bins) {
            const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
            const ScoredRows rows = scored(inputs, scoring);
            std::vector<double> edges;
            without_gil(inputs.n_values(), [&] { edges = function(rows, n_bins, poll_signals); });
            return edges;
        },
        "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a, "scoring"_a, "n_bins"_a);
}

}  // namespace

py::tuple reliability_bins(const Reliability& self) {
    std::vector<std::int64_t> counts;
    for (const Reliability::Bin& bin : self.table()) {
        counts.push_back(static_cast<std::int64_t>(bin.n));
    }
    const auto column = [&](const auto& value) { return column_of(self, value); };
    return py::make_tuple(as_array(self.bins().edges()), as_array(counts),
                          column([](const auto& bin) { return bin.weight.to_double(); }),
                          column([](const auto& bin) { return bin.hits.to_double(); }),
                          column([](const auto& bin) { return mean(bin.scores, bin.weight); }),
                          column([](const auto& bin) { return mean(bin.hits, bin.weight); }),
                          self.count(), self.omitted());
}

void register_calibration(py::module_& m) {
    using namespace py::literals;
    m.attr("most_bins") = most_bins;
    m.attr("EITHER") = scoring_either;
    m.attr("BINARY") = scoring_binary;
    m.attr("TOP_LABEL") = scoring_top_label;
    m.def("positive_column", &positive_column, "y_proba"_a, "name"_a = "y_proba");
    m.def(
        "equal_width_edges",
        [](std::size_t n_bins) {
            return with_ieee_environment([&] { return equal_width_edges(n_bins); });
        },
        "n_bins"_a);
    register_edges(m, "equal_count_edges", equal_count_edges);
    register_edges(m, "clustered_edges", clustered_edges);
    m.def("classwise_errors", &classwise_errors, "y_true"_a, "y_proba"_a, "sample_weight"_a,
          "omit_missing"_a, "edges"_a, "n_bins"_a, "clustered"_a, "norm"_a, "debiased"_a);
    m.def("label_errors", &label_errors_of, "y_true"_a, "y_proba"_a, "sample_weight"_a,
          "omit_missing"_a, "edges"_a, "n_bins"_a, "clustered"_a, "norm"_a, "debiased"_a,
          "labels"_a, "n_labels"_a);
    register_accumulator<Reliability>(m, "Reliability", "Hits and scores per bin of scores.")
        .def(py::init([](std::vector<double> edges) {
                 return with_ieee_environment([&] { return Reliability(Bins(std::move(edges))); });
             }),
             "edges"_a)
        .def(
            "update",
            [](Reliability& self, const py::object& y_true, const py::object& y_proba,
               const py::object& sample_weight, bool omit_missing, std::int64_t scoring) {
                const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
                const ScoredRows rows = scored(inputs, scoring);
                const std::uint64_t rows_before = self.count() + self.omitted();
                update_aside(self, inputs.n_values(), [&](Reliability& batch) {
                    batch.update(rows, rows_before, poll_signals);
                });
            },
            "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a, "scoring"_a)
        .def_property_readonly("edges", [](const Reliability& self) { return self.bins().edges(); })
        .def_property_readonly("n_omitted", &Reliability::omitted)
        .def("bins", &reliability_bins)
        .def("mean_gap",
             [](const Reliability& self) {
                 return with_ieee_environment([&] { return self.mean_gap(); });
             })
        .def("mean_difference",
             [](const Reliability& self) {
                 return with_ieee_environment([&] { return self.mean_difference(); });
             })
        .def(
            "root_mean_square_gap",
            [](const Reliability& self, bool debiased) {
                return with_ieee_environment([&] { return self.root_mean_square_gap(debiased); });
            },
            "debiased"_a)
        .def("largest_gap", [](const Reliability& self) {
            return with_ieee_environment([&] { return self.largest_gap(); });
        });
}

}  // namespace calibrant::bindings
