#include "bindings/runtime/in_use.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "bindings/register.hpp"

namespace py = pybind11;

namespace calibrant::bindings {
namespace {

thread_local std::vector<const void*> in_use;

void end_use(const void* object) {
    const auto found = std::ranges::find(in_use, object);
    if (found != in_use.end()) in_use.erase(found);
}

}  // namespace

void require_not_in_use(const void* object) {
    if (object == nullptr || std::ranges::find(in_use, object) == in_use.end()) return;
    throw std::runtime_error(
        "this accumulator is being updated or merged: a signal handler, finalizer or callback "
        "cannot use it before that call returns");
}

InUse::InUse(const void* object) : object_(object) {
    if (object_ != nullptr) in_use.push_back(object_);
}

InUse::~InUse() {
    if (object_ != nullptr) end_use(object_);
}

UseLock::UseLock() : lock_(py::module_::import("threading").attr("Lock")()) {}

void UseLock::enter() {
    require_not_in_use(this);
    in_use.reserve(in_use.size() + 1);  // all that may fail comes before the lock
    lock_.attr("acquire")();
    in_use.push_back(this);
}

void UseLock::exit() {
    end_use(this);
    lock_.attr("release")();
}

// NOLINTNEXTLINE(misc-const-correctness): of one signature with the others
void register_use_lock(py::module_& m) {
    py::class_<UseLock>(m, "UseLock", "One use of an accumulator at a time; it is not re-entrant.")
        .def(py::init<>())
        .def("__enter__", &UseLock::enter)
        .def("__exit__", [](UseLock& self, const py::args&) { self.exit(); });
}

}  // namespace calibrant::bindings
