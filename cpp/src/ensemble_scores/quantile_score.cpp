#include <cmath>

#include "calibrant/ensemble_scores/ensemble_scores.hpp"
#include "calibrant/rows/check.hpp"
#include "ensemble_scores/ensemble_chunks.hpp"

namespace calibrant {
namespace {

struct QuantileWorker {
    const Column& y_true;
    const Column& quantiles;
    const double* levels;
    double* out;

    void add(std::size_t begin, std::size_t end) {
        const std::size_t width = quantiles.width;
        for (std::size_t row = begin; row < end; ++row) {
            double y = 0.0;
            double* const losses = out + row * width;
            load(y_true, row, 1, &y);
            load_row(quantiles, row, losses);
            if (!std::isfinite(y))
                reject_not_finite("y_true", y, {row, {}, 0, false}, y_true.dtype);
            for (std::size_t k = 0; k < width; ++k) {
                const double q = losses[k];
                if (!std::isfinite(q)) {
                    reject_not_finite("quantiles", q, {row, k, 0, false}, quantiles.dtype);
                }
                losses[k] = y < q ? (q - y) * (1.0 - levels[k]) : (y - q) * levels[k];
            }
        }
    }
};

}  // namespace

void quantile_score(const Column& y_true, const Column& quantiles, const double* levels,
                    double* out, Poll poll) {
    const QuantileWorker worker{y_true, quantiles, levels, out};
    for_each_ensemble(y_true.size, 1, 4 * quantiles.width, worker, poll);
}

}  // namespace calibrant
