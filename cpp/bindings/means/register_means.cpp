#include "calibrant/means/means.hpp"

#include <pybind11/stl.h>

#include "bindings/register.hpp"
#include "bindings/rows/event_inputs.hpp"
#include "bindings/state/register_accumulator.hpp"

namespace calibrant::bindings {
namespace {

void check_index(const RiskProfile& self, std::size_t index) {
    if (index >= self.powers().size()) throw py::index_error("no such power");
}

void update(RiskProfile& self, const EventInputs& inputs) {
    const std::uint64_t rows_before = self.count() + self.omitted();
    update_aside(self, inputs.n_values(), [&](RiskProfile& batch) {
        batch.update(inputs.events(), rows_before, poll_signals);
    });
}

}  // namespace

void register_means(py::module_& m) {
    using namespace py::literals;
    m.def(
        "geometric_deviation",
        [](const py::object& p, double q_lim, const py::object& sample_weight, bool omit_missing) {
            const EventInputs inputs(py::none(), p, sample_weight, omit_missing, "p", true);
            return without_gil(inputs.n_values(), [&] {
                return geometric_deviation(inputs.events(), q_lim, poll_signals);
            });
        },
        "p"_a, "q_lim"_a, "sample_weight"_a, "omit_missing"_a);
    register_accumulator<RiskProfile>(m, "RiskProfile",
                                      "Sums of powers of the probabilities given to what happened.")
        .def(py::init<std::vector<double>, double>(), "powers"_a, "q_lim"_a)
        .def(
            "update",
            [](RiskProfile& self, const py::object& y_true, const py::object& y_proba,
               const py::object& sample_weight, bool omit_missing) {
                if (y_true.is_none()) throw py::type_error("y_true must be an array, got None");
                update(self, {y_true, y_proba, sample_weight, omit_missing});
            },
            "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a)
        .def(
            "update_probabilities",
            [](RiskProfile& self, const py::object& p, const py::object& sample_weight,
               bool omit_missing, const char* name, bool may_be_omitted) {
                update(self, {py::none(), p, sample_weight, omit_missing, name, may_be_omitted});
            },
            "p"_a, "sample_weight"_a, "omit_missing"_a, "name"_a, "may_be_omitted"_a = true)
        .def_property_readonly("powers", &RiskProfile::powers)
        .def_property_readonly("q_lim", &RiskProfile::q_lim)
        .def_property_readonly("n_omitted", &RiskProfile::omitted)
        .def_property_readonly("weight_sum",
                               [](const RiskProfile& self) {
                                   return with_ieee_environment([&] { return self.weight_sum(); });
                               })
        .def("means",
             [](const RiskProfile& self) {
                 std::vector<double> means(self.powers().size());
                 with_ieee_environment([&] {
                     for (std::size_t i = 0; i < means.size(); ++i) means[i] = self.mean(i);
                 });
                 return means;
             })
        .def(
            "log_mean",
            [](const RiskProfile& self, std::size_t index) {
                check_index(self, index);
                return with_ieee_environment([&] { return self.log_mean(index); });
            },
            "index"_a)
        .def(
            "mean_power_minus_one",
            [](const RiskProfile& self, std::size_t index) {
                check_index(self, index);
                return with_ieee_environment([&] { return self.mean_power_minus_one(index); });
            },
            "index"_a)
        .def(
            "mean_ratio",
            [](const RiskProfile& self, std::size_t index, const RiskProfile& other) {
                check_index(self, index);
                check_index(other, index);
                return with_ieee_environment([&] { return self.mean_ratio(index, other); });
            },
            "index"_a, "other"_a);
}

}  // namespace calibrant::bindings
