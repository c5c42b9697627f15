#include "calibrant/grouped_bytes.hpp"
#include "calibrant/grouped_score_sums.hpp"
#include "calibrant/integer_codes.hpp"
#include "calibrant/rows_by_group.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calibrant/assessment.hpp"
#include "calibrant/calibration.hpp"
#include "calibrant/means.hpp"
#include "calibrant/spiegelhalter.hpp"
#include "event_inputs.hpp"
#include "group_inputs.hpp"
#include "register.hpp"
#include "register_accumulator.hpp"

namespace calibrant::bindings {
namespace {

template <class T>
py::array_t<T> array_of(const std::vector<T>& values) {
    return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::tuple codes_of_integers(const py::array_t<std::int64_t, py::array::c_style>& keys) {
    const auto n = static_cast<std::size_t>(keys.size());
    py::array_t<std::int32_t> codes(static_cast<py::ssize_t>(n));
    const std::int64_t* const from = keys.data();
    std::int32_t* const to = codes.mutable_data();
    const auto distinct = run_unlocked(n, [&] { return integer_codes(from, n, to, poll_signals); });
    return py::make_tuple(codes, array_of(distinct));
}

void update(GroupedScoreSums& self, const py::object& y_true, const py::object& y_proba,
            const py::object& sample_weight, bool omit_missing, const Groups& groups,
            std::size_t n_groups, std::uint64_t rows_before) {
    if (y_true.is_none()) throw py::type_error("y_true must be an array, got None");
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const GroupCodes codes = group_codes(groups, n_groups, inputs.events().size());
    run_unlocked(inputs.n_values(),
                 [&] { self.update(inputs.events(), codes, rows_before, poll_signals); });
}

Score score_of(const std::string& name) {
    if (name == "brier") return Score::brier;
    if (name == "log") return Score::log;
    return Score::spherical;
}

const GroupedScoreSums& checked(const GroupedScoreSums& self, std::size_t index) {
    if (index >= self.size()) throw py::index_error("no such group");
    return self;
}

// Gives a core accumulator that is registered already the method `parts_by_group`: one accumulator
// of each group, with the same parameters, of the rows of a batch. update(part, events, poll) adds
// rows to one.
template <class Part, class Update>
void define_parts_by_group(const py::module_& m, const char* name, const Update& update) {
    using namespace py::literals;
    py::class_<Part>(m.attr(name))
        .def(
            "parts_by_group",
            [update](const Part& self, const py::object& y_true, const py::object& y_proba,
                     const py::object& sample_weight, bool omit_missing, const Groups& groups,
                     std::size_t n_groups, std::uint64_t rows_before) {
                if (y_true.is_none()) throw py::type_error("y_true must be an array, got None");
                const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
                const GroupCodes codes = group_codes(groups, n_groups, inputs.events().size());
                const Part empty = self.empty();
                return run_unlocked(inputs.n_values(), [&] {
                    const RowsByGroup rows(inputs.events(), codes, rows_before, poll_signals);
                    return parts_by_group(empty, rows, poll_signals, update);
                });
            },
            "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a, "groups"_a.noconvert(),
            "n_groups"_a, "rows_before"_a);
}

ScoredRows binary_or_top_label(const Events& events) {
    return {events, events.is_matrix ? Scoring::top_label : Scoring::binary};
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
    define_parts_by_group<RiskProfile>(
        m, "RiskProfile",
        [](RiskProfile& part, const Events& events, Poll poll) { part.update(events, 0, poll); });
    define_parts_by_group<Reliability>(m, "Reliability",
                                       [](Reliability& part, const Events& events, Poll poll) {
                                           part.update(binary_or_top_label(events), 0, poll);
                                       });
    define_parts_by_group<Spiegelhalter>(m, "Spiegelhalter",
                                         [](Spiegelhalter& part, const Events& events, Poll poll) {
                                             part.update(binary_or_top_label(events), 0, poll);
                                         });
    define_parts_by_group<Assessment>(
        m, "Assessment", [](Assessment& part, const Events& events, Poll poll) {
            part.update({events, Scoring::pairs, 0, part.q_lim()}, 0, poll);
        });
    m.def("integer_codes", &codes_of_integers, "keys"_a.noconvert());
    m.def("seal_grouped", &seal_pieces, "pieces"_a);
    m.def("open_grouped", &open_pieces, "state"_a);
    py::class_<GroupedScoreSums>(m, "GroupedScoreSums", "ScoreSums of many groups.")
        .def(py::init<const ScoreSums&>(), "parameters"_a)
        .def("update", &update, "y_true"_a, "y_proba"_a, "sample_weight"_a, "omit_missing"_a,
             "groups"_a.noconvert(), "n_groups"_a, "rows_before"_a)
        .def(
            "merge",
            [](GroupedScoreSums& self, const GroupedScoreSums& other,
               const py::array_t<std::int64_t, py::array::c_style>& places) {
                std::vector<std::size_t> of_group(places.data(), places.data() + places.size());
                self.merge(other, of_group);
            },
            "other"_a, "places"_a)
        .def("append", &GroupedScoreSums::append, "group"_a)
        .def("copy", [](const GroupedScoreSums& self) { return GroupedScoreSums(self); })
        .def(
            "group",
            [](const GroupedScoreSums& self, std::size_t index) {
                return checked(self, index).group(index);
            },
            "index"_a)
        .def(
            "means",
            [](const GroupedScoreSums& self, const std::string& score) {
                return run_standard([&] { return array_of(self.means(score_of(score))); });
            },
            "score"_a)
        .def("counts", [](const GroupedScoreSums& self) { return array_of(self.counts()); })
        .def("omitted", [](const GroupedScoreSums& self) { return array_of(self.omitted()); })
        .def("__len__", &GroupedScoreSums::size);
}

}  // namespace calibrant::bindings
