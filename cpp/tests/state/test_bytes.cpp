#include "calibrant/state/bytes.hpp"

#include "expect.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

using namespace calibrant;

namespace {

std::string sealed_example() {
    Writer payload;
    payload.u8(0xAB);
    payload.u16(0x1234);
    payload.u32(0xDEADBEEF);
    payload.u64(0x0123456789ABCDEF);
    payload.i64(-2);
    payload.f64(-0.0);
    payload.raw("xyz");
    return seal(Kind::exact_sum, 1, payload);
}

void reads_what_was_written() {
    const std::string bytes = sealed_example();
    Reader reader = open(bytes, Kind::exact_sum, 1);
    expect::equal(reader.version(), 1);
    expect::equal(reader.u8(), 0xAB);
    expect::equal(reader.u16(), 0x1234);
    expect::equal(reader.u32(), 0xDEADBEEF);
    expect::equal(reader.u64(), 0x0123456789ABCDEFU);
    expect::equal(reader.i64(), -2);
    expect::that(std::signbit(reader.f64()), "negative zero keeps its sign");
    expect::throws<CorruptState>([&] { reader.finish(); }, "3 bytes after its last field");
    expect::equal(reader.raw(3), "xyz");
    reader.finish();
    expect::throws<CorruptState>([&] { reader.u8(); }, "1 byte expected, 0 bytes left");
}

void layout_is_the_documented_one() {
    Writer payload;
    payload.u16(0x0102);
    const std::string bytes = seal(Kind::risk_profile, 5, payload);
    expect::equal(bytes.substr(0, 22),
                  std::string("CLBR\x01\0\x03\0\x05\0\0\0\x1A\0\0\0\0\0\0\0\x02\x01", 22));
    expect::equal(bytes.size(), 26U);
}

void checksum_is_crc32c() {
    // The check value of the CRC catalogues, and the test vector of RFC 3720 (32 zeros).
    expect::equal(crc32c("123456789"), 0xE3069283U);
    expect::equal(crc32c(std::string(32, '\0')), 0x8A9136AAU);
    expect::equal(crc32c(""), 0U);
}

void nan_payloads_survive() {
    const std::uint64_t bits = 0x7FF4DEADBEEF0001;  // a signalling NaN
    Writer payload;
    payload.u64(bits);
    Reader reader(payload.bytes());
    expect::equal(std::bit_cast<std::uint64_t>(reader.f64()), bits);
}

void rejects_damage() {
    const std::string bytes = sealed_example();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        // Copied to the heap at its exact size, so that a sanitizer sees a read beyond it.
        const std::string cut(bytes.data(), size);
        expect::throws<CorruptState>([&] { open(cut, Kind::exact_sum, 1); }, "state");
    }
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        std::string flipped = bytes;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
        expect::throws<CorruptState>([&] { open(flipped, Kind::exact_sum, 1); }, "");
    }
    expect::throws<CorruptState>([&] { open(bytes + '\0', Kind::exact_sum, 1); },
                                 "trailing bytes: 59 bytes, header says 58");
    expect::throws<CorruptState>([&] { open(bytes + bytes, Kind::exact_sum, 1); },
                                 "trailing bytes");
}

void says_what_is_wrong() {
    const std::string bytes = sealed_example();
    const auto read = [](const std::string& text, Kind kind) {
        return [=] { open(text, kind, 1); };
    };
    expect::throws<CorruptState>(read("", Kind::exact_sum), "not a calibrant state: it is empty");
    expect::throws<CorruptState>(read("PAR1\xFF", Kind::exact_sum),
                                 "it starts with 'PAR1', not 'CLBR'");
    expect::throws<CorruptState>(read(bytes.substr(0, 40), Kind::exact_sum),
                                 "truncated: 40 bytes, header says 58");
    expect::throws<CorruptState>(read(bytes, Kind::fixed_sum),
                                 "state of a FixedSum expected, found ExactSum");
    expect::throws<CorruptState>(read(seal(Kind{77}, 1, {}), Kind::fixed_sum), "found kind 77");
    expect::throws<CorruptState>(
        read(seal(Kind::fixed_sum, 3, {}), Kind::fixed_sum),
        "state version 3 is newer than 1, the newest this calibrant reads");
    expect::throws<CorruptState>(read(seal(Kind::fixed_sum, 0, {}), Kind::fixed_sum), "version 0");
    std::string damaged = bytes;
    damaged[30] = static_cast<char>(~damaged[30]);
    expect::throws<CorruptState>(read(damaged, Kind::exact_sum), "checksum mismatch");
}

void counts_are_bounded_by_what_is_left() {
    const auto counted = [](std::uint64_t count, std::size_t bytes_each) {
        Writer payload;
        payload.u64(count);
        payload.raw(std::string(24, 'x'));
        return Reader(payload.bytes()).count(bytes_each);
    };
    expect::equal(counted(3, 8), 3U);
    expect::throws<CorruptState>([&] { counted(4, 8); },
                                 "4 elements of 8 bytes expected, 24 bytes left");
    // Times 8, this is 8 modulo 2^64.
    expect::throws<CorruptState>([&] { counted(0x2000000000000001, 8); }, "left");
    expect::throws<CorruptState>([&] { counted(std::numeric_limits<std::uint64_t>::max(), 1); },
                                 "left");
}

}  // namespace

int main() {
    reads_what_was_written();
    layout_is_the_documented_one();
    checksum_is_crc32c();
    nan_payloads_survive();
    rejects_damage();
    says_what_is_wrong();
    counts_are_bounded_by_what_is_left();
    return expect::summary();
}
