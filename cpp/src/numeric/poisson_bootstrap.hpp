// The random numbers of the bootstrap: a stream for each (replicate, cell), the same on every
// machine, since they are made from integers by correctly rounded operations.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace calibrant {

class RandomStream {
public:
    RandomStream(std::uint64_t replicate, std::uint64_t cell)
        : state_(mixed(mixed(replicate) ^ (cell * 0xD1342543DE82EF95U + 1))) {}

    // In (0, 1), a multiple of 2^-54.
    double uniform() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; }

    // Close to a standard normal number, and cheap: 128 coins and a uniform number, centred and
    // scaled. Its distribution function is within 0.0007 of the normal one.
    double normal() {
        const int heads = std::popcount(bits()) + std::popcount(bits());
        return (static_cast<double>(heads) - 64.5 + uniform()) / std::sqrt(32.0 + 1.0 / 12.0);
    }

    // A Poisson number of any mean >= 0, which need not be an integer; `none` is exp(-mean), the
    // probability of 0. By inversion if the mean is small; else from a normal number, with the
    // skewness of a Poisson number (Cornish and Fisher 1938), rounded.
    double poisson(double mean, double none) {
        if (mean >= 16.0) {
            const double z = normal();
            const double number = mean + std::sqrt(mean) * z + (z * z - 1.0) / 6.0;
            return number > 0.0 ? std::floor(number + 0.5) : 0.0;
        }
        double probability = none;
        double rest = uniform() - probability;
        double k = 0.0;
        while (rest > 0.0 && k < 200.0) {
            k += 1.0;
            probability *= mean / k;
            rest -= probability;
        }
        return k;
    }

private:
    std::uint64_t bits() {
        state_ += 0x9E3779B97F4A7C15U;
        return mixed(state_);
    }

    // The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
    static std::uint64_t mixed(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
        return x ^ (x >> 31);
    }

    std::uint64_t state_;
};

}  // namespace calibrant
