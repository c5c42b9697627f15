#include "kernels/loops/risk_loops.hpp"
#include "kernels/loops/scorecard_loops.hpp"
#include "kernels/rooms.hpp"

namespace calibrant {
namespace {

void scorecard_risk(const double* q, std::size_t n, const PrefetchHint& ahead, RiskBlock* sums,
                    RiskSquares* squares) {
    risk_loops<true>(q, n, ahead, sums, squares);
}

}  // namespace

namespace CALIBRANT_KERNELS {

void add_scorecards(Kernels& table) {
    table.scorecard = {scorecard_risk, scorecard_scores, cell_terms, add_cells};
}

}  // namespace CALIBRANT_KERNELS
}  // namespace calibrant
