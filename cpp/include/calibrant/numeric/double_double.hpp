// Arithmetic on unevaluated sums of two doubles, for the few operations between reading a sum
// and rounding a result: relative error near 2^-100. Not for loops over data.
#pragma once

#include "calibrant/numeric/sum.hpp"

namespace calibrant {

struct DoubleDouble {
    double high = 0.0, low = 0.0;  // |low| at most half an ulp of high
};

// a + b, exactly.
[[nodiscard]] inline DoubleDouble two_sum(double a, double b) {
    const double sum = a + b;
    const double b_part = sum - a;
    return {sum, (a - (sum - b_part)) + (b - b_part)};
}

DoubleDouble operator+(DoubleDouble a, DoubleDouble b);
DoubleDouble operator-(DoubleDouble a, DoubleDouble b);
DoubleDouble operator*(DoubleDouble a, DoubleDouble b);
DoubleDouble operator/(DoubleDouble a, DoubleDouble b);

[[nodiscard]] DoubleDouble wide(UInt128 x);
[[nodiscard]] inline bool operator<(DoubleDouble a, DoubleDouble b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

struct ScaledDoubleDouble {
    DoubleDouble value;
    std::int64_t exponent;  // value * 2^exponent
};

// a / b for b > 0; the value lies in [sqrt(1/2), sqrt(2)), or is 0.
ScaledDoubleDouble divide(Scaled a, Scaled b);

// a / b for b > 0, of moderate size; the high part is the quotient, rounded once.
[[nodiscard]] DoubleDouble quotient(const ExactSum& a, const ExactSum& b);
[[nodiscard]] DoubleDouble quotient(const ExactSum& a, Scaled b);

// a / b, rounded once; NaN where b is 0.
double mean(const ExactSum& a, const ExactSum& b);
double mean(Scaled a, Scaled b);

// a / sqrt(b) for b > 0, rounded once.
double over_root(Scaled a, Scaled b);
[[nodiscard]] Scaled scaled(DoubleDouble x, std::int64_t exponent);  // x * 2^exponent

DoubleDouble log1p(DoubleDouble f);  // 1 + f in [0.7, 1.42]
DoubleDouble multiple_of_ln2(std::int64_t exponent);

}  // namespace calibrant
