// The GIL and Ctrl-C around a call into the core.
#pragma once

#include "calibrant/parallel.hpp"

#include <pybind11/pybind11.h>

#include <cstddef>
#include <utility>

namespace calibrant::bindings {

namespace py = pybind11;

// The Poll to give to for_each_chunk. Runs Python's signal handlers (in the main thread;
// elsewhere they are not ours to run) and says true if one of them raised, as the one
// for Ctrl-C does. The exception stays pending.
inline bool poll_signals() {
    const py::gil_scoped_acquire locked;
    return PyErr_CheckSignals() != 0;
}

// Below, a call is over in microseconds and handing the GIL around costs more.
inline constexpr std::size_t rows_worth_unlocking = 10'000;

// Runs work(), without the GIL if there is much to do; it must touch no Python object
// and nothing that another Python thread may change. An interrupt comes out as the
// Python exception that caused it.
template <class Work>
auto run_unlocked(std::size_t rows, Work&& work) {
    try {
        if (rows <= rows_worth_unlocking) return std::forward<Work>(work)();
        const py::gil_scoped_release unlocked;
        return std::forward<Work>(work)();
    } catch (const Interrupted&) {
        throw py::error_already_set();
    }
}

}  // namespace calibrant::bindings
