#include "calibrant/score_table/score_table.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "bindings/register.hpp"
#include "bindings/roc/roc_curves.hpp"
#include "bindings/rows/arrays.hpp"
#include "bindings/rows/event_inputs.hpp"
#include "bindings/state/register_accumulator.hpp"
#include "calibrant/score_table/score_bounds.hpp"
#include "kernels/score_cells.hpp"
#include "score_table/frequency_estimate_bounds.hpp"
#include "score_table/joint_test.hpp"

namespace calibrant::bindings {
namespace {

py::dict as_dict(const ScoreBounds::Columns& columns) {
    using namespace py::literals;
    return py::dict("edges"_a = as_array(columns.edges), "counts"_a = as_array(columns.counts),
                    "weights"_a = as_array(columns.weights), "hits"_a = as_array(columns.hits),
                    "mean_scores"_a = as_array(columns.mean_scores),
                    "frequencies"_a = as_array(columns.frequencies));
}

py::tuple bounds_as_tuple(const Bounds& bounds) {
    return py::make_tuple(bounds.value, bounds.low, bounds.high);
}

// NOLINTNEXTLINE(misc-const-correctness): of one signature with the others
void register_bounds(py::module_& m) {
    using namespace py::literals;
    py::class_<ScoreBounds>(m, "ScoreBounds", "Bins of a ScoreTable, with bounds.")
        .def("mean_gap",
             [](const ScoreBounds& self) {
                 return bounds_as_tuple(with_ieee_environment([&] { return self.mean_gap(); }));
             })
        .def("root_mean_square_gap",
             [](const ScoreBounds& self) {
                 return bounds_as_tuple(
                     with_ieee_environment([&] { return self.root_mean_square_gap(); }));
             })
        .def("largest_gap",
             [](const ScoreBounds& self) {
                 return bounds_as_tuple(with_ieee_environment([&] { return self.largest_gap(); }));
             })
        .def(
            "source",
            [](const ScoreBounds& self, const RiskProfile& model, std::uint64_t classes) {
                SourceBounds source = with_ieee_environment(
                    [&] { return SourceBounds(self, model, static_cast<double>(classes)); });
                const auto& means = source.means;
                return py::make_tuple(std::move(source.likely), bounds_as_tuple(means[0]),
                                      bounds_as_tuple(means[1]), bounds_as_tuple(means[2]));
            },
            "model"_a, "classes"_a)
        .def_property_readonly("certain", &ScoreBounds::certain)
        .def("likely", [](const ScoreBounds& self) { return Reliability(self.likely()); })
        .def("low", [](const ScoreBounds& self) { return as_dict(self.low()); })
        .def("high", [](const ScoreBounds& self) { return as_dict(self.high()); });
}

}  // namespace

void register_score_table(py::module_& m) {
    using namespace py::literals;
    register_bounds(m);
    py::class_<JointTest> test(m, "JointTest", "Spiegelhalter's test and the KS test together.");
    test.def_readonly("weight", &JointTest::weight)
        .def_readonly("hits", &JointTest::hits)
        .def_readonly("expected", &JointTest::expected)
        .def_readonly("variance", &JointTest::variance)
        .def_readonly("spiegelhalter", &JointTest::spiegelhalter)
        .def_readonly("spiegelhalter_pvalue", &JointTest::spiegelhalter_pvalue)
        .def_readonly("ks", &JointTest::ks)
        .def_readonly("ks_pvalue", &JointTest::ks_pvalue)
        .def_readonly("pvalue", &JointTest::pvalue)
        .def_readonly("least_pvalue", &JointTest::least_pvalue)
        .def_readonly("impossible", &JointTest::impossible)
        .def_property_readonly("groups", [](const JointTest& self) {
            std::vector<std::tuple<double, double, double>> groups;
            groups.reserve(self.groups.size());
            for (const JointTest::Group& group : self.groups) {
                groups.emplace_back(group.weight, group.score, group.frequency);
            }
            return groups;
        });
    m.def("table_roc_curve",
          locked([](const ScoreTable& table, std::optional<std::size_t> max_points) {
              return as_dict(with_ieee_environment(
                  [&] { return roc_curve(table, max_points.value_or(npos)); }));
          }),
          "table"_a, "max_points"_a);
    m.def("joint_test", locked([](const ScoreTable& table) {
              return with_ieee_environment([&] { return joint_test(table); });
          }),
          "table"_a);
    m.attr("n_score_cells") = n_score_cells;
    register_accumulator<ScoreTable>(m, "ScoreTable", "Hits and scores per score cell.")
        .def(py::init<>())
        .def_static(
            "of_all_pairs",
            [](double q_lim) {
                return with_ieee_environment([&] { return ScoreTable::of_all_pairs(q_lim); });
            },
            "q_lim"_a)
        .def_property_readonly("of_pairs", &ScoreTable::of_pairs)
        .def_property_readonly("scores_per_event", &ScoreTable::scores_per_event)
        .def_property_readonly("q_lim", &ScoreTable::q_lim)
        .def(
            "update",
            [](ScoreTable& self, const py::object& y_true, const py::object& y_proba,
               const py::object& sample_weight, bool omit_missing) {
                const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
                const Events& events = inputs.events();
                if (events.y_true == nullptr) {
                    throw py::type_error("y_true must be an array, got None");
                }
                const ScoredRows rows = self.rows_of(events);
                const std::uint64_t rows_before = self.count() + self.omitted();
                update_aside(self, inputs.n_values(), [&](ScoreTable& batch) {
                    batch.update(rows, rows_before, poll_signals);
                });
            },
            "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a)
        .def_property_readonly("n_omitted", &ScoreTable::omitted)
        .def_property_readonly("columns", &ScoreTable::columns)
        .def("model", &ScoreTable::model)
        .def("hit_cells",
             [](const ScoreTable& self) {
                 const auto found = with_ieee_environment([&] { return self.hit_cells(); });
                 return py::make_tuple(as_array(found.weights), as_array(found.means),
                                       as_array(found.least), as_array(found.greatest));
             })
        .def("pairs",
             [](const ScoreTable& self) {
                 return with_ieee_environment([&] { return self.pairs(); });
             })
        .def_property_readonly("cells",
                               [](const ScoreTable& self) {
                                   std::size_t count = 0;
                                   const ScoreTable::Cell* last = nullptr;
                                   for (const ScoreTable::Cell* cell : self.filled()) {
                                       if (cell->n == 0) continue;
                                       count += last == nullptr || cell->cell != last->cell;
                                       last = cell;
                                   }
                                   return count;
                               })
        .def_property_readonly("lists_scores", &ScoreTable::lists_scores)
        .def("roc_auc",
             [](const ScoreTable& self) {
                 return bounds_as_tuple(with_ieee_environment([&] { return roc_auc(self); }));
             })
        .def(
            "equal_count",
            [](const ScoreTable& self, std::size_t n_bins, bool columns) {
                return with_ieee_environment(
                    [&] { return ScoreBounds::equal_count(self, n_bins, columns); });
            },
            "n_bins"_a, "columns"_a)
        .def(
            "between",
            [](const ScoreTable& self, std::vector<double> edges, bool columns) {
                const Bins bins(std::move(edges));
                return with_ieee_environment(
                    [&] { return ScoreBounds::between(self, bins, columns); });
            },
            "edges"_a, "columns"_a);
}

}  // namespace calibrant::bindings
