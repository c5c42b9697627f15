// The GIL and Ctrl-C around a call into the core.
#pragma once

#include "calibrant/runtime/parallel.hpp"
#include "runtime/float_environment.hpp"

#include <pybind11/pybind11.h>

#include <cstddef>
#include <utility>

namespace calibrant::bindings {

namespace py = pybind11;

// Call once, at import, before poll_signals is used.
void remember_main_thread();

// The Poll to give to for_each_chunk. In the main thread it runs Python's signal
// handlers and says true if one of them raised, as the one for Ctrl-C does; the
// exception stays pending. Elsewhere it does nothing: Python runs handlers in the main
// thread only, and a daemon thread that asks for the GIL at exit would be ended inside.
bool poll_signals();

// Releases the GIL while it lives. Unlike pybind11's, it does not abort the process if
// Python exits meanwhile and this is a daemon thread: then the thread stops here for
// good, as Python itself has it from 3.14 on.
class GilReleased {
public:
    GilReleased() : state_(PyEval_SaveThread()) {}
    GilReleased(const GilReleased&) = delete;
    GilReleased& operator=(const GilReleased&) = delete;
    // May throw: should Python begin to exit while we wait for the GIL, it ends this
    // thread by unwinding it.
    ~GilReleased() noexcept(false);

private:
    PyThreadState* state_;
};

// Below, a call is over in microseconds and handing the GIL around costs more.
inline constexpr std::size_t rows_worth_releasing_gil = 10'000;

// Runs work(), without the GIL if there is much to do; it must touch no Python object
// and nothing that another Python thread may change. An interrupt comes out as the
// Python exception that caused it.
template <class Work>
auto without_gil(std::size_t rows, Work&& work) {
    const FloatEnvironment standard;
    try {
        if (rows <= rows_worth_releasing_gil) return std::forward<Work>(work)();
        const GilReleased unlocked;
        return std::forward<Work>(work)();
    } catch (const Interrupted&) {
        throw py::error_already_set();
    }
}

// Reads a result: whatever other libraries have set, it is rounded to nearest and subnormals
// are kept. work() must call into the core, which is not inlined here.
template <class Work>
auto with_ieee_environment(Work&& work) {
    const FloatEnvironment standard;
    return std::forward<Work>(work)();
}

}  // namespace calibrant::bindings
