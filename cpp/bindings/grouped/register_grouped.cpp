#include "grouped/grouped_bytes.hpp"
#include "partition/group_partition.hpp"
#include "rows/integer_codes.hpp"
#include "rows/take_rows.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/grouped/grouped_accumulators.hpp"
#include "bindings/register.hpp"
#include "bindings/runtime/critical_section.hpp"
#include "bindings/state/register_accumulator.hpp"
#include "ordering/grouped_scores.hpp"
#include "partition/group_runs.hpp"

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

// Arrays for rows like those of another. One that nobody else refers to any more is used again:
// its memory is there, and maybe in a cache.
class RoomsForRows {
public:
    explicit RoomsForRows(const py::array& like) : like_(room_for_rows(like, 0)) {}

    [[nodiscard]] py::array one_for(py::ssize_t rows) {
        const auto is_free = [&](const py::array& room) {
            return room.ref_count() == 1 && room.shape(0) >= rows;
        };
        auto room = std::ranges::find_if(rooms_, is_free);
        if (room == rooms_.end()) {
            std::erase_if(rooms_, [](const py::array& other) { return other.ref_count() == 1; });
            room = rooms_.insert(rooms_.end(), room_for_rows(like_, rows));
        }
        std::vector<py::ssize_t> shape(room->shape(), room->shape() + room->ndim());
        shape[0] = rows;
        return {room->dtype(), shape, room->mutable_data(), *room};
    }

private:
    py::array like_;  // without rows
    std::vector<py::array> rooms_;
};

// Rows of arrays, brought together by group: some groups at a time. Long rows stay where they are
// until their groups come.
class ArraysTogether {
public:
    ArraysTogether(const Groups& groups, std::size_t n_groups,
                   const std::vector<py::array>& columns, bool with_order)
        : gives_order_(with_order) {
        const auto n = static_cast<std::size_t>(groups.size());
        std::vector<std::size_t> bytes;
        std::vector<const std::byte*> from;
        std::size_t long_bytes = 0;
        for (const py::array& column : columns) {
            const std::size_t row_bytes = bytes_of_row(column);
            if (column.shape(0) != groups.size()) throw py::index_error("no such rows");
            columns_.push_back({column, row_bytes, row_bytes > short_bytes, RoomsForRows(column)});
            if (columns_.back().is_long) {
                long_bytes += row_bytes;
                continue;
            }
            bytes.push_back(row_bytes);
            from.push_back(static_cast<const std::byte*>(column.data()));
        }
        if (with_order || long_bytes != 0) bytes.push_back(sizeof(std::int64_t));
        const std::size_t at_once =
            long_bytes == 0 ? GroupPartition::most_at_once : room_bytes / long_bytes + 1;
        without_gil(n, [&] {
            together_.emplace(GroupCodes{groups.data(), n_groups}, n, bytes, at_once, poll_signals);
            read(from, bytes);
        });
    }

    // The first group, where it and those that follow start in the copies, their rows if they are
    // asked for, and the copies; None if there are no more groups with rows.
    py::object next() {
        if (!together_->next()) return py::none();
        const auto rows = static_cast<py::ssize_t>(together_->size());
        std::vector<py::array> copies;
        std::vector<std::byte*> to;
        bool with_order = gives_order_;
        for (ColumnOfArray& column : columns_) {
            copies.push_back(column.rooms.one_for(rows));
            with_order = with_order || column.is_long;
            if (!column.is_long) to.push_back(data_of(copies.back()));
        }
        py::array order = order_rooms_.one_for(with_order ? rows : 0);
        if (with_order) to.push_back(data_of(order));
        const GroupStarts starts =
            without_gil(together_->size(), [&] { return together_->copy(to, poll_signals); });
        for (std::size_t k = 0; k < columns_.size(); ++k) {
            if (columns_[k].is_long) take(columns_[k], order, copies[k]);
        }
        return py::make_tuple(together_->first_group(),
                              array_of(std::vector<std::int64_t>(starts.begin(), starts.end())),
                              order, copies);
    }

private:
    // Longer rows are copied once.
    static constexpr std::size_t short_bytes = 64;
    // Of long rows, at a time: what a cache holds.
    static constexpr std::size_t room_bytes = std::size_t{1} << 22;

    struct ColumnOfArray {
        py::array values;
        std::size_t row_bytes;
        bool is_long;
        RoomsForRows rooms;
    };

    static std::byte* data_of(py::array& values) {
        return static_cast<std::byte*>(values.mutable_data());
    }

    // The last value of a row is its number, if there is one more than arrays.
    void read(const std::vector<const std::byte*>& from, const std::vector<std::size_t>& bytes) {
        constexpr std::size_t at_once = 128;
        std::vector<std::array<std::int64_t, at_once>> numbers(together_->workers());
        (void)together_->read(
            at_once, poll_signals,
            [&](std::size_t worker, std::size_t row, std::size_t n, const std::byte** values) {
                for (std::size_t k = 0; k < from.size(); ++k) values[k] = from[k] + row * bytes[k];
                if (bytes.size() > from.size()) {
                    std::int64_t* const number = numbers[worker].data();
                    std::iota(number, number + n, static_cast<std::int64_t>(row));
                    values[from.size()] = reinterpret_cast<const std::byte*>(number);
                }
                return true;
            });
    }

    static void take(const ColumnOfArray& column, const py::array& order, py::array& copy) {
        const auto* const from = static_cast<const std::byte*>(column.values.data());
        const auto rows = static_cast<std::size_t>(column.values.shape(0));
        const auto* const numbers = static_cast<const std::int64_t*>(order.data());
        const auto n = static_cast<std::size_t>(order.shape(0));
        std::byte* const to = data_of(copy);
        without_gil(n,
                    [&] { take_rows(from, rows, column.row_bytes, numbers, n, to, poll_signals); });
    }

    bool gives_order_;
    std::vector<ColumnOfArray> columns_;
    RoomsForRows order_rooms_{py::array_t<std::int64_t>(0)};
    std::optional<GroupPartition> together_;
};

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
    py::class_<ArraysTogether>(m, "ArraysTogether", "Rows of arrays, brought together by group.")
        .def(py::init<const Groups&, std::size_t, const std::vector<py::array>&, bool>(),
             "groups"_a.noconvert(), "n_groups"_a, "columns"_a, "with_order"_a)
        .def("next", &ArraysTogether::next);
    m.def("seal_grouped", &seal_pieces, "pieces"_a);
    m.def("open_grouped", &open_pieces, "state"_a);
    using Grouped = GroupedAccumulators;
    LockedClass<Grouped>(m, "GroupedAccumulators", "Accumulators by key.")
        .def(py::init(&grouped_accumulators), "empty"_a)
        .def_property_readonly("empty", &Grouped::empty)
        .def("begin", &Grouped::begin, "keys"_a, "kind"_a)
        .def("update", &Grouped::update, "y_true"_a, "y_proba"_a, "sample_weight"_a,
             "omit_missing"_a, "groups"_a.noconvert(), "rows_before"_a)
        .def("update_runs", &Grouped::update_runs, "first"_a, "starts"_a.noconvert(),
             "seen"_a.noconvert(), "arguments"_a)
        .def("update_rows", &Grouped::update_rows, "groups"_a.noconvert(), "arguments"_a)
        .def_property_readonly("takes", &Grouped::takes)
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
