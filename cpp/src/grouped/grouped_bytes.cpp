#include "grouped/grouped_bytes.hpp"

#include <cstdint>

#include "calibrant/state/bytes.hpp"

namespace calibrant {
namespace {

constexpr std::uint16_t payload_version = 1;

}  // namespace

std::string seal_grouped(const std::vector<std::string>& pieces) {
    Writer out;
    out.u64(pieces.size());
    for (const std::string& piece : pieces) {
        out.u64(piece.size());
        out.raw(piece);
    }
    return seal(Kind::grouped, payload_version, out);
}

std::vector<std::string_view> open_grouped(std::string_view bytes) {
    Reader in = open(bytes, Kind::grouped, payload_version);
    std::vector<std::string_view> pieces(in.count(sizeof(std::uint64_t)));
    for (std::string_view& piece : pieces) piece = in.raw(in.count(1));
    in.finish();
    return pieces;
}

}  // namespace calibrant
