// ROC curves of score tables: what the cells tell.
#include <cmath>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/score_table/score_bounds.hpp"
#include "roc/roc_parts.hpp"

namespace calibrant {
namespace {

ExactSum half(const ExactSum& sum) {
    ExactSum factor;
    factor.add(0.5);
    return factor * sum;
}

// What a cell of a table adds: the weight of hits and misses, actual and predicted.
struct CellPairs {
    double least;
    bool is_tie;
    ExactSum hits, misses, predicted_hits, predicted_misses;
};

std::vector<CellPairs> cell_pairs(const ScoreTable& table) {
    std::vector<CellPairs> result;
    for (const ScoreTable::Cell* cell : table.filled()) {
        if (cell->n == 0) continue;
        ScoreTable::Sums sums;
        table.add_to(sums, *cell);
        result.push_back({cell->least, cell->least == cell->greatest, sums.hits,
                          difference(sums.weight, sums.hits), sums.scores,
                          difference(sums.weight, sums.scores)});
    }
    return result;
}

// Hits and misses, those of a cell taken as tied, over ascending cells.
struct TiedPairs {
    ExactSum hits, misses, won;

    void add(const ExactSum& more_hits, const ExactSum& more_misses) {
        won.merge(more_hits * misses);
        won.merge(half(more_hits * more_misses));
        hits.merge(more_hits);
        misses.merge(more_misses);
    }
    [[nodiscard]] bool defined() const { return !hits.is_zero() && !misses.is_zero(); }
    [[nodiscard]] double area() const { return mean(won, hits * misses); }
};

double tied_standard_error(const std::vector<CellPairs>& cells, const TiedPairs& total) {
    // Shares of the weights, which themselves may be too large for a double.
    const DoubleDouble one{1.0, 0.0};
    DeLong variance(one, one, quotient(total.won, total.hits * total.misses));
    for (const CellPairs& cell : cells) {
        variance.add(quotient(cell.hits, total.hits), quotient(cell.misses, total.misses));
    }
    return variance.standard_error(total.hits, total.misses);
}

}  // namespace

Bounds roc_auc(const ScoreTable& table) {
    TiedPairs all;
    ExactSum uncertain;
    for (const CellPairs& cell : cell_pairs(table)) {
        all.add(cell.hits, cell.misses);
        if (!cell.is_tie) uncertain.merge(half(cell.hits * cell.misses));
    }
    require_pairs(table.count(), !all.hits.is_zero(), !all.misses.is_zero());
    const ExactSum pairs = all.hits * all.misses;
    const double low = mean(difference(all.won, uncertain), pairs);
    uncertain.merge(all.won);
    return {all.area(), low, mean(uncertain, pairs)};
}

RocCurve roc_curve(const ScoreTable& table, std::size_t max_points) {
    const std::vector<CellPairs> cells = cell_pairs(table);
    TiedPairs actual, predicted;
    for (const CellPairs& cell : cells) {
        actual.add(cell.hits, cell.misses);
        predicted.add(cell.predicted_hits, cell.predicted_misses);
    }
    require_pairs(table.count(), !actual.hits.is_zero(), !actual.misses.is_zero());
    RocCurve curve = empty_curve(cells.size(), predicted.defined());
    TiedPairs above, predicted_above;
    for (std::size_t point = 1; point <= cells.size(); ++point) {
        const CellPairs& cell = cells[cells.size() - point];
        above.hits.merge(cell.hits);
        above.misses.merge(cell.misses);
        predicted_above.hits.merge(cell.predicted_hits);
        predicted_above.misses.merge(cell.predicted_misses);
        curve.thresholds[point] = cell.least;
        curve.actual.true_positive[point] = mean(above.hits, actual.hits);
        curve.actual.false_positive[point] = mean(above.misses, actual.misses);
        if (!predicted.defined()) continue;
        curve.predicted.true_positive[point] = mean(predicted_above.hits, predicted.hits);
        curve.predicted.false_positive[point] = mean(predicted_above.misses, predicted.misses);
    }
    curve.area = actual.area();
    curve.standard_error = tied_standard_error(cells, actual);
    curve.predicted_area = predicted.defined() ? predicted.area() : no_area;
    curve.n = table.count();
    curve.omitted = table.omitted();
    thin(curve, max_points);
    return curve;
}

}  // namespace calibrant
