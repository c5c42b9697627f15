#include "bindings/runtime/gil.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace calibrant::bindings {
namespace {

constinit std::atomic<unsigned long> main_thread{0};

bool python_is_exiting() {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing() != 0;
#else
    return _Py_IsFinalizing() != 0;
#endif
}

}  // namespace

void remember_main_thread() {
    // Asked of Python, because the thread that imports us may be another.
    const py::object thread = py::module_::import("threading").attr("main_thread")();
    main_thread.store(thread.attr("ident").cast<unsigned long>(), std::memory_order_relaxed);
}

bool poll_signals() {
    if (PyThread_get_thread_ident() != main_thread.load(std::memory_order_relaxed)) return false;
    const py::gil_scoped_acquire locked;
    return PyErr_CheckSignals() != 0;
}

// NOLINTNEXTLINE(bugprone-unsafe-to-allow-exceptions): CPython may end the thread by an exception
GilReleased::~GilReleased() noexcept(false) {
    while (python_is_exiting()) std::this_thread::sleep_for(std::chrono::hours(1));
    PyEval_RestoreThread(state_);
}

}  // namespace calibrant::bindings
