// Sums of the votes of ensemble.hpp, as integers. Included by ensemble.cpp only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibrant/ensemble/ensemble.hpp"
#include "kernels/ensemble_kernels.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {
namespace {

// Weights as integers: finite[t] 2^exponent, and 1 or -1 in certain[t] for infinite ones.
struct IntegerWeights {
    std::vector<std::int64_t> finite;
    std::vector<std::int64_t> certain;  // empty if none is infinite
    int exponent = 0;
};

// Sums of votes of up to `plane` rows. Plane 0 is that of no class, which nobody reads.
class VoteSums {
public:
    VoteSums(std::size_t n_classes, std::size_t plane)
        : plane_(plane), sums_((n_classes + 1) * plane), so_far_(n_classes + 1) {}

    [[nodiscard]] std::int64_t* classes() { return &sums_[plane_]; }
    [[nodiscard]] std::int64_t at(std::size_t row, std::size_t j) const {
        return sums_[(j + 1) * plane_ + row];
    }

    void add_up(const std::int32_t* codes, std::size_t rows,
                const std::vector<std::int64_t>& weights) {
        std::fill(sums_.begin(), sums_.end(), 0);
        const std::size_t members = weights.size();
        for (std::size_t t = 0; t < members;
             ++t) {  // by member: sums of one row are slow to follow
            for (std::size_t i = 0; i < rows; ++i) {
                sums_[plane_of(codes[i * members + t]) + i] += weights[t];
            }
        }
    }

    // Of one row: the sums after each of the next members, in the place of rows.
    void follow(const std::int32_t* codes, std::size_t members, const std::int64_t* weights) {
        for (std::size_t t = 0; t < members; ++t) {
            so_far_[static_cast<std::size_t>(codes[t] + 1)] += weights[t];
            for (std::size_t j = 1; j < so_far_.size(); ++j) sums_[j * plane_ + t] = so_far_[j];
        }
    }
    void restart() { std::fill(so_far_.begin(), so_far_.end(), 0); }

private:
    [[nodiscard]] std::size_t plane_of(std::int32_t code) const {
        return static_cast<std::size_t>(code + 1) * plane_;
    }

    std::size_t plane_;
    std::vector<std::int64_t> sums_;
    std::vector<std::int64_t> so_far_;
};

// The usual case, of few classes: all votes of a member in one table, with zeros elsewhere.
class VoteTable {
public:
    static constexpr std::size_t most_classes = 8;

    VoteTable(const Ensemble& ensemble, const IntegerWeights& weights)
        : n_classes_(ensemble.n_classes), members_(weights.finite.size()) {
        if (!suits(ensemble, weights)) return;
        width_ = n_classes_ <= 4 ? 4 : 8;
        step_ = (n_classes_ + 1) * width_;
        table_.resize(members_ * step_);
        for (std::size_t t = 0; t < members_; ++t) {
            for (std::size_t j = 0; j < n_classes_; ++j) {
                table_[t * step_ + (j + 1) * width_ + j] = weights.finite[t];
            }
        }
    }

    [[nodiscard]] bool is_used() const { return !table_.empty(); }

    // `votes` are integers of `item_size` bytes. False if one is bad.
    [[nodiscard]] bool add_up(const void* votes, std::size_t item_size, std::size_t rows,
                              std::vector<std::uint8_t>& codes, std::int64_t* sums,
                              std::size_t plane) const {
        const EnsembleKernels& loops = *kernels().ensemble;
        codes.resize(rows * members_);
        const auto narrow = width_ == 4 ? loops.narrow_4 : loops.narrow_8;
        if (!narrow(votes, item_size, codes.size(), static_cast<std::uint8_t>(n_classes_),
                    codes.data())) {
            return false;
        }
        const auto add = width_ == 4 ? loops.add_up_4 : loops.add_up_8;
        add(codes.data(), rows, members_, table_.data(), step_, n_classes_, sums, plane);
        return true;
    }

private:
    static bool suits(const Ensemble& ensemble, const IntegerWeights& weights) {
        constexpr std::size_t most_members = 512;  // the table must stay in a near cache
        return ensemble.n_classes <= most_classes && weights.finite.size() <= most_members &&
               weights.certain.empty() && !ensemble.path;
    }

    std::size_t n_classes_, members_;
    std::size_t width_ = 0, step_ = 0;
    std::vector<std::int64_t> table_;
};

}  // namespace
}  // namespace calibrant
