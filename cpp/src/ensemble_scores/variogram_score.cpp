#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "calibrant/ensemble_scores/ensemble_scores.hpp"
#include "calibrant/rows/check.hpp"
#include "ensemble_scores/ensemble_chunks.hpp"
#include "ensemble_scores/ensemble_points.hpp"
#include "kernels/ensemble_score_kernels.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {
namespace {

class VariogramWorker {
public:
    VariogramWorker(const EnsembleRows& rows, const double* weights, double p, double fair_share,
                    double* out)
        : rows_(rows), weights_(weights), p_(make_power(p)), fair_share_(fair_share), out_(out) {}

    void add(std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            points_.load(rows_, row, nullptr);
            out_[row] = of_points(row);
        }
    }

private:
    double of_points(std::size_t row) {
        terms_.clear();
        const std::size_t d = points_.dimension;
        for (std::size_t k = 0; k + 1 < d; ++k) {
            for (std::size_t l = k + 1; l < d; ++l) {
                const double w =
                    weights_ == nullptr ? 2.0 : weights_[k * d + l] + weights_[l * d + k];
                if (w == 0.0) continue;
                terms_.push_back(w * of_pair(k, l));
                if (!std::isfinite(terms_.back())) reject_size(row, k, l);
            }
        }
        return exact_sum(terms_.data(), terms_.size());
    }

    double of_pair(std::size_t k, std::size_t l) {
        const auto differences = kernels().ensemble_scores->differences;
        const std::size_t n = points_.n;
        const auto m = static_cast<double>(n);
        powers_.resize(n);
        differences(points_.coordinate(k), points_.coordinate(l), n, p_, powers_.data());
        double of_outcome = 0.0;
        differences(&points_.y[k], &points_.y[l], 1, p_, &of_outcome);
        // A sum of values that are not negative is finite only if all of them are.
        if (!std::isfinite(std::accumulate(powers_.begin(), powers_.end(), of_outcome))) {
            return std::numeric_limits<double>::infinity();
        }
        const double mean = exact_sum(powers_.data(), n) / m;
        const double gap = (of_outcome - mean) * (of_outcome - mean);
        if (fair_share_ == 0.0) return gap;
        for (double& x : powers_) x = (x - mean) * (x - mean);
        return gap - fair_share_ * (exact_sum(powers_.data(), n) / (m * (m - 1.0)));
    }

    [[noreturn]] void reject_size(std::size_t row, std::size_t k, std::size_t l) const {
        throw InvalidInput("draws must have differences whose power p = " + number_text(p_.value) +
                           " has a finite square, found larger ones between coordinates " +
                           std::to_string(k) + " and " + std::to_string(l) + " at " +
                           place_text({row}));
    }

    const EnsembleRows& rows_;
    const double* weights_;
    Power p_;
    double fair_share_;
    double* out_;
    EnsemblePoints points_;
    std::vector<double> powers_, terms_;
};

}  // namespace

void variogram_score(const EnsembleRows& rows, const double* weights, double p, double fair_share,
                     double* out, Poll poll) {
    const VariogramWorker worker(rows, weights, p, fair_share, out);
    for_each_ensemble(rows.size(), 1, rows.draws.width * rows.dimension, worker, poll);
}

}  // namespace calibrant
