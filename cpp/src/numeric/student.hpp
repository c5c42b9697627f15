// Student's t law with df > 0 degrees of freedom, which need not be whole: the two-sided tail
// P(|T| > t), by a continued fraction of the incomplete beta function (DLMF 8.17.22), and its
// inverse, by Newton's method from 0. The relative error of the tail is below 1e-12 for df up to
// 2^20; above, the normal law of t (1 - 1/(4 df)) / sqrt(1 + t^2 / (2 df)) stands in, with a
// relative error below t^4 / df^2.
#pragma once

namespace calibrant {

double student_two_sided(double t, double df);
double student_quantile(double two_sided, double df);  // 0 < two_sided < 1

}  // namespace calibrant
