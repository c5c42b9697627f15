#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/numeric/tails.hpp"
#include "calibrant/rows/column.hpp"
#include "kernels/elementary.hpp"
#include "numeric/frequency.hpp"
#include "scorecards/scorecard_bootstrap.hpp"
#include "scorecards/scorecard_estimates.hpp"

namespace calibrant {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

// The squares of terms are rounded to 2^-53: a relative variance below this is none.
constexpr double least_relative_variance = 0x1p-48;

// Terms on one side of 0: sum w t^2 / W over the square of the mean, minus 1.
double relative_variance(const ExactSum& sum, const ExactSum& squares, const ExactSum& weight) {
    if (sum.is_zero()) return 0.0;
    const ScaledDoubleDouble a = divide(squares.value(), sum.value());
    const ScaledDoubleDouble b = divide(sum.value(), weight.value());
    const DoubleDouble ratio = a.value / b.value;  // both have the sign of the sum
    const auto exponent =
        static_cast<int>(std::clamp<std::int64_t>(a.exponent - b.exponent, -1000, 1000));
    const DoubleDouble excess =
        DoubleDouble{std::ldexp(ratio.high, exponent), std::ldexp(ratio.low, exponent)} -
        DoubleDouble{1.0, 0.0};
    return excess.high < least_relative_variance ? 0.0 : excess.high;
}

Estimate only_value(double value, std::string reason) {
    return {value, undefined, undefined, std::move(reason)};
}

// If there is an interval.
Estimate with(const char* method, Estimate estimate) {
    if (!std::isnan(estimate.low)) estimate.method = method;
    return estimate;
}

Estimate between(double value, double low, double high, double least, double most) {
    return {value, std::max(std::min(low, most), least), std::max(std::min(high, most), least), ""};
}

// Computes the numbers of a Scorecard; at least one row has weight.
class ScorecardEstimator {
public:
    ScorecardEstimator(const Scorecard& card, double confidence_level)
        : card_(card),
          risk_(card.risk_profile()),
          scores_(card.scores()),
          bins_(card.reliability()),
          weight_(card.weight()),
          weight_value_(
              std::min(weight_.to_double(), 0x1p900)),  // of more, nothing is left to chance
          confidence_level_(confidence_level),
          z_(normal_quantile(0.5 * (1.0 - confidence_level))) {}

    [[nodiscard]] Estimate frequency(const ExactSum& part) const {
        const Frequency found = corrected_wilson(mean(part, weight_), weight_value_, z_);
        return with("Wilson", {found.value, found.low, found.high, ""});
    }

    // In the order of `names`; those of ranks where they are known.
    [[nodiscard]] std::vector<Estimate> all(const RankMetrics* ranks, Poll poll) const {
        const Binned binned = binned_errors(poll);
        const Estimate z = spiegelhalter();
        std::vector<Estimate> found = {
            base_rate(),
            frequency(card_.right()),
            with("CLT", of_gain(risk_.mean(0), Scorecard::q)),
            with("delta", accuracy()),
            with("delta", robustness()),
            with("CLT", brier()),
            with("bootstrap", binned.rel),
            with("bootstrap", binned.res),
            with("Wilson", uncertainty()),
            with("delta", skill()),
            with("CLT", log_score()),
            with("CLT", of_gain(scores_.mean(Score::spherical), Scorecard::spherical)),
            with("bootstrap", binned.ece),
            with("Clopper-Pearson", binned.mce),
            z,
            only_value(normal_two_sided(z.value), z.reason),
        };
        if (ranks == nullptr) return found;
        found.push_back(guaranteed(ranks->ks));
        found.push_back(pvalue(ranks->ks, brownian_sup_sf));
        found.push_back(guaranteed(ranks->kuiper));
        found.push_back(pvalue(ranks->kuiper, brownian_range_sf));
        found.push_back(area(*ranks));
        return found;
    }

private:
    [[nodiscard]] bool few_rows() const { return weight_value_ < 2.0; }

    [[nodiscard]] std::string few_rows_reason() const {
        return "too few rows: an interval needs the weight of two, got " +
               number_text(weight_value_) + "; weights count as repetitions";
    }

    static std::string zeros_reason() {
        return "a probability of 0 was given to what happened; q_lim > 0 clips it";
    }

    [[nodiscard]] std::string certain_reason() const {
        return "too few rows: of " + number_text(weight_value_) +
               ", all in a bin have scores of 0 or 1, and one that is wrong has no logarithm; "
               "q_lim > 0 clips it";
    }

    // The terms of a row by its score and hit, as distances from those of a perfect row. Of several
    // classes, the rest of the probability is taken to be spread evenly.
    [[nodiscard]] double loss_of(Scorecard::Term term, double score, bool hit) const {
        const auto others = static_cast<double>(card_.columns() == 1 ? 1 : card_.columns() - 1);
        const double rest = (1.0 - score) / others;
        const double q = hit ? score : rest;
        const double squares = score * score + others * (rest * rest);
        const double clipped = std::clamp(q, card_.q_lim(), 1.0 - card_.q_lim());
        const double unbounded = std::numeric_limits<double>::infinity();
        switch (term) {
            case Scorecard::q:
                return 1.0 - clipped;
            case Scorecard::log_q:
                return clipped == 0.0 ? unbounded : -log(clipped);
            case Scorecard::power_q:
                return clipped == 0.0 ? unbounded : exp(-2.0 / 3.0 * log(clipped)) - 1.0;
            case Scorecard::brier:
                return (squares + 1.0 - 2.0 * q) * (others == 1.0 ? half() : 1.0);
            default:
                return 1.0 - q / std::sqrt(squares);
        }
    }
    [[nodiscard]] double half() const { return card_.columns() == 1 ? 0.5 : 1.0; }

    // Moments of one row more, whose score is that of any bin, as the rows have it, and which hits
    // or misses, as likely as not: the row that keeps samples without variance from certainty.
    struct FurtherRow {
        double loss = 0.0;    // mean
        double square = 0.0;  // mean square of (loss - centre)
        double cube = 0.0;
    };
    template <class Loss>
    [[nodiscard]] FurtherRow further_row(double centre, const Loss& loss) const {
        FurtherRow row;
        for (const Reliability::Bin& bin : bins_.table()) {
            if (bin.weight.is_zero()) continue;
            const double share = 0.5 * mean(bin.weight, weight_);
            const double score = mean(bin.scores, bin.weight);
            for (const bool hit : {false, true}) {
                const double of_row = loss(score, hit);
                row.loss += share * of_row;
                row.square += share * (of_row - centre) * (of_row - centre);
                row.cube += share * (of_row - centre) * (of_row - centre) * (of_row - centre);
            }
        }
        return row;
    }

    struct Interval {
        double low, high;
    };

    // Of a mean loss, in units of `unit`, whose terms have `variance`. It holds the means from
    // which the one found is no more than z standard errors away, if the variance of a mean is
    // proportional to it, as that of rare events is (Wilson 1927; Fay and Feuer 1997), or grows
    // faster: half as fast as by further rows like the one more.
    [[nodiscard]] Interval of_loss(Scorecard::Term term, double loss, double variance,
                                   double unit) const {
        const FurtherRow row = further_row(
            loss, [&](double score, bool hit) { return loss_of(term, score, hit) / unit; });
        const double more = std::max(row.square, loss * loss) / weight_value_;
        const double all = variance * (weight_value_ / (weight_value_ - 1.0)) + more;
        const double size = loss + row.loss / weight_value_;
        double z = z_;
        double slope = all / size;         // of the variance of a term, by the mean
        if (term == Scorecard::power_q) {  // sums that few terms dominate are often too small
            const double terms = weight_value_ * (size / (all + size * size)) * size;
            z *= 1.0 + 1.5 / std::sqrt(std::max(terms, 1.0));
            z *= 1.0 + 0.4 * confident_errors();
        } else if (row.square > 0.0) {
            slope = std::max(slope, 0.5 * (slope + row.cube / row.square));
        }
        const double shift = 0.5 * z * z * slope / weight_value_;
        const double reach = std::sqrt(shift * shift + z * z * all / weight_value_);
        return {std::max(loss + shift - reach, 0.0), loss + shift + reach};
    }

    // Of the terms, in units of their mean.
    [[nodiscard]] double variance_of(Scorecard::Term term) const {
        return relative_variance(card_.sum(term), card_.square_sum(term), weight_);
    }

    // Means that are 1 at best and 0 at worst.
    [[nodiscard]] Estimate of_gain(double value, Scorecard::Term term) const {
        if (few_rows()) return only_value(value, few_rows_reason());
        const double variance = value * value * variance_of(term);
        const Interval loss = of_loss(term, 1.0 - value, variance, 1.0);
        return between(value, 1.0 - loss.high, 1.0 - loss.low, 0.0, 1.0);
    }

    [[nodiscard]] Estimate brier() const {
        const double value = scores_.mean(Score::brier);
        if (few_rows()) return only_value(value, few_rows_reason());
        const double variance = value * value * variance_of(Scorecard::brier);
        const Interval loss = of_loss(Scorecard::brier, value, variance, 1.0);
        return between(value, loss.low, loss.high, 0.0,
                       card_.columns() == 1 ? 1.0 : std::numeric_limits<double>::infinity());
    }

    [[nodiscard]] Estimate log_score() const {
        const double value = scores_.mean(Score::log);
        if (card_.zeros() != 0) return only_value(value, zeros_reason());
        if (few_rows()) return only_value(value, few_rows_reason());
        const double variance = value * value * variance_of(Scorecard::log_q);
        const Interval loss = of_loss(Scorecard::log_q, value, variance, 1.0);
        if (!(loss.high < std::numeric_limits<double>::infinity())) {
            return only_value(value, certain_reason());
        }
        return between(value, loss.low, loss.high, 0.0, std::numeric_limits<double>::infinity());
    }

    // e^-(log score).
    [[nodiscard]] Estimate accuracy() const {
        const Estimate log = log_score();
        const double value = risk_.mean(1);
        if (std::isnan(log.low)) return only_value(value, log.reason);
        return between(value, std::min(exp(-log.high), value), std::max(exp(-log.low), value), 0.0,
                       1.0);
    }

    // A function of the mean of q^-2/3, which is 1 at best. In units of it, since it may be large.
    [[nodiscard]] Estimate robustness() const {
        const double value = risk_.mean(2);
        if (card_.zeros() != 0) return only_value(value, zeros_reason());
        if (few_rows()) return only_value(value, few_rows_reason());
        const double best = exp(2.0 / 3.0 * log(value));  // in units of the mean
        const double variance = variance_of(Scorecard::power_q);
        // Of several classes, the state has the scores of the top label only.
        constexpr double most = 1.8;
        const bool is_heavy = card_.columns() == 1
                                  ? std::max(tail(false).spread, tail(true).spread) > most
                                  : weight_value_ < 1e5;
        if (is_heavy) {
            return only_value(value, "too few rows: of " + number_text(weight_value_) +
                                         " a few that have the smallest q may decide the mean of "
                                         "q^(-2/3)");
        }
        const Interval loss =
            of_loss(Scorecard::power_q, std::max(1.0 - best, 0.0), variance, 1.0 / best);
        if (!(loss.high < std::numeric_limits<double>::infinity())) {
            return only_value(value, certain_reason());
        }
        const auto at = [&](double mean) { return exp(-1.5 * log(best + mean)) * value; };
        return between(value, std::min(at(loss.high), value), std::max(at(loss.low), value), 0.0,
                       1.0);
    }

    // The outermost bin at 0, or at 1.
    struct Tail {
        double spread = 0.0;  // squared coefficient of variation of the distances from that end
        double errors = 1.0;  // rows that were wrong by those that the scores promise, from one on
    };
    [[nodiscard]] Tail tail(bool top) const {
        const std::size_t k = top ? card_.n_bins() - 1 : 0;
        const Reliability::Bin& bin = bins_.table()[k];
        const Scorecard::OutcomeSums& of = card_.outcomes()[k];
        const double weight = bin.weight.to_double();
        if (!(weight >= 2.0)) return {};
        ExactSum squares = of.miss_squares;
        squares.merge(of.hit_squares);  // sum of s^2 + h - 2 s h
        const double score = mean(bin.scores, bin.weight);
        const double hits = mean(bin.hits, bin.weight);
        const double square =
            mean(squares, bin.weight) + (2.0 * mean(of.hit_scores, bin.weight) - hits);
        const double distance = top ? 1.0 - score : score;
        const double variance = std::max(square - score * score, 0.0);
        const double wrong = top ? mean(difference(bin.weight, bin.hits), bin.weight) : hits;
        return {variance == 0.0 ? 0.0 : variance / distance / distance,
                (1.0 + wrong * weight) / (1.0 + distance * weight)};
    }

    // If scores spread over so many orders of magnitude next to 0, or to 1, q^-2/3 has no variance
    // to speak of; nor if fewer orders do, and many more of these rows are wrong than they promise.
    // Then the smallest q of all are most often not among the rows, and the variance of these is
    // too small.
    [[nodiscard]] double confident_errors() const {
        double most = 0.0;
        for (const bool top : {false, true}) {
            const Tail found = tail(top);
            most = std::max(most, found.spread * (found.errors - 1.0));
        }
        return card_.columns() == 1 ? most : 0.0;
    }

    // The most frequent class of several is chosen by the rows: any might be it.
    [[nodiscard]] Estimate base_rate() const {
        const ExactSum& largest = base_weight();
        Estimate result = frequency(largest);
        if (card_.columns() == 1 || weight_value_ < 1.0) return result;
        const double tail = 0.5 * (1.0 - confidence_level_) / static_cast<double>(card_.columns());
        result.low = std::min(result.low, clopper_pearson(largest, weight_, tail, z_).low);
        return result;
    }

    // Of label 1, or of the most frequent class.
    [[nodiscard]] const ExactSum& base_weight() const {
        const std::vector<ExactSum>& weights = scores_.class_weight();
        if (card_.columns() == 1) return weights[1];
        const ExactSum* largest = &weights[0];
        for (const ExactSum& weight : weights) {
            if (difference(weight, *largest).value().high > 0.0) largest = &weight;
        }
        return *largest;
    }

    [[nodiscard]] ExactSum hits() const {
        ExactSum sum;
        for (const Reliability::Bin& bin : bins_.table()) sum.merge(bin.hits);
        return sum;
    }

    // 1 - B / U is a function of the averages of the Brier terms b and of the class indicators;
    // its linear part has the terms -(b - B) / U + (B / U^2) u, where
    // u = -2 scale (pi_class - sum pi^2) is that of U = scale (1 - sum pi^2). To their variance
    // comes that of a further row. Where events are rare, B / U is skewed: a row that hits with a
    // large score is worth 1 / (n U); a tenth of the skew of such rows is allowed for.
    [[nodiscard]] Estimate skill() const {
        const std::vector<double> pi = scores_.class_frequencies();
        const double scale = card_.columns() == 1 ? 0.5 : 1.0;
        const double reference = scale * scores_.gini();
        if (reference == 0.0) {
            return only_value(undefined,
                              "all rows are of one class, so no forecast can do better "
                              "than the best constant");
        }
        const double value = scores_.brier_skill();
        if (few_rows()) return only_value(value, few_rows_reason());
        const double brier = scores_.mean(Score::brier);
        double squares = 0.0;
        double cubes = 0.0;
        double joint = 0.0;  // mean of b pi_class
        for (std::size_t j = 0; j < pi.size(); ++j) {
            squares += pi[j] * pi[j];
            cubes += pi[j] * pi[j] * pi[j];
            joint += pi[j] * mean(card_.brier_of_class(j), weight_);
        }
        const double brier_variance = brier * brier * variance_of(Scorecard::brier);
        const double covariance = -2.0 * scale * (joint - brier * squares);
        const double variance_u = 4.0 * scale * scale * std::max(cubes - squares * squares, 0.0);
        const double ratio = brier / reference;
        const double variance =
            (brier_variance - 2.0 * ratio * covariance + ratio * ratio * variance_u) /
            (reference * reference);
        const auto influence = [&](double score, bool hit) {
            const double of_brier = loss_of(Scorecard::brier, score, hit) - brier;
            const double of_class =
                card_.columns() == 1 ? (pi[0] - pi[1]) * ((hit ? 1.0 : 0.0) - pi[1]) : 0.0;
            return (of_brier - ratio * of_class) / reference;
        };
        double further = further_row(0.0, influence).square;
        if (card_.columns() != 1) further += ratio * ratio * variance_u / (reference * reference);
        const double largest = *std::max_element(pi.begin(), pi.end());
        const double rarity = std::max(2.0 * largest - 1.0, 0.0);
        const double rows = weight_value_;
        const double all = std::max(variance, 0.0) * (rows / (rows - 1.0)) +
                           std::max(further, ratio * ratio) / rows;
        const double shift = 0.1 * z_ * z_ * rarity / (2.0 * reference * rows);
        const double margin = shift + std::sqrt(shift * shift + z_ * z_ * all / rows);
        return between(value, value - margin, value + margin,
                       -std::numeric_limits<double>::infinity(), 1.0);
    }

    [[nodiscard]] Estimate uncertainty() const {
        const Estimate rate = frequency(hits());
        const auto spread = [](double of) { return of * (1.0 - of); };
        const double ends[] = {spread(rate.low), spread(rate.high)};
        const bool holds_half = rate.low <= 0.5 && rate.high >= 0.5;
        return {rate.value * mean(difference(weight_, hits()), weight_), std::min(ends[0], ends[1]),
                holds_half ? 0.25 : std::max(ends[0], ends[1]), ""};
    }

    struct Binned {
        Estimate rel, res, ece, mce;
    };
    [[nodiscard]] Binned binned_errors(Poll poll) const {
        const double o = mean(hits(), weight_);
        BinnedErrors found;
        found.ece = bins_.mean_gap();
        found.mce = bins_.largest_gap();
        for (const Reliability::Bin& bin : bins_.table()) {
            if (bin.weight.is_zero()) continue;
            const double gap = mean(difference(bin.hits, bin.scores), bin.weight);
            const double distance = mean(bin.hits, bin.weight) - o;
            const double share = mean(bin.weight, weight_);
            found.rel += share * (gap * gap);
            found.res += share * (distance * distance);
        }
        if (few_rows()) {
            const std::string reason = few_rows_reason();
            return {only_value(found.rel, reason), only_value(found.res, reason),
                    only_value(found.ece, reason), only_value(found.mce, reason)};
        }
        const BinnedIntervals intervals(card_, found, {confidence_level_, z_}, poll);
        return {intervals.rel(), intervals.res(), intervals.ece(), intervals.mce()};
    }

    // sum (y - s)(1 - 2s) over the root of its variance if the scores are right. With
    // b = (s - y)^2, each term is 2 b + 2 s y - s - y.
    [[nodiscard]] Estimate spiegelhalter() const {
        if (card_.spread().is_zero()) {
            return only_value(undefined, "every score is 0, 1/2 or 1, which leaves no variance");
        }
        ExactSum numerator, half;
        for (std::size_t k = 0; k < card_.n_bins(); ++k) {
            const Reliability::Bin& bin = bins_.table()[k];
            const Scorecard::OutcomeSums& of = card_.outcomes()[k];
            half.merge(of.miss_squares);
            half.merge(of.hit_squares);
            half.merge(of.hit_scores);
            numerator.subtract(bin.scores);
            numerator.subtract(bin.hits);
        }
        numerator.merge(half);
        numerator.merge(half);
        // The excess per unit of variance, times the root of the variance.
        const Scaled spread = card_.spread().value();
        const bool odd = spread.exponent % 2 != 0;
        const double root = std::sqrt(odd ? 2.0 * spread.high : spread.high);
        const auto exponent = (spread.exponent - (odd ? 1 : 0)) / 2;
        const ScaledDoubleDouble excess = divide(numerator.value(), spread);
        const auto shift = std::clamp<std::int64_t>(excess.exponent + exponent, -2000, 2000);
        return only_value(std::ldexp(excess.value.high * root, static_cast<int>(shift)), "");
    }

    // What is known for certain between two bounds.
    static Estimate guaranteed(const Bounds& x) {
        if (x.low == x.high) return only_value(x.value, "");
        return with("certified", {x.value, x.low, x.high, ""});
    }

    // Smaller for larger statistics. The laws are good to 1e-15, so bounds are widened by more.
    static Estimate pvalue(const Bounds& x, double (*law)(double)) {
        if (x.low == x.high) return only_value(law(x.value), "");
        return with("certified", {law(x.value), law(x.high) * (1.0 - 0x1p-48),
                                  std::min(1.0, law(x.low) * (1.0 + 0x1p-48)), ""});
    }

    [[nodiscard]] Estimate area(const RankMetrics& found) const {
        const Bounds area = found.area_interval(z_);
        if (std::isnan(area.value)) {
            return only_value(undefined, "there are no pairs of a hit and a miss");
        }
        if (std::isnan(area.low)) {
            return only_value(area.value,
                              "too few events: an interval needs two hits and two misses, got " +
                                  number_text(found.hits) + " and " + number_text(found.misses));
        }
        const bool is_widened = found.area.low < found.area.high;
        return with(is_widened ? "DeLong, certified" : "DeLong",
                    {area.value, area.low, area.high, ""});
    }

    const Scorecard& card_;
    const RiskProfile& risk_;
    const ScoreSums& scores_;
    const Reliability& bins_;
    const ExactSum& weight_;
    double weight_value_, confidence_level_, z_;
};

constexpr const char* names[] = {"base_rate",
                                 "hit_rate",
                                 "decisiveness",
                                 "accuracy",
                                 "robustness",
                                 "brier",
                                 "reliability",
                                 "resolution",
                                 "uncertainty",
                                 "brier_skill",
                                 "log",
                                 "spherical",
                                 "ece",
                                 "mce",
                                 "spiegelhalter_z",
                                 "spiegelhalter_pvalue",
                                 "ks",
                                 "ks_pvalue",
                                 "kuiper",
                                 "kuiper_pvalue",
                                 "auc"};

}  // namespace

ScorecardResult scorecard_result(const Scorecard& card, const RankMetrics* ranks,
                                 double confidence_level, Poll poll) {
    ScorecardResult result;
    std::vector<Estimate> found;
    if (!card.weight().is_zero()) {
        const ScorecardEstimator estimator(card, confidence_level);
        found = estimator.all(ranks, poll);
        for (const ExactSum& weight : card.scores().class_weight()) {
            result.class_frequencies.push_back(estimator.frequency(weight));
        }
    }
    const char* const why_not = found.empty() ? "no row of this group has weight"
                                              : "no table of scores was kept of these rows";
    for (const char* const name : names) {
        const std::size_t i = result.rows.size();
        result.rows.push_back(
            {name, i < found.size() ? std::move(found[i]) : only_value(undefined, why_not)});
    }
    return result;
}

ScorecardResult Scorecard::result(double confidence_level, Poll poll) const {
    if (!table_ || weight().is_zero()) {
        return scorecard_result(*this, nullptr, confidence_level, poll);
    }
    const RankMetrics ranks = rank_metrics(*table_);
    return scorecard_result(*this, &ranks, confidence_level, poll);
}

}  // namespace calibrant
