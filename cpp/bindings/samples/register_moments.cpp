#include <pybind11/numpy.h>

#include "bindings/register.hpp"
#include "bindings/rows/inputs.hpp"
#include "bindings/state/register_accumulator.hpp"
#include "calibrant/rows/check.hpp"
#include "calibrant/samples/moments.hpp"

namespace calibrant::bindings {
namespace {

py::array_t<double> matrix_of(std::size_t rows, std::size_t width) {
    return py::array_t<double>({static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(width)});
}

std::size_t values_of(const Column& rows) { return rows.size * rows.width; }

// A vector has one feature.
Input as_features(const py::object& features, const char* name) {
    Input input = as_column(features, name, Shape::vector_or_matrix);
    if (input.column().width == 0) {
        throw InvalidInput(std::string(name) + " must have at least one column");
    }
    return input;
}

template <class State>
LockedClass<State> register_state(py::module_& m, const char* name, const char* doc) {
    using namespace py::literals;
    return register_accumulator<State>(m, name, doc)
        .def(py::init<std::size_t>(), "n_features"_a)
        .def(
            "update",
            [](State& self, const py::object& features) {
                const Input input = as_features(features, "features");
                const std::size_t work = values_of(input.column()) * self.width();
                const std::uint64_t before = self.count();
                update_aside(self, work, [&](State& batch) {
                    batch.update(input.column(), before, poll_signals);
                });
            },
            "features"_a, "Add one batch of rows.")
        .def_property_readonly("n_features", &State::width, "The number of features.");
}

}  // namespace

void register_moments(py::module_& m) {
    using namespace py::literals;
    m.attr("most_features") = most_features;
    register_state<Moments>(m, "Moments", "Sums and products of features.")
        .def(
            "moments",
            [](const Moments& self) {
                py::array_t<double> mean(static_cast<py::ssize_t>(self.width()));
                py::array_t<double> covariance = matrix_of(self.width(), self.width());
                // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): rows may be added
                const Moments still = self;
                double *const means = mean.mutable_data(), *const to = covariance.mutable_data();
                without_gil(self.width() * self.width(), [&] {
                    still.mean(means);
                    still.covariance(to, poll_signals);
                });
                return py::make_tuple(mean, covariance, still.count());
            },
            "The mean of each feature, their covariance over n - 1, and n.");
    register_state<Vendi>(m, "Vendi", "Products of rows of length 1.")
        .def(
            "second_moment",
            [](const Vendi& self) {
                py::array_t<double> out = matrix_of(self.width(), self.width());
                with_ieee_environment([&] { self.second_moment(out.mutable_data()); });
                return py::make_tuple(out, self.count());
            },
            "The mean of the products, and n.");
    m.def(
        "features",
        [](const py::object& features, const char* name, bool to_unit_length) {
            const Input input = as_features(features, name);
            const Column& rows = input.column();
            py::array_t<double> out = matrix_of(rows.size, rows.width);
            double* const values = out.mutable_data();
            without_gil(values_of(rows),
                        [&] { copy_features(rows, name, to_unit_length, values, poll_signals); });
            return out;
        },
        "features"_a, "name"_a, "to_unit_length"_a,
        "A finite copy of shape (n, d), its rows scaled to length 1 on request.");
}

}  // namespace calibrant::bindings
