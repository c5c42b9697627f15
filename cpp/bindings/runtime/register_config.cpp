// What is in force: threads, instruction set, and how the core was built.
#include "bindings/register.hpp"
#include "calibrant/runtime/isa.hpp"
#include "calibrant/runtime/parallel.hpp"

#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace calibrant::bindings {
namespace {

py::dict config() {
    using namespace py::literals;
    py::list available;
    for (const Isa each : available_isas()) available.append(name(each));
    return py::dict("compiler"_a = CALIBRANT_COMPILER, "flags"_a = CALIBRANT_FLAGS,
                    "cpp_standard"_a = __cplusplus / 100, "openmp_date"_a = openmp_date(),
                    "num_threads"_a = num_threads(), "num_threads_source"_a = num_threads_source(),
                    "isa"_a = name(isa()), "isa_source"_a = isa_source(),
                    "available_isas"_a = available);
}

}  // namespace

void register_config(py::module_& m) {
    using namespace py::literals;
    // A wrong environment variable shall stop the import, not some call an hour later.
    isa();
    num_threads();

    m.attr("max_threads") = max_threads;
    m.def("num_threads", &num_threads, "The number of threads in force.");
    m.def("set_num_threads", &set_num_threads, "n"_a,
          "From 1 to max_threads, or 0 for the default.");
    m.def("work_alone", &work_alone, "on"_a = true,
          "Calls of this Python thread use no other thread, or may again; returns what was so.");
    m.def("config", &config, "What is in force, and how the core was built.");
}

}  // namespace calibrant::bindings
