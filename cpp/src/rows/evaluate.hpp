// A function of one number, such as those of tails.hpp, for every value of a column.
#pragma once

#include "calibrant/rows/column.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

// The column has width 1; several threads are used where it has many values. Throws InvalidInput
// for the first NaN, and then leaves `out` unspecified.
void evaluate(double (*function)(double), const Column& x, double* out, Poll poll);

}  // namespace calibrant
