#include "numeric/philox.hpp"

#include "expect.hpp"

#include <array>
#include <cstdint>

using namespace calibrant;

// The known answers that the authors of Philox publish with Random123.
static_assert(philox({0, 0, 0, 0}, 0) ==
              PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffffffffffff) ==
              PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
              PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

// Of the words that are drawn again, there are as many as make the others a multiple of the bound.
// With a bound of 3 * 2^30 that is a quarter of all, so here many rows need a second word.
static void words_that_favour_are_drawn_again() {
    constexpr std::uint32_t bound = 3U << 30;
    std::array<int, 3> counts{};
    int redrawn = 0;
    for (std::uint64_t row = 0; row < 30000; ++row) {
        const RandomPlace place{7, row, 0, Purpose::tie};
        const std::uint32_t found = uniform_below(bound, place);
        expect::that(found < bound, "below its bound");
        ++counts[found >> 30];
        const std::uint64_t first = std::uint64_t{place.block(0)[0]} * bound;
        redrawn += found != static_cast<std::uint32_t>(first >> 32) ? 1 : 0;
    }
    expect::that(redrawn > 7000 && redrawn < 8000, "a quarter is drawn again");
    for (const int count : counts) expect::that(count > 9700 && count < 10300, "thirds");
}

int main() {
    words_that_favour_are_drawn_again();
    expect::equal(uniform_below(1, {0, 0, 0, Purpose::tie}), 0U);
}
