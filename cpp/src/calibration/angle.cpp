#include "calibration/angle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "kernels/elementary.hpp"
#include "numeric/poisson_bootstrap.hpp"

namespace calibrant {
namespace {

constexpr std::size_t samples = 399;
constexpr double robust_power = -2.0 / 3.0;
// No cell of a bootstrap has this number.
constexpr std::uint64_t first_stream = std::uint64_t{1} << 40;

double power_of(double x) { return exp(robust_power * log(x)); }

// A bin: pairs of which each is true with about the same probability.
class BinLaw {
public:
    BinLaw(double weight_of_pairs, double mean_score)
        : weight(weight_of_pairs),
          score(mean_score),
          score_power(score > 0.0 ? power_of(score) : 0.0) {
        const double rare = std::min(score, 1.0 - score);
        moved_ = std::floor(weight * rare * rare);
        mean_ = weight * rare - moved_;
        none_ = exp(-mean_);
    }

    [[nodiscard]] double true_pairs(RandomStream& random) const {
        const double rare = std::min(moved_ + random.poisson(mean_, none_), weight);
        return score <= 0.5 ? rare : weight - rare;
    }

    double weight, score, score_power;

private:
    double moved_, mean_, none_;
};

bool are_mirrored(const std::vector<BinLaw>& bins) {
    for (std::size_t k = 0; k < bins.size(); ++k) {
        const BinLaw& other = bins[bins.size() - 1 - k];
        if (std::fabs(bins[k].weight - other.weight) > 1e-9 * bins[k].weight ||
            std::fabs(bins[k].score + other.score - 1.0) > 1e-6) {
            return false;
        }
    }
    return true;
}

// Decisiveness less robustness, of the true pairs' scores and of their bins' frequencies.
struct Spreads {
    double model, source;
};

Spreads spreads_of(const std::vector<BinLaw>& bins, const std::vector<double>& true_pairs) {
    double events = 0.0, model = 0.0, model_power = 0.0, source = 0.0, source_power = 0.0;
    for (std::size_t k = 0; k < bins.size(); ++k) {
        const double n = true_pairs[k];
        if (!(n > 0.0)) continue;
        const double frequency = std::min(n / bins[k].weight, 1.0);
        events += n;
        model += n * bins[k].score;
        model_power += n * bins[k].score_power;
        source += n * frequency;
        source_power += n * power_of(frequency);
    }
    const auto spread = [&](double sum, double powers) {
        return powers > 0.0 ? sum / events - exp(log(powers / events) / robust_power) : 0.0;
    };
    return {spread(model, model_power), spread(source, source_power)};
}

double tangent(double rise, double run) {
    return rise + run == 0.0 ? 0.0 : (rise - run) / (rise + run);
}

}  // namespace

double angle_deviation(std::span<const AngleBin> given, double model_spread, double level) {
    std::vector<BinLaw> bins;
    std::vector<double> true_pairs;
    double events = 0.0;
    for (const AngleBin& bin : given) {
        if (!(bin.weight > 0.0)) continue;
        bins.emplace_back(bin.weight, std::clamp(bin.mean_score, 0.0, 1.0));
        true_pairs.push_back(bin.true_weight);
        events += bin.true_weight;
    }
    const bool differ = std::any_of(bins.begin(), bins.end(), [&](const BinLaw& bin) {
        return std::fabs(bin.score - bins.front().score) > 0x1p-40;
    });
    if (!differ || !(events > 0.0) || !std::isfinite(events)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    const double within_bins = model_spread - spreads_of(bins, true_pairs).model;
    const bool mirrored = are_mirrored(bins);
    const std::size_t drawn = mirrored ? bins.size() / 2 : bins.size();
    std::vector<double> deviations(samples);
    for (std::size_t sample = 0; sample < samples; ++sample) {
        double total = 0.0;
        for (std::size_t k = 0; k < drawn; ++k) {
            RandomStream random(sample, first_stream + k);
            total += true_pairs[k] = bins[k].true_pairs(random);
        }
        if (mirrored) {
            for (std::size_t k = 0; k < drawn; ++k) {
                true_pairs[bins.size() - 1 - k] = bins[k].weight - true_pairs[k];
            }
            if (bins.size() % 2 != 0) true_pairs[drawn] = 0.5 * bins[drawn].weight;
        } else if (total > 0.0) {
            for (std::size_t k = 0; k < bins.size(); ++k) {
                true_pairs[k] = std::min(true_pairs[k] * (events / total), bins[k].weight);
            }
        }
        const Spreads spreads = spreads_of(bins, true_pairs);
        const double rise = std::max(spreads.model + within_bins, 0.0);
        deviations[sample] = std::fabs(tangent(rise, std::max(spreads.source, 0.0)));
    }
    std::sort(deviations.begin(), deviations.end());
    const double rank = std::ceil(level * static_cast<double>(samples + 1)) - 1.0;
    return deviations[static_cast<std::size_t>(std::clamp(rank, 0.0, double{samples - 1}))];
}

}  // namespace calibrant
