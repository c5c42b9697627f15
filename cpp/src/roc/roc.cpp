#include "calibrant/roc/roc.hpp"

#include <algorithm>
#include <cmath>

#include "calibrant/numeric/double_double.hpp"
#include "ordering/concordance.hpp"
#include "ordering/sorted_scores.hpp"
#include "roc/roc_parts.hpp"

namespace calibrant {
namespace {

void require_pairs(const Concordance& pairs) {
    calibrant::require_pairs(pairs.n, pairs.hits != 0, pairs.misses != 0);
}

DoubleDouble twice(DoubleDouble x) { return {2.0 * x.high, 2.0 * x.low}; }

// a / b, rounded once.
double ratio(UInt128 a, UInt128 b) {
    if (((a | b) >> 53) == 0) return static_cast<double>(a) / static_cast<double>(b);
    return (wide(a) / wide(b)).high;
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

// In rows.
ExactSum exact_rows(UInt128 units, int unit_exponent) {
    ExactSum sum;  // halves, as the total may need all 128 bits
    sum.add(static_cast<Int128>(units >> 1), unit_exponent + 1);
    sum.add(static_cast<Int128>(units & 1), unit_exponent);
    return sum;
}

}  // namespace

RocArea roc_auc(const ScoredRows& rows, Poll poll) {
    const Concordance pairs = count_concordant(rows, poll);
    require_pairs(pairs);
    return {pairs.area(), std::ldexp(wide(pairs.hits).high, pairs.unit_exponent)};
}

RocCurve roc_curve(const ScoredRows& rows, std::size_t max_points, Poll poll) {
    const SortedScores scores(rows, poll);
    const Concordance pairs = count_concordant(scores, poll);
    require_pairs(pairs);
    Predicted total;
    DoubleDouble doubled_concordant;
    std::size_t distinct = 0;
    scores.for_each_score(poll, [&](double score, UInt128 weight, UInt128) {
        const PredictedRows rows_here(score, weight);
        doubled_concordant =
            doubled_concordant + rows_here.hits * (twice(total.misses) + rows_here.misses);
        total.add(rows_here);
        ++distinct;
    });

    RocCurve curve = empty_curve(distinct, total.defined());
    UInt128 hits_below = 0, misses_below = 0;
    Predicted below;
    const ShareFrom share_of_hits(total.hits), share_of_misses(total.misses);
    DeLong variance(wide(pairs.hits), wide(pairs.misses), pairs.wide_area());
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
        variance.add(wide(hits), wide(weight - hits));
        hits_below += hits;
        misses_below += weight - hits;
        --point;
    });
    curve.area = pairs.area();
    curve.standard_error = variance.standard_error(exact_rows(pairs.hits, pairs.unit_exponent),
                                                   exact_rows(pairs.misses, pairs.unit_exponent));
    curve.predicted_area =
        total.defined() ? (doubled_concordant / twice(total.hits * total.misses)).high : no_area;
    curve.n = scores.count();
    curve.omitted = scores.omitted();
    thin(curve, max_points);
    return curve;
}

}  // namespace calibrant
