// The exact sums where a sanitizer should look: blocks of every length, merges, damaged bytes.
#include "calibrant/numeric/sum.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "calibrant/runtime/isa.hpp"
#include "calibrant/state/bytes.hpp"
#include "expect.hpp"
#include "fuzz.hpp"
#include "kernels/kernels.hpp"

using namespace calibrant;

namespace {

std::string bytes_of(const ExactSum& sum) {
    Writer out;
    sum.write(out);
    return seal(Kind::exact_sum, 1, out);
}

ExactSum from_bytes(const std::string& bytes) {
    Reader in = open(bytes, Kind::exact_sum, 1);
    ExactSum sum = ExactSum::read(in);
    in.finish();
    return sum;
}

// Doubles of both signs, their exponents spread over `width` powers of two around `center`.
std::vector<double> doubles(std::size_t n, int center, std::size_t width, fuzz::Numbers& numbers) {
    std::vector<double> x(n);
    for (double& each : x) {
        const double magnitude = numbers.unit() + 0x1p-32 * numbers.unit();
        const int exponent = center + static_cast<int>(numbers.below(width));
        each = std::ldexp(numbers.below(2) == 0 ? magnitude : -magnitude, exponent);
    }
    return x;
}

// The vectors have their exact size on the heap, so that a read beyond them is seen.
void blocks_of_every_length() {
    fuzz::Numbers numbers;
    for (std::size_t n = 0; n <= block_rows + 1; ++n) {
        const std::size_t widths[] = {1, 60, 300, 2000};
        const int center = widths[n % 4] == 2000 ? -1050 : -150;
        const std::vector<double> x = doubles(n, center, widths[n % 4], numbers);
        const std::vector<double> y = doubles(n, center / 3, widths[n % 3], numbers);
        ExactSum sum, products;
        for (std::size_t i = 0; i < n; ++i) {
            sum.add(x[i]);
            products.add_product(x[i], y[i]);
        }
        for (const Isa each : available_isas()) {
            set_isa(each);
            ExactSum sum_by_block, products_by_block;
            for (std::size_t i = 0; i < n; i += block_rows) {
                const std::size_t count = std::min(block_rows, n - i);
                sum_by_block.add_block(x.data() + i, count);
                products_by_block.add_products(x.data() + i, y.data() + i, count);
            }
            expect::equal(bytes_of(sum_by_block), bytes_of(sum));
            expect::equal(bytes_of(products_by_block), bytes_of(products));
        }
    }
}

void merges_in_any_order() {
    fuzz::Numbers numbers;
    const std::vector<double> x = doubles(1000, -1070, 2090, numbers);
    ExactSum whole;
    for (const double each : x) whole.add(each);
    for (int round = 0; round < 20; ++round) {
        std::vector<ExactSum> parts(1 + numbers.below(30));
        for (const double each : x) parts[numbers.below(parts.size())].add(each);
        while (parts.size() > 1) {
            const ExactSum last = parts.back();
            parts.pop_back();
            parts[numbers.below(parts.size())].merge(last);
        }
        expect::equal(bytes_of(parts.front()), bytes_of(whole));
        parts.front().subtract(whole);
        expect::that(parts.front().is_zero(), "a sum minus itself is 0");
    }
    ExactSum twice = whole;
    twice.merge(twice);
    twice.subtract(whole);
    expect::equal(bytes_of(twice), bytes_of(whole));
    twice.subtract(twice);
    expect::equal(bytes_of(twice), bytes_of(ExactSum()));
}

// Narrow sums lie in the object, wide ones on the heap: any of them can become any other.
void copies_of_narrow_and_wide_sums() {
    std::vector<ExactSum> sums(4);
    for (std::size_t k = 1; k < sums.size(); ++k) {
        const auto lowest = static_cast<int>(-70 * k * k);
        for (const int exponent : {0, lowest}) sums[k].add(std::ldexp(3.0, exponent));
    }
    for (const ExactSum& from : sums) {
        for (const ExactSum& to : sums) {
            ExactSum copied = to, moved = to, source = from;
            copied = from;
            expect::equal(bytes_of(copied), bytes_of(from));
            moved = std::move(source);
            expect::equal(bytes_of(moved), bytes_of(from));
            const ExactSum made = std::move(moved);
            expect::equal(bytes_of(made), bytes_of(from));
            copied.merge(to);
            copied.subtract(from);
            expect::equal(bytes_of(copied), bytes_of(to));
        }
        ExactSum self = from;
        const ExactSum& same = self;
        self = same;
        expect::equal(bytes_of(self), bytes_of(from));
    }
}

// 2^200 rows of either sign: every limb passes its carries on, many times over.
void doubles_without_end() {
    for (const double sign : {1.0, -1.0}) {
        ExactSum sum;
        for (const double x : {1.0, -0x1p-40, 0x1p-80, 0x1.fffffffffffffp+1023, -0x1p-1074}) {
            sum.add(sign * x);
        }
        const Scaled once = sum.value();
        for (int k = 0; k < 200; ++k) sum.merge(sum);
        expect::equal(sum.value().high, once.high);
        expect::equal(sum.value().low, once.low);
        expect::equal(sum.value().exponent, once.exponent + 200);
        expect::equal(sum.to_double(), sign * std::numeric_limits<double>::infinity());
    }
}

void integers_at_the_limits() {
    const auto most = static_cast<Int128>(~UInt128{0} >> 1);
    for (std::int64_t exponent = -70; exponent <= 70; ++exponent) {
        ExactSum sum;
        sum.add(most, exponent);
        sum.add(-most - 1, exponent);
        sum.add(1.0, exponent);
        expect::that(sum.is_zero(), "(2^127 - 1) - 2^127 + 1 is 0");
    }
    FixedSum<58> fixed;
    fixed.add(most);
    expect::throws<std::overflow_error>([&] { fixed.add(1); }, "128 bits");
    expect::that(fixed.total() == most, "a rejected term changes nothing");
    fixed.add(-most);
    fixed.add(-most - 1);
    expect::throws<std::overflow_error>([&] { fixed.merge(fixed); }, "128 bits");
    expect::equal(fixed.to_double(), -0x1p69);
    expect::throws<std::overflow_error>([] { (void)checked_add(~std::uint64_t{0}, 1); }, "full");
}

void rejects_what_is_too_wide() {
    ExactSum sum;
    sum.add(1.0);
    const std::string before = bytes_of(sum);
    const auto far = static_cast<std::int64_t>(32 * ExactSum::max_limbs + 64);
    for (const std::int64_t exponent : {far, -far}) {
        expect::throws<std::length_error>([&] { sum.add(1.0, exponent); }, "powers of two apart");
        expect::throws<std::length_error>([&] { sum.add(Int128{1}, exponent); }, "apart");
        expect::throws<std::length_error>([&] { sum.add_product(1.0, 1.0, exponent); }, "apart");
    }
    expect::equal(bytes_of(sum), before);
}

void damaged_bytes_are_rejected_or_round_trip() {
    fuzz::Numbers numbers;
    ExactSum sum;
    for (const double x : doubles(20, -200, 400, numbers)) sum.add(x);
    const std::string good = bytes_of(sum);
    int accepted = 0;
    for (int round = 0; round < 20000; ++round) {
        const bool resealed = round % 4 != 0;
        const std::string bytes = resealed ? fuzz::damage_payload(good, Kind::exact_sum, numbers)
                                           : fuzz::damage(good, numbers);
        try {
            ExactSum read = from_bytes(bytes);
            ++accepted;
            expect::equal(bytes_of(read), bytes);
            (void)read.to_double();
            (void)read.value();
            read.merge(read);
            read.subtract(sum);
        } catch (const CorruptState&) {
        } catch (const std::length_error&) {  // too far from `sum` to subtract it
        }
    }
    expect::that(accepted > 1000, "many changes of a digit give another sum");
}

}  // namespace

int main() {
    blocks_of_every_length();
    merges_in_any_order();
    copies_of_narrow_and_wide_sums();
    doubles_without_end();
    integers_at_the_limits();
    rejects_what_is_too_wide();
    damaged_bytes_are_rejected_or_round_trip();
    return expect::summary();
}
