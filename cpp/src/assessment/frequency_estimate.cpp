#include "assessment/frequency_estimate.hpp"

#include "score_table/frequency_estimate_sums.hpp"

namespace calibrant {

Source frequency_estimate_of_bins(const Assessment& table, const RiskProfile& whole) {
    return bayes_frequency_estimate(table, whole, 1, 0.0);
}

Source bayes_frequency_estimate(const Assessment& table, const RiskProfile& whole,
                                std::size_t classes, double strength) {
    SourceSums sums(table.bins().size(), whole);
    for (std::size_t k = 0; k < table.table().size(); ++k) {
        const Assessment::Bin& bin = table.table()[k];
        if (bin.model.weight().is_zero()) continue;
        ExactSum hits = bin.model.weight();
        ExactSum weight = bin.weight;
        hits.add(strength / static_cast<double>(classes));
        weight.add(strength);
        const Scaled true_weight = bin.model.weight().value();
        sums.add(k, mean(hits, weight), true_weight.high, true_weight.exponent);
    }
    return sums.finish();
}

}  // namespace calibrant
