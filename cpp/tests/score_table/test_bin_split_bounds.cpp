// Bounds over chains of bins, against a search over all divisions.
#include "score_table/bin_split_bounds.hpp"

#include <cassert>
#include <cmath>
#include <cstdint>
#include <random>

using namespace calibrant;

namespace {

constexpr int steps = 60;

double uniform(std::mt19937_64& random, double low, double high) {
    return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
}

// Three bins with an undivided group between each two.
Chain random_chain(std::mt19937_64& random) {
    Chain chain;
    chain.bins.resize(3);
    chain.groups.resize(2);
    for (std::size_t k = 0; k < 3; ++k) {
        Chain::Bin& bin = chain.bins[k];
        bin.amount = uniform(random, -1.0, 1.0);
        bin.least_weight = bin.most_weight = uniform(random, 1.0, 3.0);
        if (k > 0) bin.left = k - 1;
        if (k < 2) bin.right = k;
    }
    for (Chain::Group& group : chain.groups) {
        group.positive = uniform(random, 0.0, 1.0);
        group.negative = uniform(random, 0.0, 1.0);
        group.least_left = -group.negative;
        group.most_left = group.positive;
    }
    return chain;
}

struct Extremes {
    double least = 1e300, most = -1e300;
};

template <class Cost>
Extremes search(const Chain& chain, const Cost& cost) {
    Extremes found;
    const auto moved = [&](std::size_t group, int step) {
        const Chain::Group& g = chain.groups[group];
        return g.least_left + (g.most_left - g.least_left) * step / steps;
    };
    for (int i = 0; i <= steps; ++i) {
        for (int j = 0; j <= steps; ++j) {
            const double a = moved(0, i);
            const double b = moved(1, j);
            const double sum = cost(0, chain.bins[0].amount + a) +
                               cost(1, chain.bins[1].amount + chain.groups[0].amount() - a + b) +
                               cost(2, chain.bins[2].amount + chain.groups[1].amount() - b);
            found.least = std::fmin(found.least, sum);
            found.most = std::fmax(found.most, sum);
        }
    }
    return found;
}

void test_absolute_values() {
    std::mt19937_64 random(1);
    const auto cost = [](std::size_t, double amount) { return std::fabs(amount); };
    const std::vector<LinearBound> signs{{-1.0, 0.0}, {1.0, 0.0}};
    for (int round = 0; round < 200; ++round) {
        const Chain chain = random_chain(random);
        const Extremes found = search(chain, cost);
        assert(std::fabs(greatest_sum(chain, cost) - found.most) < 1e-12);
        const double least = least_sum(
            chain, [&](std::size_t) { return signs; }, [](double, double) { return 0.0; });
        // A step of the search moves at most 2 / steps between two bins, in two groups.
        assert(least <= found.least + 1e-12);
        assert(least >= found.least - 8.0 / steps);
    }
}

void test_squares() {
    std::mt19937_64 random(2);
    for (int round = 0; round < 200; ++round) {
        const Chain chain = random_chain(random);
        const auto cost = [&](std::size_t k, double amount) {
            return amount * amount / chain.bins[k].least_weight;
        };
        const Extremes found = search(chain, cost);
        assert(std::fabs(greatest_sum(chain, cost) - found.most) < 1e-12);
        const double slope = uniform(random, -1.0, 1.0);
        const auto tangent = [&](std::size_t k) {
            return std::vector<LinearBound>{
                {2.0 * slope, -slope * slope * chain.bins[k].most_weight}};
        };
        const double least =
            least_sum(chain, tangent, [](double s, double w) { return -0.25 * s * s * w; });
        assert(least <= found.least + 1e-12);
    }
}

// Two cuts in one group: the bin inside may get everything, or nothing.
void test_several_cuts() {
    Chain chain;
    chain.bins.resize(3);
    chain.groups.resize(1);
    chain.bins[0].right = chain.bins[1].left = chain.bins[1].right = chain.bins[2].left = 0;
    chain.bins[0].amount = 0.5;
    chain.bins[2].amount = -0.25;
    chain.bins[1].inside = true;
    chain.groups[0].positive = 0.125;
    chain.groups[0].negative = 0.0625;
    chain.groups[0].several = true;
    const auto cost = [](std::size_t, double amount) { return std::fabs(amount); };
    assert(greatest_sum(chain, cost) == 0.9375);  // nothing cancels
    const std::vector<LinearBound> signs{{-1.0, 0.0}, {1.0, 0.0}};
    const double least =
        least_sum(chain, [&](std::size_t) { return signs; }, [](double, double) { return 0.0; });
    assert(least == 0.5625);  // positive parts to the right, negative ones to the left
}

}  // namespace

int main() {
    test_absolute_values();
    test_squares();
    test_several_cuts();
}
