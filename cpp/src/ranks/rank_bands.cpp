#include "ranks/rank_bands.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "calibrant/numeric/sum.hpp"
#include "calibrant/ranks/rank_calibration.hpp"
#include "kernels/elementary.hpp"
#include "kernels/kernels.hpp"
#include "numeric/saddle_point.hpp"

namespace calibrant {
namespace {

constexpr std::int64_t most_cuts = 1000;
constexpr double two_pi = 6.283185307179586;

double real(std::int64_t x) { return static_cast<double>(x); }

double log_poisson(double x, double mean) {
    if (x == 0.0) return -mean;
    return -stirling_error(x) - deviance(x, mean) - 0.5 * calibrant::log(two_pi * x);
}

// The probabilities of a Poisson law, of those that are not below `least`, between the zeros that
// `convolve` wants.
struct PoissonLaw {
    PoissonLaw(double mean, double least) {
        const double mode = std::floor(mean);
        const double top = calibrant::exp(log_poisson(mode, mean));
        std::vector<double> down;
        double term = top;
        for (double x = mode; x > 0.0 && term >= least; x -= 1.0) down.push_back(term *= x / mean);
        values.assign(convolution_tile, 0.0);
        values.insert(values.end(), down.rbegin(), down.rend());
        term = top;
        for (double x = mode; term >= least; term *= mean / (x += 1.0)) values.push_back(term);
        first = static_cast<std::int64_t>(mode) - static_cast<std::int64_t>(down.size());
        n = static_cast<std::ptrdiff_t>(values.size()) - convolution_tile;
        normalize();
        values.insert(values.end(), convolution_tile, 0.0);
    }

    [[nodiscard]] const double* data() const { return values.data() + convolution_tile; }

    std::vector<double> values;
    std::ptrdiff_t n = 0;
    std::int64_t first = 0;

private:
    // The saddle point is off by an ulp or two, and there may be 1,000 steps.
    void normalize() {
        std::vector<double> ascending(values);
        std::sort(ascending.begin(), ascending.end());
        double sum = 0.0;
        for (const double value : ascending) sum += value;
        for (double& value : values) value /= sum;
    }
};

// The probabilities of paths by where they are now, f[i] that of first + i.
struct Paths {
    std::vector<double> f{1.0};
    std::int64_t first = 0;

    [[nodiscard]] std::ptrdiff_t size() const { return static_cast<std::ptrdiff_t>(f.size()); }
    [[nodiscard]] std::int64_t last() const { return first + size() - 1; }
    [[nodiscard]] double at(std::int64_t x) const {
        return x < first || x > last() ? 0.0 : f[static_cast<std::size_t>(x - first)];
    }

    // One step on, as far as that leads to [low, high].
    [[nodiscard]] Paths stepped(const PoissonLaw& law, std::int64_t low, std::int64_t high) const {
        Paths next;
        next.first = std::max(low, first + law.first);
        const std::int64_t end = std::min(high, last() + law.first + law.n - 1) + 1;
        const std::ptrdiff_t n = f.empty() ? 0 : std::max<std::int64_t>(0, end - next.first);
        next.f.resize(static_cast<std::size_t>((n + convolution_tile - 1) / convolution_tile *
                                               convolution_tile));
        kernels().convolve(f.data(), size(), law.data(), law.n, next.first - first - law.first,
                           next.f.data(), n);
        next.f.resize(static_cast<std::size_t>(n));
        return next;
    }

    // Leaves out those of less than `least` at both ends, and those outside [low, high].
    void trim(std::int64_t low, std::int64_t high, double least) {
        std::ptrdiff_t begin = std::clamp<std::int64_t>(low - first, 0, size());
        std::ptrdiff_t end = std::clamp<std::int64_t>(high - first + 1, begin, size());
        while (begin < end && f[static_cast<std::size_t>(begin)] < least) ++begin;
        while (begin < end && f[static_cast<std::size_t>(end - 1)] < least) --end;
        f.erase(f.begin() + end, f.end());
        f.erase(f.begin(), f.begin() + begin);
        first += begin;
    }
};

// Steps of a process of rate n, by how many ranks they pass.
class Steps {
public:
    Steps(std::int64_t n, const RankGrid& grid, double least)
        : rate_(real(n) / real(grid.n_ranks)), least_(least) {}

    const PoissonLaw& operator()(std::int64_t ranks) {
        const auto found = laws_.find(ranks);
        if (found != laws_.end()) return found->second;
        return laws_.emplace(ranks, PoissonLaw(rate_ * real(ranks), least_)).first->second;
    }

private:
    double rate_, least_;
    std::map<std::int64_t, PoissonLaw> laws_;
};

// The probability, given that the process ends at n, of being where `paths` are but outside
// [low, high]; `rest` is what the process is expected to grow from there.
double leaving(const Paths& paths, std::int64_t n, double rest, std::int64_t low,
               std::int64_t high) {
    const double log_end = log_poisson(real(n), real(n));
    const auto weight = [&](std::int64_t x) {
        return calibrant::exp(log_poisson(real(n - x), rest) - log_end);
    };
    double sum = 0.0;
    // Away from the band both factors descend.
    const std::int64_t below = std::min(low - 1, paths.last());
    double w = below >= paths.first ? weight(below) : 0.0;
    for (std::int64_t x = below; x >= paths.first; --x) {
        sum += paths.at(x) * w;
        w *= rest / real(n - x + 1);
    }
    const std::int64_t above = std::max(high + 1, paths.first);
    w = above <= paths.last() ? weight(above) : 0.0;
    for (std::int64_t x = above; x <= paths.last(); ++x) {
        sum += paths.at(x) * w;
        w *= real(n - x) / rest;
    }
    return sum;
}

}  // namespace

RankGrid::RankGrid(std::int64_t n) : n_ranks(n) {
    if (n - 1 <= most_cuts) {
        for (std::int64_t k = 1; k < n; ++k) cuts.push_back(k);
        return;
    }
    for (std::int64_t j = 1; j <= most_cuts / 2; ++j) {
        cuts.push_back(static_cast<std::int64_t>(static_cast<Int128>(j) * n / (most_cuts + 1)));
    }
    for (std::int64_t j = most_cuts / 2; j > 0; --j) {
        cuts.push_back(n - cuts[static_cast<std::size_t>(j - 1)]);
    }
}

double inside_probability(std::int64_t n, const RankGrid& grid, const BandLows& low, Poll poll) {
    constexpr double least = 1e-22;
    const std::size_t last = grid.cuts.size() - 1;
    const std::size_t half = (grid.cuts.size() + 1) / 2;
    Steps steps(n, grid, least);
    Paths paths;
    for_each_chunk(half, 1, 1, poll, [&](std::size_t, std::size_t i, std::size_t) {
        const std::int64_t before = i == 0 ? 0 : grid.cuts[i - 1];
        paths = paths.stepped(steps(grid.cuts[i] - before), low[i], n - low[last - i]);
        paths.trim(0, n, least);
        return true;
    });
    // What follows is the mirror image of what was.
    const std::int64_t gap = grid.n_ranks - 2 * grid.cuts[half - 1];
    const Paths left = gap == 0 ? paths : paths.stepped(steps(gap), 0, n);
    double sum = 0.0;
    for (std::int64_t x = left.first; x <= left.last(); ++x) sum += left.at(x) * paths.at(n - x);
    return std::min(1.0, sum / calibrant::exp(log_poisson(real(n), real(n))));
}

double outside_probability(std::int64_t n, const RankGrid& grid, const BandLows& low, double least,
                           Poll poll) {
    const double negligible = 1e-22 * least;
    const std::size_t last = grid.cuts.size() - 1;
    Steps steps(n, grid, negligible);
    Paths paths;
    double sum = 0.0;
    for_each_chunk(grid.cuts.size(), 1, 1, poll, [&](std::size_t, std::size_t i, std::size_t) {
        const std::int64_t before = i == 0 ? 0 : grid.cuts[i - 1];
        const std::int64_t high = n - low[last - i];
        paths = paths.stepped(steps(grid.cuts[i] - before), 0, n);
        const double rest = real(n) * (real(grid.n_ranks - grid.cuts[i]) / real(grid.n_ranks));
        sum += leaving(paths, n, rest, low[i], high);
        paths.trim(low[i], high, negligible);
        return true;
    });
    return std::min(1.0, sum);
}

}  // namespace calibrant
