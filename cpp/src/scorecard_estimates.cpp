#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "calibrant/double_double.hpp"
#include "calibrant/elementary.hpp"
#include "calibrant/frequency.hpp"
#include "calibrant/scorecard.hpp"
#include "scorecard_bootstrap.hpp"

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

Estimate between(double value, double low, double high, double least, double most) {
    return {value, std::max(std::min(low, most), least), std::max(std::min(high, most), least), ""};
}

}  // namespace

// Reads the numbers off a Scorecard; at least one row has weight.
class ScorecardReader {
public:
    ScorecardReader(const Scorecard& card, double normal_quantile)
        : card_(card),
          risk_(card.risk_profile()),
          scores_(card.scores()),
          table_(card.reliability()),
          weight_(card.weight()),
          weight_value_(weight_.to_double()),
          z_(normal_quantile) {}

    [[nodiscard]] Estimate frequency(const ExactSum& part) const {
        const Frequency found = wilson(part, weight_, z_);
        return {found.value, found.low, found.high, ""};
    }

    // value +- z standard errors, by the central limit theorem.
    [[nodiscard]] Estimate of_mean(double value, Scorecard::Term term, double most) const {
        if (few_rows()) return only_value(value, few_rows_reason());
        const double margin = z_ * std::fabs(value) * relative_error(term);
        return between(value, value - margin, value + margin, 0.0, most);
    }

    // A mean G with m <= 0 is a function of an average; the interval is symmetric in log G, whose
    // standard error is given.
    [[nodiscard]] Estimate of_generalized_mean(double value, double error_of_log) const {
        if (card_.zeros_ != 0) return only_value(value, zeros_reason());
        if (few_rows()) return only_value(value, few_rows_reason());
        const double factor = exp(z_ * error_of_log);
        return between(value, value / factor, value * factor, 0.0, 1.0);
    }

    [[nodiscard]] std::vector<NamedEstimate> all(double confidence_level, Poll poll) const {
        const double log_score = scores_.mean(Score::log);
        const double log_error =
            card_.zeros_ != 0 ? undefined : log_score * relative_error(Scorecard::log_q);
        const double most_brier =
            card_.columns_ == 1 ? 1.0 : std::numeric_limits<double>::infinity();
        std::vector<NamedEstimate> result = {
            {"base_rate", frequency(base_weight())},
            {"hit_rate", frequency(card_.right_)},
            {"decisiveness", of_mean(risk_.mean(0), Scorecard::q, 1.0)},
            {"accuracy", of_generalized_mean(risk_.mean(1), log_error)},
            {"robustness",
             of_generalized_mean(risk_.mean(2), 1.5 * relative_error(Scorecard::power_q))},
            {"brier", of_mean(scores_.mean(Score::brier), Scorecard::brier, most_brier)},
            {"brier_skill", skill()},
            {"log", card_.zeros_ != 0 ? only_value(log_score, zeros_reason())
                                      : of_mean(log_score, Scorecard::log_q,
                                                std::numeric_limits<double>::infinity())},
            {"spherical", of_mean(scores_.mean(Score::spherical), Scorecard::spherical, 1.0)},
        };
        add_binned(result, confidence_level, poll);
        result.push_back({"spiegelhalter_z", spiegelhalter()});
        return result;
    }

private:
    [[nodiscard]] bool few_rows() const { return weight_value_ < 2.0; }

    static std::string few_rows_reason() {
        return "an interval needs the weight of two rows; weights count as repetitions";
    }

    static std::string zeros_reason() {
        return "a probability of 0 was given to what happened; q_lim > 0 clips it";
    }

    // Standard error of the mean of the terms, relative to it.
    [[nodiscard]] double relative_error(Scorecard::Term term) const {
        const double variance = relative_variance(card_.sums_[term], card_.squares_[term], weight_);
        return std::sqrt(variance / weight_value_);
    }

    // Of label 1, or of the most frequent class.
    [[nodiscard]] ExactSum base_weight() const {
        if (card_.columns_ == 1) return hits();
        const ExactSum* largest = &card_.class_weight_[0];
        for (const ExactSum& weight : card_.class_weight_) {
            ExactSum difference = weight;
            difference.subtract(*largest);
            if (difference.value().high > 0.0) largest = &weight;
        }
        return *largest;
    }

    [[nodiscard]] ExactSum hits() const {
        ExactSum sum;
        for (const Reliability::Bin& bin : table_.table()) sum.merge(bin.hits);
        return sum;
    }

    // 1 - B / U is a function of the averages of the Brier terms b and of the class indicators;
    // its linear part has the terms -(b - B) / U + (B / U^2) u, where
    // u = -2 scale (pi_class - sum pi^2) is that of U = scale (1 - sum pi^2).
    [[nodiscard]] Estimate skill() const {
        const std::vector<double> pi = scores_.class_frequencies();
        const double scale = card_.columns_ == 1 ? 0.5 : 1.0;
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
            joint += pi[j] * mean(brier_of_class(j), weight_);
        }
        const double brier_variance = brier * brier *
                                      relative_variance(card_.sums_[Scorecard::brier],
                                                        card_.squares_[Scorecard::brier], weight_);
        const double covariance = -2.0 * scale * (joint - brier * squares);
        const double variance_u = 4.0 * scale * scale * std::max(cubes - squares * squares, 0.0);
        const double ratio = brier / reference;
        const double variance =
            (brier_variance - 2.0 * ratio * covariance + ratio * ratio * variance_u) /
            (reference * reference);
        const double margin = z_ * std::sqrt(std::max(variance, 0.0) / weight_value_);
        return between(value, value - margin, value + margin,
                       -std::numeric_limits<double>::infinity(), 1.0);
    }

    [[nodiscard]] ExactSum brier_of_class(std::size_t label) const {
        if (card_.columns_ != 1) return card_.class_brier_[label];
        ExactSum sum;
        for (std::size_t k = 0; k < card_.bins_.size(); ++k) {
            sum.merge(card_.cells_[2 * k + label].squares);
        }
        return sum;
    }

    void add_binned(std::vector<NamedEstimate>& result, double confidence_level, Poll poll) const {
        const Estimate hit_frequency = frequency(hits());
        const double o = hit_frequency.value;
        ExactSum misses = weight_;
        misses.subtract(hits());
        const auto spread = [](double rate) { return rate * (1.0 - rate); };
        const double ends[] = {spread(hit_frequency.low), spread(hit_frequency.high)};
        const bool holds_half = hit_frequency.low <= 0.5 && hit_frequency.high >= 0.5;
        const Estimate uncertainty = {o * mean(misses, weight_), std::min(ends[0], ends[1]),
                                      holds_half ? 0.25 : std::max(ends[0], ends[1]), ""};

        BinnedErrors found;
        found.ece = table_.mean_gap();
        found.mce = table_.largest_gap();
        for (const Reliability::Bin& bin : table_.table()) {
            if (bin.weight.is_zero()) continue;
            ExactSum excess = bin.hits;
            excess.subtract(bin.scores);
            const double gap = mean(excess, bin.weight);
            const double distance = mean(bin.hits, bin.weight) - o;
            const double share = mean(bin.weight, weight_);
            found.rel += share * (gap * gap);
            found.res += share * (distance * distance);
        }
        std::optional<BinnedBootstrap> bootstrap;
        if (!few_rows()) bootstrap.emplace(card_.cells_, weight_value_, poll);
        const auto estimate = [&](double BinnedErrors::* number, auto interval) {
            if (!bootstrap) return only_value(found.*number, few_rows_reason());
            return ((*bootstrap).*interval)(found.*number, number, confidence_level);
        };
        const auto error = &BinnedBootstrap::interval_of_error;
        result.push_back({"reliability", estimate(&BinnedErrors::rel, error)});
        result.push_back({"resolution", estimate(&BinnedErrors::res, &BinnedBootstrap::interval)});
        result.push_back({"uncertainty", uncertainty});
        result.push_back({"ece", estimate(&BinnedErrors::ece, error)});
        result.push_back({"mce", estimate(&BinnedErrors::mce, error)});
    }

    // sum (y - s)(1 - 2s) over the root of its variance if the scores are right. With
    // b = (s - y)^2, each term is 2 b + 2 s y - s - y.
    [[nodiscard]] Estimate spiegelhalter() const {
        if (card_.spread_.is_zero()) {
            return only_value(undefined, "every score is 0, 1/2 or 1, which leaves no variance");
        }
        ExactSum numerator;
        for (std::size_t i = 0; i < card_.cells_.size(); ++i) {
            const Scorecard::Cell& cell = card_.cells_[i];
            const bool hit = i % 2 != 0;
            numerator.merge(cell.squares);
            numerator.merge(cell.squares);
            if (hit) {
                numerator.merge(cell.scores);
                numerator.subtract(cell.weight);
            } else {
                numerator.subtract(cell.scores);
            }
        }
        // The excess per unit of variance, times the root of the variance.
        const Scaled spread = card_.spread_.value();
        const bool odd = spread.exponent % 2 != 0;
        const double root = std::sqrt(odd ? 2.0 * spread.high : spread.high);
        const auto exponent = (spread.exponent - (odd ? 1 : 0)) / 2;
        const ScaledDoubleDouble excess = divide(numerator.value(), spread);
        const auto shift = std::clamp<std::int64_t>(excess.exponent + exponent, -2000, 2000);
        return only_value(std::ldexp(excess.value.high * root, static_cast<int>(shift)), "");
    }

    const Scorecard& card_;
    RiskProfile risk_;
    ScoreSums scores_;
    Reliability table_;
    ExactSum weight_;
    double weight_value_;
    double z_;
};

std::vector<NamedEstimate> Scorecard::estimates(double confidence_level, double normal_quantile,
                                                Poll poll) const {
    require_weight();
    return ScorecardReader(*this, normal_quantile).all(confidence_level, poll);
}

std::vector<Estimate> Scorecard::class_frequencies(double normal_quantile) const {
    require_weight();
    const ScorecardReader reader(*this, normal_quantile);
    if (columns_ != 1) {
        std::vector<Estimate> result;
        for (const ExactSum& weight : class_weight_) result.push_back(reader.frequency(weight));
        return result;
    }
    ExactSum of_label[2];
    for (std::size_t i = 0; i < cells_.size(); ++i) of_label[i % 2].merge(cells_[i].weight);
    return {reader.frequency(of_label[0]), reader.frequency(of_label[1])};
}

}  // namespace calibrant
