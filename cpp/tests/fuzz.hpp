// Damaged states, for tests that look for crashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "calibrant/state/bytes.hpp"
#include "expect.hpp"
#include "random_numbers.hpp"

namespace fuzz {

// Cut short, or with a few bits or whole bytes changed.
inline std::string damage(std::string bytes, Numbers& numbers) {
    if (numbers.below(8) == 0) bytes.resize(numbers.below(bytes.size() + 1));
    for (std::size_t k = numbers.below(4); k > 0 && !bytes.empty(); --k) {
        char& byte = bytes[numbers.below(bytes.size())];
        const std::uint32_t how = numbers.next();
        const auto old = static_cast<unsigned char>(byte);
        byte = static_cast<char>(how % 4 == 0   ? how >> 8
                                 : how % 4 == 1 ? 0xFFU
                                                : old ^ (1U << (how >> 8) % 8));
    }
    return bytes;
}

// The state around a damaged payload, with a checksum that fits.
inline std::string damage_payload(const std::string& state, calibrant::Kind kind,
                                  Numbers& numbers) {
    constexpr std::size_t header = 20, checksum = 4;
    calibrant::Writer payload;
    payload.raw(damage(state.substr(header, state.size() - header - checksum), numbers));
    return calibrant::seal(kind, 1, payload);
}

// Of a state, most with a checksum that fits; look(read, accepted) uses what was read in some way.
template <class State, class Look>
void damaged_states_are_rejected_or_round_trip(const State& original, int rounds,
                                               const Look& look) {
    const std::string good = original.to_bytes();
    Numbers numbers;
    int accepted = 0;
    for (int round = 0; round < rounds; ++round) {
        const bool resealed = round % 8 != 0;
        const std::string bytes =
            resealed ? damage_payload(good, State::kind, numbers) : damage(good, numbers);
        try {
            State read = State::from_bytes(bytes);
            ++accepted;
            expect::equal(read.to_bytes(), bytes);
            look(read, accepted);
            read.merge(read);
            read.merge(original);
        } catch (const std::invalid_argument&) {
        } catch (const std::overflow_error&) {  // counts close to 2^64
        } catch (const std::length_error&) {    // sums far apart
        }
    }
    expect::that(accepted > 200, "many changes of a digit give another state");
}

}  // namespace fuzz
