// The table of one instruction set, complete (rooms.hpp).
#include "kernels/rooms.hpp"

namespace calibrant::CALIBRANT_KERNELS {

Kernels table();

Kernels table() {
    Kernels result{};
    add_numeric(result);
    add_rows(result);
    add_ordering(result);
    add_means(result);
    add_calibration(result);
    add_scores(result);
    add_cumulative(result);
    add_scorecards(result);
    add_intervals(result);
    add_dependence(result);
    add_ranks(result);
    add_ensemble_scores(result);
    add_ensemble(result);
    add_samples(result);
    add_grouped(result);
    add_compat(result);
    return result;
}

}  // namespace calibrant::CALIBRANT_KERNELS
