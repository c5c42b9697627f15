#include "calibrant/smooth.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "calibrant/check.hpp"
#include "calibrant/elementary.hpp"
#include "calibrant/kernels.hpp"
#include "calibrant/workers.hpp"

namespace calibrant {
namespace {

constexpr std::size_t n_cells = std::size_t{1} << 15;  // between n_cells + 1 points

// Residuals are counted in units of 2^-40; 64 bits then hold this many rows.
constexpr int unit_bits = 40;
constexpr double units = 0x1p40;
constexpr std::size_t rows_before_flush = std::size_t{1} << 22;

// Of the logit: e^8 / (1 + e^8) = 0.99966 and its opposite.
constexpr double most_logit = 8.0;
constexpr double least_proba = 0x1.5fa3dd7d2f7a6p-12;

// Points per bandwidth of the grid on which the residuals are smoothed, at least; and how many
// bandwidths the kernel reaches: what is cut off is 2e-9 of it.
constexpr double points_per_bandwidth = 8.0;
constexpr double reach = 6.0;

// In units of x.
constexpr double least_width = 0x1p-10;

double width_of(double bandwidth, SmoothScale scale) {
    return scale == SmoothScale::logit ? 0.25 * bandwidth : bandwidth;
}

struct Shared {
    std::uint32_t point;
    std::int64_t here, next;  // residual of this point and of the next, in units
};

// For fewer rows a table of all points costs more than it saves.
constexpr std::size_t rows_worth_a_table = 4096;

// A sum per point, for all of them or for those that are used.
template <class Sum>
class PointSums {
public:
    void make_table() { table_.resize(n_cells + 1); }

    Sum& operator[](std::uint32_t point) { return table_.empty() ? few_[point] : table_[point]; }

    template <class Visit>
    void for_each(const Visit& visit) const {
        for (const auto& [point, sum] : few_) visit(point, sum);
        for (std::size_t j = 0; j < table_.size(); ++j) {
            visit(static_cast<std::uint32_t>(j), table_[j]);
        }
    }

private:
    std::map<std::uint32_t, Sum> few_;
    std::vector<Sum> table_;
};

// In units where there are no weights.
struct Residuals {
    PointSums<Int128> counted;
    PointSums<ExactSum> weighted;
    ExactSum weight;
    std::uint64_t n = 0;

    Residuals(bool has_weights, bool has_table) {
        if (has_table && has_weights) weighted.make_table();
        if (has_table && !has_weights) counted.make_table();
    }
};

struct PlacedRows {
    const ScoredRows& scored;
    SmoothScale scale;

    [[nodiscard]] bool has_weights() const { return scored.events.sample_weight != nullptr; }
    [[nodiscard]] bool has_table() const { return scored.size() >= rows_worth_a_table; }
};

// One thread's share of the pass.
class SmoothWorker {
public:
    SmoothWorker(const Residuals&, const PlacedRows& rows)
        : rows_(rows),
          block_(rows.scored),
          weighted_(rows.has_weights()),
          sums_(rows.has_weights(), rows.has_table()) {
        if (!weighted_ && rows.has_table()) counts_.resize(n_cells + 1);
    }

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; row += block_.most_rows()) {
            const std::size_t count = std::min(block_.most_rows(), end - row);
            if (!block_.load(rows_.scored, row, count)) return false;
            sums_.n += block_.n();
            place();
            if (weighted_) {
                add_weighted();
            } else {
                add_unweighted();
            }
        }
        return true;
    }

    void finish_into(Residuals& total) {
        flush();
        sums_.counted.for_each(
            [&](std::uint32_t point, Int128 sum) { total.counted[point] += sum; });
        sums_.weighted.for_each([&](std::uint32_t point, const ExactSum& sum) {
            if (!sum.is_zero()) total.weighted[point].merge(sum);
        });
        total.weight.merge(sums_.weight);
        total.n += sums_.n;
    }

private:
    // x_ is the place of each row on the points, from 0 to n_cells.
    void place() {
        const std::size_t n = block_.n();
        const double* const score = block_.score();
        if (rows_.scale == SmoothScale::unit) {
            for (std::size_t i = 0; i < n; ++i) x_[i] = score[i] * static_cast<double>(n_cells);
            return;
        }
        alignas(64) double p[block_rows], q[block_rows];
        for (std::size_t i = 0; i < n; ++i) {
            p[i] = std::clamp(score[i], least_proba, 1.0 - least_proba);
            q[i] = 1.0 - p[i];
        }
        kernels().log(p, n, p);
        kernels().log(q, n, q);
        constexpr double scale = static_cast<double>(n_cells) / (2.0 * most_logit);
        for (std::size_t i = 0; i < n; ++i) {
            x_[i] = std::clamp((p[i] - q[i] + most_logit) * scale, 0.0, double{n_cells});
        }
    }

    // Both parts are whole numbers, and a row's parts do not depend on other rows.
    [[nodiscard]] Shared shared(std::size_t i) const {
        const auto point = std::min(static_cast<std::int32_t>(x_[i]), std::int32_t{n_cells - 1});
        const double fraction = x_[i] - static_cast<double>(point);
        const double residual = static_cast<double>(block_.hit()[i]) - block_.score()[i];
        const auto all = static_cast<std::int64_t>(residual * units);
        const auto next = static_cast<std::int64_t>(residual * fraction * units);
        return {static_cast<std::uint32_t>(point), all - next, next};
    }

    void add_unweighted() {
        for (std::size_t i = 0; i < block_.n(); ++i) {
            const Shared part = shared(i);
            if (counts_.empty()) {
                sums_.counted[part.point] += part.here;
                sums_.counted[part.point + 1] += part.next;
            } else {
                counts_[part.point] += part.here;
                counts_[part.point + 1] += part.next;
            }
        }
        sums_.weight.add(static_cast<Int128>(block_.n()), 0);
        rows_since_flush_ += block_.n();
        if (rows_since_flush_ >= rows_before_flush) flush();
    }

    void add_weighted() {
        for (std::size_t i = 0; i < block_.n(); ++i) {
            const Shared part = shared(i);
            const double weight = block_.weight()[i];
            sums_.weighted[part.point].add_product(weight, static_cast<double>(part.here),
                                                   -unit_bits);
            sums_.weighted[part.point + 1].add_product(weight, static_cast<double>(part.next),
                                                       -unit_bits);
            sums_.weight.add(weight);
        }
    }

    void flush() {
        for (std::size_t j = 0; j < counts_.size(); ++j) {
            sums_.counted[static_cast<std::uint32_t>(j)] += counts_[j];
            counts_[j] = 0;
        }
        rows_since_flush_ = 0;
    }

    PlacedRows rows_;
    ScoredBlock block_;
    bool weighted_;
    Residuals sums_;
    std::vector<std::int64_t> counts_;
    std::size_t rows_since_flush_ = 0;
    alignas(64) double x_[block_rows];
};

// The value times 2^-exponent, rounded once.
double scaled(const Scaled& value, std::int64_t exponent) {
    const std::int64_t shift = std::clamp<std::int64_t>(value.exponent - exponent, -2000, 2000);
    return std::ldexp(value.high, static_cast<int>(shift));
}

double scaled(Int128 counted, std::int64_t exponent) {
    return std::ldexp(static_cast<double>(counted), static_cast<int>(-unit_bits - exponent));
}

// Residuals on a grid of `size` equal steps, and beyond both ends their reflections.
class Reflected {
public:
    Reflected(std::size_t size, std::size_t margin)
        : size_(size), margin_(margin), values_(size + 1 + 2 * margin) {}

    [[nodiscard]] double* at_zero() { return values_.data() + margin_; }

    // A residual between the points, shared by the four around it in the manner of Lagrange, which
    // keeps its first four moments.
    void add(std::size_t point, double fraction, double residual) {
        const double f = fraction;
        const double weights[4] = {
            -f * (f - 1.0) * (f - 2.0) / 6.0, (f + 1.0) * (f - 1.0) * (f - 2.0) / 2.0,
            -(f + 1.0) * f * (f - 2.0) / 2.0, (f + 1.0) * f * (f - 1.0) / 6.0};
        const std::size_t first = margin_ + point - 1;
        for (std::size_t k = 0; k < 4; ++k) values_[first + k] += weights[k] * residual;
    }

    // Folds back what went over the ends, then fills the margins. A residual at an end is its own
    // reflection and counts twice.
    void reflect() {
        double* const g = at_zero();
        g[1] += g[-1];
        g[size_ - 1] += g[size_ + 1];
        g[0] *= 2.0;
        g[size_] *= 2.0;
        for (std::size_t d = 1; d <= margin_; ++d) {
            const std::size_t turn = d % (2 * size_);
            const std::size_t from = turn <= size_ ? turn : 2 * size_ - turn;
            *(g - d) = g[from];
            g[size_ + d] = g[size_ - from];
        }
    }

private:
    std::size_t size_, margin_;
    std::vector<double> values_;
};

// The Gaussian at 0, 1, 2, ... steps; with its mirror image it sums to `size`, that is, it
// integrates to 1.
std::vector<double> kernel_taps(double steps_per_width, std::size_t size) {
    std::vector<double> taps(static_cast<std::size_t>(reach * steps_per_width) + 1);
    for (std::size_t d = 0; d < taps.size(); ++d) {
        const double z = static_cast<double>(d) / steps_per_width;
        taps[d] = -0.5 * z * z;
    }
    kernels().exp(taps.data(), taps.size(), taps.data());
    double sum = -1.0;
    for (const double tap : taps) sum += 2.0 * tap;
    for (double& tap : taps) tap *= static_cast<double>(size) / sum;
    return taps;
}

// The integral of |f| over steps of length 1, f given at the points and one beyond each end. The
// integral of f over a step is that of the cubic through four points. Where f changes sign, it is
// cut at the zero of the straight line, each part with its share of the line's error.
double integral_of_absolute(const double* f, std::size_t size) {
    double total = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
        const double a = f[i], b = f[i + 1];
        const double line = 0.5 * (a + b);
        const double error = (a + b - *(f + i - 1) - f[i + 2]) / 24.0;
        if ((a < 0.0) == (b < 0.0)) {
            total += std::fabs(line + error);
            continue;
        }
        const double z = a / (a - b);
        const double share = z * z * (3.0 - 2.0 * z);
        total += std::fabs(0.5 * z * a + share * error) +
                 std::fabs(0.5 * (1.0 - z) * b + (1.0 - share) * error);
    }
    return total / static_cast<double>(size);
}

}  // namespace

double least_bandwidth(SmoothScale scale) {
    return scale == SmoothScale::logit ? 4.0 * least_width : least_width;
}

SmoothResiduals::SmoothResiduals(const ScoredRows& rows, SmoothScale scale, Poll poll)
    : scale_(scale) {
    const PlacedRows placed{rows, scale};
    Residuals total(placed.has_weights(), placed.has_table());
    update_by_workers<SmoothWorker>(total, placed, rows.events, 0, poll);
    const Scaled weight = total.weight.value();
    if (weight.high == 0.0) {
        throw InvalidInput(total.n == 0
                               ? "a calibration error needs at least one row, got none"
                               : "a calibration error needs a row with positive weight, all " +
                                     std::to_string(total.n) + " have weight 0");
    }
    weight_ = weight.high;
    const auto keep = [&](std::uint32_t point, double residual) {
        if (residual != 0.0) masses_.push_back({point, residual});
    };
    total.counted.for_each(
        [&](std::uint32_t point, Int128 sum) { keep(point, scaled(sum, weight.exponent)); });
    total.weighted.for_each([&](std::uint32_t point, const ExactSum& sum) {
        keep(point, scaled(sum.value(), weight.exponent));
    });
}

double SmoothResiduals::error(double bandwidth) const {
    const double width = width_of(bandwidth, scale_);
    std::size_t size = 2;
    while (width * static_cast<double>(size) < points_per_bandwidth) size *= 2;
    const std::vector<double> taps = kernel_taps(width * static_cast<double>(size), size);

    const std::size_t stride = n_cells / size;
    // f is wanted at one point beyond each end, too.
    Reflected grid(size, std::max<std::size_t>(taps.size(), 2));
    for (const Mass& mass : masses_) {
        const std::size_t point = std::min(mass.point / stride, size - 1);
        const auto beyond = static_cast<double>(mass.point - point * stride);
        grid.add(point, beyond / static_cast<double>(stride), mass.residual);
    }
    grid.reflect();

    const double* const g = grid.at_zero() - 1;
    std::vector<double> f(size + 3);
    kernels().smooth(g, f.size(), taps.data(), taps.size(), f.data());
    return integral_of_absolute(f.data() + 1, size) / weight_;
}

double SmoothResiduals::error() const {
    // Halved from 1, where smECE is at most the bandwidth, until it is more.
    double above = 1.0;
    double excess_above = error(above) - above;
    double below = 0.5 * above;
    double excess_below = 0.0;
    for (;; below *= 0.5) {
        below = std::max(below, least_bandwidth(scale_));
        const double value = error(below);
        excess_below = value - below;
        if (excess_below > 0.0) break;
        if (below == least_bandwidth(scale_)) return value;
        above = below;
        excess_above = excess_below;
    }
    // Regula falsi; an end that stays twice has its excess halved, or it would stay for ever
    // (Illinois).
    double value = above;
    int moved = 0;  // the end that moved last: -1 below, 1 above
    for (int step = 0; step < 60 && above - below > 0x1p-40 * above; ++step) {
        const double middle =
            below + (above - below) * (excess_below / (excess_below - excess_above));
        value = error(middle);
        const double excess = value - middle;
        if (std::fabs(excess) <= 0x1p-40 * middle) break;
        if (excess > 0.0) {
            below = middle;
            excess_below = excess;
            if (moved == -1) excess_above *= 0.5;
            moved = -1;
        } else {
            above = middle;
            excess_above = excess;
            if (moved == 1) excess_below *= 0.5;
            moved = 1;
        }
    }
    return value;
}

}  // namespace calibrant
