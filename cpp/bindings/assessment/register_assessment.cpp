#include "calibrant/assessment/assessment.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cmath>
#include <limits>
#include <string>

#include "assessment/frequency_estimate.hpp"
#include "bindings/calibration/edges_of_rows.hpp"
#include "bindings/register.hpp"
#include "bindings/rows/arrays.hpp"
#include "bindings/rows/event_inputs.hpp"
#include "bindings/rows/scored_inputs.hpp"
#include "bindings/state/register_accumulator.hpp"
#include "calibrant/numeric/double_double.hpp"
#include "calibrant/rows/check.hpp"
#include "calibration/angle.hpp"

namespace calibrant::bindings {
namespace {

// What `of_class` may be besides a class.
constexpr std::int64_t all_pairs = -1;

ScoredRows paired(const EventInputs& inputs, std::int64_t of_class, double q_lim) {
    const Events& events = inputs.events();
    if (events.y_true == nullptr) throw py::type_error("y_true must be an array, got None");
    (void)named_profile(q_lim);  // rejects a bad one before anything is clipped
    if (of_class == all_pairs) return {events, Scoring::pairs, 0, q_lim};
    const auto chosen = static_cast<std::size_t>(of_class);
    if (chosen >= events.n_classes()) throw py::index_error("no such class");
    ScoredRows rows = rows_of_class(events, chosen);
    rows.q_lim = q_lim;
    return rows;
}

py::array_t<double> model_means(const Assessment& self, std::size_t index) {
    return column_of(self, [=](const Assessment::Bin& bin) {
        return bin.model.weight().is_zero() ? std::numeric_limits<double>::quiet_NaN()
                                            : bin.model.mean(index);
    });
}

// The share of each bin in the logarithm of the accuracy of all true pairs, those of `whole`.
py::array_t<double> contributions(const Assessment& self, const RiskProfile& whole) {
    return column_of(self, [&](const Assessment::Bin& bin) {
        return bin.model.weight().is_zero()
                   ? 0.0
                   : mean(bin.model.weight(), whole.weight()) * bin.model.log_mean(1);
    });
}

py::tuple source_as_tuple(Source source) {
    return py::make_tuple(std::move(source.profile), py::array_t<double>(py::cast(source.by_bin)));
}

Source sorted_frequency_estimate(const ScoredRows& rows, const Bins& bins, const RiskProfile& whole,
                                 const std::string& kind) {
    const SortedScores scores(rows, poll_signals);
    if (kind == "isotonic") return isotonic_frequency_estimate(scores, bins, whole, poll_signals);
    if (kind == "knn") return nearest_frequency_estimate(scores, bins, whole, poll_signals);
    return kernel_frequency_estimate(scores, bins, whole, poll_signals);
}

void register_pair_edges(py::module_& m, const char* name, EdgesOfRows function) {
    using namespace py::literals;
    m.def(
        name,
        [function](const py::object& y_true, const py::object& y_proba,
                   const py::object& sample_weight, bool omit_missing, std::int64_t of_class,
                   double q_lim, std::size_t n_bins) {
            const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
            const ScoredRows rows = paired(inputs, of_class, q_lim);
            std::vector<double> edges;
            without_gil(inputs.n_values(), [&] { edges = function(rows, n_bins, poll_signals); });
            return edges;
        },
        "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a, "of_class"_a, "q_lim"_a,
        "n_bins"_a);
}

}  // namespace

void register_assessment(py::module_& m) {
    using namespace py::literals;
    m.attr("ALL_PAIRS") = all_pairs;
    register_pair_edges(m, "equal_count_pair_edges", equal_count_edges);
    register_pair_edges(m, "clustered_pair_edges", clustered_edges);
    m.def("sorted_frequency_estimate",
          locked([](const py::object& y_true, const py::object& y_proba,
                    const py::object& sample_weight, bool omit_missing, std::int64_t of_class,
                    const Assessment& table, const RiskProfile& whole, const std::string& kind) {
              const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
              const ScoredRows rows = paired(inputs, of_class, table.q_lim());
              // Copies: others may update them meanwhile.
              // NOLINTBEGIN(performance-unnecessary-copy-initialization)
              const Bins bins = table.bins();
              const RiskProfile total = whole;
              // NOLINTEND(performance-unnecessary-copy-initialization)
              std::optional<Source> source;
              without_gil(inputs.n_values(),
                          [&] { source = sorted_frequency_estimate(rows, bins, total, kind); });
              return source_as_tuple(std::move(*source));
          }),
          "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a, "of_class"_a, "table"_a,
          "whole"_a, "kind"_a);
    m.def(
        "angle_deviation",
        [](const std::vector<double>& weights, const std::vector<double>& mean_scores,
           const std::vector<double>& true_weights, double model_spread, double level) {
            std::vector<AngleBin> bins;
            bins.reserve(weights.size());
            for (std::size_t k = 0; k < weights.size(); ++k) {
                bins.push_back({weights[k], mean_scores.at(k), true_weights.at(k)});
            }
            return with_ieee_environment(
                [&] { return angle_deviation(bins, model_spread, level); });
        },
        "weights"_a, "mean_scores"_a, "true_weights"_a, "model_spread"_a, "level"_a);
    register_accumulator<Assessment>(m, "Assessment", "The model against the source, by bin.")
        .def(py::init([](std::vector<double> edges, double q_lim, bool with_table) {
                 return with_ieee_environment(
                     [&] { return Assessment(Bins(std::move(edges)), q_lim, with_table); });
             }),
             "edges"_a, "q_lim"_a, "with_table"_a)
        .def(
            "update",
            [](Assessment& self, const py::object& y_true, const py::object& y_proba,
               const py::object& sample_weight, bool omit_missing, std::int64_t of_class) {
                const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
                const ScoredRows rows = paired(inputs, of_class, self.q_lim());
                const std::uint64_t rows_before = self.count() + self.omitted();
                update_aside(self, inputs.n_values(), [&](Assessment& batch) {
                    batch.update(rows, rows_before, poll_signals);
                });
            },
            "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a, "of_class"_a)
        .def_property_readonly("edges", [](const Assessment& self) { return self.bins().edges(); })
        .def_property_readonly("q_lim", &Assessment::q_lim)
        .def_property_readonly("rows", &Assessment::rows)
        .def_property_readonly("n_omitted", &Assessment::omitted)
        .def_property_readonly("scores_per_event", &Assessment::scores_per_event)
        .def("pairs",
             [](const Assessment& self) {
                 py::array_t<std::uint64_t> out(static_cast<py::ssize_t>(self.table().size()));
                 std::uint64_t* at = out.mutable_data();
                 for (const Assessment::Bin& bin : self.table()) *at++ = bin.n;
                 return out;
             })
        .def("true_pairs",
             [](const Assessment& self) {
                 py::array_t<std::uint64_t> out(static_cast<py::ssize_t>(self.table().size()));
                 std::uint64_t* at = out.mutable_data();
                 for (const Assessment::Bin& bin : self.table()) *at++ = bin.model.count();
                 return out;
             })
        .def("weights",
             [](const Assessment& self) {
                 return column_of(self, [](const auto& bin) { return bin.weight.to_double(); });
             })
        .def("true_weights",
             [](const Assessment& self) {
                 return column_of(self, [](const auto& bin) { return bin.model.weight_sum(); });
             })
        .def("mean_scores",
             [](const Assessment& self) {
                 return column_of(self,
                                  [](const auto& bin) { return mean(bin.scores, bin.weight); });
             })
        .def("frequencies",
             [](const Assessment& self) {
                 return column_of(
                     self, [](const auto& bin) { return mean(bin.model.weight(), bin.weight); });
             })
        .def("model_means", &model_means, "index"_a)
        .def("contributions", &contributions, "whole"_a)
        .def("model",
             [](const Assessment& self) {
                 return with_ieee_environment([&] { return self.model(); });
             })
        .def(
            "frequency_estimate_of_bins",
            [](const Assessment& self, const RiskProfile& whole) {
                return source_as_tuple(
                    with_ieee_environment([&] { return frequency_estimate_of_bins(self, whole); }));
            },
            "whole"_a)
        .def(
            "bayes_frequency_estimate",
            [](const Assessment& self, const RiskProfile& whole, std::size_t classes,
               double strength) {
                return source_as_tuple(with_ieee_environment(
                    [&] { return bayes_frequency_estimate(self, whole, classes, strength); }));
            },
            "whole"_a, "classes"_a, "strength"_a);
}

}  // namespace calibrant::bindings
