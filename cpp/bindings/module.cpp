#include <pybind11/pybind11.h>

#include <exception>
#include <new>

#include "bindings/register.hpp"
#include "bindings/runtime/gil.hpp"
#include "calibrant/runtime/version.hpp"

namespace py = pybind11;

namespace {

// Otherwise the text is std::bad_alloc, or that of a conversion in which NumPy had no memory.
// NOLINTNEXTLINE(performance-unnecessary-value-param): the signature that pybind11 asks for
void say_out_of_memory(std::exception_ptr thrown) {
    constexpr const char* text = "there is not enough memory for what this call has to allocate";
    try {
        if (thrown) std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
        PyErr_SetString(PyExc_MemoryError, text);
    } catch (const py::cast_error&) {
        if (PyErr_ExceptionMatches(PyExc_MemoryError) == 0) throw;
        PyErr_SetString(PyExc_MemoryError, text);
    }
}

}  // namespace

PYBIND11_MODULE(_core, m, py::mod_gil_not_used()) {
    using namespace calibrant::bindings;
    m.doc() = "The compiled core of calibrant; use the functions of the package instead.";
    m.attr("__version__") = calibrant::version();
    py::register_local_exception_translator(&say_out_of_memory);
    remember_main_thread();
    register_config(m);  // first: it rejects a wrong environment
    register_calibration(m);
    register_columns(m);
    register_comparison(m);
    register_compat(m);
    register_coverage_hsic(m);
    register_cumulative(m);
    register_decompositions(m);
    register_intervals(m);
    register_dependence(m);
    register_drift(m);
    register_ensemble_scores(m);
    register_ensemble(m);
    register_kinds(m);
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
    register_use_lock(m);
    register_walks(m);  // after score_table: it reads one

    py::module_ testing = m.def_submodule("_testing", "For the tests of calibrant only.");
    register_elementary(testing);
    register_inputs(testing);
    register_sum(testing);
    register_testing(testing);
}
