#include "calibrant/comparison.hpp"

#include <pybind11/stl.h>

#include <string>
#include <utility>

#include "event_inputs.hpp"
#include "register.hpp"
#include "register_accumulator.hpp"

namespace calibrant::bindings {

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
        .def("differences", [](const PairedScores& self) {
            using Term = PairedScores::Term;
            const auto of = [&](Term term) {
                const auto found = run_standard([&] { return self.difference(term); });
                return std::pair(found.mean, found.standard_error);
            };
            py::dict result;
            result["brier"] = of(Term::brier);
            result["log"] = of(Term::log_score);
            result["spherical"] = of(Term::spherical);
            result["hit_rate"] = of(Term::hit);
            return result;
        });
}

}  // namespace calibrant::bindings
