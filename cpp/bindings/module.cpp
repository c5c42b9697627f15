#include <pybind11/pybind11.h>

#include "calibrant/version.hpp"
#include "register.hpp"
#include "unlocked.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_core, m, py::mod_gil_not_used()) {
    using namespace calibrant::bindings;
    m.doc() = "The compiled core of calibrant; use the functions of the package instead.";
    m.attr("__version__") = calibrant::version();
    remember_main_thread();
    register_config(m);  // first: it refuses a wrong environment
    register_calibration(m);
    register_comparison(m);
    register_compat(m);
    register_coverage_hsic(m);
    register_cumulative(m);
    register_decompositions(m);
    register_intervals(m);
    register_dependence(m);
    register_ensemble_scores(m);
    register_ensemble(m);
    register_means(m);
    register_mmd(m);
    register_moments(m);
    register_neighbours(m);
    register_assessment(m);       // after means: it gives risk profiles
    register_prediction_sets(m);  // after intervals: it gives strata
    register_rank_calibration(m);
    register_ranks(m);
    register_roc(m);
    register_score_table(m);
    register_scorecard(m);
    register_scores(m);
    register_grouped(m);  // after those it gives for each group
    register_smooth(m);
    register_subpopulation(m);
    register_walks(m);  // after score_table: it reads one

    py::module_ testing = m.def_submodule("_testing", "For the tests of calibrant only.");
    register_elementary(testing);
    register_inputs(testing);
    register_sum(testing);
    register_testing(testing);
}
