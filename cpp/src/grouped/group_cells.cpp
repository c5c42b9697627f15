#include "grouped/group_cells.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {
namespace {

constexpr double robustness = -2.0 / 3.0;  // the power, to the nearest double

// high 2^-high_bits + low 2^-low_bits, each a sum of parts of terms.
struct CellSum {
    std::int64_t high, low;
    int high_bits, low_bits;

    [[nodiscard]] std::int64_t ratio() const { return std::int64_t{1} << (low_bits - high_bits); }
    void add_to(ExactSum& sum) const {
        sum.add(static_cast<Int128>(high) * ratio() + low, -low_bits);
    }
    // In units of 2^-low_bits, as the nearest double and the rest, both exact: high is below 2^53,
    // and the sum below 2^102.
    [[nodiscard]] DoubleDouble units() const {
        const double shifted = static_cast<double>(high) * static_cast<double>(ratio());
        const auto near = static_cast<double>(low);
        const auto left = static_cast<double>(low - static_cast<std::int64_t>(near));
        const DoubleDouble sum = two_sum(shifted, near);
        return two_sum(sum.high, sum.low + left);
    }
};

std::int64_t signed_word(std::uint64_t word) { return static_cast<std::int64_t>(word); }

CellSum sum_of(const CellWords* cells, Score score) {
    const CellWords& of_two = cells[0];
    const Grid& grid = score == Score::log ? log_grid : score_grid;
    switch (score) {
        case Score::brier:
            return {sum_above(of_two.at[0], 1), signed_word(of_two.at[1]), grid.high_bits,
                    grid.low_bits};
        case Score::log:
            return {sum_above(of_two.at[2], 2), signed_word(of_two.at[3]), grid.high_bits,
                    grid.low_bits};
        default:
            return {signed_word(cells[1].at[0]), signed_word(cells[1].at[1]), grid.high_bits,
                    grid.low_bits};
    }
}

std::uint64_t ones_of(const CellWords& cell) { return count_in(cell.at[2]); }
std::uint64_t zeros_of(const CellWords& cell) { return count_in(cell.at[2], count_bits); }

}  // namespace

std::size_t CellLayout<ScoreSums>::columns(const Events& events) {
    if (events.n_classes() > ScoreSums::most_classes) {
        throw InvalidInput("scores need 2 to 2^20 classes, got " +
                           std::to_string(events.n_classes()));
    }
    return events.is_matrix ? events.y_proba.width : 1;
}

void CellLayout<ScoreSums>::add_to(ScoreSums& state, std::size_t columns, const CellWords* cells,
                                   std::uint64_t omitted) {
    const CellWords* const of_classes = cells + per_row(state);
    state.columns_ = columns;
    state.n_ = rows_of_cell(cells[0]);
    state.omitted_ = omitted;
    state.zeros_ = zeros_of(cells[0]);
    state.class_weight_.resize(std::max<std::size_t>(columns, 2));
    const auto count = [&](std::size_t label, std::uint64_t rows) {
        state.class_weight_[label].add(static_cast<Int128>(rows), 0);
    };
    if (columns <= 2) {
        count(0, state.n_ - ones_of(cells[0]));
        count(1, ones_of(cells[0]));
    } else {
        for (std::size_t j = 0; j < columns; ++j) count(j, of_classes[j / 4].at[j % 4]);
    }
    for (const Score score : {Score::brier, Score::log, Score::spherical}) {
        if (!state.scores().has(score)) continue;
        sum_of(cells, score).add_to(state.sums_[static_cast<std::size_t>(score)]);
    }
}

static_assert(log_grid.low_bits == 58 && score_grid.low_bits == 80);
double CellLayout<ScoreSums>::mean(const CellWords* cells, Score score) {
    const std::uint64_t n = rows_of_cell(cells[0]);
    if (score == Score::log && zeros_of(cells[0]) != 0) {
        return std::numeric_limits<double>::infinity();
    }
    if (n == 0) return std::numeric_limits<double>::quiet_NaN();
    // As mean() of sum.hpp's values; since nothing is near the ends of the doubles, without
    // scaling.
    const DoubleDouble ratio =
        sum_of(cells, score).units() / DoubleDouble{static_cast<double>(n), 0.0};
    const double mean = ratio.high * (score == Score::log ? 0x1p-58 : 0x1p-80);
    return score == Score::log ? 0.0 - mean : mean;  // never -0
}

bool CellLayout<RiskProfile>::suit(const RiskProfile& state, const Events& events) {
    return events.sample_weight == nullptr && std::ranges::all_of(state.powers(), [](double m) {
               return m == 1.0 || m == 0.0 || m == robustness;
           });
}

void CellLayout<RiskProfile>::add_to(RiskProfile& state, std::size_t, const CellWords* cells,
                                     std::uint64_t omitted) {
    const auto sum_at = [&](std::size_t cell, std::size_t at, int high_bits, int low_bits) {
        return CellSum{signed_word(cells[cell].at[at]), signed_word(cells[cell].at[at + 1]),
                       high_bits, low_bits};
    };
    state.n_ = rows_of_cell(cells[0]);
    state.omitted_ = omitted;
    state.zeros_ = cells[0].at[1];
    state.weight_.add(static_cast<Int128>(state.n_), 0);
    for (std::size_t i = 0; i < state.powers_.size(); ++i) {
        const double m = state.powers_[i];
        ExactSum& sum = state.sums_[i];
        if (m == 1.0) sum_at(0, 2, 40, 80).add_to(sum);
        if (m == 0.0) sum_at(1, 0, 16, 58).add_to(sum);
        if (m == robustness) sum_at(1, 2, 20, 58).add_to(sum);
    }
}

void CellLayout<Spiegelhalter>::add_to(Spiegelhalter& state, std::size_t, const CellWords* cells,
                                       std::uint64_t omitted) {
    const CellWords& cell = cells[0];
    state.n_ = state.with_weight_ = rows_of_cell(cell);
    state.omitted_ = omitted;
    CellSum{sum_above(cell.at[0], 1), signed_word(cell.at[1]), 30, 80}.add_to(state.variance_);
    CellSum{signed_word(cell.at[2]), signed_word(cell.at[3]), 30, 80}.add_to(state.excess_);
}

void CellLayout<Reliability>::add_to(Reliability& state, std::size_t, const CellWords* cells,
                                     std::uint64_t omitted) {
    state.omitted_ = omitted;
    for (std::size_t k = 0; k < state.table_.size(); ++k) {
        const CellWords& cell = cells[k];
        Reliability::Bin& bin = state.table_[k];
        bin.n = rows_of_cell(cell);
        state.n_ += bin.n;
        bin.weight.add(static_cast<Int128>(bin.n), 0);
        bin.hits.add(static_cast<Int128>(cell.at[1]), 0);
        CellSum{signed_word(cell.at[2]), signed_word(cell.at[3]), 40, 80}.add_to(bin.scores);
    }
}

}  // namespace calibrant
