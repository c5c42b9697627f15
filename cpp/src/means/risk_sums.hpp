// How blocks of probabilities get into a RiskProfile: for its own update, and for those who keep
// many profiles, such as one per bin.
#pragma once

#include <cstddef>
#include <cstdint>

#include "calibrant/means/means.hpp"
#include "calibrant/numeric/sum.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {

// A profile that is being added to. The named powers of unweighted rows are kept in 128-bit sums.
class RiskSums {
public:
    explicit RiskSums(const RiskProfile& parameters);

    // Of all that has been added.
    [[nodiscard]] RiskProfile profile() const;
    // Exchanges it for one of the same parameters without rows, to begin anew.
    void move_to(RiskProfile& empty);

private:
    friend class RiskAdder;

    void add_buffered_to(RiskProfile& profile) const;

    RiskProfile profile_;
    bool any_named_;
    bool any_infinite_;
    std::uint64_t unweighted_ = 0;
    FixedSum<80> q_;
    FixedSum<58> log_;
    FixedSum<58> robust_;
};

// Adds blocks to RiskSums; has nothing but scratch memory, one for all of a thread's sums.
// Unweighted rows go through the fused risk kernel, all the rest is summed term by term.
class RiskAdder {
public:
    // n <= block_rows; q already clipped. weight is null where there are none. Rows without
    // weight are counted and otherwise as good as absent; q and weight are overwritten.
    void add(RiskSums& sums, double* q, double* weight, std::size_t n,
             const PrefetchHint& ahead = {});

private:
    void add_unweighted(RiskSums& sums, const double* q, std::size_t n, const PrefetchHint& ahead);
    void add_weighted(RiskSums& sums, const double* q, const double* weight, std::size_t n);
    void add_terms(RiskProfile& profile, std::size_t index, const double* q, std::size_t n,
                   const double* weight = nullptr);
    void clear_zeros(const double* q, std::size_t n);
    std::size_t gather_tiny(const double* q, std::size_t n);

    alignas(64) double high_[block_rows], low_[block_rows], exponent_[block_rows];
    alignas(64) double tiny_[block_rows];
};

}  // namespace calibrant
