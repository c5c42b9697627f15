// Fixed pseudo-random numbers, the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fuzz {

// Knuth's MMIX generator, its upper half.
class Numbers {
public:
    std::uint32_t next() {
        state_ = 6364136223846793005U * state_ + 1442695040888963407U;
        return static_cast<std::uint32_t>(state_ >> 32);
    }
    std::size_t below(std::size_t n) { return next() % n; }
    double unit() { return (next() + 1.0) * 0x1p-32; }  // in (0, 1]

private:
    std::uint64_t state_ = 1;
};

}  // namespace fuzz
