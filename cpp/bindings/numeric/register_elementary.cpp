// The elementary functions on arrays, as the kernels in force compute them: _core._testing.
#include <pybind11/numpy.h>

#include <algorithm>

#include "bindings/register.hpp"
#include "kernels/kernels.hpp"

namespace py = pybind11;

namespace calibrant::bindings {
namespace {

using Doubles = py::array_t<double, py::array::c_style>;

template <class Kernel>
py::tuple by_blocks(const Doubles& x, std::size_t n_results, const Kernel& kernel) {
    const auto n = static_cast<std::size_t>(x.size());
    py::tuple results(n_results);
    double* out[3] = {};  // NOLINT(misc-const-correctness): kernels write through them
    for (std::size_t k = 0; k < n_results; ++k) {
        Doubles result(x.size());
        out[k] = result.mutable_data();
        results[k] = std::move(result);
    }
    for (std::size_t i = 0; i < n; i += block_rows) {
        kernel(x.data() + i, std::min(block_rows, n - i), out[0] + i, out[1] + i, out[2] + i);
    }
    return results;
}

}  // namespace

void register_elementary(py::module_& m) {
    using namespace py::literals;
    m.def(
        "log",
        [](const Doubles& x) -> py::object {
            return by_blocks(x, 1,
                             [](const double* in, std::size_t n, double* out, double*, double*) {
                                 kernels().log(in, n, out);
                             })[0];
        },
        "x"_a);
    m.def(
        "exp",
        [](const Doubles& x) -> py::object {
            return by_blocks(x, 1,
                             [](const double* in, std::size_t n, double* out, double*, double*) {
                                 kernels().exp(in, n, out);
                             })[0];
        },
        "x"_a);
    m.def(
        "power",
        [](const Doubles& x, double m_) -> py::object {
            return by_blocks(x, 1,
                             [=](const double* in, std::size_t n, double* out, double*, double*) {
                                 kernels().power(in, n, make_power(m_), out);
                             })[0];
        },
        "x"_a, "m"_a);
    m.def(
        "log_term",
        [](const Doubles& x) {
            return by_blocks(
                x, 2, [](const double* in, std::size_t n, double* high, double* low, double*) {
                    kernels().logs(in, n, high, low);
                });
        },
        "x"_a);
    m.def(
        "power_term",
        [](const Doubles& x, double m_) {
            return by_blocks(
                x, 3,
                [=](const double* in, std::size_t n, double* high, double* low, double* exponent) {
                    const bool multiplied_in =
                        kernels().powers(in, n, make_power(m_), high, low, exponent);
                    if (multiplied_in) std::fill_n(exponent, n, 0.0);
                });
        },
        "x"_a, "m"_a);
}

}  // namespace calibrant::bindings
