#include "calibrant/group_runs.hpp"
#include "calibrant/grouped_bytes.hpp"
#include "calibrant/integer_codes.hpp"
#include "calibrant/take_rows.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "grouped_any.hpp"
#include "held.hpp"
#include "register.hpp"
#include "register_accumulator.hpp"

namespace calibrant::bindings {
namespace {

py::tuple codes_of_integers(const py::array_t<std::int64_t, py::array::c_style>& keys) {
    const auto n = static_cast<std::size_t>(keys.size());
    py::array_t<std::int32_t> codes(static_cast<py::ssize_t>(n));
    const std::int64_t* const from = keys.data();
    std::int32_t* const to = codes.mutable_data();
    const auto distinct = run_unlocked(n, [&] { return integer_codes(from, n, to, poll_signals); });
    return py::make_tuple(codes, array_of(distinct));
}

// The rows in order, then room that is not used; and where each group starts.
py::tuple rows_by_code(const Groups& groups, std::size_t n_groups) {
    const auto n = static_cast<std::size_t>(groups.size());
    py::array_t<std::int64_t> order(groups.size());
    std::int64_t* const to = order.mutable_data();
    const auto starts =
        run_unlocked(n, [&] { return rows_in_order({groups.data(), n_groups}, n, to); });
    return py::make_tuple(order, array_of(std::vector<std::int64_t>(starts.begin(), starts.end())));
}

// Rows of an array whose values lie side by side and are no Python objects.
py::array rows_taken(const py::array& values,
                     const py::array_t<std::int64_t, py::array::c_style>& order) {
    if (values.ndim() == 0 || (values.flags() & py::array::c_style) == 0 ||
        values.dtype().kind() == 'O') {
        throw py::type_error("rows must lie side by side");
    }
    std::vector<py::ssize_t> shape(values.shape(), values.shape() + values.ndim());
    const auto rows = static_cast<std::size_t>(shape[0]);
    std::size_t row_bytes = static_cast<std::size_t>(values.itemsize());
    for (std::size_t axis = 1; axis < shape.size(); ++axis) {
        row_bytes *= static_cast<std::size_t>(shape[axis]);
    }
    shape[0] = order.size();
    py::array taken(values.dtype(), shape);
    const auto* const from = static_cast<const std::byte*>(values.data());
    auto* const to = static_cast<std::byte*>(taken.mutable_data());
    const auto n = static_cast<std::size_t>(order.size());
    run_unlocked(n, [&] { take_rows(from, rows, row_bytes, order.data(), n, to, poll_signals); });
    return taken;
}

py::bytes seal_pieces(const std::vector<std::string>& pieces) { return seal_grouped(pieces); }

std::vector<py::bytes> open_pieces(const py::object& state) {
    const std::string bytes = copy_bytes(state);
    std::vector<py::bytes> pieces;
    for (const std::string_view piece : open_grouped(bytes)) {
        pieces.emplace_back(piece.data(), piece.size());
    }
    return pieces;
}

}  // namespace

void register_grouped(py::module_& m) {
    using namespace py::literals;
    m.def("integer_codes", &codes_of_integers, "keys"_a.noconvert());
    m.def("rows_in_order", &rows_by_code, "groups"_a.noconvert(), "n_groups"_a);
    m.def("rows_taken", &rows_taken, "values"_a.noconvert(), "order"_a.noconvert());
    m.def("seal_grouped", &seal_pieces, "pieces"_a);
    m.def("open_grouped", &open_pieces, "state"_a);
    m.def("grouped_parts", &grouped_parts, "parameters"_a);
    HeldClass<AnyParts>(m, "GroupedParts", "Accumulators of many groups.")
        .def("update", &AnyParts::update, "y_true"_a, "y_proba"_a, "sample_weight"_a,
             "omit_missing"_a, "groups"_a.noconvert(), "n_groups"_a, "rows_before"_a)
        .def("update_runs", &AnyParts::update_runs, "first"_a, "starts"_a.noconvert(),
             "seen"_a.noconvert(), "arguments"_a)
        .def_property_readonly("takes_events", &AnyParts::takes_events)
        .def("grow_to", &AnyParts::grow_to, "n_groups"_a)
        .def("merge", &AnyParts::merge, "other"_a, "places"_a)
        .def("append", &AnyParts::append, "group"_a)
        .def("empty", &AnyParts::empty)
        .def("copy", &AnyParts::copy)
        .def("group", &AnyParts::group, "index"_a)
        .def("means", &AnyParts::means, "score"_a)
        .def("counts", &AnyParts::counts)
        .def("omitted", &AnyParts::omitted)
        .def("__len__", &AnyParts::size);
}

}  // namespace calibrant::bindings
