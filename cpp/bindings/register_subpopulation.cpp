#include "calibrant/subpopulation.hpp"

#include <pybind11/numpy.h>

#include <cstdint>
#include <string>
#include <vector>

#include "calibrant/tails.hpp"
#include "group_inputs.hpp"
#include "register.hpp"
#include "scored_inputs.hpp"
#include "unlocked.hpp"

namespace calibrant::bindings {
namespace {

// Per group (statistic, pvalue, log_pvalue) of KS and of Kuiper, sigma, n, n_omitted; None where
// no row has weight.
py::list tests(const py::object& y_true, const py::object& y_proba, const py::object& sample_weight,
               bool omit_missing, std::int64_t scoring, const Groups& groups, std::size_t n_groups,
               const std::string& name) {
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const ScoredRows rows = scored(inputs, scoring);
    const GroupCodes codes = group_codes(groups, n_groups, rows.size(), name);
    std::uint64_t omitted = 0;
    const auto found = run_unlocked(inputs.n_values(), [&] {
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
        result.append(run_standard([&] {
            return py::make_tuple(
                py::make_tuple(test.ks, brownian_sup_sf(test.ks), brownian_sup_log_sf(test.ks)),
                py::make_tuple(test.kuiper, brownian_range_sf(test.kuiper),
                               brownian_range_log_sf(test.kuiper)),
                test.sigma, test.n, omitted);
        }));
    }
    return result;
}

py::array_t<double> as_array(const std::vector<double>& values) {
    return py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data());
}

// Of group 0.
py::tuple differences(const py::object& y_true, const py::object& y_proba,
                      const py::object& sample_weight, bool omit_missing, std::int64_t scoring,
                      const Groups& groups) {
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const ScoredRows rows = scored(inputs, scoring);
    const GroupCodes codes = group_codes(groups, 1, rows.size(), "subset");
    const Differences result = run_unlocked(inputs.n_values(), [&] {
        return subpopulation_differences(GroupedScores(rows, codes, poll_signals), 0);
    });
    return py::make_tuple(as_array(result.fractions), as_array(result.scores),
                          as_array(result.values), result.sigma, result.n, result.omitted);
}

}  // namespace

void register_subpopulation(py::module_& m) {
    using namespace py::literals;
    m.def("subpopulation_tests", &tests, "y_true"_a, "y_proba"_a, "sample_weight"_a,
          "omit_missing"_a, "scoring"_a, "groups"_a.noconvert(), "n_groups"_a, "name"_a);
    m.def("subpopulation_differences", &differences, "y_true"_a, "y_proba"_a, "sample_weight"_a,
          "omit_missing"_a, "scoring"_a, "groups"_a.noconvert());
}

}  // namespace calibrant::bindings
