#include "calibrant/prediction_sets.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <vector>

#include "calibrant/check.hpp"
#include "frequencies.hpp"
#include "inputs.hpp"
#include "register.hpp"
#include "register_accumulator.hpp"

namespace calibrant::bindings {
namespace {

using Offsets = py::array_t<std::int64_t, py::array::c_style>;
using Codes = py::array_t<std::int32_t, py::array::c_style>;

// Keeps the arrays alive; like Input, made and let go with the GIL held.
class SetInputs {
public:
    // `arrays` are the matrices of the levels; or offsets and codes; or the words.
    SetInputs(const py::object& y_true, const std::string& form, const py::list& arrays,
              const py::object& sample_weight, const py::object& groups, bool omit_missing) {
        if (form == "indicators") read_indicators(arrays);
        if (form == "lists") read_lists(arrays);
        if (form == "masks") read_masks(arrays);
        if (!y_true.is_none()) {
            y_true_ = as_column(y_true, "y_true", Shape::vector, Holds::labels);
            require_same_length("y_true", y_true_->size(), "sets", rows_.size);
            rows_.y_true = &y_true_->column();
        }
        if (!sample_weight.is_none()) {
            sample_weight_ = as_column(sample_weight, "sample_weight", Shape::vector);
            require_same_length("sets", rows_.size, "sample_weight", sample_weight_->size());
            rows_.sample_weight = &sample_weight_->column();
        }
        if (!groups.is_none()) {
            groups_ = groups.cast<GroupCodes>();
            require_same_length("groups", static_cast<std::size_t>(groups_.size()), "sets",
                                rows_.size);
            rows_.groups = groups_.data();
        }
        rows_.omit_missing = omit_missing;
    }
    SetInputs(const SetInputs&) = delete;  // rows_ points into it
    SetInputs& operator=(const SetInputs&) = delete;
    ~SetInputs() = default;

    [[nodiscard]] const SetRows& rows() const { return rows_; }
    [[nodiscard]] const GroupCodes& groups() const { return groups_; }
    [[nodiscard]] std::size_t n_values() const {
        const bool lists = rows_.form == SetForm::lists;
        const auto entries = static_cast<std::size_t>(codes_.size());
        return rows_.size +
               (lists ? entries : rows_.size * rows_.n_levels() * rows_.n_classes() / 8);
    }

private:
    void read_indicators(const py::list& arrays) {
        for (const py::handle& array : arrays) {
            const Input& input = matrices_.emplace_back(as_column(array, "sets", Shape::matrix));
            const Dtype dtype = input.column().dtype;
            if (dtype != Dtype::boolean && dtype != Dtype::bits) {
                throw py::type_error(
                    "sets of shape (n, k) must be boolean, or uint64 words of bits; "
                    "pass sets.astype(bool) if they hold 0 and 1");
            }
            rows_.indicators.push_back(input.column());
        }
        if (rows_.indicators.empty())
            throw InvalidInput("sets must have at least one level, got 0");
        if (rows_.n_classes() == 0) throw InvalidInput("sets must have at least one class, got 0");
        rows_.size = matrices_.front().size();
    }

    void read_lists(const py::list& arrays) {
        offsets_ = arrays[0].cast<Offsets>();
        codes_ = arrays[1].cast<Codes>();
        const std::int64_t* const at = offsets_.data();
        const py::ssize_t n = offsets_.size();
        bool sound = n > 0 && at[0] >= 0 && at[n - 1] <= codes_.size();
        for (py::ssize_t i = 1; sound && i < n; ++i) sound = at[i - 1] <= at[i];
        if (!sound) throw InvalidInput("the offsets of sets must not fall, or leave the values");
        rows_.form = SetForm::lists;
        rows_.size = static_cast<std::size_t>(n) - 1;
        rows_.offsets = at;
        rows_.codes = codes_.data();
    }

    void read_masks(const py::list& arrays) {
        const Input& input =
            matrices_.emplace_back(as_column(arrays[0], "sets", Shape::vector_or_matrix));
        if (input.column().dtype != Dtype::uint64 || input.column().swapped ||
            input.column().validity != nullptr) {
            throw py::type_error("masks of sets must be native uint64 words");
        }
        rows_.form = SetForm::masks;
        rows_.masks = input.column();
        rows_.size = input.size();
        if (rows_.n_classes() == 0) throw InvalidInput("sets must have at least one word, got 0");
    }

    std::vector<Input> matrices_;
    Offsets offsets_;
    Codes codes_;
    GroupCodes groups_;
    std::optional<Input> y_true_, sample_weight_;
    SetRows rows_;
};

void check_level(const PredictionSets& self, std::size_t level) {
    if (level >= self.n_levels()) throw py::index_error("no such level");
}

}  // namespace

void register_prediction_sets(py::module_& m) {
    using namespace py::literals;
    register_accumulator<PredictionSets>(m, "PredictionSets", "Coverage of sets by their size.")
        .def(py::init<std::vector<double>>(), "confidence_levels"_a)
        .def(
            "update",
            [](PredictionSets& self, const py::object& y_true, const std::string& form,
               const py::list& arrays, const py::object& sample_weight, const py::object& groups,
               bool omit_missing) {
                const SetInputs inputs(y_true, form, arrays, sample_weight, groups, omit_missing);
                const std::uint64_t rows_before = self.count() + self.omitted();
                update_aside(self, inputs.n_values(), [&](PredictionSets& batch) {
                    batch.update(inputs.rows(), rows_before, poll_signals);
                });
            },
            "y_true"_a, "form"_a, "arrays"_a, "sample_weight"_a, "groups"_a, "omit_missing"_a)
        .def_property_readonly("n_omitted", &PredictionSets::omitted)
        .def_property_readonly("confidence_levels", &PredictionSets::confidence_levels)
        .def_property_readonly("n_levels", &PredictionSets::n_levels)
        .def("require_weight", &PredictionSets::require_weight)
        .def(
            "total",
            [](const PredictionSets& self, std::size_t level) {
                check_level(self, level);
                return self.total(level);
            },
            "level"_a)
        .def(
            "by_size",
            [](const PredictionSets& self, std::size_t level) {
                check_level(self, level);
                return self.by_size(level);
            },
            "level"_a)
        .def(
            "equal_count_groups",
            [](const PredictionSets& self, std::size_t level, std::size_t n_groups) {
                check_level(self, level);
                return run_standard([&] { return self.equal_count_groups(level, n_groups); });
            },
            "level"_a, "n_groups"_a)
        .def(
            "mean_size",
            [](const PredictionSets& self, std::size_t level) {
                check_level(self, level);
                return run_standard([&] { return self.mean_size(level); });
            },
            "level"_a);

    m.def(
        "set_coverage_by_group",
        [](const py::object& y_true, const std::string& form, const py::list& arrays,
           const py::object& sample_weight, const GroupCodes& groups, bool omit_missing,
           std::size_t n_groups) {
            check_groups(groups, n_groups);
            const SetInputs inputs(y_true, form, arrays, sample_weight, groups, omit_missing);
            return run_unlocked(inputs.n_values(), [&] {
                return coverage_by_group(inputs.rows(), n_groups, poll_signals);
            });
        },
        "y_true"_a, "form"_a, "arrays"_a, "sample_weight"_a, "groups"_a.noconvert(),
        "omit_missing"_a, "n_groups"_a);
}

}  // namespace calibrant::bindings
