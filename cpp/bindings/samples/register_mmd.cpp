#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bindings/register.hpp"
#include "bindings/rows/inputs.hpp"
#include "bindings/runtime/gil.hpp"
#include "calibrant/rows/check.hpp"
#include "calibrant/samples/mmd.hpp"

namespace calibrant::bindings {
namespace {

MmdKernel mmd_kernel(const std::string& name) {
    if (name == "gaussian") return MmdKernel::gaussian;
    if (name == "laplace") return MmdKernel::laplace;
    if (name == "polynomial") return MmdKernel::polynomial;
    throw InvalidInput("kernel must be 'gaussian', 'laplace' or 'polynomial', got '" + name + "'");
}

MmdSetting setting_from(const std::string& kernel, const std::vector<double>& bandwidths) {
    for (const double bandwidth : bandwidths) {
        if (bandwidth >= 1e-150 && bandwidth <= 1e150) continue;
        throw InvalidInput("bandwidth must lie in [1e-150, 1e150], found " +
                           number_text(bandwidth));
    }
    return {mmd_kernel(kernel), bandwidths};
}

struct Samples {
    Samples(const py::object& x_rows, const py::object& y_rows)
        : x(as_column(x_rows, "x", Shape::vector_or_matrix)),
          y(as_column(y_rows, "y", Shape::vector_or_matrix)) {
        const std::size_t x_width = x.column().width, y_width = y.column().width;
        if (x_width != y_width) {
            throw InvalidInput("x and y must have the same number of columns, found " +
                               std::to_string(x_width) + " and " + std::to_string(y_width));
        }
        if (x_width == 0) throw InvalidInput("x and y must have at least one column");
        if (x.size() == 0 || y.size() == 0) {
            throw InvalidInput("x and y must have at least one row, found " +
                               std::to_string(x.size()) + " and " + std::to_string(y.size()));
        }
        if (x.size() + y.size() >= (std::size_t{1} << 32)) {
            throw InvalidInput("x and y must have less than 2^32 rows together");
        }
    }

    [[nodiscard]] std::size_t work() const { return (x.size() + y.size()) * 64; }
    [[nodiscard]] PooledPoints pooled() const {
        return {{&x.column(), 0, x.size()}, {&y.column(), 0, y.size()}};
    }

    Input x, y;
};

using Estimates = std::vector<std::pair<double, double>>;

Estimates mmd_estimates(const py::object& x, const py::object& y,
                        const std::vector<double>& bandwidths, const std::string& kernel) {
    const MmdSetting setting = setting_from(kernel, bandwidths);
    const Samples samples(x, y);
    Estimates result;
    without_gil(samples.work(), [&] {
        for (const MmdSums& sums : mmd_sums(samples.pooled(), setting, npos, poll_signals)) {
            result.emplace_back(sums.biased(), sums.unbiased());
        }
    });
    return result;
}

py::tuple mean_of_terms(const py::object& x, const py::object& y,
                        const std::vector<double>& bandwidths, const std::string& kernel,
                        std::size_t block_size) {
    const MmdSetting setting = setting_from(kernel, bandwidths);
    const Samples samples(x, y);
    require_same_length("x", samples.x.size(), "y", samples.y.size());
    MeanOfTerms result{};
    without_gil(samples.work(), [&] {
        const Column& rows = samples.x.column();
        const Column& others = samples.y.column();
        result = block_size == 0 ? linear_mmd(rows, others, setting, poll_signals)
                                 : block_mmd(rows, others, block_size, setting, poll_signals);
    });
    return py::make_tuple(result.mean, result.standard_error, result.count);
}

// The splits are worked through step by step, so that the caller can say how far it is.
class NullRun {
public:
    NullRun(const py::object& x, const py::object& y, const std::vector<double>& bandwidths,
            const std::string& kernel, std::size_t permutations, std::uint64_t seed, bool every) {
        const MmdSetting setting = setting_from(kernel, bandwidths);
        const Samples samples(x, y);
        count_ = permutations;
        without_gil(samples.work(), [&] {
            const std::size_t n = samples.x.size(), m = samples.y.size();
            null_ = make_mmd_null(samples.pooled(), setting,
                                  every ? Splits(n, m) : Splits(n, m, permutations, seed));
        });
    }

    double advance() {
        return without_gil(rows_worth_releasing_gil + 1,
                           [&] { return null_->advance(poll_signals); });
    }

    [[nodiscard]] py::tuple statistics(bool unbiased) const {
        py::array_t<double> values(static_cast<py::ssize_t>(count_));
        double* const out = values.mutable_data();
        return with_ieee_environment([&] {
            const auto value = [&](const MmdSums& sums) {
                return unbiased ? sums.unbiased() : sums.biased();
            };
            for (std::size_t b = 0; b < count_; ++b) out[b] = value(null_->split(b));
            const MmdSums observed = null_->observed();
            return py::make_tuple(value(observed), observed.slack(), values);
        });
    }

private:
    std::unique_ptr<MmdNull> null_;
    std::size_t count_ = 0;
};

}  // namespace

void register_mmd(py::module_& m) {
    using namespace py::literals;
    m.def("mmd", &mmd_estimates, "x"_a, "y"_a, "bandwidths"_a, "kernel"_a,
          "The biased and the unbiased estimate for each bandwidth.");
    m.def("mmd_of_blocks", &mean_of_terms, "x"_a, "y"_a, "bandwidths"_a, "kernel"_a, "block_size"_a,
          "Mean, its standard error and the number of terms; block_size 0 is the linear estimate.");
    m.def(
        "pooled_median_distance",
        [](const py::object& x, const py::object& y, const std::string& kernel) {
            const MmdKernel kind = mmd_kernel(kernel);
            const Samples samples(x, y);
            return without_gil(samples.work(), [&] {
                return median_distance(samples.pooled(), kind, poll_signals);
            });
        },
        "x"_a, "y"_a, "kernel"_a,
        "Of all pairs of different rows; of at most 2000 rows of vectors.");
    py::class_<NullRun>(m, "MmdNull", "Estimates for splits of the pooled rows.")
        .def(py::init<const py::object&, const py::object&, const std::vector<double>&,
                      const std::string&, std::size_t, std::uint64_t, bool>(),
             "x"_a, "y"_a, "bandwidths"_a, "kernel"_a, "permutations"_a, "seed"_a, "every"_a)
        .def("advance", &NullRun::advance, "Go on for a while; the share done so far.")
        .def("statistics", &NullRun::statistics, "unbiased"_a,
             "Of the samples, what rounding may change it by, and of each split.");
}

}  // namespace calibrant::bindings
