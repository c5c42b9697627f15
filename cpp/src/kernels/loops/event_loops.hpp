// The kernels of events.hpp: labels and probabilities of binary rows. Included by the
// sources of kernels only, and under their rules.
#pragma once

#include "kernels/loops/kernel_parts.hpp"

namespace calibrant {
namespace {

template <class Label>
bool true_class(const double* __restrict p, const Label* __restrict labels, std::size_t n,
                double q_lim, double* __restrict q) {
    std::uint64_t outside = 0;
    std::uint64_t beyond_one = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double x = p[i];
        const auto label = static_cast<std::uint64_t>(labels[i]);  // negative ones become large
        outside |= outside_unit(x);
        beyond_one |= label >> 1;
        q[i] = label != 0 ? x : 1.0 - x;
    }
    const double most = 1.0 - q_lim;
    for (std::size_t i = 0; q_lim > 0.0 && i < n; ++i) {
        const double raised = q[i] < q_lim ? q_lim : q[i];
        q[i] = raised > most ? most : raised;
    }
    return (outside >> 63) == 0 && beyond_one == 0;
}

template <class Label>
bool outcomes(const double* p, const Label* __restrict labels, std::size_t n, double* p_copy,
              std::int32_t* __restrict codes) {
    std::uint64_t outside = 0;
    std::uint64_t beyond_one = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double x = p[i];
        const auto label = static_cast<std::uint64_t>(labels[i]);
        outside |= outside_unit(x);
        beyond_one |= label >> 1;
        p_copy[i] = x;
        codes[i] = static_cast<std::int32_t>(label);
    }
    return (outside >> 63) == 0 && beyond_one == 0;
}

template <class Label>
constexpr LabelKernels<Label> label_kernels{true_class<Label>, outcomes<Label>};

bool clip(const double* p, std::size_t n, double q_lim, double* q) {
    const double most = 1.0 - q_lim;
    std::uint64_t outside = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double x = p[i];
        outside |= outside_unit(x);
        const double raised = x < q_lim ? q_lim : x;
        q[i] = raised > most ? most : raised;
    }
    return (outside >> 63) == 0;
}

}  // namespace
}  // namespace calibrant
