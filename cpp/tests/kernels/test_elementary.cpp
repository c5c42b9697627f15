// The elementary functions on blocks of every length, on every instruction set, and at the
// ends of the doubles. How accurate they are is tested from Python, against mpmath.
#include "kernels/elementary.hpp"

#include <bit>
#include <limits>
#include <vector>

#include "calibrant/runtime/isa.hpp"
#include "expect.hpp"
#include "kernels/kernels.hpp"
#include "random_numbers.hpp"

using namespace calibrant;

namespace {

constexpr double largest = std::numeric_limits<double>::max();
constexpr double infinity = std::numeric_limits<double>::infinity();

bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// Positive and finite, every exponent alike.
double positive(fuzz::Numbers& numbers) {
    const std::uint64_t bits = std::uint64_t{numbers.next()} << 32 | numbers.next();
    return std::bit_cast<double>(1 + bits % 0x7FEFFFFFFFFFFFFF);
}

// The vectors have their exact size on the heap, so that a read or write beyond is seen.
void blocks_of_every_length() {
    fuzz::Numbers numbers;
    const double powers[] = {-2.0 / 3.0, 0.5, -3.0, 1e-300, 0x1p26, -0x1p26};
    for (std::size_t n = 0; n <= block_rows; ++n) {
        const Power m = make_power(powers[n % std::size(powers)]);
        std::vector<double> x(n), q(n);
        for (std::size_t i = 0; i < n; ++i) {
            x[i] = positive(numbers);
            q[i] = i % 7 == 0 ? 0x1p-1074 * numbers.unit() * 0x1p31 : numbers.unit();
        }
        for (const Isa each : available_isas()) {
            set_isa(each);
            std::vector<double> high(n), low(n), exponent(n);
            kernels().log(x.data(), n, high.data());
            for (std::size_t i = 0; i < n; ++i) {
                expect::that(same_bits(high[i], calibrant::log(x[i])), "log");
            }
            kernels().exp(high.data(), n, low.data());
            for (std::size_t i = 0; i < n; ++i) {
                expect::that(same_bits(low[i], calibrant::exp(high[i])), "exp");
            }
            kernels().power(x.data(), n, m, high.data());
            for (std::size_t i = 0; i < n; ++i) {
                expect::that(same_bits(high[i], calibrant::power(x[i], m)), "power");
            }
            kernels().logs(x.data(), n, high.data(), low.data());
            kernels().powers(q.data(), n, m, high.data(), low.data(), exponent.data());
            RiskBlock risk;
            kernels().risk(q.data(), n, PrefetchHint{}, &risk);
            expect::that(risk.tiny <= n, "no more tiny rows than rows");
        }
    }
}

void ends_of_the_doubles() {
    for (const Isa each : available_isas()) {
        set_isa(each);
        const double x[] = {0x1p-1074, 0x1p-1022, 1.0, largest};
        double result[4];
        kernels().log(x, 4, result);
        expect::equal(result[0], -744.4400719213812);
        expect::equal(result[1], -708.3964185322641);
        expect::that(same_bits(result[2], 0.0), "log 1 is +0");
        expect::equal(result[3], 709.782712893384);
        const double y[] = {-largest, -745.2, 0.0, largest};
        kernels().exp(y, 4, result);
        expect::equal(result[0], 0.0);
        expect::equal(result[1], 0.0);
        expect::equal(result[2], 1.0);
        expect::equal(result[3], infinity);
        kernels().power(x, 4, make_power(-1.0), result);
        expect::equal(result[0], infinity);
        expect::equal(result[1], 0x1p1022);
        expect::equal(result[2], 1.0);
        expect::equal(result[3], 0x1p-1024);
        kernels().power(x, 4, make_power(0x1p26), result);
        expect::equal(result[0], 0.0);
        expect::equal(result[2], 1.0);
        expect::equal(result[3], infinity);
    }
}

}  // namespace

int main() {
    blocks_of_every_length();
    ends_of_the_doubles();
    return expect::summary();
}
