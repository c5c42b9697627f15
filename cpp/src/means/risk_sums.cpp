#include "means/risk_sums.hpp"

#include "kernels/kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace calibrant {
namespace {

constexpr double robustness = -2.0 / 3.0;  // the power, to the nearest double

bool is_named(double m) { return m == 1.0 || m == 0.0 || m == robustness; }

// Of values that are not negative; -0.0 plus 0.0 is 0.0, all of whose bits are 0.
std::uint64_t count_zeros(const double* x, std::size_t n) {
    std::uint64_t zeros = 0;
    for (std::size_t i = 0; i < n; ++i) {
        zeros += (std::bit_cast<std::uint64_t>(x[i] + 0.0) - 1) >> 63;
    }
    return zeros;
}

// Drops rows without weight, so that their q stays out of the extremes and the zeros.
std::size_t drop_weightless(double* q, double* weight, std::size_t n) {
    if (count_zeros(weight, n) == 0) return n;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (weight[i] == 0.0) continue;
        q[kept] = q[i];
        weight[kept] = weight[i];
        ++kept;
    }
    return kept;
}

}  // namespace

RiskSums::RiskSums(const RiskProfile& parameters)
    : profile_(parameters.empty()),
      any_named_(std::ranges::any_of(profile_.powers_, is_named)),
      any_infinite_(std::ranges::any_of(profile_.powers_, [](double m) { return std::isinf(m); })) {
}

void RiskSums::add_buffered_to(RiskProfile& profile) const {
    profile.weight_.add(static_cast<Int128>(unweighted_), 0);
    for (std::size_t i = 0; i < profile.powers_.size(); ++i) {
        const double m = profile.powers_[i];
        if (m == 1.0) q_.add_to(profile.sums_[i]);
        if (m == 0.0) log_.add_to(profile.sums_[i]);
        if (m == robustness) robust_.add_to(profile.sums_[i]);
    }
}

RiskProfile RiskSums::profile() const {
    RiskProfile result = profile_;
    add_buffered_to(result);
    return result;
}

void RiskSums::move_to(RiskProfile& empty) {
    add_buffered_to(profile_);
    std::swap(profile_, empty);
    unweighted_ = 0;
    q_ = {};
    log_ = robust_ = {};
}

void RiskAdder::add(RiskSums& sums, double* q, double* weight, std::size_t n,
                    const PrefetchHint& ahead) {
    sums.profile_.n_ += n;
    if (weight == nullptr) {
        add_unweighted(sums, q, n, ahead);
    } else {
        add_weighted(sums, q, weight, drop_weightless(q, weight, n));
    }
}

void RiskAdder::add_unweighted(RiskSums& sums, const double* q, std::size_t n,
                               const PrefetchHint& ahead) {
    RiskProfile& profile = sums.profile_;
    sums.unweighted_ += n;
    std::size_t irregular = n;  // rows that the kernels below do not take
    if (sums.any_named_) {
        RiskBlock block;
        kernels().risk(q, n, ahead, &block);
        sums.q_.add((static_cast<Int128>(block.q_high) << 40) + block.q_low);
        sums.log_.add((static_cast<Int128>(block.log_high) << 42) + block.log_low);
        sums.robust_.add((static_cast<Int128>(block.power_high) << 38) + block.power_low);
        irregular = block.tiny;
    }
    for (std::size_t i = 0; i < profile.powers_.size(); ++i) {
        if (!has_direct_terms(profile.powers_[i])) continue;
        PowerBlock block;
        kernels().sum_powers(q, n, profile.powers_[i], &block);
        for (int k = 0; k < 4; ++k)
            profile.sums_[i].add(static_cast<Int128>(block.sums[k]), -(block.grid + 52 * k));
        irregular = block.tiny;
    }
    if (irregular != 0) profile.zeros_ += count_zeros(q, n);
    if (sums.any_infinite_) profile.track_extremes(q, n);
    for (std::size_t i = 0; i < profile.powers_.size(); ++i) {
        const double m = profile.powers_[i];
        if (std::isinf(m)) continue;
        if (!is_named(m) && !has_direct_terms(m)) {
            add_terms(profile, i, q, n);
        } else if (irregular != 0) {
            add_terms(profile, i, tiny_, gather_tiny(q, n));
        }
    }
}

void RiskAdder::add_weighted(RiskSums& sums, const double* q, const double* weight, std::size_t n) {
    RiskProfile& profile = sums.profile_;
    profile.weight_.add_block(weight, n);
    profile.zeros_ += count_zeros(q, n);
    if (sums.any_infinite_) profile.track_extremes(q, n);
    for (std::size_t i = 0; i < profile.powers_.size(); ++i) {
        if (!std::isinf(profile.powers_[i])) add_terms(profile, i, q, n, weight);
    }
}

// The exact sum of (weight times) each q's term. A q of 0 has none: zeros are counted, and
// decide the means with m <= 0.
void RiskAdder::add_terms(RiskProfile& profile, std::size_t index, const double* q, std::size_t n,
                          const double* weight) {
    ExactSum& sum = profile.sums_[index];
    const double m = profile.powers_[index];
    const auto add_block = [&](const double* terms) {
        if (weight == nullptr) {
            sum.add_block(terms, n);
        } else {
            sum.add_products(weight, terms, n);
        }
    };
    if (m == 1.0) {
        add_block(q);
        return;
    }
    bool scaled = true;
    if (m == 0.0) {
        (void)kernels().logs(q, n, high_, low_);
    } else {
        scaled = kernels().powers(q, n, make_power(m), high_, low_, exponent_);
    }
    if (profile.zeros_ != 0) clear_zeros(q, n);
    if (scaled) {
        add_block(high_);
        add_block(low_);
        return;
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (q[i] == 0.0) continue;
        const double w = weight == nullptr ? 1.0 : weight[i];
        const auto exponent = static_cast<std::int64_t>(exponent_[i]);
        sum.add_product(w, high_[i], exponent);
        sum.add_product(w, low_[i], exponent);
    }
}

void RiskAdder::clear_zeros(const double* q, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        if (q[i] == 0.0) high_[i] = low_[i] = 0.0;
    }
}

std::size_t RiskAdder::gather_tiny(const double* q, std::size_t n) {
    std::size_t tiny = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (q[i] < least_gridded) tiny_[tiny++] = q[i];
    }
    return tiny;
}

}  // namespace calibrant
