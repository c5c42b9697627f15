#include "calibrant/scores/comparison.hpp"

#include <pybind11/stl.h>

#include <string>
#include <utility>

#include "bindings/register.hpp"
#include "bindings/rows/event_inputs.hpp"
#include "bindings/state/register_accumulator.hpp"
#include "numeric/student.hpp"

namespace calibrant::bindings {

namespace {

template <class Of>
py::dict of_each_term(const Of& of) {
    py::dict result;
    result["brier"] = of(PairedScores::brier);
    result["log"] = of(PairedScores::log_score);
    result["spherical"] = of(PairedScores::spherical);
    result["hit_rate"] = of(PairedScores::hit);
    return result;
}

}  // namespace

void register_comparison(py::module_& m) {
    using namespace py::literals;
    register_accumulator<PairedScores>(m, "PairedScores", "Differences of two models' scores.")
        .def(py::init<double>(), "q_lim"_a)
        .def(
            "update",
            [](PairedScores& self, const py::object& y_true, const py::object& first,
               const py::object& second, const py::object& sample_weight, bool omit_missing,
               const std::string& first_name, const std::string& second_name) {
                if (y_true.is_none()) throw py::type_error("y_true must be an array, got None");
                const EventInputs one(y_true, first, sample_weight, omit_missing,
                                      first_name.c_str());
                const EventInputs other(y_true, second, sample_weight, omit_missing,
                                        second_name.c_str());
                const PairedRows rows{one.events(), other.events()};
                const std::uint64_t rows_before = self.count() + self.omitted();
                update_aside(self, one.n_values(), [&](PairedScores& batch) {
                    batch.update(rows, rows_before, poll_signals);
                });
            },
            "y_true"_a, "first"_a, "second"_a, "sample_weight"_a, "omit_missing"_a, "first_name"_a,
            "second_name"_a)
        .def_property_readonly("q_lim", &PairedScores::q_lim)
        .def_property_readonly("columns", &PairedScores::columns)
        .def_property_readonly("n_omitted", &PairedScores::omitted)
        .def_property_readonly("zeros", &PairedScores::zeros)
        .def_property_readonly("unbounded", &PairedScores::unbounded)
        .def_property_readonly("has_two_rows", &PairedScores::has_two_rows)
        .def("differences",
             [](const PairedScores& self) {
                 return of_each_term([&](PairedScores::Term term) {
                     const auto found =
                         with_ieee_environment([&] { return self.difference(term); });
                     return py::make_tuple(found.mean, found.standard_error);
                 });
             })
        .def(
            "judgements",
            [](const PairedScores& self, double level) {
                return of_each_term([&](PairedScores::Term term) {
                    const auto found =
                        with_ieee_environment([&] { return self.judge(term, level); });
                    return py::make_tuple(found.pvalue, found.low, found.high, found.few_events);
                });
            },
            "level"_a);
    m.def("student_two_sided", &student_two_sided, "t"_a, "df"_a);
    m.def("student_quantile", &student_quantile, "two_sided"_a, "df"_a);
}

}  // namespace calibrant::bindings
