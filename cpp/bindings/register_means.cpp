#include "calibrant/means.hpp"

#include <pybind11/stl.h>

#include <optional>

#include "calibrant/check.hpp"
#include "inputs.hpp"
#include "register.hpp"
#include "register_accumulator.hpp"

namespace calibrant::bindings {
namespace {

void check_index(const RiskProfile& self, std::size_t index) {
    if (index >= self.powers().size()) throw py::index_error("no such power");
}

std::optional<Input> optional_column(const py::object& value, const char* name, Holds holds) {
    if (value.is_none()) return std::nullopt;
    return as_column(value, name, Shape::vector, holds);
}

// One set of checks for both kinds of rows: with labels, and bare probabilities.
void update(RiskProfile& self, const py::object& y_true, const py::object& proba,
            const py::object& sample_weight, bool omit_missing, const char* proba_name) {
    const auto labels = optional_column(y_true, "y_true", Holds::labels);
    const Input p = as_column(proba, proba_name, labels ? Shape::vector_or_matrix : Shape::vector);
    const auto weight = optional_column(sample_weight, "sample_weight", Holds::numbers);
    if (labels) require_same_length("y_true", labels->size(), proba_name, p.size());
    if (weight) require_same_length(proba_name, p.size(), "sample_weight", weight->size());
    if (p.is_matrix() && p.column().width < 2) {
        throw InvalidInput(
            std::string(proba_name) +
            " of shape (n, k) needs k >= 2 classes, got k = " + std::to_string(p.column().width) +
            "; pass shape (n,) for the positive class of a binary problem");
    }
    Events events;
    events.y_true = labels ? &labels->column() : nullptr;
    events.y_proba = p.column();
    events.is_matrix = p.is_matrix();
    events.sample_weight = weight ? &weight->column() : nullptr;
    events.omit_missing = omit_missing;
    events.proba_name = proba_name;
    const std::uint64_t rows_before = self.count() + self.omitted();
    update_aside(self, events.size() * events.y_proba.width,
                 [&](RiskProfile& batch) { batch.update(events, rows_before, poll_signals); });
}

}  // namespace

void register_means(py::module_& m) {
    using namespace py::literals;
    register_accumulator<RiskProfile>(m, "RiskProfile",
                                      "Sums of powers of the probabilities given to what happened.")
        .def(py::init<std::vector<double>, double>(), "powers"_a, "q_lim"_a)
        .def(
            "update",
            [](RiskProfile& self, const py::object& y_true, const py::object& y_proba,
               const py::object& sample_weight, bool omit_missing) {
                update(self, y_true, y_proba, sample_weight, omit_missing, "y_proba");
            },
            "y_true"_a.none(false), "y_proba"_a, "sample_weight"_a, "omit_missing"_a)
        .def(
            "update_probabilities",
            [](RiskProfile& self, const py::object& p, const py::object& sample_weight,
               bool omit_missing, const char* name) {
                update(self, py::none(), p, sample_weight, omit_missing, name);
            },
            "p"_a, "sample_weight"_a, "omit_missing"_a, "name"_a)
        .def_property_readonly("powers", &RiskProfile::powers)
        .def_property_readonly("q_lim", &RiskProfile::q_lim)
        .def_property_readonly("n_omitted", &RiskProfile::omitted)
        .def_property_readonly("weight_sum", &RiskProfile::weight_sum)
        .def("means",
             [](const RiskProfile& self) {
                 std::vector<double> means(self.powers().size());
                 for (std::size_t i = 0; i < means.size(); ++i) means[i] = self.mean(i);
                 return means;
             })
        .def(
            "log_mean",
            [](const RiskProfile& self, std::size_t index) {
                check_index(self, index);
                return self.log_mean(index);
            },
            "index"_a)
        .def(
            "mean_power_minus_one",
            [](const RiskProfile& self, std::size_t index) {
                check_index(self, index);
                return self.mean_power_minus_one(index);
            },
            "index"_a)
        .def(
            "mean_ratio",
            [](const RiskProfile& self, std::size_t index, const RiskProfile& other) {
                check_index(self, index);
                check_index(other, index);
                return self.mean_ratio(index, other);
            },
            "index"_a, "other"_a);
}

}  // namespace calibrant::bindings
