// Codes of integer keys: 0, 1, ... in the order of the keys. Keys that lie close together are
// their own codes, but for an offset; others are found in hash tables, one for each thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

// Writes the code of each of n keys and returns the keys the codes stand for, ascending; some may
// have no row. Throws std::length_error if there are more than 2^31 - 1.
[[nodiscard]] std::vector<std::int64_t> integer_codes(const std::int64_t* keys, std::size_t n,
                                                      std::int32_t* codes, Poll poll);

}  // namespace calibrant
