#include "calibrant/runtime/version.hpp"

namespace calibrant {

std::string_view version() noexcept { return CALIBRANT_VERSION; }

}  // namespace calibrant
