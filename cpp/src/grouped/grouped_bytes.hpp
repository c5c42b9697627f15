// The saved form of accumulators by key: the kind of the keys, what is grouped, and key and state
// of each group, as pieces that bring their lengths (docs/reference/state-format.md). What the
// pieces mean, and whether they are good, is for the one who groups to say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace calibrant {

[[nodiscard]] std::string seal_grouped(const std::vector<std::string>& pieces);

// Looks into bytes; throws CorruptState if anything is wrong.
[[nodiscard]] std::vector<std::string_view> open_grouped(std::string_view bytes);

}  // namespace calibrant
