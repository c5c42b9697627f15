#include "calibrant/ranks/rank_calibration.hpp"

#include <pybind11/numpy.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "bindings/register.hpp"
#include "bindings/rows/arrays.hpp"
#include "bindings/runtime/gil.hpp"
#include "numeric/binomial.hpp"
#include "numeric/frequency.hpp"

namespace calibrant::bindings {
namespace {

using Counts = py::array_t<std::int64_t, py::array::c_style>;

// What a convolution costs is known only later: always without the GIL.
constexpr std::size_t worth_unlocking = rows_worth_releasing_gil + 1;

std::vector<std::int64_t> as_vector(const Counts& counts) {
    return {counts.data(), counts.data() + counts.size()};
}

// (gamma, coverage, low, high).
template <class Find>
py::tuple band_tuple(std::int64_t n, std::int64_t n_ranks, double level, Find find) {
    RankBand band;
    without_gil(worth_unlocking, [&] { band = find(n, RankGrid(n_ranks), level, poll_signals); });
    std::vector<std::int64_t> high(band.low.rbegin(), band.low.rend());
    for (std::int64_t& bound : high) bound = n - bound;
    return py::make_tuple(band.gamma, band.coverage, as_array(band.low), as_array(high));
}

// (statistic, pvalue, log_pvalue).
template <class Test>
std::tuple<double, double, double> test_tuple(std::int64_t n, std::int64_t n_ranks,
                                              const Counts& below, Test test) {
    const RankGrid grid(n_ranks);
    const std::vector<std::int64_t> at_cuts = as_vector(below);
    if (at_cuts.size() != grid.cuts.size()) throw py::index_error("one count for each cut");
    RankTest found{};
    without_gil(worth_unlocking, [&] { found = test(n, grid, at_cuts, poll_signals); });
    return {found.statistic, found.pvalue, found.log_pvalue};
}

py::tuple clopper_pearson_of(const Counts& counts, std::int64_t n, double tail,
                             double normal_quantile) {
    const std::vector<std::int64_t> parts = as_vector(counts);
    std::vector<double> low(parts.size()), high(parts.size());
    without_gil(worth_unlocking, [&] {
        const auto exact = [](std::int64_t count) {
            ExactSum sum;
            sum.add(Int128{count}, 0);
            return sum;
        };
        const ExactSum whole = exact(n);
        for_each_chunk(parts.size(), 1, 1, poll_signals,
                       [&](std::size_t, std::size_t i, std::size_t) {
                           const Frequency found =
                               clopper_pearson(exact(parts[i]), whole, tail, normal_quantile);
                           low[i] = found.low;
                           high[i] = found.high;
                           return true;
                       });
    });
    return py::make_tuple(as_array(low), as_array(high));
}

}  // namespace

void register_rank_calibration(py::module_& m) {
    using namespace py::literals;
    m.def(
        "rank_cuts", [](std::int64_t n_ranks) { return as_array(RankGrid(n_ranks).cuts); },
        "n_ranks"_a);
    m.def(
        "rank_band",
        [](std::int64_t n, std::int64_t n_ranks, double gamma) {
            return band_tuple(n, n_ranks, gamma, rank_band);
        },
        "n"_a, "n_ranks"_a, "gamma"_a);
    m.def(
        "simultaneous_rank_band",
        [](std::int64_t n, std::int64_t n_ranks, double prob) {
            return band_tuple(n, n_ranks, prob, simultaneous_rank_band);
        },
        "n"_a, "n_ranks"_a, "prob"_a);
    m.def(
        "rank_gamma_test",
        [](std::int64_t n, std::int64_t n_ranks, const Counts& below) {
            return test_tuple(n, n_ranks, below, rank_gamma_test);
        },
        "n"_a, "n_ranks"_a, "below"_a.noconvert());
    m.def(
        "rank_ks_test",
        [](std::int64_t n, std::int64_t n_ranks, const Counts& below) {
            return test_tuple(n, n_ranks, below, rank_ks_test);
        },
        "n"_a, "n_ranks"_a, "below"_a.noconvert());
    m.def(
        "binomial_interval",
        [](std::int64_t n, std::int64_t k, std::int64_t trials, double tail) {
            return with_ieee_environment([&] {
                const Binomial law{n, k, trials};
                return std::tuple(law.lower_quantile(tail),
                                  n - law.failures().lower_quantile(tail));
            });
        },
        "n"_a, "k"_a, "m"_a, "tail"_a);
    m.def("clopper_pearson", &clopper_pearson_of, "counts"_a.noconvert(), "n"_a, "tail"_a,
          "normal_quantile"_a);
}

}  // namespace calibrant::bindings
