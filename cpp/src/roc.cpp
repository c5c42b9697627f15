#include "calibrant/roc.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "calibrant/check.hpp"
#include "calibrant/double_double.hpp"
#include "calibrant/score_pairs.hpp"
#include "calibrant/sorted_scores.hpp"
#include "quotients.hpp"

namespace calibrant {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void require_rows(const char* what, std::uint64_t n, bool has_weight) {
    if (has_weight) return;
    throw InvalidInput(what + (n == 0 ? std::string(" needs at least one row, got none")
                                      : " needs a row with positive weight, all " +
                                            std::to_string(n) + " have weight 0"));
}

void require_pairs(std::uint64_t n, bool has_hits, bool has_misses) {
    require_rows("the area under the ROC curve", n, has_hits || has_misses);
    if (has_hits && has_misses) return;
    throw InvalidInput(
        std::string("the area under the ROC curve is not defined: it needs positives and "
                    "negatives, and no ") +
        (has_hits ? "negative" : "positive") + " has a positive weight");
}

void require_pairs(const ScorePairs& pairs) {
    require_pairs(pairs.n, pairs.hits != 0, pairs.misses != 0);
}

DoubleDouble twice(DoubleDouble x) { return {2.0 * x.high, 2.0 * x.low}; }

// a / b, rounded once.
double ratio(UInt128 a, UInt128 b) {
    if (((a | b) >> 53) == 0) return static_cast<double>(a) / static_cast<double>(b);
    return (wide(a) / wide(b)).high;
}

ExactSum half(const ExactSum& sum) {
    ExactSum factor;
    factor.add(0.5);
    return factor * sum;
}

ExactSum difference(const ExactSum& a, const ExactSum& b) {
    ExactSum result = a;
    result.subtract(b);
    return result;
}

// a / b for b > 0, with 100 bits.
DoubleDouble quotient(const ExactSum& a, const ExactSum& b) {
    const ScaledDoubleDouble ratio = divide(a.value(), b.value());
    const auto exponent = static_cast<int>(std::clamp<std::int64_t>(ratio.exponent, -2000, 2000));
    return {std::ldexp(ratio.value.high, exponent), std::ldexp(ratio.value.low, exponent)};
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

// One kind's share of DeLong's variance: the mean square of its rows' V - area, over rows - 1.
class TiedVariance {
public:
    void add(DoubleDouble share, DoubleDouble deviation) {
        squares_ = squares_ + share * deviation * deviation;
    }
    [[nodiscard]] double value(double rows) const {
        return rows > 1.0 ? squares_.high / (rows - 1.0) : nan;
    }

private:
    DoubleDouble squares_;
};

double tied_standard_error(const std::vector<CellPairs>& cells, const TiedPairs& total) {
    const DoubleDouble area = quotient(total.won, total.hits * total.misses);
    ExactSum hits_above = total.hits, misses_below;
    TiedVariance of_hits, of_misses;
    for (const CellPairs& cell : cells) {
        hits_above.subtract(cell.hits);
        ExactSum won = half(cell.misses), lost = half(cell.hits);
        won.merge(misses_below);
        lost.merge(hits_above);
        misses_below.merge(cell.misses);
        of_hits.add(quotient(cell.hits, total.hits), quotient(won, total.misses) - area);
        of_misses.add(quotient(cell.misses, total.misses), quotient(lost, total.hits) - area);
    }
    return std::sqrt(of_hits.value(total.hits.to_double()) +
                     of_misses.value(total.misses.to_double()));
}

// The hits and misses that a score itself predicts.
struct PredictedRows {
    DoubleDouble hits, misses;

    PredictedRows(double score, UInt128 weight)
        : hits{score, 0.0}, misses(DoubleDouble{1.0, 0.0} - hits) {
        if (weight == 1) return;
        hits = wide(weight) * hits;
        misses = wide(weight) * misses;
    }
};

// The same over ascending scores.
struct Predicted {
    DoubleDouble hits, misses;

    void add(const PredictedRows& rows) {
        hits = hits + rows.hits;
        misses = misses + rows.misses;
    }
    [[nodiscard]] bool defined() const { return hits.high > 0.0 && misses.high > 0.0; }
};

// What of a total is not below, as a share of the total.
class ShareFrom {
public:
    explicit ShareFrom(DoubleDouble total)
        : up_(total.high > 0.0 && total.high < 0x1p-900 ? 0x1p500 : 1.0),  // 1 / total is finite
          total_(scaled_up(total)),
          inverse_(DoubleDouble{1.0, 0.0} / total_) {}
    [[nodiscard]] double operator()(DoubleDouble below) const {
        return std::clamp(((total_ - scaled_up(below)) * inverse_).high, 0.0, 1.0);
    }

private:
    [[nodiscard]] DoubleDouble scaled_up(DoubleDouble x) const {
        return {x.high * up_, x.low * up_};
    }

    double up_;
    DoubleDouble total_, inverse_;
};

// DeLong's two sums of squares, over ascending scores.
class DeLong {
public:
    explicit DeLong(const ScorePairs& pairs)
        : pairs_(pairs),
          hits_(wide(pairs.hits)),
          misses_(wide(pairs.misses)),
          area_(pairs.wide_area()),
          per_hit_(DoubleDouble{0.5, 0.0} / hits_),
          per_miss_(DoubleDouble{0.5, 0.0} / misses_) {}

    void add(UInt128 hits, UInt128 misses) {
        if (hits != 0) {
            const DoubleDouble won = wide(2 * misses_below_ + misses) * per_miss_ - area_;
            of_hits_ = of_hits_ + wide(hits) * won * won;
        }
        hits_below_ += hits;
        if (misses != 0) {
            const UInt128 above = pairs_.hits - hits_below_;
            const DoubleDouble lost = wide(2 * above + hits) * per_hit_ - area_;
            of_misses_ = of_misses_ + wide(misses) * lost * lost;
        }
        misses_below_ += misses;
    }

    [[nodiscard]] double standard_error() const {
        const double variance = part(of_hits_, hits_).high + part(of_misses_, misses_).high;
        return std::sqrt(variance);
    }

private:
    // squares / (total (rows - 1)), where the total in units is so many rows.
    [[nodiscard]] DoubleDouble part(DoubleDouble squares, DoubleDouble total) const {
        const DoubleDouble rows{std::ldexp(total.high, pairs_.unit_exponent),
                                std::ldexp(total.low, pairs_.unit_exponent)};
        if (!(rows.high > 1.0)) return {nan, nan};
        return squares / total / (rows - DoubleDouble{1.0, 0.0});
    }

    const ScorePairs& pairs_;
    DoubleDouble hits_, misses_, area_, per_hit_, per_miss_, of_hits_, of_misses_;
    UInt128 hits_below_ = 0, misses_below_ = 0;
};

// Indices of at most max_points points, in order.
std::vector<std::size_t> thinned(const RocCurve::Rates& rates, std::size_t max_points) {
    const std::size_t last = rates.true_positive.size() - 1;
    const std::size_t parts = (max_points - 2) / 2;
    const auto excess = [&](std::size_t i) {
        return rates.true_positive[i] - rates.false_positive[i];
    };
    const auto part_of = [&](std::size_t i) {
        const double way = 0.5 * (rates.true_positive[i] + rates.false_positive[i]);
        return static_cast<std::size_t>(way * static_cast<double>(parts));
    };
    std::vector<std::size_t> kept{0};
    for (std::size_t begin = 1; begin < last;) {
        std::size_t end = begin, lowest = begin, highest = begin;
        for (; end < last && part_of(end) == part_of(begin); ++end) {
            if (excess(end) < excess(lowest)) lowest = end;
            if (excess(end) > excess(highest)) highest = end;
        }
        kept.push_back(std::min(lowest, highest));
        if (lowest != highest) kept.push_back(std::max(lowest, highest));
        begin = end;
    }
    kept.push_back(last);
    return kept;
}

void keep(std::vector<double>& values, const std::vector<std::size_t>& kept) {
    for (std::size_t i = 0; i < kept.size(); ++i) values[i] = values[kept[i]];
    values.resize(kept.size());
    values.shrink_to_fit();
}

void thin(RocCurve& curve, std::size_t max_points) {
    if (curve.thresholds.size() <= max_points) return;
    const std::vector<std::size_t> kept = thinned(curve.actual, max_points);
    keep(curve.thresholds, kept);
    for (RocCurve::Rates* rates : {&curve.actual, &curve.predicted}) {
        keep(rates->false_positive, kept);
        keep(rates->true_positive, kept);
    }
}

// So many points after the first, at which no row is called positive.
RocCurve empty_curve(std::size_t points, bool has_predicted) {
    const double first = has_predicted ? 0.0 : nan;
    RocCurve curve;
    curve.thresholds.assign(points + 1, std::numeric_limits<double>::infinity());
    curve.actual = {std::vector<double>(points + 1), std::vector<double>(points + 1)};
    curve.predicted = {std::vector<double>(points + 1, first),
                       std::vector<double>(points + 1, first)};
    return curve;
}

// The sum of rows (hits kept) / (rows kept), all numbers of rows.
class RejectionSum {
public:
    void add(double rows, double hits_kept, double rows_kept) {
        rows_[n_] = rows;
        hits_kept_[n_] = hits_kept;
        rows_kept_[n_] = rows_kept;
        any_ties_ = any_ties_ || rows != 1.0;
        if (++n_ == block_rows) flush();
    }

    [[nodiscard]] const ExactSum& total() {
        flush();
        return total_;
    }

private:
    void flush() {
        alignas(64) double high[block_rows], low[block_rows];
        (void)quotients(hits_kept_, nullptr, rows_kept_, n_, high, low);  // none is large or small
        for (const double* part : {high, low}) {
            if (any_ties_) {
                total_.add_products(rows_, part, n_);
            } else {
                total_.add_block(part, n_);
            }
        }
        n_ = 0;
        any_ties_ = false;
    }

    ExactSum total_;
    std::size_t n_ = 0;
    bool any_ties_ = false;
    alignas(64) double rows_[block_rows], hits_kept_[block_rows], rows_kept_[block_rows];
};

double rejection_area(const SortedScores& scores, UInt128 all, UInt128 all_hits, Poll poll) {
    auto rows_kept = static_cast<std::uint64_t>(all);
    auto hits_kept = static_cast<std::uint64_t>(all_hits);
    RejectionSum sum;
    scores.for_each_score(poll, [&](double, UInt128 rows, UInt128 hits) {
        sum.add(static_cast<double>(static_cast<std::uint64_t>(rows)),
                static_cast<double>(hits_kept), static_cast<double>(rows_kept));
        rows_kept -= static_cast<std::uint64_t>(rows);
        hits_kept -= static_cast<std::uint64_t>(hits);
    });
    ExactSum weight;
    weight.add(static_cast<Int128>(all), 0);
    return mean(sum.total(), weight);
}

}  // namespace

RocArea roc_auc(const ScoredRows& rows, Poll poll) {
    const ScorePairs pairs = count_pairs(rows, poll);
    require_pairs(pairs);
    return {pairs.area(), std::ldexp(wide(pairs.hits).high, pairs.unit_exponent)};
}

RocCurve roc_curve(const ScoredRows& rows, std::size_t max_points, Poll poll) {
    const SortedScores scores(rows, poll);
    const ScorePairs pairs = count_pairs(scores, poll);
    require_pairs(pairs);
    Predicted total;
    DoubleDouble twice_won;
    std::size_t distinct = 0;
    scores.for_each_score(poll, [&](double score, UInt128 weight, UInt128) {
        const PredictedRows rows_here(score, weight);
        twice_won = twice_won + rows_here.hits * (twice(total.misses) + rows_here.misses);
        total.add(rows_here);
        ++distinct;
    });

    RocCurve curve = empty_curve(distinct, total.defined());
    UInt128 hits_below = 0, misses_below = 0;
    Predicted below;
    const ShareFrom share_of_hits(total.hits), share_of_misses(total.misses);
    DeLong variance(pairs);
    std::size_t point = distinct;
    scores.for_each_score(poll, [&](double score, UInt128 weight, UInt128 hits) {
        curve.thresholds[point] = score;
        curve.actual.true_positive[point] = ratio(pairs.hits - hits_below, pairs.hits);
        curve.actual.false_positive[point] = ratio(pairs.misses - misses_below, pairs.misses);
        if (total.defined()) {
            curve.predicted.true_positive[point] = share_of_hits(below.hits);
            curve.predicted.false_positive[point] = share_of_misses(below.misses);
        }
        below.add(PredictedRows(score, weight));
        variance.add(hits, weight - hits);
        hits_below += hits;
        misses_below += weight - hits;
        --point;
    });
    curve.area = pairs.area();
    curve.standard_error = variance.standard_error();
    curve.predicted_area =
        total.defined() ? (twice_won / twice(total.hits * total.misses)).high : nan;
    curve.n = scores.count();
    curve.omitted = scores.omitted();
    thin(curve, max_points);
    return curve;
}

double accuracy_rejection_auc(const ScoredRows& rows, Poll poll) {
    const SortedScores scores(rows, poll);
    UInt128 weight_kept = 0, hits_kept = 0;
    scores.for_each_score(poll, [&](double, UInt128 weight, UInt128 hits) {
        weight_kept += weight;
        hits_kept += hits;
    });
    require_rows("the area under the accuracy-rejection curve", scores.count(), weight_kept != 0);
    if (!scores.weighted()) return rejection_area(scores, weight_kept, hits_kept, poll);
    const DoubleDouble all = wide(weight_kept);
    DoubleDouble area;
    scores.for_each_score(poll, [&](double, UInt128 weight, UInt128 hits) {
        area = area + wide(weight) * (wide(hits_kept) / wide(weight_kept));
        weight_kept -= weight;
        hits_kept -= hits;
    });
    return (area / all).high;
}

Bounds roc_auc(const ScoreTable& table) {
    ExactSum hits, misses, won, uncertain;  // the latter two in pairs
    for (const CellPairs& cell : cell_pairs(table)) {
        won.merge(cell.hits * misses);
        const ExactSum inside = cell.hits * cell.misses;
        if (cell.is_tie) {
            won.merge(half(inside));
        } else {
            uncertain.merge(inside);
        }
        hits.merge(cell.hits);
        misses.merge(cell.misses);
    }
    require_pairs(table.count(), !hits.is_zero(), !misses.is_zero());
    const ExactSum pairs = hits * misses;
    const double low = mean(won, pairs);
    won.merge(half(uncertain));
    const double value = mean(won, pairs);
    won.merge(half(uncertain));
    return {value, low, mean(won, pairs)};
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
    curve.predicted_area = predicted.defined() ? predicted.area() : nan;
    curve.n = table.count();
    curve.omitted = table.omitted();
    thin(curve, max_points);
    return curve;
}

}  // namespace calibrant
