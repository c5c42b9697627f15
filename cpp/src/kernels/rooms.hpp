// The sources of kernels, one for each room that has loops over data. Each is compiled once for
// each instruction set, with CALIBRANT_KERNELS naming the set, and fills in its part of the table.
// To keep one set's instructions out of another's code, such a source shares nothing with other
// files: no standard library, and every other function has internal linkage.
#pragma once

#include "kernels/kernels.hpp"

namespace calibrant::CALIBRANT_KERNELS {

void add_numeric(Kernels& table);
void add_rows(Kernels& table);
void add_ordering(Kernels& table);
void add_means(Kernels& table);
void add_calibration(Kernels& table);
void add_scores(Kernels& table);
void add_cumulative(Kernels& table);
void add_scorecards(Kernels& table);
void add_intervals(Kernels& table);
void add_dependence(Kernels& table);
void add_ranks(Kernels& table);
void add_ensemble_scores(Kernels& table);
void add_ensemble(Kernels& table);
void add_samples(Kernels& table);
void add_grouped(Kernels& table);
void add_compat(Kernels& table);

}  // namespace calibrant::CALIBRANT_KERNELS
