#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>

#include "bindings/register.hpp"
#include "bindings/rows/inputs.hpp"
#include "bindings/runtime/gil.hpp"
#include "calibrant/dependence/dependence.hpp"
#include "calibrant/rows/check.hpp"
#include "numeric/gamma_tail.hpp"

namespace calibrant::bindings {
namespace {

HsicKernel hsic_kernel(const std::string& name) {
    if (name == "gaussian") return HsicKernel::gaussian;
    if (name == "laplace") return HsicKernel::laplace;
    throw InvalidInput("kernel must be 'gaussian' or 'laplace', got '" + name + "'");
}

bool is_constant(const Points& points) {
    for (std::size_t k = 0; k < points.dimension; ++k) {
        const double* const x = points.coordinate(k);
        if (!std::all_of(x, x + points.n, [&](double value) { return value == x[0]; })) {
            return false;
        }
    }
    return true;
}

double bandwidth_of(const Points& points, std::optional<double> given, HsicKernel kernel,
                    const char* name) {
    if (given.has_value()) {
        if (*given >= 1e-150 && *given <= 1e150) return *given;
        throw InvalidInput("bandwidth must lie in [1e-150, 1e150], found " + number_text(*given) +
                           " for " + name);
    }
    const double median = median_distance(points, kernel, poll_signals);
    if (median >= 1e-150 && median <= 1e150) return median;
    throw InvalidInput(std::string("bandwidth of ") + name +
                       " cannot be the median of its distances, which is " + number_text(median) +
                       "; pass one");
}

struct HsicAnswer {
    HsicSums sums;
    double x_bandwidth = 0.0, y_bandwidth = 0.0;
    bool x_constant = false, y_constant = false;
    std::uint64_t exceedances = 0;
};

HsicAnswer answer(const Column& x_column, const Column& y_column, std::optional<double> x_bandwidth,
                  std::optional<double> y_bandwidth, HsicKernel kernel, HsicDepth depth,
                  std::uint64_t permutations, std::uint64_t seed) {
    HsicAnswer result;
    const Points x = read_points(x_column, "x"), y = read_points(y_column, "y");
    result.sums.n = x.n;
    result.x_constant = is_constant(x);
    result.y_constant = is_constant(y);
    if (result.x_constant || result.y_constant) {
        result.x_bandwidth = x_bandwidth.value_or(0.0);
        result.y_bandwidth = y_bandwidth.value_or(0.0);
        return result;
    }
    const HsicSide x_side{&x, bandwidth_of(x, x_bandwidth, kernel, "x")};
    const HsicSide y_side{&y, bandwidth_of(y, y_bandwidth, kernel, "y")};
    result.x_bandwidth = x_side.bandwidth;
    result.y_bandwidth = y_side.bandwidth;
    result.sums = hsic_sums(x_side, y_side, kernel, depth, poll_signals);
    if (permutations > 0) {
        result.exceedances =
            hsic_exceedances(x_side, y_side, kernel, permutations, seed, poll_signals);
    }
    return result;
}

HsicDepth depth_from(int depth) {
    return depth == 0 ? HsicDepth::trace : depth == 1 ? HsicDepth::diagonals : HsicDepth::squares;
}

}  // namespace

void register_dependence(py::module_& m) {
    using namespace py::literals;
    m.def(
        "hsic",
        [](const py::object& x, const py::object& y, std::optional<double> x_bandwidth,
           std::optional<double> y_bandwidth, const std::string& kernel, int depth,
           std::uint64_t permutations, std::uint64_t seed) {
            const HsicKernel kind = hsic_kernel(kernel);
            const Input xs = as_column(x, "x", Shape::vector_or_matrix);
            const Input ys = as_column(y, "y", Shape::vector_or_matrix);
            require_same_length("x", xs.size(), "y", ys.size());
            if (xs.size() < 2) {
                throw InvalidInput("an HSIC needs at least 2 rows, got " +
                                   std::to_string(xs.size()));
            }
            if (xs.column().width == 0 || ys.column().width == 0) {
                throw InvalidInput("x and y must have at least one column");
            }
            if (xs.size() >= (std::size_t{1} << 32)) {
                throw InvalidInput("an HSIC takes less than 2^32 rows");
            }
            HsicAnswer result;
            without_gil(std::max<std::size_t>(xs.size() * 64, permutations), [&] {
                result = answer(xs.column(), ys.column(), x_bandwidth, y_bandwidth, kind,
                                depth_from(depth), permutations, seed);
            });
            const HsicSums& sums = result.sums;
            return with_ieee_environment([&] {
                return py::dict(
                    "n"_a = sums.n, "x_bandwidth"_a = result.x_bandwidth,
                    "y_bandwidth"_a = result.y_bandwidth, "x_constant"_a = result.x_constant,
                    "y_constant"_a = result.y_constant, "exceedances"_a = result.exceedances,
                    "trace"_a = sums.trace, "biased"_a = sums.biased(),
                    "gretton"_a = sums.gretton(), "unbiased"_a = sums.unbiased(),
                    "null_mean"_a = sums.null_mean(), "null_variance"_a = sums.null_variance());
            });
        },
        "x"_a, "y"_a, "x_bandwidth"_a, "y_bandwidth"_a, "kernel"_a, "depth"_a, "permutations"_a,
        "seed"_a,
        "Estimates; depth 1 or more for the unbiased one, 2 for the moments under permutations.");
    m.def(
        "gamma_tail",
        [](double shape, double x) {
            return with_ieee_environment(
                [&] { return py::make_tuple(gamma_sf(shape, x), gamma_log_sf(shape, x)); });
        },
        "shape"_a, "x"_a, "P(X > x) and its logarithm.");
}

}  // namespace calibrant::bindings
