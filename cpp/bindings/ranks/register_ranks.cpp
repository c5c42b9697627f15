#include "calibrant/ranks/ranks.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <optional>

#include "bindings/register.hpp"
#include "bindings/rows/draw_inputs.hpp"
#include "bindings/state/register_accumulator.hpp"
#include "calibrant/rows/check.hpp"
#include "numeric/philox.hpp"

namespace calibrant::bindings {
namespace {

using Counts = py::array_t<std::int64_t, py::array::c_style>;

// Calls work(i) for each place, on several threads.
template <class Work>
void run_by_places(std::size_t n, const Work& work) {
    constexpr std::size_t chunk = 8192;
    without_gil(n, [&] {
        for_each_chunk(n, chunk, workers_for(n, 4 * chunk), poll_signals,
                       [&](std::size_t, std::size_t begin, std::size_t end) {
                           for (std::size_t i = begin; i < end; ++i) work(i);
                           return true;
                       });
    });
}

Counts ranks(const py::object& draws, const py::object& truth, const py::object& references,
             std::uint64_t seed, std::uint64_t first_pair, bool omit_missing) {
    const DrawInputs inputs(draws, truth, references, omit_missing);
    Counts result(inputs.shape());
    std::int64_t* const to = result.mutable_data();
    without_gil(inputs.n_values(),
                [&] { ranks_of(inputs.rows(), seed, first_pair, poll_signals, to); });
    return result;
}

py::tuple draw_counts(const py::object& draws, const py::object& truth, std::uint64_t first_pair) {
    DrawInputs inputs(draws, truth, py::none(), false);
    inputs.offer_no_omission();
    Counts less(inputs.shape()), equal(inputs.shape());
    std::int64_t* const below = less.mutable_data();
    std::int64_t* const same = equal.mutable_data();
    without_gil(inputs.n_values(),
                [&] { counts_of(inputs.rows(), first_pair, poll_signals, below, same); });
    return py::make_tuple(less, equal);
}

// Of counts of shape (n, d) that are not negative and add up to most_draws at most.
Counts break_ties(const Counts& less, const Counts& equal, std::uint64_t seed,
                  std::uint64_t first_pair) {
    if (less.ndim() != 2 || equal.ndim() != 2 || less.shape(0) != equal.shape(0) ||
        less.shape(1) != equal.shape(1)) {
        throw py::index_error("less and equal must be matrices of one shape");
    }
    Counts result({less.shape(0), less.shape(1)});
    const auto dims = static_cast<std::size_t>(less.shape(1));
    const std::int64_t *const below = less.data(), *const same = equal.data();
    std::int64_t* const to = result.mutable_data();
    run_by_places(static_cast<std::size_t>(less.size()), [&](std::size_t i) {
        const auto most = static_cast<std::int64_t>(most_draws);
        if (below[i] < 0 || same[i] < 0 || below[i] > most || same[i] > most - below[i]) {
            throw InvalidInput("the arrays changed while they were being read");
        }
        to[i] = broken_tie(below[i], same[i], seed, first_pair + i / dims,
                           static_cast<std::uint32_t>(i % dims));
    });
    return result;
}

Purpose purpose_from(const std::string& name) {
    if (name == "pit") return Purpose::pit;
    if (name == "reference") return Purpose::reference;
    throw InvalidInput("purpose must be 'pit' or 'reference', got '" + name + "'");
}

py::array_t<double> uniforms(std::size_t n, std::size_t dims, const std::string& purpose,
                             std::uint64_t seed, std::uint64_t first_row) {
    const Purpose wanted = purpose_from(purpose);
    py::array_t<double> result({n, dims});
    double* const to = result.mutable_data();
    run_by_places(n * dims, [&](std::size_t i) {
        to[i] = uniform({seed, first_row + i / dims, static_cast<std::uint32_t>(i % dims), wanted});
    });
    return result;
}

void update_with_draws(Ranks& self, const py::object& draws, const py::object& truth,
                       std::optional<std::uint64_t> first_pair, bool omit_missing) {
    const DrawInputs inputs(draws, truth, py::none(), omit_missing);
    const std::uint64_t first = first_pair.value_or(self.count() + self.omitted());
    update_aside(self, inputs.n_values(),
                 [&](Ranks& batch) { batch.update(inputs.rows(), first, poll_signals); });
}

Counts counts(const Ranks& self) {
    return Counts({self.n_dims(), self.n_draws() + 1}, self.counts().data());
}

}  // namespace

void register_ranks(py::module_& m) {
    using namespace py::literals;
    m.def("ranks", ranks, "draws"_a, "truth"_a, "references"_a, "seed"_a, "first_pair"_a,
          "omit_missing"_a, "Ranks of the truths among their draws; -1 where a pair is omitted.");
    m.def("draw_counts", draw_counts, "draws"_a, "truth"_a, "first_pair"_a,
          "How many draws lie below their truth, and how many equal it.");
    m.def("break_ties", break_ties, "less"_a, "equal"_a, "seed"_a, "first_pair"_a,
          "Ranks, uniform on less to less + equal.");
    m.def("uniforms", uniforms, "n"_a, "dims"_a, "purpose"_a, "seed"_a, "first_row"_a,
          "Random numbers in [0, 1), a function of their place.");

    register_accumulator<Ranks>(m, "Ranks", "Counts of each rank, by dimension.")
        .def(py::init<std::size_t, std::size_t, std::uint64_t>(), "n_draws"_a, "n_dims"_a, "seed"_a)
        .def("update", update_with_draws, "draws"_a, "truth"_a, "first_pair"_a, "omit_missing"_a,
             "Add one batch of pairs.")
        .def(
            "update_ranks",
            [](Ranks& self, const py::object& ranks_given) {
                const Input input = as_column(ranks_given, "ranks", Shape::vector_or_matrix);
                update_aside(self, input.size() * input.column().width, [&](Ranks& batch) {
                    batch.update_ranks(input.column(), poll_signals);
                });
            },
            "ranks"_a, "Add pairs of which the ranks are known.")
        .def("counts", counts, "How often each rank was found: a row a dimension.")
        .def_property_readonly("n_draws", &Ranks::n_draws, "Draws a pair.")
        .def_property_readonly("n_dims", &Ranks::n_dims, "Ranks a pair.")
        .def_property_readonly("seed", &Ranks::seed, "Of the ties.")
        .def_property_readonly("n_omitted", &Ranks::omitted,
                               "Pairs dropped because a value was missing.");
}

}  // namespace calibrant::bindings
