#include "bindings/grouped/grouped_accumulators.hpp"

#include <pybind11/stl.h>

#include <numeric>
#include <stdexcept>

namespace calibrant::bindings {
namespace {

Int128 sum_of(const GroupedAccumulators::Counts& counts) {
    return std::accumulate(counts.begin(), counts.end(), Int128{0});
}

py::object python_integer(Int128 count) {
    py::int_ low(static_cast<std::uint64_t>(count));
    const auto high = static_cast<std::uint64_t>(count >> 64);
    if (high == 0) return low;
    return py::int_(high).attr("__lshift__")(64).attr("__or__")(low);
}

bool is_less(const py::handle& left, const py::handle& right) {
    const int found = PyObject_RichCompareBool(left.ptr(), right.ptr(), Py_LT);
    if (found < 0) throw py::error_already_set();
    return found != 0;
}

std::optional<std::size_t> found_in(const py::dict& numbers, const py::handle& key) {
    PyObject* const number = PyDict_GetItemWithError(numbers.ptr(), key.ptr());
    if (number == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
    return number == nullptr ? std::nullopt : std::optional(PyLong_AsSize_t(number));
}

// Appends to a list, and takes it back unless it is to be kept.
class Appended {
public:
    Appended(py::list& list, const py::list& more)
        : list_(list), size_(static_cast<py::ssize_t>(list.size())) {
        if (PyList_SetSlice(list.ptr(), size_, size_, more.ptr()) != 0) {
            throw py::error_already_set();
        }
    }
    Appended(const Appended&) = delete;
    Appended& operator=(const Appended&) = delete;
    ~Appended() {
        if (!is_kept_) (void)PyList_SetSlice(list_.ptr(), size_, PY_SSIZE_T_MAX, nullptr);
    }
    void keep() { is_kept_ = true; }

private:
    py::list& list_;
    py::ssize_t size_;
    bool is_kept_ = false;
};

}  // namespace

std::unique_ptr<GroupedAccumulators> GroupedAccumulators::begin(const py::list& keys,
                                                                const py::object& kind) const {
    auto batch = make_empty();
    batch->keys_ = keys;
    batch->kind_ = kind;
    return batch;
}

void GroupedAccumulators::set_keys(const py::list& keys, const py::object& kind,
                                   std::uint64_t without_key) {
    keys_ = keys;
    kind_ = kind;
    without_key_ = without_key;
    count_rows();
}

void GroupedAccumulators::count_rows() {
    n_ = sum_of(group_counts());
    omitted_ = sum_of(group_omitted());
}

void GroupedAccumulators::add(GroupedAccumulators& batch, std::uint64_t without_key,
                              const py::object& note) {
    const Use use(lock_);
    const bool both_have_keys = !kind_.is_none() && !batch.kind_.is_none();
    if (both_have_keys && !kind_.equal(batch.kind_)) {
        throw py::type_error(py::str("keys of groups must be of one kind: {} so far, now {!r}")
                                 .format(kind_, batch.keys_[0]));
    }
    if (without_key > UINT64_MAX - without_key_) {
        throw std::overflow_error("a count is full: more than 2^64 - 1 rows without a key");
    }
    const Counts counts = batch.group_counts(), omitted = batch.group_omitted();
    const std::size_t n_before = keys_.size();
    const bool all_are_new = n_before == 0;
    const py::dict known = all_are_new ? py::dict() : key_numbers();
    Numbers places(batch.keys_.size(), npos);
    py::list added;
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (counts[i] == 0 && omitted[i] == 0) continue;
        const py::handle key = PyList_GET_ITEM(batch.keys_.ptr(), static_cast<py::ssize_t>(i));
        if (const auto number = all_are_new ? std::nullopt : found_in(known, key)) {
            places[i] = *number;
        } else {
            places[i] = n_before + added.size();
            added.append(key);
        }
    }
    const bool follow = batch.ascending_ &&
                        (all_are_new || added.empty() || is_less(keys_[n_before - 1], added[0]));
    const Int128 n = n_ + sum_of(counts), n_omitted = omitted_ + sum_of(omitted);
    Appended appended(keys_, added);
    merge_groups(batch, places);
    appended.keep();
    if (!keys_.empty()) kind_ = batch.kind_.is_none() ? kind_ : batch.kind_;
    ascending_ = (all_are_new || ascending_) && (follow || added.empty());
    n_ = n;
    omitted_ = n_omitted;
    without_key_ += without_key;
    note_ = note;
}

void GroupedAccumulators::merge(const GroupedAccumulators& other) {
    empty_.attr("copy")().attr("merge")(other.empty_);  // it rejects other parameters
    const auto batch =
        other.copy();  // so that nobody changes it meanwhile, nor this changes itself
    add(*batch, batch->without_key_, note_);
}

void GroupedAccumulators::drop(const Numbers& numbers, const py::object& note) {
    const Use use(lock_);
    std::vector<bool> is_gone(keys_.size());
    for (const std::size_t number : numbers) is_gone.at(number) = true;
    Numbers kept;
    py::list keys;
    for (std::size_t i = 0; i < is_gone.size(); ++i) {
        if (is_gone[i]) continue;
        kept.push_back(i);
        keys.append(keys_[i]);
    }
    py::dict none_yet;
    keep_groups(kept);
    keys_ = std::move(keys);
    key_numbers_ = std::move(none_yet);
    note_ = note;
    count_rows();
}

std::unique_ptr<GroupedAccumulators> GroupedAccumulators::copy() const {
    const Use use(lock_);
    auto made = copy_groups();
    made->keys_ = py::list(keys_[py::slice(std::nullopt, std::nullopt, std::nullopt)]);
    made->kind_ = kind_;
    made->ascending_ = ascending_;
    made->n_ = n_;
    made->omitted_ = omitted_;
    made->without_key_ = without_key_;
    made->note_ = note_;
    return made;
}

py::object GroupedAccumulators::n() const {
    const Use use(lock_);
    return python_integer(n_);
}

py::object GroupedAccumulators::omitted() const {
    const Use use(lock_);
    return python_integer(omitted_ + without_key_);
}

std::uint64_t GroupedAccumulators::without_key() const {
    const Use use(lock_);
    return without_key_;
}

std::uint64_t GroupedAccumulators::rows() const {
    const Use use(lock_);
    return static_cast<std::uint64_t>(n_ + omitted_ + without_key_);
}

std::size_t GroupedAccumulators::size() const {
    const Use use(lock_);
    return keys_.size();
}

auto GroupedAccumulators::rows_of(const py::list& keys) const -> Counts {
    const Use use(lock_);
    const Counts counts = group_counts(), omitted = group_omitted();
    Counts rows;
    for (const py::handle key : keys) {
        const auto number = found_in(key_numbers(), key);
        rows.push_back(number ? counts[*number] + omitted[*number] : 0);
    }
    return rows;
}

const py::dict& GroupedAccumulators::key_numbers() const {
    for (std::size_t i = key_numbers_.size(); i < keys_.size(); ++i) key_numbers_[keys_[i]] = i;
    return key_numbers_;
}

std::optional<std::size_t> GroupedAccumulators::number(const py::object& key) const {
    const Use use(lock_);
    const auto number = found_in(key_numbers(), key);  // throws if it cannot be hashed
    // True is not 1.
    if (!number || Py_TYPE(keys_[*number].ptr()) != Py_TYPE(key.ptr())) return std::nullopt;
    return number;
}

auto GroupedAccumulators::order() const -> Numbers {
    Numbers order(keys_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (ascending_) return order;
    const py::object sorted =
        py::module_::import("builtins")
            .attr("sorted")(py::cast(order), py::arg("key") = keys_.attr("__getitem__"));
    return sorted.cast<Numbers>();
}

auto GroupedAccumulators::numbers() const -> Numbers {
    const Use use(lock_);
    return order();
}

py::list GroupedAccumulators::keys() const {
    const Use use(lock_);
    py::list keys(keys_[py::slice(std::nullopt, std::nullopt, std::nullopt)]);
    if (!ascending_ && PyList_Sort(keys.ptr()) != 0) throw py::error_already_set();
    return keys;
}

py::array_t<std::uint64_t> GroupedAccumulators::counts() const {
    const Use use(lock_);
    const Counts counts = group_counts();
    Counts found;
    for (const std::size_t i : order()) found.push_back(counts[i]);
    return array_of(found);
}

py::object GroupedAccumulators::means(const std::string& score) const {
    const Use use(lock_);
    const auto means = group_means(score);
    if (!means) return py::none();
    std::vector<double> found;
    for (const std::size_t i : order()) found.push_back((*means)[i]);
    return array_of(found);
}

py::object GroupedAccumulators::merged(const Numbers& numbers) const {
    const Use use(lock_);
    for (const std::size_t number : numbers) {
        if (number >= keys_.size()) throw py::index_error("no such group");
    }
    return merged_groups(numbers);
}

}  // namespace calibrant::bindings
