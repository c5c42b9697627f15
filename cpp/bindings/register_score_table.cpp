#include "calibrant/score_table.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <vector>

#include "arrays.hpp"
#include "calibrant/roc.hpp"
#include "calibrant/score_bounds.hpp"
#include "calibrant/source_bounds.hpp"
#include "event_inputs.hpp"
#include "register.hpp"
#include "register_accumulator.hpp"

namespace calibrant::bindings {
namespace {

py::dict as_dict(const ScoreBounds::Columns& columns) {
    using namespace py::literals;
    return py::dict("edges"_a = as_array(columns.edges), "counts"_a = as_array(columns.counts),
                    "weights"_a = as_array(columns.weights), "hits"_a = as_array(columns.hits),
                    "mean_scores"_a = as_array(columns.mean_scores),
                    "frequencies"_a = as_array(columns.frequencies));
}

py::tuple as_tuple(const Bounds& bounds) {
    return py::make_tuple(bounds.value, bounds.low, bounds.high);
}

void register_bounds(py::module_& m) {
    using namespace py::literals;
    py::class_<ScoreBounds>(m, "ScoreBounds", "Bins of a ScoreTable, with bounds.")
        .def("mean_gap",
             [](const ScoreBounds& self) {
                 return as_tuple(run_standard([&] { return self.mean_gap(); }));
             })
        .def("root_mean_square_gap",
             [](const ScoreBounds& self) {
                 return as_tuple(run_standard([&] { return self.root_mean_square_gap(); }));
             })
        .def("largest_gap",
             [](const ScoreBounds& self) {
                 return as_tuple(run_standard([&] { return self.largest_gap(); }));
             })
        .def(
            "source",
            [](const ScoreBounds& self, const RiskProfile& model) {
                SourceBounds source = run_standard([&] { return SourceBounds(self, model); });
                const auto& means = source.means;
                return py::make_tuple(std::move(source.likely), as_tuple(means[0]),
                                      as_tuple(means[1]), as_tuple(means[2]));
            },
            "model"_a)
        .def_property_readonly("certain", &ScoreBounds::certain)
        .def("likely", [](const ScoreBounds& self) { return Reliability(self.likely()); })
        .def("low", [](const ScoreBounds& self) { return as_dict(self.low()); })
        .def("high", [](const ScoreBounds& self) { return as_dict(self.high()); });
}

}  // namespace

void register_score_table(py::module_& m) {
    using namespace py::literals;
    register_bounds(m);
    m.attr("n_score_cells") = n_score_cells;
    register_accumulator<ScoreTable>(m, "ScoreTable", "Hits and scores per score cell.")
        .def(py::init<>())
        .def(
            "update",
            [](ScoreTable& self, const py::object& y_true, const py::object& y_proba,
               const py::object& sample_weight, bool omit_missing) {
                const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
                const Events& events = inputs.events();
                if (events.y_true == nullptr) {
                    throw py::type_error("y_true must be an array, got None");
                }
                const ScoredRows rows = binary_or_top_label(events);
                const std::uint64_t rows_before = self.count() + self.omitted();
                update_aside(self, inputs.n_values(), [&](ScoreTable& batch) {
                    batch.update(rows, rows_before, poll_signals);
                });
            },
            "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a)
        .def_property_readonly("n_omitted", &ScoreTable::omitted)
        .def_property_readonly("columns", &ScoreTable::columns)
        .def("model", &ScoreTable::model)
        .def("pairs",
             [](const ScoreTable& self) { return run_standard([&] { return self.pairs(); }); })
        .def_property_readonly("cells",
                               [](const ScoreTable& self) {
                                   const auto all = self.filled();
                                   return std::count_if(
                                       all.begin(), all.end(),
                                       [](const ScoreTable::Cell* cell) { return cell->n != 0; });
                               })
        .def("roc_auc",
             [](const ScoreTable& self) {
                 return as_tuple(run_standard([&] { return roc_auc(self); }));
             })
        .def(
            "equal_count",
            [](const ScoreTable& self, std::size_t n_bins, bool columns) {
                return run_standard(
                    [&] { return ScoreBounds::equal_count(self, n_bins, columns); });
            },
            "n_bins"_a, "columns"_a)
        .def(
            "between",
            [](const ScoreTable& self, std::vector<double> edges, bool columns) {
                const Bins bins(std::move(edges));
                return run_standard([&] { return ScoreBounds::between(self, bins, columns); });
            },
            "edges"_a, "columns"_a);
}

}  // namespace calibrant::bindings
