#include <utility>

#include "bindings/cumulative/walk_results.hpp"
#include "bindings/register.hpp"
#include "bindings/rows/scored_inputs.hpp"
#include "bindings/runtime/critical_section.hpp"
#include "bindings/runtime/gil.hpp"
#include "calibrant/cumulative/cumulative.hpp"
#include "cumulative/simulated_tests.hpp"
#include "ordering/concordance.hpp"
#include "ordering/grouped_scores.hpp"
#include "rows/workers.hpp"
#include "score_table/score_walk.hpp"

namespace calibrant::bindings {
namespace {

using TestsOfRows = WalkTests (*)(const ScoredRows&, Poll);

void register_walk_tests(py::module_& m, const char* name, TestsOfRows function) {
    using namespace py::literals;
    m.def(
        name,
        [function](const py::object& y_true, const py::object& y_proba,
                   const py::object& sample_weight, bool omit_missing, std::int64_t scoring) {
            const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
            const ScoredRows rows = scored(inputs, scoring);
            WalkTests tests;
            without_gil(inputs.n_values(), [&] { tests = function(rows, poll_signals); });
            return as_tuple(tests);
        },
        "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a, "scoring"_a);
}

// The same with p-values from simulations.
py::tuple simulated_tests(const py::object& y_true, const py::object& y_proba,
                          const py::object& sample_weight, bool omit_missing, std::int64_t scoring,
                          std::uint32_t n_simulations, std::uint64_t seed) {
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const ScoredRows rows = scored(inputs, scoring);
    const SimulatedWalkTests found = without_gil(rows_worth_releasing_gil + 1, [&] {
        return simulated_walk_tests(rows, {n_simulations, seed}, poll_signals);
    });
    return with_ieee_environment([&] {
        return tests_as_tuple(found.ks, found.kuiper, found.walk.sigma(), found.walk.n,
                              found.walk.omitted);
    });
}

// By cells, with limits of the caller's: none where all rows would have to be sorted.
py::object cell_tests(const py::object& y_true, const py::object& y_proba, bool omit_missing,
                      std::int64_t scoring, bool in_buckets, const WalkLimits& limits) {
    const EventInputs inputs(y_true, y_proba, py::none(), omit_missing);
    const ScoredRows rows = scored(inputs, scoring);
    WalkTests tests;
    bool walked = false;
    without_gil(inputs.n_values(), [&] {
        if (!in_buckets) {
            walked = cell_walk_tests(rows, poll_signals, tests, nullptr, limits);
            return;
        }
        const std::size_t workers = workers_for(rows.size(), limits.rows_per_worker);
        auto buckets = BucketedScores::worth_making(rows, workers);
        if (!buckets) return;
        buckets->fill(rows, poll_signals);
        Concordance pairs;
        walked = cell_walk_tests(*buckets, workers, poll_signals, tests, nullptr, pairs, limits);
    });
    return walked ? py::object(as_tuple(tests)) : py::none();
}

py::tuple differences(const py::object& y_true, const py::object& y_proba,
                      const py::object& sample_weight, bool omit_missing, std::int64_t scoring,
                      bool by_label) {
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const ScoredRows rows = scored(inputs, scoring);
    Differences result;
    without_gil(inputs.n_values(),
                [&] { result = cumulative_differences(rows, by_label, poll_signals); });
    return as_tuple(result);
}

// (value, low, high) of the statistic, of its p-value and of its logarithm.
py::tuple bounds_of(const ScoreTable& table, TestBounds (ScoreWalk::*test)() const) {
    const auto found = with_ieee_environment([&] { return (ScoreWalk(table).*test)(); });
    const auto numbers = [](const Bounds& x) { return py::make_tuple(x.value, x.low, x.high); };
    return py::make_tuple(numbers(found.statistic), numbers(found.pvalue),
                          numbers(found.log_pvalue));
}

void register_refiner(const py::module_& m) {
    using namespace py::literals;
    LockedClass<WalkRefiner>(m, "WalkRefiner", "The second pass over the rows of a ScoreTable.")
        .def(py::init(locked([](const ScoreTable& table, std::uint64_t most_rows) {
                 return with_ieee_environment([&] { return WalkRefiner(table, most_rows); });
             })),
             "table"_a, "most_rows"_a)
        .def(
            "update",
            [](WalkRefiner& self, const py::object& y_true, const py::object& y_proba,
               const py::object& sample_weight, bool omit_missing) {
                const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
                const ScoredRows rows = scored(inputs, scoring_either);
                WalkRefiner::Batch batch;
                // What `read` uses of self does not change.
                without_gil(inputs.n_values(), [&] { batch = self.read(rows, poll_signals); });
                self.add(std::move(batch));
            },
            "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a)
        .def_property_readonly("n", &WalkRefiner::count)
        .def_property_readonly("n_omitted", &WalkRefiner::omitted)
        .def_property_readonly("n_kept", &WalkRefiner::kept)
        .def("tests", [](const WalkRefiner& self) {
            return as_tuple(with_ieee_environment([&] { return self.tests(); }));
        });
}

}  // namespace

void register_walks(py::module_& m) {
    using namespace py::literals;
    register_walk_tests(m, "walk_tests", walk_tests);
    register_walk_tests(m, "sorted_walk_tests", sorted_walk_tests);
    m.def("simulated_walk_tests", &simulated_tests, "y_true"_a, "y_proba"_a, "sample_weight"_a,
          "omit_missing"_a, "scoring"_a, "n_simulations"_a, "seed"_a);
    m.def(
        "cell_walk_tests",
        [](const py::object& y_true, const py::object& y_proba, bool omit_missing,
           std::int64_t scoring, bool in_buckets, std::uint64_t rows_per_gathered,
           std::uint64_t rows_per_sorted, std::uint64_t rows_per_part) {
            WalkLimits limits;
            limits.rows_per_gathered = rows_per_gathered;
            limits.rows_per_sorted = rows_per_sorted;
            limits.rows_per_part = rows_per_part;
            limits.rows_per_worker = chunk_values;  // for tests: several workers for few rows
            return cell_tests(y_true, y_proba, omit_missing, scoring, in_buckets, limits);
        },
        "y_true"_a, "y_proba"_a, "omit_missing"_a, "scoring"_a, "in_buckets"_a,
        "rows_per_gathered"_a, "rows_per_sorted"_a, "rows_per_part"_a);
    m.def("cumulative_differences", &differences, "y_true"_a, "y_proba"_a, "sample_weight"_a,
          "omit_missing"_a, "scoring"_a, "by_label"_a);
    m.def("table_differences", locked([](const ScoreTable& table) {
              return as_tuple(with_ieee_environment([&] { return cumulative_differences(table); }));
          }),
          "table"_a);
    m.def("ks_bounds",
          locked([](const ScoreTable& table) { return bounds_of(table, &ScoreWalk::ks_test); }),
          "table"_a);
    m.def("kuiper_bounds",
          locked([](const ScoreTable& table) { return bounds_of(table, &ScoreWalk::kuiper_test); }),
          "table"_a);
    register_refiner(m);
}

}  // namespace calibrant::bindings
