// The kinds of states by name.
#pragma once

#include <span>

#include "calibrant/state/bytes.hpp"

namespace calibrant {

struct NamedKind {
    Kind kind;
    const char* name;  // of the class that reads it, as calibrant.streaming calls it
};

[[nodiscard]] std::span<const NamedKind> named_kinds();

}  // namespace calibrant
