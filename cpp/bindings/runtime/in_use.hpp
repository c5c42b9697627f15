// Accumulators are not re-entrant: while a thread updates or merges one, that thread cannot use it
// otherwise. Signal handlers, finalizers and callbacks run in the midst of a call; if they use the
// accumulator that the call changes, they get a RuntimeError. Other threads are not affected.
//
// Each thread has one list of the objects that it is changing. `locked` (critical_section.hpp)
// keeps it for the classes of the core, `UseLock` for accumulators that are written in Python.
#pragma once

#include <pybind11/pybind11.h>

namespace calibrant::bindings {

// Throws std::runtime_error, a RuntimeError in Python, if this thread is changing the object.
void require_not_in_use(const void* object);

// This thread is changing the object while this lives. Null is no object.
class InUse {
public:
    explicit InUse(const void* object);
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;
    ~InUse();

private:
    const void* object_;
};

// A lock for accumulators that are written in Python, as a context manager. Another thread waits
// for its turn, and answers Ctrl-C meanwhile; the thread that has the lock gets a RuntimeError.
//
// It is entered and left in one call each, so that no signal handler runs between the lock and the
// block, and one that raises leaves no lock behind.
class UseLock {
public:
    UseLock();
    void enter();
    void exit();

private:
    pybind11::object lock_;
};

}  // namespace calibrant::bindings
