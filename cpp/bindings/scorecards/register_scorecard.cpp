#include "calibrant/numeric/tails.hpp"
#include "calibrant/rows/column.hpp"
#include "calibrant/scorecards/scorecard.hpp"
#include "scorecards/rank_metrics.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/partition/group_inputs.hpp"
#include "bindings/register.hpp"
#include "bindings/rows/event_inputs.hpp"
#include "bindings/rows/scored_inputs.hpp"
#include "bindings/state/register_accumulator.hpp"
#include "ordering/grouped_scores.hpp"

namespace calibrant::bindings {
namespace {

// (value, low, high, reason)
using Numbers = std::tuple<double, double, double, std::string>;

Numbers numbers_of(const Estimate& estimate) {
    return {estimate.value, estimate.low, estimate.high, estimate.reason};
}

// Reading takes some 400 replicates of every bin.
std::size_t work_of(const Scorecard& self) { return Scorecard::n_replicates * self.n_bins(); }

py::dict estimates(const Scorecard& self, double confidence_level, double normal_quantile) {
    const Scorecard card = self;  // another thread may update self meanwhile
    const auto found = without_gil(work_of(card), [&] {
        return card.estimates(confidence_level, normal_quantile, poll_signals);
    });
    py::dict result;
    for (const NamedEstimate& named : found) {
        result[named.name] = py::cast(numbers_of(named.estimate));
    }
    return result;
}

// The rows that need the order of scores; `reason` where the area is undefined, or its interval.
py::dict rank_metrics_dict(const RankMetrics& found, double normal_quantile) {
    const double none = RankMetrics::none;
    const auto between = [&](const Bounds& x) -> Numbers {
        const bool certain = x.low == x.high;
        return {x.value, certain ? none : x.low, certain ? none : x.high, ""};
    };
    // Smaller for larger metrics. The laws are good to 1e-15, so bounds are widened by more.
    const auto pvalue = [&](const Bounds& x, double (*law)(double)) -> Numbers {
        if (x.low == x.high) return {law(x.value), none, none, ""};
        return {law(x.value), law(x.high) * (1.0 - 0x1p-48),
                std::min(1.0, law(x.low) * (1.0 + 0x1p-48)), ""};
    };
    py::dict rows;
    rows["ks"] = between(found.ks);
    rows["ks_pvalue"] = pvalue(found.ks, brownian_sup_sf);
    rows["kuiper"] = between(found.kuiper);
    rows["kuiper_pvalue"] = pvalue(found.kuiper, brownian_range_sf);
    const Bounds area = found.area_interval(normal_quantile);
    std::string reason;
    rows["auc_is_exact"] = !(found.area.low < found.area.high);
    if (std::isnan(area.value)) {
        reason = "there are no pairs of a hit and a miss";
    } else if (std::isnan(area.low)) {
        reason = "too few events: an interval needs two hits and two misses, got " +
                 number_text(found.hits) + " and " + number_text(found.misses);
    }
    rows["auc"] = Numbers{area.value, area.low, area.high, reason};
    return rows;
}

py::dict rank_metrics_of_rows(const py::object& y_true, const py::object& y_proba,
                              const py::object& sample_weight, bool omit_missing,
                              double normal_quantile) {
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const ScoredRows rows = scored(inputs, scoring_either);
    const RankMetrics found =
        without_gil(inputs.n_values(), [&] { return rank_metrics(rows, poll_signals); });
    return with_ieee_environment([&] { return rank_metrics_dict(found, normal_quantile); });
}

py::list rank_metrics_of_groups(const py::object& y_true, const py::object& y_proba,
                                const py::object& sample_weight, bool omit_missing,
                                const Groups& groups, std::size_t n_groups,
                                double normal_quantile) {
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const ScoredRows rows = scored(inputs, scoring_either);
    const GroupCodes codes = group_codes(groups, n_groups, rows.size());
    const auto found = without_gil(inputs.n_values(), [&] {
        return rank_metrics(GroupedScores(rows, codes, poll_signals), poll_signals);
    });
    py::list result;
    for (const RankMetrics& group : found) {
        result.append(
            with_ieee_environment([&] { return rank_metrics_dict(group, normal_quantile); }));
    }
    return result;
}

std::vector<Scorecard> by_group(const Scorecard& parameters, const py::object& y_true,
                                const py::object& y_proba, const py::object& sample_weight,
                                bool omit_missing, const Groups& groups, std::size_t n_groups) {
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const GroupCodes codes = group_codes(groups, n_groups, inputs.events().size());
    const GroupedRows rows{inputs.events(), codes.of_row, n_groups};
    const Scorecard empty = parameters.empty();  // of its own: others may update them meanwhile
    return without_gil(inputs.n_values(),
                       [&] { return scorecards_by_group(empty, rows, poll_signals); });
}

}  // namespace

void register_scorecard(py::module_& m) {
    using namespace py::literals;
    register_accumulator<Scorecard>(m, "Scorecard", "All headline numbers of the same rows.")
        .def(py::init([](std::size_t n_bins, double q_lim, bool with_table) {
                 return with_ieee_environment([&] { return Scorecard(n_bins, q_lim, with_table); });
             }),
             "n_bins"_a, "q_lim"_a, "with_table"_a)
        .def(
            "update",
            [](Scorecard& self, const py::object& y_true, const py::object& y_proba,
               const py::object& sample_weight, bool omit_missing) {
                if (y_true.is_none()) throw py::type_error("y_true must be an array, got None");
                const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
                const std::uint64_t rows_before = self.count() + self.omitted();
                update_aside(self, inputs.n_values(), [&](Scorecard& batch) {
                    batch.update(inputs.events(), rows_before, poll_signals);
                });
            },
            "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a)
        .def("by_group", &by_group, "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a,
             "groups"_a.noconvert(), "n_groups"_a)
        .def_property_readonly("n_bins", &Scorecard::n_bins)
        .def_property_readonly("q_lim", &Scorecard::q_lim)
        .def_property_readonly("n_omitted", &Scorecard::omitted)
        .def_property_readonly("columns", &Scorecard::columns)
        .def_property_readonly("has_weight",
                               [](const Scorecard& self) { return !self.weight().is_zero(); })
        .def("require_weight", &Scorecard::require_weight)
        .def(
            "rank_metrics",
            [](const Scorecard& self, double normal_quantile) {
                return with_ieee_environment([&] {
                    return rank_metrics_dict(rank_metrics(self.table().value()), normal_quantile);
                });
            },
            "normal_quantile"_a)
        .def_property_readonly("has_table",
                               [](const Scorecard& self) { return self.table().has_value(); })
        .def("reliability",
             [](const Scorecard& self) {
                 return with_ieee_environment([&] { return self.reliability(); });
             })
        .def("table", [](const Scorecard& self) { return self.table().value(); })
        .def("estimates", &estimates, "confidence_level"_a, "normal_quantile"_a)
        .def(
            "class_frequencies",
            [](const Scorecard& self, double normal_quantile) {
                const auto found =
                    with_ieee_environment([&] { return self.class_frequencies(normal_quantile); });
                std::vector<Numbers> result;
                for (const Estimate& estimate : found) result.push_back(numbers_of(estimate));
                return result;
            },
            "normal_quantile"_a);
    m.def("rank_metrics", &rank_metrics_of_rows, "y_true"_a, "y_proba"_a, "sample_weight"_a,
          "omit_missing"_a, "normal_quantile"_a);
    m.def("rank_metrics_by_group", &rank_metrics_of_groups, "y_true"_a, "y_proba"_a,
          "sample_weight"_a, "omit_missing"_a, "groups"_a.noconvert(), "n_groups"_a,
          "normal_quantile"_a);
}

}  // namespace calibrant::bindings
