// Means of an estimate of the source over the true pairs; see source.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/double_double.hpp"
#include "calibrant/risk_sums.hpp"
#include "calibrant/source.hpp"

namespace calibrant {

class SourceSums {
public:
    SourceSums(std::size_t bins, const RiskProfile& whole)
        : scale_(whole.weight().value().exponent),
          sums_(named_profile(0.0)),
          weight_(bins),
          weighted_estimate_(bins) {}

    // An estimate at true pairs of this weight times 2^exponent, in one bin.
    void add(std::size_t bin, double estimate, double weight_high, std::int64_t exponent) {
        const auto shift = std::clamp<std::int64_t>(exponent - scale_, -4000, 4000);
        const double weight = std::ldexp(weight_high, static_cast<int>(shift));
        if (weight == 0.0) return;
        estimate_[waiting_] = estimate;
        waiting_weight_[waiting_] = weight;
        if (++waiting_ == block_rows) flush();
        weight_[bin].add(weight);
        weighted_estimate_[bin].add_product(weight, estimate);
    }

    [[nodiscard]] Source finish() {
        flush();
        Source result{sums_.profile(), {}};
        for (std::size_t k = 0; k < weight_.size(); ++k) {
            result.by_bin.push_back(mean(weighted_estimate_[k], weight_[k]));
        }
        return result;
    }

private:
    void flush() {
        adder_.add(sums_, estimate_, waiting_weight_, waiting_);
        waiting_ = 0;
    }

    std::int64_t scale_;
    RiskSums sums_;
    RiskAdder adder_;
    std::vector<ExactSum> weight_, weighted_estimate_;
    std::size_t waiting_ = 0;
    alignas(64) double estimate_[block_rows], waiting_weight_[block_rows];
};

}  // namespace calibrant
