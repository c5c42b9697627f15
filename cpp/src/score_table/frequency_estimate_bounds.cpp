#include "score_table/frequency_estimate_bounds.hpp"

#include <algorithm>
#include <vector>

#include "score_table/frequency_estimate_sums.hpp"
#include "score_table/hit_split_bounds.hpp"

namespace calibrant {
namespace {

// Slopes rise without bounds where the frequency goes to 0.
constexpr double least_frequency = 0x1p-60;

double cube_root(double x) { return x > 0.0 ? power(x, make_power(1.0 / 3.0)) : 0.0; }

// The three functions; the last, negated, is convex too. None rises with misses, and only the
// first rises with hits.
double square(Amount a) { return a.hits > 0.0 ? a.hits * (a.hits / a.weight()) : 0.0; }
double entropy(Amount a) { return a.hits > 0.0 ? a.hits * log(a.hits / a.weight()) : 0.0; }
double robust(Amount a) {
    if (a.hits <= 0.0) return 0.0;
    const double root = cube_root(a.hits / a.weight());
    return -a.weight() * root;
}

Slopes square_slopes(double f) { return {f * (2.0 - f), -f * f}; }
Slopes entropy_slopes(double f) { return {log(f) + 1.0 - f, -f}; }
Slopes robust_slopes(double f) {
    const double root = cube_root(f);
    return {-(root / f + 2.0 * root) / 3.0, -2.0 * root / 3.0};
}

double frequency_of(Amount amount) {
    const double weight = amount.weight();
    const double frequency = weight > 0.0 ? amount.hits / weight : 0.5;
    return std::clamp(frequency, least_frequency, 1.0);
}

struct Range {
    double low, high;
};

// Of the sums over all divisions.
class Sums {
public:
    Sums(const ScoreBounds& bins) : chain_(bins.chain()) {
        for (const Reliability::Bin& bin : bins.likely().table()) {
            const double f = bin.weight.is_zero() ? 0.5 : mean(bin.hits, bin.weight);
            likely_.push_back(std::clamp(f, least_frequency, 1.0));
        }
        for (const Chain::Group& g : chain_.groups) {
            of_groups_.push_back(frequency_of({g.hits, g.misses}));
        }
    }

    // The slack is more than the roundings of the functions and slopes, each a few units in the
    // last place of at most 64 times a bin's share, and of the running sum.
    template <class F, class SlopesAt>
    [[nodiscard]] Range range(const F& f, const SlopesAt& slopes_at) const {
        const double slack = (static_cast<double>(chain_.bins.size()) + 64.0) * 0x1p-47;
        return {least(slopes_at) - slack, greatest_hit_sum(chain_, f) + slack};
    }

private:
    // Any frequencies give a bound: near the likely ones it is tight.
    template <class SlopesAt>
    [[nodiscard]] double least(const SlopesAt& slopes_at) const {
        std::vector<Slopes> slopes, inside;
        for (const double f : likely_) slopes.push_back(slopes_at(f));
        for (const double f : of_groups_) inside.push_back(slopes_at(f));
        return least_hit_sum(chain_, slopes, inside);
    }

    const Chain& chain_;
    std::vector<double> likely_, of_groups_;
};

RiskProfile likely_source(const Reliability& bins, const RiskProfile& model) {
    SourceSums sums(bins.table().size(), model);
    for (std::size_t k = 0; k < bins.table().size(); ++k) {
        const Reliability::Bin& bin = bins.table()[k];
        const Scaled true_weight = bin.hits.value();
        if (true_weight.high <= 0.0) continue;
        // A likely division may be off by its rounding.
        const double frequency = std::min(mean(bin.hits, bin.weight), 1.0);
        sums.add(k, frequency, true_weight.high, true_weight.exponent);
    }
    return sums.finish().profile;
}

// More than the roundings of the means themselves, here and in RiskProfile.
Bounds widened(double value, double low, double high, double least) {
    low = std::max(low * (1.0 - share_slack), least * (1.0 - share_slack));
    high = std::min(high * (1.0 + share_slack), 1.0);
    return {std::clamp(value, low, high), low, high};
}

}  // namespace

// Shares are of all pairs, of which an event has one for each class; so the mean over events is as
// many times a sum.
SourceBounds::SourceBounds(const ScoreBounds& bins, const RiskProfile& model, double classes)
    : likely(likely_source(bins.likely(), model)), means() {
    if (bins.certain()) {
        for (std::size_t i = 0; i < 3; ++i) {
            const double value = likely.mean(i);
            means[i] = {value, value, value};
        }
        return;
    }
    const Sums sums(bins);
    const Range squares = sums.range(square, square_slopes);
    const Range entropies = sums.range(entropy, entropy_slopes);
    const Range robusts = sums.range(robust, robust_slopes);
    const auto robustness = [&](double sum) {
        return power(std::max(-classes * sum, 1.0), make_power(-1.5));
    };
    const double least = 1.0 / classes;
    means[0] = widened(likely.mean(0), classes * squares.low, classes * squares.high, least);
    means[1] =
        widened(likely.mean(1), exp(classes * entropies.low), exp(classes * entropies.high), least);
    means[2] = widened(likely.mean(2), robustness(robusts.low), robustness(robusts.high), least);
}

}  // namespace calibrant
