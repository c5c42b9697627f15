#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/register.hpp"
#include "bindings/rows/inputs.hpp"
#include "bindings/runtime/gil.hpp"
#include "calibrant/ensemble_scores/ensemble_scores.hpp"
#include "calibrant/rows/check.hpp"

namespace calibrant::bindings {
namespace {

using Values = py::array_t<double>;

// Outcomes and draws as Python gives them, with what keeps them alive.
class EnsembleInputs {
public:
    EnsembleInputs(const py::object& y_true, const py::object& draws, std::size_t dimension,
                   double fair_share)
        : y_true_(as_column(y_true, "y_true", Shape::vector_or_matrix)),
          draws_(as_column(draws, "draws", Shape::matrix)),
          rows_{y_true_.column(), draws_.column(), dimension} {
        require_same_length("y_true", y_true_.size(), "draws", draws_.size());
        const std::size_t least = fair_share > 0.0 ? 2 : 1, n = rows_.n_draws();
        if (n < least) {
            throw InvalidInput(std::string(least == 2 ? "a fair score" : "a score") +
                               " needs at least " + std::to_string(least) + " draws, got " +
                               std::to_string(n));
        }
        if (n > most_draws_per_row) throw InvalidInput("draws must be at most 2^26 a row");
    }

    [[nodiscard]] const EnsembleRows& rows() const { return rows_; }
    [[nodiscard]] std::size_t n_values() const { return rows_.size() * rows_.draws.width; }
    [[nodiscard]] Values room() const { return Values(static_cast<py::ssize_t>(rows_.size())); }

private:
    Input y_true_, draws_;
    EnsembleRows rows_;
};

const double* data_or_null(const std::vector<double>& values) {
    return values.empty() ? nullptr : values.data();
}

Values crps(const py::object& y_true, const py::object& draws, const py::object& draw_weight,
            double fair_share, bool omit_missing) {
    const EnsembleInputs inputs(y_true, draws, 1, fair_share);
    std::optional<Input> weights;
    if (!draw_weight.is_none()) weights = as_column(draw_weight, "draw_weight", Shape::matrix);
    Values result = inputs.room();
    double* const out = result.mutable_data();
    without_gil(inputs.n_values(), [&] {
        crps_ensemble(inputs.rows(), weights ? &weights->column() : nullptr, fair_share,
                      omit_missing, out, poll_signals);
    });
    return result;
}

Values energy(const py::object& y_true, const py::object& draws, std::size_t dimension,
              const std::vector<double>& scale, double beta, double fair_share) {
    const EnsembleInputs inputs(y_true, draws, dimension, fair_share);
    Values result = inputs.room();
    double* const out = result.mutable_data();
    without_gil(inputs.n_values() * inputs.rows().n_draws(), [&] {
        energy_score(inputs.rows(), data_or_null(scale), beta, fair_share, out, poll_signals);
    });
    return result;
}

std::pair<Values, Values> sliced(const py::object& y_true, const py::object& draws,
                                 std::size_t dimension, const std::vector<double>& scale,
                                 double fair_share, std::size_t n_directions, std::uint64_t seed) {
    const EnsembleInputs inputs(y_true, draws, dimension, fair_share);
    Values result = inputs.room(), errors = inputs.room();
    double* const out = result.mutable_data();
    double* const standard_error = errors.mutable_data();
    without_gil(inputs.n_values() * n_directions, [&] {
        sliced_energy_score(inputs.rows(), data_or_null(scale), fair_share, n_directions, seed, out,
                            standard_error, poll_signals);
    });
    return {result, errors};
}

Values variogram(const py::object& y_true, const py::object& draws, std::size_t dimension,
                 const std::vector<double>& weights, double p, double fair_share) {
    const EnsembleInputs inputs(y_true, draws, dimension, fair_share);
    Values result = inputs.room();
    double* const out = result.mutable_data();
    without_gil(inputs.n_values() * dimension, [&] {
        variogram_score(inputs.rows(), data_or_null(weights), p, fair_share, out, poll_signals);
    });
    return result;
}

Values pinball(const py::object& y_true, const py::object& quantiles,
               const std::vector<double>& levels) {
    const Input y = as_column(y_true, "y_true", Shape::vector);
    const Input q = as_column(quantiles, "quantiles", Shape::matrix);
    require_same_length("y_true", y.size(), "quantiles", q.size());
    const std::size_t width = q.column().width;
    require_same_length("levels", levels.size(), "the rows of quantiles", width);
    Values result({static_cast<py::ssize_t>(q.size()), static_cast<py::ssize_t>(width)});
    double* const out = result.mutable_data();
    without_gil(q.size() * width,
                [&] { quantile_score(y.column(), q.column(), levels.data(), out, poll_signals); });
    return result;
}

Values law_scores(const std::string& law, const py::object& y_true, const py::object& loc,
                  const py::object& scale) {
    static const std::vector<std::string> names{"normal", "logistic", "laplace", "uniform",
                                                "exponential"};
    const auto found = std::find(names.begin(), names.end(), law);
    if (found == names.end()) throw InvalidInput("no such law: " + law);
    const Input y = as_column(y_true, "y_true", Shape::vector);
    const Input centre = as_column(loc, "loc", Shape::vector);
    const Input unit = as_column(scale, "scale", Shape::vector);
    require_same_length("y_true", y.size(), "loc", centre.size());
    require_same_length("y_true", y.size(), "scale", unit.size());
    Values result(static_cast<py::ssize_t>(y.size()));
    double* const out = result.mutable_data();
    without_gil(y.size() * 16, [&] {
        crps_of_law(static_cast<ForecastLaw>(found - names.begin()), y.column(), centre.column(),
                    unit.column(), out, poll_signals);
    });
    return result;
}

}  // namespace

void register_ensemble_scores(py::module_& m) {
    using namespace py::literals;
    m.def("crps_ensemble", &crps, "y_true"_a, "draws"_a, "draw_weight"_a, "fair_share"_a,
          "omit_missing"_a);
    m.def("energy_score", &energy, "y_true"_a, "draws"_a, "dimension"_a, "scale"_a, "beta"_a,
          "fair_share"_a);
    m.def("sliced_energy_score", &sliced, "y_true"_a, "draws"_a, "dimension"_a, "scale"_a,
          "fair_share"_a, "n_directions"_a, "seed"_a);
    m.def("variogram_score", &variogram, "y_true"_a, "draws"_a, "dimension"_a, "weights"_a, "p"_a,
          "fair_share"_a);
    m.def("quantile_score", &pinball, "y_true"_a, "quantiles"_a, "levels"_a);
    m.def("crps_of_law", &law_scores, "law"_a, "y_true"_a, "loc"_a, "scale"_a);
}

}  // namespace calibrant::bindings
