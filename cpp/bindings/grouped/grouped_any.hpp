// Accumulators of many groups as Python sees them: one class, whatever the accumulators are.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bindings/partition/group_inputs.hpp"

namespace calibrant::bindings {

namespace py = pybind11;

template <class T>
py::array_t<T> array_of(const std::vector<T>& values) {
    return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

class AnyParts {
public:
    using Places = py::array_t<std::int64_t, py::array::c_style>;
    using Seen = py::array_t<std::uint64_t, py::array::c_style>;

    AnyParts() = default;
    AnyParts(const AnyParts&) = delete;
    AnyParts& operator=(const AnyParts&) = delete;
    virtual ~AnyParts() = default;

    // Of events, into parts without groups.
    virtual void update(const py::object& y_true, const py::object& y_proba,
                        const py::object& sample_weight, bool omit_missing, const Groups& groups,
                        std::size_t n_groups, std::uint64_t rows_before) = 0;
    // Of rows that lie side by side by group, for groups from `first` on that have none so far:
    // `arguments` are those of the accumulator's own update, `seen` the rows that each group has
    // had in batches before.
    virtual void update_runs(std::size_t first, const Places& starts, const Seen& seen,
                             const py::tuple& arguments) = 0;
    // Of all rows of a batch as they come, likewise, into parts without groups.
    virtual void update_rows(const Groups& groups, std::size_t n_groups,
                             const py::tuple& arguments) = 0;
    // "events", "rows" or "runs": which of the updates is theirs.
    [[nodiscard]] virtual const char* takes() const = 0;
    virtual void grow_to(std::size_t n_groups) = 0;
    // All or nothing, and then `totals` become theirs in the same step.
    virtual void merge(const AnyParts& other, const Places& places, const py::object& totals) = 0;
    virtual void append(const py::object& group) = 0;
    [[nodiscard]] virtual std::unique_ptr<AnyParts> empty() const = 0;
    [[nodiscard]] virtual std::unique_ptr<AnyParts> copy() const = 0;
    [[nodiscard]] virtual py::object group(std::size_t index) const = 0;
    // Of a score; None if the accumulators have no such.
    [[nodiscard]] virtual py::object means(const std::string& score) const = 0;
    [[nodiscard]] virtual py::array_t<std::uint64_t> counts() const = 0;
    [[nodiscard]] virtual py::array_t<std::uint64_t> omitted() const = 0;
    [[nodiscard]] virtual std::size_t size() const = 0;

    // What Python knows of all groups together.
    [[nodiscard]] const py::object& totals() const { return totals_; }
    void set_totals(const py::object& totals) { totals_ = totals; }

protected:
    py::object totals_ = py::none();
};

// For accumulators with the parameters of a core accumulator; null if the core has no groups of
// its kind.
std::unique_ptr<AnyParts> grouped_parts(const py::object& parameters);

}  // namespace calibrant::bindings
