#include "calibrant/group_places.hpp"
#include "calibrant/grouped_bytes.hpp"
#include "calibrant/integer_codes.hpp"
#include "calibrant/take_rows.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
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

// The rows of an array, whose values must lie side by side and be no Python objects.
std::size_t bytes_of_row(const py::array& values) {
    if (values.ndim() == 0 || (values.flags() & py::array::c_style) == 0 ||
        values.dtype().kind() == 'O') {
        throw py::type_error("rows must lie side by side");
    }
    std::size_t bytes = static_cast<std::size_t>(values.itemsize());
    for (py::ssize_t axis = 1; axis < values.ndim(); ++axis) {
        bytes *= static_cast<std::size_t>(values.shape(axis));
    }
    return bytes;
}

py::array room_for_rows(const py::array& like, py::ssize_t rows) {
    std::vector<py::ssize_t> shape(like.shape(), like.shape() + like.ndim());
    shape[0] = rows;
    return {like.dtype(), shape};
}

// Where each group starts; the row of each place, if it is asked for; and copies of the columns,
// whose rows lie side by side by group.
py::tuple rows_together(const Groups& groups, std::size_t n_groups,
                        const std::vector<py::array>& columns, bool with_order) {
    const auto n = static_cast<std::size_t>(groups.size());
    for (const py::array& column : columns) {
        (void)bytes_of_row(column);
        if (column.shape(0) != groups.size()) throw py::index_error("no such rows");
    }
    auto places =
        run_unlocked(n, [&] { return GroupPlaces({groups.data(), n_groups}, n, poll_signals); });
    const auto placed = static_cast<py::ssize_t>(places.starts().back());
    py::list copies;
    std::vector<BytesOfRows> bytes;
    for (const py::array& column : columns) {
        py::array copy = room_for_rows(column, placed);
        bytes.push_back({static_cast<const std::byte*>(column.data()),
                         static_cast<std::byte*>(copy.mutable_data()), bytes_of_row(column)});
        copies.append(std::move(copy));
    }
    py::array_t<std::int64_t> order(with_order ? placed : 0);
    std::int64_t* const to = with_order ? order.mutable_data() : nullptr;
    run_unlocked(n, [&] { bring_together(places, bytes, to, poll_signals); });
    const GroupStarts& starts = places.starts();
    return py::make_tuple(array_of(std::vector<std::int64_t>(starts.begin(), starts.end())), order,
                          copies);
}

py::array rows_taken(const py::array& values,
                     const py::array_t<std::int64_t, py::array::c_style>& order) {
    const std::size_t row_bytes = bytes_of_row(values);
    const auto rows = static_cast<std::size_t>(values.shape(0));
    py::array taken = room_for_rows(values, order.size());
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
    m.def("rows_together", &rows_together, "groups"_a.noconvert(), "n_groups"_a, "columns"_a,
          "with_order"_a);
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
