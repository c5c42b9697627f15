// Generalized means, over the true pairs, of an estimate of the frequency at their scores
// (frequency_estimate.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/means/means.hpp"
#include "calibrant/numeric/double_double.hpp"
#include "calibrant/numeric/sum.hpp"
#include "kernels/kernels.hpp"
#include "means/risk_sums.hpp"

namespace calibrant {

// Weights are counted in a power of two near the weight of all true pairs, those of `whole`, so
// that no sum of them overflows; profiles with the same whole can be merged.
struct Source {
    RiskProfile profile;
    std::vector<double> by_bin;  // mean estimate over the bin's true pairs, NaN if there is none
};

class SourceSums {
public:
    SourceSums(std::size_t bins, const RiskProfile& whole)
        : whole_(whole.weight().value().exponent),
          scale_(scale_for(whole_)),
          sums_(named_profile(0.0)),
          weight_(bins),
          weighted_estimate_(bins) {}

    // An estimate at true pairs of this weight times 2^exponent; bins come in order.
    void add(std::size_t bin, double estimate, double weight_high, std::int64_t exponent) {
        const auto shift = std::clamp<std::int64_t>(exponent - scale_, -4000, 4000);
        const double weight =
            shift == 0 ? weight_high : std::ldexp(weight_high, static_cast<int>(shift));
        if (weight == 0.0) return;
        // An estimate counts the pair itself, so it is not much below the pair's share, and such a
        // pair adds less than 2^-300 to a mean; but the estimate may have rounded to 0.
        if (exponent - whole_ < -900) {
            weight_[bin].add(weight);
            weighted_estimate_[bin].add_product(weight, estimate);
            return;
        }
        if (bin != bin_) {
            flush();
            bin_ = bin;
        }
        estimate_[buffered_] = estimate;
        buffered_weight_[buffered_] = weight;
        all_one_ = all_one_ && weight == 1.0;
        if (++buffered_ == block_rows) flush();
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
    // Ordinary weights are taken as they are: 1 then is 1.
    static std::int64_t scale_for(std::int64_t exponent) {
        return exponent > 512 || exponent < -512 ? exponent : 0;
    }

    void flush() {
        weight_[bin_].add_block(buffered_weight_, buffered_);
        if (all_one_) {
            weighted_estimate_[bin_].add_block(estimate_, buffered_);
        } else {
            weighted_estimate_[bin_].add_products(buffered_weight_, estimate_, buffered_);
        }
        adder_.add(sums_, estimate_, all_one_ ? nullptr : buffered_weight_, buffered_);
        buffered_ = 0;
        all_one_ = true;
    }

    std::int64_t whole_, scale_;
    RiskSums sums_;
    RiskAdder adder_;
    std::vector<ExactSum> weight_, weighted_estimate_;
    std::size_t bin_ = 0;
    std::size_t buffered_ = 0;
    bool all_one_ = true;
    alignas(64) double estimate_[block_rows], buffered_weight_[block_rows];
};

}  // namespace calibrant
