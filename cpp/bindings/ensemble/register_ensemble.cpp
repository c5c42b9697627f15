#include "calibrant/ensemble/ensemble.hpp"

#include <pybind11/numpy.h>

#include <string>
#include <vector>

#include "bindings/register.hpp"
#include "bindings/rows/inputs.hpp"
#include "bindings/runtime/gil.hpp"
#include "calibrant/rows/check.hpp"

namespace calibrant::bindings {
namespace {

Combine combine_from(const std::string& name) {
    if (name == "softmax") return Combine::softmax;
    if (name == "share") return Combine::share;
    throw InvalidInput("combine must be 'softmax' or 'share', got '" + name + "'");
}

}  // namespace

void register_ensemble(py::module_& m) {
    using namespace py::literals;
    m.def(
        "ensemble_confidence",
        [](const py::object& votes, const py::object& weights, std::size_t n_classes,
           double temperature, const std::string& combine, bool path) {
            const Input vote_input = as_column(votes, "votes", Shape::matrix, Holds::votes);
            const Input weight_input = as_column(weights, "weights", Shape::vector);
            const Ensemble ensemble{.votes = vote_input.column(),
                                    .weights = weight_input.column(),
                                    .n_classes = n_classes,
                                    .combine = combine_from(combine),
                                    .temperature = temperature,
                                    .path = path};
            check_ensemble(ensemble);
            std::vector<std::size_t> shape{ensemble.votes.size};
            if (path) shape.push_back(ensemble.votes.width);
            shape.push_back(n_classes);
            py::array_t<double> confidence(shape);
            double* const out = confidence.mutable_data();
            const std::size_t values = ensemble.votes.size * ensemble.votes.width;
            without_gil(values, [&] { ensemble_confidence(ensemble, poll_signals, out); });
            return confidence;
        },
        "votes"_a, "weights"_a, "n_classes"_a, "temperature"_a, "combine"_a, "path"_a);
}

}  // namespace calibrant::bindings
