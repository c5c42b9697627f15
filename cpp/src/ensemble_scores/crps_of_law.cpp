#include <algorithm>
#include <cmath>

#include "calibrant/ensemble_scores/ensemble_scores.hpp"
#include "calibrant/rows/check.hpp"
#include "ensemble_scores/ensemble_chunks.hpp"
#include "kernels/ensemble_score_kernels.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {
namespace {

// At most block_rows values of a column: where they lie, or a copy.
class Block {
public:
    const double* of(const Column& column, std::size_t begin, std::size_t n) {
        const double* const there = in_place(column, begin);
        if (there != nullptr) return there;
        load(column, begin, n, copy_);
        return copy_;
    }

private:
    alignas(64) double copy_[block_rows];
};

struct LawWorker {
    ForecastLaw law;
    const Column& y_true;
    const Column& loc;
    const Column& scale;
    double* out;

    void add(std::size_t begin, std::size_t end) const {
        const auto crps = kernels().ensemble_scores->crps_of_law[static_cast<std::size_t>(law)];
        Block y, centre, unit;
        for (std::size_t row = begin; row < end; row += block_rows) {
            const std::size_t n = std::min(block_rows, end - row);
            if (!crps(y.of(y_true, row, n), centre.of(loc, row, n), unit.of(scale, row, n), n,
                      out + row)) {
                reject_first(row, n);
            }
        }
    }

    [[noreturn]] void reject_first(std::size_t begin, std::size_t n) const {
        for (std::size_t row = begin; row < begin + n; ++row) {
            finite(y_true, "y_true", row);
            finite(loc, "loc", row);
            const double unit = finite(scale, "scale", row);
            if (unit > 0.0) continue;
            reject("scale", "be positive", number_text(unit, scale.dtype), {row, {}, 0, false});
        }
        // Another thread has mended the row since it was found bad.
        throw InvalidInput("the arrays changed while they were being read");
    }

    static double finite(const Column& column, const char* name, std::size_t row) {
        double value = 0.0;
        load(column, row, 1, &value);
        if (std::isfinite(value)) return value;
        reject_not_finite(name, value, {row, {}, 0, false}, column.dtype);
    }
};

}  // namespace

void crps_of_law(ForecastLaw law, const Column& y_true, const Column& loc, const Column& scale,
                 double* out, Poll poll) {
    constexpr std::size_t steps = 4;
    for_each_ensemble(y_true.size, block_rows, steps, LawWorker{law, y_true, loc, scale, out},
                      poll);
}

}  // namespace calibrant
