// The loops over data. kernels.cpp is compiled once per instruction set (isa.hpp); each copy
// fills one table, and all give the same bits. A kernel takes at most block_rows contiguous
// values, keeps no state, allocates nothing and throws nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "calibrant/elementary.hpp"

namespace calibrant {

// Six buffers of this many doubles stay in a first-level cache of 32 kB.
inline constexpr std::size_t block_rows = 512;

// Probabilities from here on take the risk kernel's fixed grids; smaller ones are rare, and
// summed one by one. The double 2^-28 has its last bit at 2^-80.
inline constexpr double least_gridded = 0x1p-28;

// Memory that is going to be read next, in up to two pieces: a kernel that computes for long asks
// for it meanwhile, because the processor's own prefetching stops where no memory is read.
struct Ahead {
    const void* at[2] = {nullptr, nullptr};
    std::size_t bytes[2] = {0, 0};
};

// The sums of a block over the rows with q >= least_gridded, as integers: of q (in units of
// 2^-40 and 2^-80), log q (2^-16 and 2^-58) and q^(-2/3) (2^-20 and 2^-58).
struct RiskBlock {
    std::int64_t q_high, q_low, log_high, log_low, power_high, power_low;
    std::uint64_t tiny;  // rows below least_gridded
};

// The exact sum of a block of doubles is sums[0] 2^(exponent - 40) + sums[1] 2^(exponent - 81)
// + sums[2] 2^(exponent - 122), plus what it left in `rest` if rest_left.
struct SumBlock {
    std::int64_t sums[3];
    std::int64_t exponent;
    bool rest_left;
};

struct Kernels {
    // Returns false, with nothing done, if the largest |x| is beyond 2^900 or below 2^-900.
    bool (*sum)(const double* x, std::size_t n, SumBlock* sums, double* rest);

    // x * y = product + error, exactly. Returns false if one of the products is so large or
    // so small that it might not be. x and y finite.
    bool (*products)(const double* x, const double* y, std::size_t n, double* product,
                     double* error);

    void (*risk)(const double* q, std::size_t n, const Ahead& ahead, RiskBlock* sums);

    // log q, rounded to a multiple of 2^-58: q positive.
    void (*logs)(const double* q, std::size_t n, double* high, double* low);

    // The term of q in the mean of power m, (high + low) * 2^exponent, from log q as `logs`
    // gives it before rounding. For m = -2/3 and q >= least_gridded it is rounded to 2^-58,
    // which is what `risk` sums. Returns true if every exponent has been multiplied into high
    // and low, as it is whenever that is exact for all.
    bool (*powers)(const double* q, std::size_t n, Power m, double* high, double* low,
                   double* exponent);

    // The probability given to what happened: p where labels[i] is 1, 1 - p where it is 0,
    // clipped to [q_lim, 1 - q_lim]. Returns false if some p is not in [0, 1] or some label
    // is neither.
    template <class Label>
    using TrueClass = bool (*)(const double* p, const Label* labels, std::size_t n, double q_lim,
                               double* q);
    TrueClass<std::int64_t> true_class_int64;
    TrueClass<std::int32_t> true_class_int32;
    TrueClass<std::uint8_t> true_class_uint8;

    // Clips in the same way. Returns false if some p is not in [0, 1]. q may be p.
    bool (*clip)(const double* p, std::size_t n, double q_lim, double* q);

    void (*log)(const double* x, std::size_t n, double* result);
    void (*exp)(const double* x, std::size_t n, double* result);
    void (*power)(const double* x, std::size_t n, Power m, double* result);
};

// The table of the instruction set in force.
const Kernels& kernels();

}  // namespace calibrant
