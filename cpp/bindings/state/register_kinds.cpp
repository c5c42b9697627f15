#include <pybind11/pybind11.h>

#include <cstdint>

#include "bindings/register.hpp"
#include "state/kinds.hpp"

namespace calibrant::bindings {

// NOLINTNEXTLINE(misc-const-correctness): of one signature with the others
void register_kinds(pybind11::module_& m) {
    pybind11::dict kinds;
    for (const NamedKind& named : named_kinds()) {
        kinds[pybind11::int_(static_cast<std::uint16_t>(named.kind))] = named.name;
    }
    m.attr("state_kinds") = kinds;
}

}  // namespace calibrant::bindings
