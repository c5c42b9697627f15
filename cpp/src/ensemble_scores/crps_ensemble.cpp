#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "calibrant/ensemble_scores/ensemble_scores.hpp"
#include "calibrant/rows/check.hpp"
#include "ensemble_scores/crps_sums.hpp"
#include "ensemble_scores/ensemble_chunks.hpp"
#include "kernels/kernels.hpp"
#include "rows/row_blocks.hpp"

namespace calibrant {
namespace {

// Of larger values the products might overflow.
constexpr double largest_in_lanes = 0x1p450;

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

struct WeightedDraw {
    double value, weight;
};

// Sums over the draws of one row, from outside in, in two doubles each: w, w |x - y|, and the gap,
// each w |x - y| times the weight of the draws further out, twice, and its own.
struct WeightedTerms {
    DoubleDouble weight, distance, gap;

    void add(double difference, double w) {
        const DoubleDouble own{w, 0.0}, heavy = own * DoubleDouble{difference, 0.0};
        const DoubleDouble before = weight;
        weight = weight + own;
        gap = gap + heavy * (before + weight);
        distance = distance + heavy;
    }
};

WeightedTerms operator+(const WeightedTerms& a, const WeightedTerms& b) {
    return {a.weight + b.weight, a.distance + b.distance, a.gap + b.gap};
}

DoubleDouble sum_of_squares(const std::vector<WeightedDraw>& draws) {
    DoubleDouble squares;
    for (const WeightedDraw& draw : draws) {
        const DoubleDouble weight{draw.weight, 0.0};
        squares = squares + weight * weight;
    }
    return squares;
}

// `squares` is the sum of the squared weights; the standard score does without.
double crps_of_sides(const WeightedTerms& below, const WeightedTerms& above, DoubleDouble squares,
                     double fair_share) {
    const WeightedTerms all = below + above;
    const DoubleDouble square = all.weight * all.weight;
    if (fair_share == 0.0) return (all.gap / square).high;
    const DoubleDouble spread = all.weight * all.distance - all.gap;
    const DoubleDouble fair = all.distance / all.weight - spread / (square - squares);
    const DoubleDouble share{fair_share, 0.0}, rest = DoubleDouble{1.0, 0.0} - share;
    return (share * fair + rest * (all.gap / square)).high;
}

double crps_of_weighted(std::vector<WeightedDraw>& draws, double y, double fair_share) {
    std::sort(draws.begin(), draws.end(), [](const WeightedDraw& a, const WeightedDraw& b) {
        return a.value != b.value ? a.value < b.value : a.weight < b.weight;
    });
    WeightedTerms below, above;
    std::size_t i = 0, end = draws.size();
    for (; i < end && draws[i].value < y; ++i) below.add(y - draws[i].value, draws[i].weight);
    for (; end > i; --end) above.add(draws[end - 1].value - y, draws[end - 1].weight);
    const DoubleDouble squares = fair_share == 0.0 ? DoubleDouble{} : sum_of_squares(draws);
    return crps_of_sides(below, above, squares, fair_share);
}

DoubleDouble at_lane(const WideLaneSums& sums, std::size_t lane) {
    return {sums.high[lane], sums.low[lane]};
}

WeightedTerms at_lane(const WeightedSide& side, std::size_t lane) {
    return {at_lane(side.weight, lane), at_lane(side.distance, lane), at_lane(side.gap, lane)};
}

// One worker's buffers, and its way through a chunk of rows.
class CrpsWorker {
public:
    CrpsWorker(const EnsembleRows& rows, const Column* draw_weight, double fair_share,
               bool omit_missing, double* out)
        : rows_(rows),
          weights_(draw_weight),
          fair_share_(fair_share),
          omit_missing_(omit_missing),
          n_(rows.n_draws()),
          out_(out) {}

    void add(std::size_t begin, std::size_t end) {
        if (weights_ != nullptr && n_ <= most_in_lanes) {
            for (std::size_t row = begin; row < end; row += double_lanes) {
                add_weighted_tile(row, std::min(double_lanes, end - row));
            }
        } else if (weights_ != nullptr || n_ > most_in_lanes) {
            for (std::size_t row = begin; row < end; ++row) out_[row] = one_by_one(row);
        } else if (const float* const floats = in_place_floats(rows_.draws, begin)) {
            add_tiles<float, float_lanes>(floats, begin, end);
        } else if (const double* const doubles = in_place(rows_.draws, begin)) {
            add_tiles<double, double_lanes>(doubles, begin, end);
        } else {
            converted_.resize(double_lanes * n_);
            for (std::size_t row = begin; row < end; row += double_lanes) {
                const std::size_t stop = std::min(row + double_lanes, end);
                load_block(rows_.draws, row, stop - row, converted_.data());
                add_tiles<double, double_lanes>(converted_.data(), row, stop);
            }
        }
    }

private:
    template <class T, std::size_t lanes>
    void add_tiles(const T* draws, std::size_t begin, std::size_t end) {
        const EnsembleScoreKernels& loops = *kernels().ensemble_scores;
        T* const tile = tile_in(tile_of(T{}), lanes * n_);
        for (std::size_t row = begin; row < end; row += lanes) {
            const std::size_t count = std::min(lanes, end - row);
            const T* sources[lanes];
            double y[lanes] = {};
            for (std::size_t k = 0; k < lanes; ++k) {  // lanes to spare repeat the first row
                sources[k] = draws + (row - begin + (k < count ? k : 0)) * n_;
            }
            load(rows_.y_true, row, count, y);
            CrpsLanes sums[lanes / double_lanes];
            if constexpr (lanes == float_lanes) {
                loops.fill_floats(sources, n_, tile);
                loops.sort_floats(tile, n_);
                loops.sum_floats(tile, n_, y, sums);
                loops.sum_floats(tile + double_lanes, n_, y + double_lanes, sums + 1);
            } else {
                loops.fill_doubles(sources, n_, tile);
                loops.sort_doubles(tile, n_);
                loops.sum_doubles(tile, n_, y, sums);
            }
            for (std::size_t k = 0; k < count; ++k) {
                const CrpsTerms terms = terms_of_lane(sums[k / double_lanes], k % double_lanes);
                const double score = crps_of_terms(terms, n_, fair_share_);
                out_[row + k] = std::isfinite(score) ? score : one_by_one(row + k);
            }
        }
    }

    // Rows that lanes cannot take, bad ones among them, are left to one_by_one.
    void add_weighted_tile(std::size_t begin, std::size_t count) {
        const EnsembleScoreKernels& loops = *kernels().ensemble_scores;
        double* const tile = tile_in(doubles_, double_lanes * n_);
        double* const weights = tile_in(converted_, double_lanes * n_);
        double y[double_lanes] = {};
        bool taken[double_lanes] = {};
        load(rows_.y_true, begin, count, y);
        values_.resize(n_ + double_lanes);
        scratch_.resize(n_);
        for (std::size_t k = 0; k < double_lanes; ++k) {
            taken[k] = k < count && fill_lane(begin + k, y[k], tile + k, weights + k);
            for (std::size_t i = 0; !taken[k] && i < n_; ++i) {
                tile[i * double_lanes + k] = weights[i * double_lanes + k] = 0.0;
            }
        }
        WeightedSide below, above;
        WideLaneSums squares{};
        loops.sort_weighted(tile, weights, n_);
        loops.sum_weighted(tile, weights, n_, y, &below, &above);
        if (fair_share_ != 0.0) loops.sum_weight_squares(weights, n_, &squares);
        for (std::size_t k = 0; k < count; ++k) {
            out_[begin + k] = taken[k] ? crps_of_sides(at_lane(below, k), at_lane(above, k),
                                                       at_lane(squares, k), fair_share_)
                                       : one_by_one(begin + k);
        }
    }

    // Weights are divided by a power of two, so that the largest lies in [1, 2).
    bool fill_lane(std::size_t row, double y, double* values, double* weights) {
        load_row(rows_.draws, row, values_.data());
        load_row(*weights_, row, scratch_.data());
        bool good = true;
        double heaviest = 0.0;
        std::size_t positive = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            const double x = std::abs(values_[i]), w = scratch_[i];
            good = good && x < largest_in_lanes && is_weight(w);
            heaviest = w > heaviest ? w : heaviest;
            positive += w > 0.0 ? 1U : 0U;
        }
        if (!good || !(std::abs(y) < largest_in_lanes) ||
            positive < (fair_share_ > 0.0 ? 2U : 1U) || heaviest < 0x1p-900 || heaviest > 0x1p900) {
            return false;
        }
        const double scale = std::ldexp(1.0, -std::ilogb(heaviest));
        for (std::size_t i = 0; i < n_; ++i) {
            values[i * double_lanes] = values_[i];
            weights[i * double_lanes] = scratch_[i] * scale;
        }
        return true;
    }

    std::vector<double>& tile_of(double) { return doubles_; }
    std::vector<float>& tile_of(float) { return floats_; }

    // For weights, many draws, missing values and numbers whose differences are too large.
    double one_by_one(std::size_t row) {
        double y = 0.0;
        load(rows_.y_true, row, 1, &y);
        if (std::isnan(y) && omit_missing_) return missing;
        if (!std::isfinite(y)) reject_not_finite("y_true", y, {row}, rows_.y_true.dtype);
        values_.resize(n_ + double_lanes);
        load_row(rows_.draws, row, values_.data());
        if (weights_ != nullptr) return weighted(row, y);
        std::size_t kept = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            if (is_draw(values_[i], row, i)) values_[kept++] = values_[i];
        }
        if (kept < (fair_share_ > 0.0 ? 2U : 1U)) return missing;
        return crps_of_row(values_.data(), kept, y, fair_share_, scratch_);
    }

    // False for a draw to leave out.
    bool is_draw(double x, std::size_t row, std::size_t i) const {
        if (std::isfinite(x)) return true;
        if (std::isnan(x) && omit_missing_) return false;
        reject_not_finite("draws", x, {row, i}, rows_.draws.dtype);
    }

    double weighted(std::size_t row, double y) {
        scratch_.resize(n_);
        load_row(*weights_, row, scratch_.data());
        pairs_.clear();
        double heaviest = 0.0, reach = std::abs(y);
        for (std::size_t i = 0; i < n_; ++i) {
            const double w = scratch_[i];
            if (!is_weight(w)) reject_weight("draw_weight", w, {row, i}, weights_->dtype);
            if (!is_draw(values_[i], row, i) || w == 0.0) continue;
            heaviest = std::max(heaviest, w);
            reach = std::max(reach, std::abs(values_[i]));
            pairs_.push_back({values_[i], w});
        }
        if (pairs_.size() < (fair_share_ > 0.0 ? 2U : 1U)) {
            if (omit_missing_) return missing;
            throw InvalidInput(std::string("draw_weight must be positive for at least ") +
                               (fair_share_ > 0.0 ? "two draws" : "one draw") + ", found " +
                               (pairs_.empty() ? "none" : "one") + " at " + place_text({row}));
        }
        // Powers of two: the products neither overflow nor vanish.
        const double scale = reach < largest_in_lanes ? 1.0 : 0x1p-600;
        const int exponent = std::ilogb(heaviest);
        for (WeightedDraw& draw : pairs_) {
            draw.value *= scale;
            draw.weight = std::ldexp(draw.weight, -exponent);
        }
        return crps_of_weighted(pairs_, y * scale, fair_share_) / scale;
    }

    const EnsembleRows& rows_;
    const Column* weights_;
    double fair_share_;
    bool omit_missing_;
    std::size_t n_;
    double* out_;
    std::vector<double> doubles_, converted_, values_, scratch_;
    std::vector<float> floats_;
    std::vector<WeightedDraw> pairs_;
};

}  // namespace

void crps_ensemble(const EnsembleRows& rows, const Column* draw_weight, double fair_share,
                   bool omit_missing, double* out, Poll poll) {
    const CrpsWorker worker(rows, draw_weight, fair_share, omit_missing, out);
    for_each_ensemble(rows.size(), float_lanes, rows.n_draws(), worker, poll);
}

}  // namespace calibrant
