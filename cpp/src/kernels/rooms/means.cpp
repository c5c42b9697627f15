#include "kernels/loops/log_loops.hpp"
#include "kernels/loops/power_loops.hpp"
#include "kernels/loops/risk_loops.hpp"
#include "kernels/rooms.hpp"

namespace calibrant {
namespace {

void risk(const double* q, std::size_t n, const PrefetchHint& ahead, RiskBlock* sums) {
    risk_loops<false>(q, n, ahead, sums, nullptr);
}

}  // namespace

namespace CALIBRANT_KERNELS {

void add_means(Kernels& table) {
    table.risk = risk;
    table.logs = logs;
    table.powers = powers;
    table.sum_powers = sum_powers;
}

}  // namespace CALIBRANT_KERNELS
}  // namespace calibrant
