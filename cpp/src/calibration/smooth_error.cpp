#include <algorithm>
#include <cmath>
#include <vector>

#include "calibrant/calibration/smooth.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {
namespace {

// Points per bandwidth of the grid on which the residuals are smoothed, at least; and how many
// bandwidths the kernel reaches: what is cut off is 2e-9 of it.
constexpr double points_per_bandwidth = 8.0;
constexpr double reach = 6.0;
// A grid is used for bandwidths up to twice the least it will do for; there is none below 2 points.
constexpr std::size_t most_taps = static_cast<std::size_t>(2.0 * reach * points_per_bandwidth) + 1;

// In units of x.
constexpr double least_width = 0x1p-10;

double width_of(double bandwidth, SmoothScale scale) {
    return scale == SmoothScale::logit ? 0.25 * bandwidth : bandwidth;
}

// Residuals on a grid of `size` equal steps, and beyond both ends their reflections.
class Reflected {
public:
    Reflected(std::size_t size, std::size_t margin)
        : size_(size), margin_(margin), values_(size + 1 + 2 * margin) {}

    [[nodiscard]] double* at_zero() { return values_.data() + margin_; }

    // A residual between the points is shared by the four around it in the manner of Lagrange,
    // which keeps its first four moments. It lies at a fraction of the step after `point`; those at
    // the same point are added in one go.
    class Four {
    public:
        Four(Reflected& grid, std::size_t point)
            : at_(grid.values_.data() + grid.margin_ + point - 1) {
            std::copy_n(at_, 4, sums_);
        }
        ~Four() { std::copy_n(sums_, 4, at_); }
        Four(const Four&) = delete;
        Four& operator=(const Four&) = delete;

        void add(double fraction, double residual) {
            const double f = fraction;
            const double weights[4] = {
                -f * (f - 1.0) * (f - 2.0) / 6.0, (f + 1.0) * (f - 1.0) * (f - 2.0) / 2.0,
                -(f + 1.0) * f * (f - 2.0) / 2.0, (f + 1.0) * f * (f - 1.0) / 6.0};
            for (std::size_t k = 0; k < 4; ++k) sums_[k] += weights[k] * residual;
        }

    private:
        double* at_;
        double sums_[4];
    };

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
void fill_taps(double steps_per_width, std::size_t size, std::vector<double>& taps) {
    taps.resize(static_cast<std::size_t>(reach * steps_per_width) + 1);
    for (std::size_t d = 0; d < taps.size(); ++d) {
        const double z = static_cast<double>(d) / steps_per_width;
        taps[d] = -0.5 * z * z;
    }
    kernels().exp(taps.data(), taps.size(), taps.data());
    double sum = -1.0;
    for (const double tap : taps) sum += 2.0 * tap;
    for (double& tap : taps) tap *= static_cast<double>(size) / sum;
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

// Keeps what calls with like bandwidths share: the search for the bandwidth makes a dozen.
class SmoothResiduals::Smoother {
public:
    explicit Smoother(const SmoothResiduals& residuals) : residuals_(residuals) {}

    double error(double bandwidth) {
        const double width = width_of(bandwidth, residuals_.scale_);
        std::size_t size = 2;
        while (width * static_cast<double>(size) < points_per_bandwidth) size *= 2;
        fill_taps(width * static_cast<double>(size), size, taps_);
        if (size != size_) fill_lanes(size);
        kernels().smooth(lanes_.data() + most_taps, stride_, taps_.data(), taps_.size(),
                         smoothed_.data());
        for (std::size_t k = 0; k < SmoothLanes::n; ++k) {
            double* const f = f_.data() + k * stride_;
            for (std::size_t j = 0; j < stride_; ++j) f[j] = smoothed_[j].at[k];
        }
        return integral_of_absolute(f_.data() + 1, size) / residuals_.weight_;
    }

private:
    // f is wanted at one point beyond each end, too.
    void fill_lanes(std::size_t size) {
        size_ = size;
        stride_ = ((size + 3) / (SmoothLanes::n * smooth_tile) + 1) * smooth_tile;
        f_.resize(SmoothLanes::n * stride_);
        smoothed_.resize(stride_);
        lanes_.resize(stride_ + 2 * most_taps);
        Reflected grid(size, most_taps + 1 + SmoothLanes::n * smooth_tile);
        add_masses(grid, size);
        grid.reflect();
        const double* const first = grid.at_zero() - 1 - most_taps;
        for (std::size_t j = 0; j < lanes_.size(); ++j) {
            for (std::size_t k = 0; k < SmoothLanes::n; ++k) {
                lanes_[j].at[k] = first[k * stride_ + j];
            }
        }
    }

    void add_masses(Reflected& grid, std::size_t size) const {
        const std::size_t step = n_cells / size;  // a power of two, as is its reciprocal
        const double per_cell = 1.0 / static_cast<double>(step);
        const std::vector<Mass>& masses = residuals_.masses_;
        for (std::size_t i = 0; i < masses.size();) {
            const std::size_t point = std::min(masses[i].point / step, size - 1);
            const std::size_t begin = point * step;
            const std::size_t end = point + 1 < size ? begin + step : n_cells + 1;
            Reflected::Four four(grid, point);
            for (; i < masses.size() && masses[i].point < end; ++i) {
                four.add(static_cast<double>(masses[i].point - begin) * per_cell,
                         masses[i].residual);
            }
        }
    }

    const SmoothResiduals& residuals_;
    std::size_t size_ = 0, stride_ = 0;
    std::vector<SmoothLanes> lanes_, smoothed_;
    std::vector<double> taps_, f_;
};

double SmoothResiduals::error(double bandwidth) const { return Smoother(*this).error(bandwidth); }

double SmoothResiduals::error() const {
    Smoother smoother(*this);
    // smECE falls as the bandwidth rises, so its value at a bandwidth that is too large is too
    // small. Small bandwidths cost more: at most 8 times smaller at once, and at least 2 times.
    double above = 1.0;
    double excess_above = smoother.error(above) - above;
    double below = 0.0;
    double excess_below = 0.0;
    for (;;) {
        const double guess = std::clamp(above + excess_above, 0.125 * above, 0.5 * above);
        below = std::max(guess, least_bandwidth(scale_));
        const double value = smoother.error(below);
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
    for (int step = 0; step < 60 && above - below > 0x1p-36 * above; ++step) {
        const double middle =
            below + (above - below) * (excess_below / (excess_below - excess_above));
        value = smoother.error(middle);
        const double excess = value - middle;
        if (std::fabs(excess) <= 0x1p-36 * middle) break;
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
