// Accumulators by key, as Python sees them: one class, whatever the accumulators are.
//
// Keys are Python integers, strings or booleans, all of one kind, and are numbered in the order in
// which they come; group i is the accumulator of key i. Keys, groups, the numbers of rows and the
// note, an object of the caller's own, change in one step, or not at all.
//
// One thread at a time uses an object; others wait, and a signal handler of that thread is rejected
// (in_use.hpp).
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/partition/group_inputs.hpp"
#include "bindings/runtime/in_use.hpp"
#include "calibrant/numeric/sum.hpp"

namespace calibrant::bindings {

namespace py = pybind11;

template <class T>
py::array_t<T> array_of(const std::vector<T>& values) {
    return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

class GroupedAccumulators {
public:
    using Counts = std::vector<std::uint64_t>;
    using Numbers = std::vector<std::size_t>;

    // Groups will be like an accumulator without rows, a Python object.
    explicit GroupedAccumulators(const py::object& empty) : empty_(empty) {}
    GroupedAccumulators(const GroupedAccumulators&) = delete;
    GroupedAccumulators& operator=(const GroupedAccumulators&) = delete;
    virtual ~GroupedAccumulators() = default;

    [[nodiscard]] const py::object& empty() const { return empty_; }

    // Whether the core updates them; others are appended.
    [[nodiscard]] virtual bool are_updated() const { return true; }
    // The same accumulators without groups, for distinct keys of that kind.
    [[nodiscard]] std::unique_ptr<GroupedAccumulators> begin(const py::list& keys,
                                                             const py::object& kind) const;
    // Adds the rows of a batch to groups without rows, group i those of code i; those of code -1
    // are checked and left out. `arguments` are those of the update of the accumulator's state.
    // Groups go on from those of the same keys in `before`, and messages from so many rows.
    virtual void update(const Groups& codes, const py::tuple& arguments,
                        const GroupedAccumulators& before, std::uint64_t rows_before) = 0;
    // Adds a group, the state of an accumulator; keys are those of begin().
    virtual void append(const py::object& state) = 0;
    // What from_bytes read: the keys in ascending order, and a group for each.
    void set_keys(const py::list& keys, const py::object& kind, std::uint64_t without_key);

    // Adds the groups of a batch that have rows, which is given away, and counts rows without a
    // key. Throws TypeError if the keys are of another kind, and what merging throws.
    void add(GroupedAccumulators& batch, std::uint64_t without_key, const py::object& note);
    void merge(const GroupedAccumulators& other);
    // Removes groups, and their rows from the counts.
    void drop(const Numbers& numbers, const py::object& note);
    [[nodiscard]] std::unique_ptr<GroupedAccumulators> copy() const;

    [[nodiscard]] const py::object& note() const { return note_; }
    void set_note(const py::object& note) { note_ = note; }
    [[nodiscard]] py::object n() const;
    [[nodiscard]] py::object omitted() const;  // also those without a key
    [[nodiscard]] std::uint64_t without_key() const;
    [[nodiscard]] std::uint64_t rows() const;  // all so far
    [[nodiscard]] const py::object& kind() const { return kind_; }
    [[nodiscard]] std::size_t size() const;
    // Of each key, 0 where there is none so far.
    [[nodiscard]] Counts rows_of(const py::list& keys) const;

    [[nodiscard]] std::optional<std::size_t> number(const py::object& key) const;
    // In ascending order of the keys, also the arrays.
    [[nodiscard]] py::list keys() const;
    [[nodiscard]] Numbers numbers() const;
    [[nodiscard]] py::array_t<std::uint64_t> counts() const;
    [[nodiscard]] py::object means(const std::string& score) const;  // None if there is no such

    // The state of an accumulator of all rows of these groups.
    [[nodiscard]] py::object merged(const Numbers& numbers) const;

protected:
    [[nodiscard]] virtual std::unique_ptr<GroupedAccumulators> make_empty() const = 0;
    [[nodiscard]] virtual std::unique_ptr<GroupedAccumulators> copy_groups() const = 0;
    [[nodiscard]] virtual Counts group_counts() const = 0;
    [[nodiscard]] virtual Counts group_omitted() const = 0;
    [[nodiscard]] virtual py::object merged_groups(const Numbers& numbers) const = 0;
    [[nodiscard]] virtual std::optional<std::vector<double>> group_means(const std::string&) const {
        return std::nullopt;
    }
    // Group i of the batch, which is of the same class, is added to group places[i] of as many as
    // there are keys, or to none if that is npos. All or nothing; may run signal handlers.
    virtual void merge_groups(GroupedAccumulators& batch, const Numbers& places) = 0;
    virtual void keep_groups(const Numbers& numbers) = 0;  // these alone; all or nothing

    [[nodiscard]] std::size_t n_keys() const { return keys_.size(); }

private:
    class Use {
    public:
        explicit Use(UseLock& lock) : lock_(lock) { lock_.enter(); }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;
        ~Use() { lock_.exit(); }

    private:
        UseLock& lock_;
    };

    [[nodiscard]] const py::dict& key_numbers() const;
    [[nodiscard]] Numbers order() const;
    void count_rows();

    mutable UseLock lock_;
    py::object empty_;
    py::list keys_;
    mutable py::dict key_numbers_;  // of the first keys, maybe not yet of all
    py::object kind_ = py::none();  // of the keys: its name
    bool ascending_ = true;         // whether the keys are
    Int128 n_ = 0, omitted_ = 0;    // rows with a key
    std::uint64_t without_key_ = 0;
    py::object note_ = py::none();
};

std::unique_ptr<GroupedAccumulators> grouped_accumulators(const py::object& empty);

}  // namespace calibrant::bindings
