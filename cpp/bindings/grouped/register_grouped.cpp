#include "grouped/grouped_bytes.hpp"
#include "rows/integer_codes.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/grouped/grouped_accumulators.hpp"
#include "bindings/register.hpp"
#include "bindings/runtime/critical_section.hpp"
#include "bindings/state/register_accumulator.hpp"

namespace calibrant::bindings {
namespace {

py::tuple codes_of_integers(const py::array_t<std::int64_t, py::array::c_style>& keys) {
    const auto n = static_cast<std::size_t>(keys.size());
    py::array_t<std::int32_t> codes(static_cast<py::ssize_t>(n));
    const std::int64_t* const from = keys.data();
    std::int32_t* const to = codes.mutable_data();
    const auto distinct = without_gil(n, [&] { return integer_codes(from, n, to, poll_signals); });
    return py::make_tuple(codes, array_of(distinct));
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
    m.def("seal_grouped", &seal_pieces, "pieces"_a);
    m.def("open_grouped", &open_pieces, "state"_a);
    using Grouped = GroupedAccumulators;
    LockedClass<Grouped>(m, "GroupedAccumulators", "Accumulators by key.")
        .def(py::init(&grouped_accumulators), "empty"_a)
        .def_property_readonly("empty", &Grouped::empty)
        .def("begin", &Grouped::begin, "keys"_a, "kind"_a)
        .def_property_readonly("are_updated", &Grouped::are_updated)
        .def("update", &Grouped::update, "codes"_a.noconvert(), "arguments"_a, "before"_a,
             "rows_before"_a)
        .def("append", &Grouped::append, "state"_a)
        .def("set_keys", &Grouped::set_keys, "keys"_a, "kind"_a, "without_key"_a)
        .def("add", &Grouped::add, "batch"_a, "without_key"_a = 0, "note"_a = py::none())
        .def("merge", &Grouped::merge, "other"_a)
        .def("drop", &Grouped::drop, "numbers"_a, "note"_a)
        .def("copy", &Grouped::copy)
        .def_property_readonly("note", &Grouped::note)
        .def("set_note", &Grouped::set_note, "note"_a)
        .def_property_readonly("n", &Grouped::n)
        .def_property_readonly("n_omitted", &Grouped::omitted)
        .def_property_readonly("without_key", &Grouped::without_key)
        .def_property_readonly("n_rows", &Grouped::rows)
        .def_property_readonly("kind", &Grouped::kind)
        .def(
            "rows_of",
            [](const Grouped& self, const py::list& keys) { return array_of(self.rows_of(keys)); },
            "keys"_a)
        .def("number", &Grouped::number, "key"_a)
        .def("keys", &Grouped::keys)
        .def("numbers", &Grouped::numbers)
        .def("counts", &Grouped::counts)
        .def("means", &Grouped::means, "score"_a)
        .def("merged", &Grouped::merged, "numbers"_a)
        .def("__len__", &Grouped::size);
}

}  // namespace calibrant::bindings
