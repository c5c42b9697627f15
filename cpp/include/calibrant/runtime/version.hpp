// The version of the library as it was compiled, for instance "0.1.0".
#pragma once

#include <string_view>

namespace calibrant {

std::string_view version() noexcept;

}  // namespace calibrant
