// Scores of ensembles, one value a row: CRPS, energy score, variogram score, and the pinball loss
// of quantiles; and the CRPS of a few laws in closed form.
//
// A row is an outcome y and an ensemble of m draws x. Each score is a distance of the draws from y
// less half their distance from each other, which an estimator counts in one of two ways:
//
//     standard   all m^2 pairs: the score of the ensemble taken as the forecast itself
//     fair       the m (m - 1) pairs of different draws: an unbiased estimate, from any number of
//                draws, of the score of the law that they were drawn from
//
// A share a in [0, 1] mixes them, a fair + (1 - a) standard.
//
// CRPS. With the draws sorted, |x - y| times the number of draws further out on the same side of y
// is summed to U, and |x - y| to A: standard is (2 U + A) / m^2, fair 2 U / (m (m - 1)). Nothing is
// subtracted but y, once: neither can be negative, and both are good to 2^-52 of themselves,
// however far from 0 draws and outcome lie. O(m log^2 m) steps in lanes up to most_in_lanes draws,
// a radix sort above.
//
// Energy and variogram score. The distances of pairs are rounded once each, and summed exactly.
//
// So a result is the same bits for any order of draws, rows and batches, any number of threads and
// any instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "calibrant/rows/column.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

// y_true has n rows of `dimension` values, draws n rows of m x dimension, one draw after another.
struct EnsembleRows {
    Column y_true, draws;
    std::size_t dimension = 1;

    [[nodiscard]] std::size_t size() const { return y_true.size; }
    [[nodiscard]] std::size_t n_draws() const { return draws.width / dimension; }
};

// Beyond, the counts of outer draws times half a double would need rounding.
inline constexpr std::size_t most_draws_per_row = std::size_t{1} << 26;
inline constexpr std::size_t most_in_lanes = 4096;

// All functions below write one value a row, and throw InvalidInput at the first row that is bad;
// then `out` is unspecified. Shapes are the caller's business, 1 <= m <= most_draws_per_row, and m
// >= 2 unless fair_share is 0.

// draw_weight has the shape of draws, or is null. With weights w of sum W the standard score is
// that of the law with the probabilities w / W; the fair one divides the distance of pairs by W^2
// less the sum of w^2. omit_missing leaves out missing draws, and a row without an outcome, or with
// too few draws left, is NaN.
void crps_ensemble(const EnsembleRows& rows, const Column* draw_weight, double fair_share,
                   bool omit_missing, double* out, Poll poll);

// Distances |a - b|^beta, 0 < beta < 2, after the division of coordinate k by scale[k], if any.
void energy_score(const EnsembleRows& rows, const double* scale, double beta, double fair_share,
                  double* out, Poll poll);

// The energy score of beta 1 as a mean of CRPS along random directions, with its standard error.
// The directions are a function of (seed, dimension) alone. At least 2.
void sliced_energy_score(const EnsembleRows& rows, const double* scale, double fair_share,
                         std::size_t n_directions, std::uint64_t seed, double* out,
                         double* standard_error, Poll poll);

// The sum over all ordered pairs (k, l) of weights[k * dimension + l] times the squared difference
// of |y_k - y_l|^p and the mean of |x_k - x_l|^p; without weights, 1 each. Fair: less the variance
// of |x_k - x_l|^p over the draws, divided by m.
void variogram_score(const EnsembleRows& rows, const double* weights, double p, double fair_share,
                     double* out, Poll poll);

// One value for each of the n x width quantiles: (level - 1(y < q)) (y - q).
void quantile_score(const Column& y_true, const Column& quantiles, const double* levels,
                    double* out, Poll poll);

enum class ForecastLaw : std::uint8_t { normal, logistic, laplace, uniform, exponential };

// The CRPS of a law with a location and a scale; uniform on [loc, loc + scale], exponential from
// loc on. Three columns of one length, scales positive.
void crps_of_law(ForecastLaw law, const Column& y_true, const Column& loc, const Column& scale,
                 double* out, Poll poll);

}  // namespace calibrant
