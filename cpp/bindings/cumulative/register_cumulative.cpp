#include <pybind11/numpy.h>

#include <string>

#include "bindings/register.hpp"
#include "bindings/rows/event_inputs.hpp"
#include "bindings/rows/inputs.hpp"
#include "bindings/rows/scored_inputs.hpp"
#include "bindings/state/register_accumulator.hpp"
#include "calibrant/cumulative/spiegelhalter.hpp"
#include "calibrant/numeric/tails.hpp"
#include "calibrant/rows/check.hpp"
#include "cumulative/simulated_tests.hpp"
#include "rows/evaluate.hpp"

namespace calibrant::bindings {
namespace {

// A value of a law takes as long as this many rows of data.
constexpr std::size_t rows_per_value = 100;

void register_law(py::module_& m, const char* name, double (*function)(double)) {
    using namespace py::literals;
    m.def(
        name,
        [function](const py::object& x) {
            const Input input = as_column(x, "x", Shape::vector);
            py::array_t<double> out(static_cast<py::ssize_t>(input.size()));
            double* const values = out.mutable_data();
            without_gil(rows_per_value * input.size(),
                        [&] { evaluate(function, input.column(), values, poll_signals); });
            return out;
        },
        "x"_a);
}

Alternative alternative_of(const std::string& name) {
    if (name == "two-sided") return Alternative::two_sided;
    if (name == "greater") return Alternative::greater;
    if (name == "less") return Alternative::less;
    throw InvalidInput("alternative must be 'two-sided', 'greater' or 'less', got '" + name + "'");
}

}  // namespace

void register_cumulative(py::module_& m) {
    using namespace py::literals;
    register_law(m, "brownian_sup_cdf", brownian_sup_cdf);
    register_law(m, "brownian_sup_sf", brownian_sup_sf);
    register_law(m, "brownian_sup_log_sf", brownian_sup_log_sf);
    register_law(m, "brownian_range_cdf", brownian_range_cdf);
    register_law(m, "brownian_range_sf", brownian_range_sf);
    register_law(m, "brownian_range_log_sf", brownian_range_log_sf);
    register_law(m, "normal_sf", normal_sf);
    m.def(
        "normal_quantile",
        [](double tail) { return with_ieee_environment([&] { return normal_quantile(tail); }); },
        "tail"_a);
    register_law(m, "normal_log_sf", normal_log_sf);
    register_law(m, "normal_two_sided", normal_two_sided);
    register_law(m, "normal_log_two_sided", normal_log_two_sided);

    m.def(
        "chi_square_sf",
        [](double x, std::uint64_t k) {
            return with_ieee_environment([&] { return chi_square_sf(x, k); });
        },
        "x"_a, "k"_a);
    m.def(
        "chi_square_log_sf",
        [](double x, std::uint64_t k) {
            return with_ieee_environment([&] { return chi_square_log_sf(x, k); });
        },
        "x"_a, "k"_a);

    m.def(
        "simulated_spiegelhalter",
        [](const py::object& y_true, const py::object& y_proba, const py::object& sample_weight,
           bool omit_missing, const std::string& alternative, std::uint32_t n_simulations,
           std::uint64_t seed) {
            const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
            const ScoredRows rows = scored(inputs, scoring_either);
            const Alternative which = alternative_of(alternative);
            return without_gil(rows_worth_releasing_gil + 1, [&] {
                return simulated_spiegelhalter(rows, which, {n_simulations, seed}, poll_signals);
            });
        },
        "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a, "alternative"_a,
        "n_simulations"_a, "seed"_a);

    register_accumulator<Spiegelhalter>(m, "Spiegelhalter", "Sums of Spiegelhalter's test.")
        .def(py::init<>())
        .def(
            "update",
            [](Spiegelhalter& self, const py::object& y_true, const py::object& y_proba,
               const py::object& sample_weight, bool omit_missing) {
                if (y_true.is_none()) throw py::type_error("y_true must be an array, got None");
                const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
                const Events& events = inputs.events();
                const ScoredRows rows = binary_or_top_label(events);
                const std::uint64_t rows_before = self.count() + self.omitted();
                update_aside(self, inputs.n_values(), [&](Spiegelhalter& batch) {
                    batch.update(rows, rows_before, poll_signals);
                });
            },
            "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a)
        .def_property_readonly("n_omitted", &Spiegelhalter::omitted)
        .def("statistic",
             [](const Spiegelhalter& self) {
                 return with_ieee_environment([&] { return self.statistic(); });
             })
        .def(
            "pvalue",
            [](const Spiegelhalter& self, const std::string& alternative) {
                const Alternative which = alternative_of(alternative);
                return with_ieee_environment([&] { return self.pvalue(which); });
            },
            "alternative"_a)
        .def(
            "log_pvalue",
            [](const Spiegelhalter& self, const std::string& alternative) {
                const Alternative which = alternative_of(alternative);
                return with_ieee_environment([&] { return self.log_pvalue(which); });
            },
            "alternative"_a);
}

}  // namespace calibrant::bindings
