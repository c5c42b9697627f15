#include "roc/roc_parts.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "calibrant/rows/check.hpp"

namespace calibrant {
namespace {

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

}  // namespace

void require_pairs(std::uint64_t n, bool has_hits, bool has_misses) {
    if (!has_hits && !has_misses) reject_weightless("the area under the ROC curve needs", n);
    if (has_hits && has_misses) return;
    throw InvalidInput(
        std::string("the area under the ROC curve is not defined: it needs positives and "
                    "negatives, and no ") +
        (has_hits ? "negative" : "positive") + " has a positive weight");
}

DeLong::DeLong(DoubleDouble hits, DoubleDouble misses, DoubleDouble area)
    : hits_(hits),
      misses_(misses),
      area_(area),
      per_hit_(DoubleDouble{0.5, 0.0} / hits),
      per_miss_(DoubleDouble{0.5, 0.0} / misses),
      hits_above_(hits) {}

void DeLong::add(DoubleDouble hits, DoubleDouble misses) {
    const auto square = [this](DoubleDouble more, DoubleDouble tied, DoubleDouble per_row) {
        const DoubleDouble twice{2.0 * more.high, 2.0 * more.low};
        const DoubleDouble deviation = (twice + tied) * per_row - area_;
        return deviation * deviation;
    };
    if (hits.high > 0.0) {
        of_hits_ = of_hits_ + hits * square(misses_below_, misses, per_miss_);
        hits_above_ = hits_above_ - hits;
    }
    if (misses.high > 0.0) {
        of_misses_ = of_misses_ + misses * square(hits_above_, hits, per_hit_);
        misses_below_ = misses_below_ + misses;
    }
}

double DeLong::standard_error(const ExactSum& hits, const ExactSum& misses) const {
    ExactSum one;
    one.add(Int128{1}, 0);
    struct Part {
        double value;
        std::int64_t exponent;
    } parts[2];
    const std::pair<DoubleDouble, const ExactSum*> kinds[] = {{of_hits_ / hits_, &hits},
                                                              {of_misses_ / misses_, &misses}};
    for (std::size_t k = 0; k < 2; ++k) {
        const Scaled free = difference(*kinds[k].second, one).value();
        if (!(free.high > 0.0)) return no_area;
        parts[k] = {(kinds[k].first / DoubleDouble{free.high, free.low}).high, -free.exponent};
    }
    // In units of an even power of two, of which the root is exact.
    const std::int64_t larger = std::max(parts[0].exponent, parts[1].exponent);
    const std::int64_t unit = larger - (larger & 1);
    double variance = 0.0;
    for (const Part& part : parts) {
        const std::int64_t down = std::max<std::int64_t>(part.exponent - unit, -5000);
        variance += std::ldexp(part.value, static_cast<int>(down));
    }
    return std::ldexp(std::sqrt(variance), static_cast<int>(unit / 2));
}

RocCurve empty_curve(std::size_t points, bool has_predicted) {
    const double first = has_predicted ? 0.0 : no_area;
    RocCurve curve;
    curve.thresholds.assign(points + 1, std::numeric_limits<double>::infinity());
    curve.actual = {std::vector<double>(points + 1), std::vector<double>(points + 1)};
    curve.predicted = {std::vector<double>(points + 1, first),
                       std::vector<double>(points + 1, first)};
    return curve;
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

}  // namespace calibrant
