#include "calibrant/scores/decompositions.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/calibration/edges_of_rows.hpp"
#include "bindings/register.hpp"
#include "bindings/rows/scored_inputs.hpp"
#include "bindings/runtime/gil.hpp"
#include "calibration/isotonic.hpp"
#include "ordering/sorted_scores.hpp"
#include "rows/scored_blocks.hpp"

namespace calibrant::bindings {
namespace {

// The sum of part(rows, poll) over the classes of a matrix, each against the rest; or that of the
// positive class alone.
template <class Terms, class Part>
Terms over_classes(const EventInputs& inputs, const Part& part) {
    if (inputs.events().y_true == nullptr)
        throw py::type_error("y_true must be an array, got None");
    const Events& events = inputs.events();
    const std::size_t n_classes = events.is_matrix ? events.y_proba.width : 1;
    return without_gil(inputs.n_values() * n_classes, [&] {
        std::vector<Terms> of_each(n_classes);
        if (events.is_matrix) {
            for_each_class(events, poll_signals,
                           [&](std::size_t j, const ScoredRows& rows, Poll poll) {
                               of_each[j] = part(rows, poll);
                           });
        } else {
            of_each[0] = part(ScoredRows{events}, poll_signals);
        }
        Terms total;
        for (const Terms& terms : of_each) total.add(terms);
        return total;
    });
}

py::tuple brier_murphy(const py::object& y_true, const py::object& y_proba,
                       const py::object& sample_weight, bool omit_missing,
                       const std::optional<std::vector<double>>& edges, std::size_t n_bins,
                       bool clustered, bool bias_corrected) {
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const auto terms = over_classes<MurphyTerms>(inputs, [&](const ScoredRows& rows, Poll poll) {
        BrierBins bins(Bins(edges ? *edges : edges_by(clustered)(rows, n_bins, poll)));
        bins.update(rows, 0, poll);
        return murphy_terms(bins, bias_corrected);
    });
    return py::make_tuple(terms.reliability.high, terms.resolution.high, terms.uncertainty.high,
                          terms.variance.high, terms.covariance.high, terms.uncorrected_bins);
}

py::tuple brier_corp(const py::object& y_true, const py::object& y_proba,
                     const py::object& sample_weight, bool omit_missing) {
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const auto terms = over_classes<CorpTerms>(
        inputs, [](const ScoredRows& rows, Poll poll) { return corp_terms(rows, poll); });
    return py::make_tuple(terms.miscalibration.high, terms.discrimination.high,
                          terms.uncertainty.high);
}

py::tuple isotonic(const py::object& y_true, const py::object& y_proba,
                   const py::object& sample_weight, bool omit_missing, std::int64_t scoring) {
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const ScoredRows rows = scored(inputs, scoring);
    int unit = 0;
    std::vector<IsotonicBlock> blocks;
    without_gil(inputs.n_values(), [&] {
        const SortedScores sorted(rows, poll_signals);
        unit = sorted.unit_exponent();
        blocks = isotonic_blocks(sorted, poll_signals);
    });
    const auto column = [&](const auto& value) {
        py::array_t<double> out(static_cast<py::ssize_t>(blocks.size()));
        double* at = out.mutable_data();  // NOLINT(misc-const-correctness): it is written through
        for (const IsotonicBlock& block : blocks) *at++ = value(block);
        return out;
    };
    const auto weight = [&](UInt128 units) { return std::ldexp(static_cast<double>(units), unit); };
    return with_ieee_environment([&] {
        return py::make_tuple(column([](const auto& block) { return block.first; }),
                              column([](const auto& block) { return block.last; }),
                              column([&](const auto& block) { return weight(block.weight); }),
                              column([&](const auto& block) { return weight(block.hits); }));
    });
}

}  // namespace

void register_decompositions(py::module_& m) {
    using namespace py::literals;
    m.def("brier_murphy", &brier_murphy, "y_true"_a, "y_proba"_a, "sample_weight"_a,
          "omit_missing"_a, "edges"_a, "n_bins"_a, "clustered"_a, "bias_corrected"_a);
    m.def("brier_corp", &brier_corp, "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a);
    m.def("isotonic", &isotonic, "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a,
          "scoring"_a);
}

}  // namespace calibrant::bindings
