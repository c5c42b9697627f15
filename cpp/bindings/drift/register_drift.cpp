#include "calibrant/drift/drift.hpp"

#include <pybind11/stl.h>

#include <string>
#include <tuple>
#include <vector>

#include "bindings/register.hpp"
#include "bindings/runtime/critical_section.hpp"
#include "bindings/runtime/gil.hpp"

namespace calibrant::bindings {
namespace {

// (name, method, statistic, p-value, expected change, reach, reason, why there is no interval)
using Test =
    std::tuple<std::string, std::string, double, double, double, double, std::string, std::string>;

py::tuple tests_of(const DriftTests& found) {
    std::vector<Test> tests;
    tests.reserve(found.tests.size());
    for (const DriftTest& test : found.tests) {
        tests.emplace_back(test.name, test.method, test.statistic, test.pvalue, test.expected,
                           test.reach, test.reason, test.no_interval);
    }
    return py::make_tuple(tests, found.least_pvalue);
}

constexpr std::size_t work = 1'000'000;  // splits of cells: worth giving up the GIL

template <class State, class... Settings>
py::tuple tests_between(const State& reference, const State& current, Settings... settings) {
    // Copies: another thread may update them meanwhile.
    const State a = reference, b = current;  // NOLINT(performance-unnecessary-copy-initialization)
    return tests_of(
        without_gil(work, [&] { return drift_tests(a, b, settings..., poll_signals); }));
}

}  // namespace

void register_drift(py::module_& m) {
    using namespace py::literals;
    m.def("drift_tests", &tests_between<Scorecard, double>, "reference"_a, "current"_a,
          "confidence_level"_a);
    m.def("drift_tests", &tests_between<ScoreTable, std::size_t, double>, "reference"_a,
          "current"_a, "n_bins"_a, "confidence_level"_a);
    m.def("drift_tests", &tests_between<Reliability, double>, "reference"_a, "current"_a,
          "confidence_level"_a);
}

}  // namespace calibrant::bindings
