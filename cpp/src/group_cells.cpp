#include "calibrant/group_cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "calibrant/check.hpp"
#include "calibrant/double_double.hpp"
#include "calibrant/sum.hpp"

namespace calibrant {
namespace {

constexpr double robustness = -2.0 / 3.0;  // the power, to the nearest double

// The sum of two words in units of 2^-high_bits and 2^-low_bits, in units of the latter.
Int128 sum_of(std::uint64_t high, std::uint64_t low, int high_bits, int low_bits) {
    return static_cast<Int128>(static_cast<std::int64_t>(high)) *
               (std::int64_t{1} << (low_bits - high_bits)) +
           static_cast<std::int64_t>(low);
}

constexpr const Grid& grid_of(Score score) { return score == Score::log ? log_grid : score_grid; }

Int128 sum_of(const CellWords<8>& cell, Score score) {
    const std::size_t at = 2 + 2 * static_cast<std::size_t>(score);
    const Grid& grid = grid_of(score);
    return sum_of(cell.at[at], cell.at[at + 1], grid.high_bits, grid.low_bits);
}

std::uint64_t upper(std::uint64_t word) { return word >> upper_half; }

}  // namespace

std::size_t CellLayout<ScoreSums>::columns(const Events& events) {
    if (events.n_classes() > ScoreSums::most_classes) {
        throw InvalidInput("scores need 2 to 2^20 classes, got " +
                           std::to_string(events.n_classes()));
    }
    return events.is_matrix ? events.y_proba.width : 1;
}

void CellLayout<ScoreSums>::add_to(ScoreSums& state, std::size_t columns, const Words* cells,
                                   std::uint64_t omitted) {
    const Words& cell = cells[0];
    state.columns_ = columns;
    state.n_ = rows_of_cell(cell.at[0]);
    state.omitted_ = omitted;
    state.zeros_ = cell.at[1];
    state.class_weight_.resize(std::max<std::size_t>(columns, 2));
    const auto count = [&](std::size_t label, std::uint64_t rows) {
        state.class_weight_[label].add(static_cast<Int128>(rows), 0);
    };
    if (columns <= 2) {
        count(0, state.n_ - upper(cell.at[0]));
        count(1, upper(cell.at[0]));
    } else {
        for (std::size_t j = 0; j < columns; ++j) count(j, cells[1 + j / 8].at[j % 8]);
    }
    for (const Score score : {Score::brier, Score::log, Score::spherical}) {
        state.sums_[static_cast<std::size_t>(score)].add(sum_of(cell, score),
                                                         -grid_of(score).low_bits);
    }
}

static_assert(log_grid.low_bits == 58 && score_grid.low_bits == 80);
double CellLayout<ScoreSums>::mean(const Words& cell, Score score) {
    if (score == Score::log && cell.at[1] != 0) return std::numeric_limits<double>::infinity();
    const std::uint64_t n = rows_of_cell(cell.at[0]);
    if (n == 0) return std::numeric_limits<double>::quiet_NaN();
    // As mean() of sum.hpp's values; since nothing is near the ends of the doubles, without
    // scaling.
    const Int128 sum = sum_of(cell, score);
    const auto high = static_cast<double>(sum);
    const auto low = static_cast<double>(sum - static_cast<Int128>(high));
    const DoubleDouble ratio = DoubleDouble{high, low} / DoubleDouble{static_cast<double>(n), 0.0};
    const double mean = ratio.high * (score == Score::log ? 0x1p-58 : 0x1p-80);
    return score == Score::log ? 0.0 - mean : mean;  // never -0
}

bool CellLayout<RiskProfile>::suit(const RiskProfile& state, const Events& events) {
    return events.sample_weight == nullptr && std::ranges::all_of(state.powers(), [](double m) {
               return m == 1.0 || m == 0.0 || m == robustness;
           });
}

void CellLayout<RiskProfile>::add_to(RiskProfile& state, std::size_t, const Words* cells,
                                     std::uint64_t omitted) {
    const Words& cell = cells[0];
    state.n_ = rows_of_cell(cell.at[0]);
    state.omitted_ = omitted;
    state.zeros_ = cell.at[1];
    state.weight_.add(static_cast<Int128>(state.n_), 0);
    for (std::size_t i = 0; i < state.powers_.size(); ++i) {
        const double m = state.powers_[i];
        ExactSum& sum = state.sums_[i];
        if (m == 1.0) sum.add(sum_of(cell.at[2], cell.at[3], 40, 80), -80);
        if (m == 0.0) sum.add(sum_of(cell.at[4], cell.at[5], 16, 58), -58);
        if (m == robustness) sum.add(sum_of(cell.at[6], cell.at[7], 20, 58), -58);
    }
}

void CellLayout<Spiegelhalter>::add_to(Spiegelhalter& state, std::size_t, const Words* cells,
                                       std::uint64_t omitted) {
    const Words& cell = cells[0];
    state.n_ = state.with_weight_ = rows_of_cell(cell.at[0]);
    state.omitted_ = omitted;
    state.variance_.add(sum_of(cell.at[0] >> row_bits, cell.at[1], 30, 80), -80);
    state.excess_.add(sum_of(cell.at[2], cell.at[3], 30, 80), -80);
}

void CellLayout<Reliability>::add_to(Reliability& state, std::size_t, const Words* cells,
                                     std::uint64_t omitted) {
    state.omitted_ = omitted;
    for (std::size_t k = 0; k < state.table_.size(); ++k) {
        const Words& cell = cells[k];
        Reliability::Bin& bin = state.table_[k];
        bin.n = rows_of_cell(cell.at[0]);
        state.n_ += bin.n;
        bin.weight.add(static_cast<Int128>(bin.n), 0);
        bin.hits.add(static_cast<Int128>(upper(cell.at[0])), 0);
        bin.scores.add(sum_of(cell.at[1], cell.at[2], 40, 80), -80);
    }
}

}  // namespace calibrant
