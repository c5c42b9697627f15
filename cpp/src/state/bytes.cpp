#include "calibrant/state/bytes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>

#include "state/kinds.hpp"

namespace calibrant {
namespace {

constexpr std::string_view magic = "CLBR";
constexpr std::uint16_t format_version = 1;
constexpr std::size_t header_size = 20;
constexpr std::size_t checksum_size = 4;

// CRC32C: the Castagnoli polynomial, reflected. It finds every error of up to three
// bits in states of up to 256 MB, and every burst of up to 32 bits in any.
constexpr auto crc_table = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t remainder = byte;
        for (int bit = 0; bit < 8; ++bit)
            remainder = (remainder >> 1) ^ ((remainder & 1U) != 0 ? 0x82F63B78U : 0U);
        table[byte] = remainder;
    }
    return table;
}();

template <std::unsigned_integral Unsigned>
void append(std::string& bytes, Unsigned value) {
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
        bytes.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xFFU));
    }
}

template <std::unsigned_integral Unsigned>
Unsigned decode(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
        value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    }
    return static_cast<Unsigned>(value);
}

std::string size_text(std::uint64_t size) {
    return std::to_string(size) + (size == 1 ? " byte" : " bytes");
}

// The first bytes, fit to be shown: whatever was passed by mistake can be recognised.
std::string beginning(std::string_view bytes) {
    if (bytes.empty()) return "it is empty";
    std::string text = "it starts with '";
    for (const char c : bytes.substr(0, magic.size())) text += (c >= ' ' && c <= '~') ? c : '.';
    return text + "', not 'CLBR'";
}

constexpr std::array named = std::to_array<NamedKind>({
    {Kind::exact_sum, "ExactSum"},
    {Kind::fixed_sum, "FixedSum"},
    {Kind::risk_profile, "RiskProfile"},
    {Kind::score_sums, "Scores"},
    {Kind::reliability, "Reliability"},
    {Kind::score_table, "ScoreTable"},
    {Kind::scorecard, "Scorecard"},
    {Kind::assessment, "Assessment"},
    {Kind::intervals, "Intervals"},
    {Kind::prediction_sets, "PredictionSets"},
    {Kind::grouped, "Grouped"},
    {Kind::paired_scores, "PairedScores"},
    {Kind::coverage_hsic, "CoverageHSIC"},
    {Kind::moments, "Moments"},
    {Kind::vendi, "Vendi"},
    {Kind::ranks, "Ranks"},
    {Kind::spiegelhalter, "Spiegelhalter"},
    {Kind::row_counter, "RowCounter"},
});

}  // namespace

std::span<const NamedKind> named_kinds() { return named; }

std::string name(Kind kind) {
    const auto* const found = std::find_if(named.begin(), named.end(),
                                           [&](const NamedKind& of) { return of.kind == kind; });
    if (found != named.end()) return found->name;
    return "kind " + std::to_string(static_cast<std::uint16_t>(kind));
}

void Writer::u8(std::uint8_t value) { append(bytes_, value); }
void Writer::u16(std::uint16_t value) { append(bytes_, value); }
void Writer::u32(std::uint32_t value) { append(bytes_, value); }
void Writer::u64(std::uint64_t value) { append(bytes_, value); }
void Writer::i64(std::int64_t value) { append(bytes_, static_cast<std::uint64_t>(value)); }
void Writer::f64(double value) { append(bytes_, std::bit_cast<std::uint64_t>(value)); }
void Writer::raw(std::string_view bytes) { bytes_ += bytes; }

std::string_view Reader::raw(std::size_t size) {
    if (size > rest_.size()) {
        throw CorruptState("state ends early: " + size_text(size) + " expected, " +
                           size_text(rest_.size()) + " left");
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
}

std::uint8_t Reader::u8() { return decode<std::uint8_t>(raw(1)); }
std::uint16_t Reader::u16() { return decode<std::uint16_t>(raw(2)); }
std::uint32_t Reader::u32() { return decode<std::uint32_t>(raw(4)); }
std::uint64_t Reader::u64() { return decode<std::uint64_t>(raw(8)); }
std::int64_t Reader::i64() { return static_cast<std::int64_t>(u64()); }
double Reader::f64() { return std::bit_cast<double>(u64()); }

std::size_t Reader::count(std::size_t bytes_each) {
    const std::uint64_t count = u64();
    if (count > rest_.size() / bytes_each) {
        throw CorruptState("state ends early: " + std::to_string(count) + " elements of " +
                           size_text(bytes_each) + " expected, " + size_text(rest_.size()) +
                           " left");
    }
    return static_cast<std::size_t>(count);
}

void Reader::finish() const {
    if (!rest_.empty())
        throw CorruptState("state has " + size_text(rest_.size()) + " after its last field");
}

std::uint32_t crc32c(std::string_view bytes) noexcept {
    std::uint32_t crc = 0xFFFFFFFFU;
    for (const char c : bytes)
        crc = (crc >> 8) ^ crc_table[(crc ^ static_cast<unsigned char>(c)) & 0xFFU];
    return ~crc;
}

std::string seal(Kind kind, std::uint16_t version, const Writer& payload) {
    std::string bytes;
    bytes.reserve(header_size + payload.bytes().size() + checksum_size);
    bytes += magic;
    append(bytes, format_version);
    append(bytes, static_cast<std::uint16_t>(kind));
    append(bytes, version);
    append(bytes, std::uint16_t{0});
    append(bytes, static_cast<std::uint64_t>(header_size + payload.bytes().size() + checksum_size));
    bytes += payload.bytes();
    append(bytes, crc32c(bytes));
    return bytes;
}

Reader open(std::string_view bytes, Kind expected, std::uint16_t newest_version) {
    // Of what is shorter than the magic, a true beginning of a state is called truncated.
    if (bytes.empty() || bytes.substr(0, magic.size()) != magic.substr(0, bytes.size())) {
        throw CorruptState("not a calibrant state: " + beginning(bytes));
    }
    if (bytes.size() < header_size + checksum_size) {
        throw CorruptState("state is truncated: " + size_text(bytes.size()) +
                           ", the shortest has " + size_text(header_size + checksum_size));
    }
    Reader header(bytes.substr(magic.size(), header_size - magic.size()));
    const std::uint16_t format = header.u16();
    const Kind kind{header.u16()};
    const std::uint16_t version = header.u16();
    const std::uint16_t reserved = header.u16();
    const std::uint64_t length = header.u64();

    // The format first: of a newer one, nothing else is known to be where we look for it.
    if (format != format_version) {
        throw CorruptState("state format " + std::to_string(format) + " is not " +
                           std::to_string(format_version) + ", the only one this calibrant reads");
    }
    if (bytes.size() < length) {
        throw CorruptState("state is truncated: " + size_text(bytes.size()) + ", header says " +
                           std::to_string(length));
    }
    if (bytes.size() > length) {
        throw CorruptState("state has trailing bytes: " + size_text(bytes.size()) +
                           ", header says " + std::to_string(length));
    }
    const std::string_view sealed = bytes.substr(0, bytes.size() - checksum_size);
    if (decode<std::uint32_t>(bytes.substr(sealed.size())) != crc32c(sealed)) {
        throw CorruptState("checksum mismatch: the state was damaged on its way");
    }
    // Only now, so that a damaged kind is called damage and not somebody's mistake.
    if (kind != expected) {
        throw CorruptState("state of a " + name(expected) + " expected, found " + name(kind));
    }
    if (version > newest_version) {
        throw CorruptState("state version " + std::to_string(version) + " is newer than " +
                           std::to_string(newest_version) + ", the newest this calibrant reads");
    }
    if (version == 0 || reserved != 0) {
        throw CorruptState("state has version " + std::to_string(version) + " and reserved field " +
                           std::to_string(reserved) + ", expected at least 1 and exactly 0");
    }
    return Reader(sealed.substr(header_size), version);
}

}  // namespace calibrant
