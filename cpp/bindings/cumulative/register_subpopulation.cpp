#include "cumulative/subpopulation.hpp"

#include <pybind11/numpy.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bindings/cumulative/walk_results.hpp"
#include "bindings/partition/group_inputs.hpp"
#include "bindings/register.hpp"
#include "bindings/rows/scored_inputs.hpp"
#include "bindings/runtime/gil.hpp"
#include "ordering/grouped_scores.hpp"

namespace calibrant::bindings {
namespace {

// Per group; None where no row has weight.
py::list tests(const py::object& y_true, const py::object& y_proba, const py::object& sample_weight,
               bool omit_missing, std::int64_t scoring, const Groups& groups, std::size_t n_groups,
               const std::string& name) {
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const ScoredRows rows = scored(inputs, scoring);
    const GroupCodes codes = group_codes(groups, n_groups, rows.size(), name);
    std::uint64_t omitted = 0;
    const auto found = without_gil(inputs.n_values(), [&] {
        const GroupedScores scores(rows, codes, poll_signals);
        omitted = scores.omitted();
        return subpopulation_tests(scores, poll_signals);
    });
    py::list result;
    for (const SubpopulationTests& test : found) {
        if (!test.tested) {
            result.append(py::none());
            continue;
        }
        result.append(tests_as_tuple(test.ks, test.kuiper, test.sigma, test.n, omitted));
    }
    return result;
}

// Of group 0.
py::tuple subpopulation_curve(const py::object& y_true, const py::object& y_proba,
                              const py::object& sample_weight, bool omit_missing,
                              std::int64_t scoring, const Groups& groups) {
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const ScoredRows rows = scored(inputs, scoring);
    const GroupCodes codes = group_codes(groups, 1, rows.size(), "subset");
    const Differences result = without_gil(inputs.n_values(), [&] {
        return subpopulation_differences(GroupedScores(rows, codes, poll_signals), 0);
    });
    return as_tuple(result);
}

}  // namespace

void register_subpopulation(py::module_& m) {
    using namespace py::literals;
    m.def("subpopulation_tests", &tests, "y_true"_a, "y_proba"_a, "sample_weight"_a,
          "omit_missing"_a, "scoring"_a, "groups"_a.noconvert(), "n_groups"_a, "name"_a);
    m.def("subpopulation_differences", &subpopulation_curve, "y_true"_a, "y_proba"_a,
          "sample_weight"_a, "omit_missing"_a, "scoring"_a, "groups"_a.noconvert());
}

}  // namespace calibrant::bindings
