#include "calibrant/scores/scores.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "bindings/register.hpp"
#include "bindings/rows/arrays.hpp"
#include "bindings/rows/event_inputs.hpp"
#include "bindings/state/register_accumulator.hpp"

namespace calibrant::bindings {
namespace {

void update(ScoreSums& self, const EventInputs& inputs) {
    const std::uint64_t rows_before = self.count() + self.omitted();
    update_aside(self, inputs.n_values(), [&](ScoreSums& batch) {
        batch.update(inputs.events(), rows_before, poll_signals);
    });
}

std::vector<std::string> score_names(const ScoreSums& self) {
    std::vector<std::string> names;
    if (self.scores().has(Score::brier)) names.emplace_back("brier");
    if (self.scores().has(Score::log)) names.emplace_back("log");
    if (self.scores().has(Score::spherical)) names.emplace_back("spherical");
    return names;
}

template <Score score>
double mean(const ScoreSums& self) {
    return with_ieee_environment([&] { return self.mean(score); });
}

}  // namespace

void register_scores(py::module_& m) {
    using namespace py::literals;
    register_accumulator<ScoreSums>(m, "ScoreSums", "Sums of proper scores, and of the classes.")
        .def(py::init([](bool brier, bool log, bool spherical, double q_lim) {
                 ScoreSet scores;
                 if (brier) scores = scores.with(Score::brier);
                 if (log) scores = scores.with(Score::log);
                 if (spherical) scores = scores.with(Score::spherical);
                 return ScoreSums(scores, q_lim);
             }),
             "brier"_a, "log"_a, "spherical"_a, "q_lim"_a)
        .def(
            "update",
            [](ScoreSums& self, const py::object& y_true, const py::object& y_proba,
               const py::object& sample_weight, bool omit_missing) {
                if (y_true.is_none()) throw py::type_error("y_true must be an array, got None");
                update(self, {y_true, y_proba, sample_weight, omit_missing});
            },
            "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a)
        .def(
            "update_labels",
            [](ScoreSums& self, const py::object& y_true, std::size_t n_classes,
               const py::object& sample_weight, bool omit_missing) {
                update(self, {y_true, n_classes, sample_weight, omit_missing});
            },
            "y_true"_a, "n_classes"_a, "sample_weight"_a, "omit_missing"_a)
        .def_property_readonly("scores", &score_names)
        .def_property_readonly("q_lim", &ScoreSums::q_lim)
        .def_property_readonly("n_omitted", &ScoreSums::omitted)
        .def_property_readonly("columns", &ScoreSums::columns)
        .def("brier", &mean<Score::brier>)
        .def("log", &mean<Score::log>)
        .def("spherical", &mean<Score::spherical>)
        .def("gini",
             [](const ScoreSums& self) {
                 return with_ieee_environment([&] { return self.gini(); });
             })
        .def(
            "brier_skill",
            [](const ScoreSums& self, const ScoreSums* reference) {
                return with_ieee_environment([&] {
                    return reference == nullptr ? self.brier_skill() : self.brier_skill(*reference);
                });
            },
            "reference"_a)
        .def("class_frequencies", [](const ScoreSums& self) {
            const auto frequencies =
                with_ieee_environment([&] { return self.class_frequencies(); });
            return as_array(frequencies);
        });
}

}  // namespace calibrant::bindings
