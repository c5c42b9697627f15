// One line per concept: what module.cpp calls.
#pragma once

#include <pybind11/pybind11.h>

namespace calibrant::bindings {

void register_assessment(pybind11::module_& m);
void register_calibration(pybind11::module_& m);
void register_columns(pybind11::module_& m);
void register_comparison(pybind11::module_& m);
void register_compat(pybind11::module_& m);
void register_config(pybind11::module_& m);
void register_coverage_hsic(pybind11::module_& m);
void register_cumulative(pybind11::module_& m);
void register_decompositions(pybind11::module_& m);
void register_intervals(pybind11::module_& m);
void register_dependence(pybind11::module_& m);
void register_drift(pybind11::module_& m);
void register_ensemble_scores(pybind11::module_& m);
void register_ensemble(pybind11::module_& m);
void register_grouped(pybind11::module_& m);
void register_kinds(pybind11::module_& m);
void register_means(pybind11::module_& m);
void register_mmd(pybind11::module_& m);
void register_moments(pybind11::module_& m);
void register_neighbours(pybind11::module_& m);
void register_prediction_sets(pybind11::module_& m);
void register_rank_calibration(pybind11::module_& m);
void register_ranks(pybind11::module_& m);
void register_roc(pybind11::module_& m);
void register_score_table(pybind11::module_& m);
void register_scorecard(pybind11::module_& m);
void register_scores(pybind11::module_& m);
void register_smooth(pybind11::module_& m);
void register_subpopulation(pybind11::module_& m);
void register_use_lock(pybind11::module_& m);
void register_walks(pybind11::module_& m);

// For the tests of calibrant only.
void register_elementary(pybind11::module_& testing);
void register_inputs(pybind11::module_& testing);
void register_sum(pybind11::module_& testing);
void register_testing(pybind11::module_& testing);

}  // namespace calibrant::bindings
