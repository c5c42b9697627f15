#include "calibrant/calibration.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <optional>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "calibrant/double_double.hpp"
#include "register.hpp"
#include "register_accumulator.hpp"
#include "scored_inputs.hpp"

namespace calibrant::bindings {
namespace {

// The calibration error of each class against the rest. n_bins 0: the edges are given, else they
// are those of as many equal-count bins.
py::array_t<double> classwise_errors(const py::object& y_true, const py::object& y_proba,
                                     const py::object& sample_weight, bool omit_missing,
                                     const std::vector<double>& edges, std::size_t n_bins,
                                     std::int64_t norm, bool debiased) {
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    (void)scored(inputs, 0);  // refuses a y_proba of another shape
    const std::size_t classes = inputs.events().y_proba.width;
    std::vector<double> errors(classes);
    std::optional<Bins> fixed;
    if (n_bins == 0) fixed.emplace(edges);
    run_unlocked(inputs.n_values() * classes, [&] {
        for (std::size_t j = 0; j < classes; ++j) {
            const ScoredRows rows = scored(inputs, static_cast<std::int64_t>(j));
            Reliability table(fixed ? *fixed : Bins(equal_count_edges(rows, n_bins, poll_signals)));
            table.update(rows, 0, poll_signals);
            errors[j] = norm == 1   ? table.mean_gap()
                        : norm == 2 ? table.root_mean_square_gap(debiased)
                                    : table.largest_gap();
        }
    });
    return as_array(errors);
}

}  // namespace

void register_calibration(py::module_& m) {
    using namespace py::literals;
    m.attr("most_bins") = most_bins;
    m.attr("EITHER") = scoring_either;
    m.attr("BINARY") = scoring_binary;
    m.attr("TOP_LABEL") = scoring_top_label;
    m.def(
        "equal_width_edges",
        [](std::size_t n_bins) { return run_standard([&] { return equal_width_edges(n_bins); }); },
        "n_bins"_a);
    m.def(
        "equal_count_edges",
        [](const py::object& y_true, const py::object& y_proba, const py::object& sample_weight,
           bool omit_missing, std::int64_t scoring, std::size_t n_bins) {
            const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
            const ScoredRows rows = scored(inputs, scoring);
            std::vector<double> edges;
            run_unlocked(inputs.n_values(),
                         [&] { edges = equal_count_edges(rows, n_bins, poll_signals); });
            return edges;
        },
        "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a, "scoring"_a, "n_bins"_a);
    m.def("classwise_errors", &classwise_errors, "y_true"_a, "y_proba"_a, "sample_weight"_a,
          "omit_missing"_a, "edges"_a, "n_bins"_a, "norm"_a, "debiased"_a);
    register_accumulator<Reliability>(m, "Reliability", "Hits and scores per bin of scores.")
        .def(py::init([](std::vector<double> edges) {
                 return run_standard([&] { return Reliability(Bins(std::move(edges))); });
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
        .def("counts",
             [](const Reliability& self) {
                 py::array_t<std::uint64_t> out(static_cast<py::ssize_t>(self.table().size()));
                 std::uint64_t* at = out.mutable_data();
                 for (const Reliability::Bin& bin : self.table()) *at++ = bin.n;
                 return out;
             })
        .def("weights",
             [](const Reliability& self) {
                 return column_of(self, [](const auto& bin) { return bin.weight.to_double(); });
             })
        .def("hits",
             [](const Reliability& self) {
                 return column_of(self, [](const auto& bin) { return bin.hits.to_double(); });
             })
        .def("mean_scores",
             [](const Reliability& self) {
                 return column_of(self,
                                  [](const auto& bin) { return mean(bin.scores, bin.weight); });
             })
        .def("frequencies",
             [](const Reliability& self) {
                 return column_of(self, [](const auto& bin) { return mean(bin.hits, bin.weight); });
             })
        .def("mean_gap",
             [](const Reliability& self) { return run_standard([&] { return self.mean_gap(); }); })
        .def(
            "root_mean_square_gap",
            [](const Reliability& self, bool debiased) {
                return run_standard([&] { return self.root_mean_square_gap(debiased); });
            },
            "debiased"_a)
        .def("largest_gap", [](const Reliability& self) {
            return run_standard([&] { return self.largest_gap(); });
        });
}

}  // namespace calibrant::bindings
