#include <string>
#include <vector>

#include "bindings/register.hpp"
#include "bindings/rows/inputs.hpp"
#include "bindings/runtime/gil.hpp"
#include "calibrant/rows/check.hpp"
#include "calibrant/samples/neighbours.hpp"

namespace calibrant::bindings {
namespace {

void require_neighbours(const char* name, std::size_t n, std::size_t k) {
    if (k < n) return;
    throw InvalidInput("k must be less than the number of rows of " + std::string(name) +
                       ", as a row has no more neighbours; got k = " + std::to_string(k) + " and " +
                       std::to_string(n) + (n == 1 ? " row" : " rows"));
}

std::size_t zeros_of(const std::vector<double>& radii) {
    std::size_t zeros = 0;
    for (const double radius : radii) zeros += radius == 0.0 ? 1 : 0;
    return zeros;
}

}  // namespace

void register_neighbours(py::module_& m) {
    using namespace py::literals;
    m.def(
        "count_balls",
        [](const py::object& real, const py::object& generated, std::size_t k,
           bool of_both) -> py::dict {
            const Input real_input = as_column(real, "real", Shape::vector_or_matrix);
            const Input generated_input =
                as_column(generated, "generated", Shape::vector_or_matrix);
            const Column& real_rows = real_input.column();
            const Column& generated_rows = generated_input.column();
            if (real_rows.width != generated_rows.width || real_rows.width == 0) {
                throw InvalidInput("real and generated must have the same columns, found " +
                                   std::to_string(real_rows.width) + " and " +
                                   std::to_string(generated_rows.width));
            }
            require_neighbours("real", real_rows.size, k);
            if (of_both) require_neighbours("generated", generated_rows.size, k);
            if (generated_rows.size == 0) throw InvalidInput("generated must have rows");
            BallCounts counts;
            std::vector<double> real_radii, generated_radii;
            without_gil(real_rows.size * (real_rows.size + generated_rows.size), [&] {
                PointPanels real_points(real_rows, "real");
                PointPanels generated_points(generated_rows, "generated");
                scale_alike(real_points, generated_points);
                real_radii = square_radii(real_points, k, poll_signals);
                if (of_both) generated_radii = square_radii(generated_points, k, poll_signals);
                counts = count_balls(real_points, real_radii, generated_points, generated_radii,
                                     poll_signals);
            });
            return py::dict("n_real"_a = real_rows.size, "n_generated"_a = generated_rows.size,
                            "pairs"_a = counts.pairs, "covered"_a = counts.covered,
                            "precise"_a = counts.precise, "recalled"_a = counts.recalled,
                            "real_zeros"_a = zeros_of(real_radii),
                            "generated_zeros"_a = zeros_of(generated_radii));
        },
        "real"_a, "generated"_a, "k"_a, "of_both"_a,
        "Points inside balls that reach to the k-th nearest neighbour; of_both for recall.");
}

}  // namespace calibrant::bindings
