// The saved form of an accumulator: what to_bytes writes and from_bytes reads.
//
//   offset  size
//        0     4   magic "CLBR"
//        4     2   format version (this layout): 1
//        6     2   kind of state (Kind)
//        8     2   version of that kind's payload, from 1
//       10     2   reserved: 0
//       12     8   total length, from the magic to the checksum, both included
//       20     …   payload, in the order its kind writes it
//      end     4   CRC32C of everything before it
//
// All numbers are little-endian on every machine, doubles are their IEEE 754 bits. The
// encoding is canonical: equal states give equal bytes, and reading and writing again
// gives the same bytes. A reader rejects with a CorruptState whatever it does not fully
// understand; bytes from anywhere may be wrong but must never crash it or make it
// allocate more than they could fill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace calibrant {

// Written into files that outlive us: a number is never reused or changed. A new kind
// also needs its name in bytes.cpp.
enum class Kind : std::uint16_t {
    exact_sum = 1,
    fixed_sum = 2,
    risk_profile = 3,
    score_sums = 4,
    reliability = 5,
    score_table = 6,
    scorecard = 7,
    spiegelhalter = 8,
    assessment = 9,
    intervals = 10,
    prediction_sets = 11,
    coverage_hsic = 12,
    ranks = 13,
    moments = 14,
    vendi = 15,
    grouped = 17,
    paired_scores = 20,
    row_counter = 65535,  // of the tests
};

// As its class is called; "kind 77" for a number without a name.
std::string name(Kind kind);

class CorruptState : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

// Collects a payload.
class Writer {
public:
    void u8(std::uint8_t value);
    void u16(std::uint16_t value);
    void u32(std::uint32_t value);
    void u64(std::uint64_t value);
    void i64(std::int64_t value);
    void f64(double value);
    void raw(std::string_view bytes);

    std::string_view bytes() const noexcept { return bytes_; }

private:
    std::string bytes_;
};

// Reads a payload; a view of bytes that must outlive it. Every read checks that the
// bytes are there first, and throws CorruptState if not.
class Reader {
public:
    explicit Reader(std::string_view payload, std::uint16_t version = 1) noexcept
        : rest_(payload), version_(version) {}

    // Of the kind's payload: 1 <= version() <= the newest_version given to open.
    std::uint16_t version() const noexcept { return version_; }
    std::size_t remaining() const noexcept { return rest_.size(); }

    std::uint8_t u8();
    std::uint16_t u16();
    std::uint32_t u32();
    std::uint64_t u64();
    std::int64_t i64();
    double f64();
    std::string_view raw(std::size_t size);

    // A u64 that says how many elements follow, of at least bytes_each each (>= 1):
    // rejected if the remaining bytes cannot hold them, hence safe to allocate for.
    std::size_t count(std::size_t bytes_each);

    // Call after the last field: rejects bytes that nobody read.
    void finish() const;

private:
    std::string_view rest_;
    std::uint16_t version_;
};

std::uint32_t crc32c(std::string_view bytes) noexcept;

// Header, payload and checksum in one piece.
std::string seal(Kind kind, std::uint16_t version, const Writer& payload);

// Checks everything around the payload and returns a reader at its start. The reader
// looks into bytes. Throws CorruptState, saying what was expected and what was found.
Reader open(std::string_view bytes, Kind expected, std::uint16_t newest_version);

// What make() returns; parameters that it rejects are those of a malformed state.
template <class Make>
[[nodiscard]] auto make_from_state(const Make& make) {
    try {
        return make();
    } catch (const std::invalid_argument& error) {
        throw CorruptState(std::string("malformed state: ") + error.what());
    }
}

// The accumulator of bytes from anywhere. As State::from_bytes, but whatever is wrong with them is
// a CorruptState: also sums too many powers of two apart to be compared, which no rows have.
template <class State>
[[nodiscard]] State restore(std::string_view bytes) {
    try {
        return State::from_bytes(bytes);
    } catch (const std::length_error&) {
        throw CorruptState("malformed state: its sums cannot be of the same rows");
    }
}

}  // namespace calibrant
