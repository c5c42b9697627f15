#include "calibrant/samples/neighbours.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "calibrant/rows/check.hpp"
#include "kernels/distance_kernels.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::size_t tile_size = neighbour_points * neighbour_points;

// The k smallest numbers seen, as a heap with the largest of them on top.
class Smallest {
public:
    explicit Smallest(std::size_t k) : numbers_(k, infinite) {}

    void clear() { std::fill(numbers_.begin(), numbers_.end(), infinite); }
    [[nodiscard]] double largest() const { return numbers_.front(); }
    void add(double number) {  // below largest()
        std::pop_heap(numbers_.begin(), numbers_.end());
        numbers_.back() = number;
        std::push_heap(numbers_.begin(), numbers_.end());
    }

private:
    std::vector<double> numbers_;
};

// The neighbours of the points of one panel.
void find_radii(const PointPanels& points, std::size_t own, std::vector<Smallest>& nearest,
                double* radii) {
    const DistanceKernels& loops = *kernels().distances;
    alignas(64) double tile[tile_size];
    for (Smallest& numbers : nearest) numbers.clear();
    for (std::size_t other = 0; other < points.n_panels(); ++other) {
        loops.squares(points.panel(own), points.panel(other), points.dimension(), tile);
        for (std::size_t i = 0; i < nearest.size(); ++i) {
            const double* const distances = tile + i * neighbour_points;
            std::uint32_t near = loops.below(distances, nearest[i].largest());
            near &= points.points_of(other);
            if (other == own) near &= ~(std::uint32_t{1} << i);
            for (; near != 0; near &= near - 1) {
                const double distance = distances[std::countr_zero(near)];
                if (distance < nearest[i].largest()) nearest[i].add(distance);
            }
        }
    }
    for (std::size_t i = 0; i < nearest.size(); ++i) radii[i] = nearest[i].largest();
}

std::uint64_t count_of(const std::vector<std::uint32_t>& bits) {
    std::uint64_t count = 0;
    for (const std::uint32_t word : bits) count += static_cast<std::uint64_t>(std::popcount(word));
    return count;
}

struct Team {
    BallCounts counts;
    std::vector<std::uint32_t> precise;  // a bit for each generated point
};

}  // namespace

PointPanels::PointPanels(const Column& column, const char* name)
    : n_(column.size), dimension_(column.width) {
    values_.assign(n_panels() * neighbour_points * dimension_, 0.0);
    std::vector<double> row(dimension_);
    for (std::size_t i = 0; i < n_; ++i) {
        load_row(column, i, row.data());
        double* const panel = &values_[i / neighbour_points * neighbour_points * dimension_];
        for (std::size_t k = 0; k < dimension_; ++k) {
            if (!std::isfinite(row[k])) {
                reject_not_finite(name, row[k], {i, k, 0, false}, column.dtype);
            }
            panel[k * neighbour_points + i % neighbour_points] = row[k];
        }
    }
}

std::size_t PointPanels::n_panels() const { return (n_ + neighbour_points - 1) / neighbour_points; }

const double* PointPanels::panel(std::size_t index) const {
    return &values_[index * neighbour_points * dimension_];
}

std::uint32_t PointPanels::points_of(std::size_t index) const {
    const std::size_t count = std::min(neighbour_points, n_ - index * neighbour_points);
    return (std::uint32_t{1} << count) - 1U;
}

double PointPanels::largest() const {
    double largest = 0.0;
    for (const double value : values_) largest = std::max(largest, std::fabs(value));
    return largest;
}

void PointPanels::scale(int exponent) {
    for (double& value : values_) value = std::ldexp(value, exponent);
}

void scale_alike(PointPanels& x, PointPanels& y) {
    const double largest = std::max(x.largest(), y.largest());
    if (largest == 0.0 || (largest > 0x1p-200 && largest < 0x1p400)) return;
    const int exponent = -std::ilogb(largest);
    x.scale(exponent);
    y.scale(exponent);
}

std::vector<double> square_radii(const PointPanels& points, std::size_t k, Poll poll) {
    const std::size_t panels = points.n_panels();
    std::vector<double> radii(points.size());
    const std::size_t workers = workers_for(panels, 4);
    std::vector<std::vector<Smallest>> team(workers);
    for_each_chunk(panels, 1, workers, poll,
                   [&](std::size_t worker, std::size_t panel, std::size_t) {
                       const std::size_t first = panel * neighbour_points;
                       const std::size_t count = std::min(neighbour_points, points.size() - first);
                       team[worker].resize(count, Smallest(k));
                       find_radii(points, panel, team[worker], &radii[first]);
                       return true;
                   });
    return radii;
}

BallCounts count_balls(const PointPanels& real, const std::vector<double>& real_radii,
                       const PointPanels& generated, const std::vector<double>& generated_radii,
                       Poll poll) {
    const std::size_t panels = real.n_panels(), others = generated.n_panels();
    // No distance is below a radius of 0: the points that fill up the last panel hold nothing.
    std::vector<double> bounds(generated_radii);
    bounds.resize(others * neighbour_points, 0.0);
    const std::size_t workers = workers_for(panels, 4);
    std::vector<Team> team(workers, {{}, std::vector<std::uint32_t>(others, 0)});
    for_each_chunk(
        panels, 1, workers, poll, [&](std::size_t worker, std::size_t panel, std::size_t) {
            const DistanceKernels& loops = *kernels().distances;
            Team& mine = team[worker];
            alignas(64) double tile[tile_size];
            const std::size_t first = panel * neighbour_points;
            const std::size_t count = std::min(neighbour_points, real.size() - first);
            std::uint32_t covered = 0, recalled = 0;
            for (std::size_t other = 0; other < others; ++other) {
                loops.squares(real.panel(panel), generated.panel(other), real.dimension(), tile);
                for (std::size_t i = 0; i < count; ++i) {
                    const double* const distances = tile + i * neighbour_points;
                    const std::uint32_t inside =
                        loops.below(distances, real_radii[first + i]) & generated.points_of(other);
                    mine.counts.pairs += static_cast<std::uint64_t>(std::popcount(inside));
                    mine.precise[other] |= inside;
                    covered |= (inside != 0 ? 1U : 0U) << i;
                    if (generated_radii.empty()) continue;
                    const std::uint32_t around =
                        loops.below_each(distances, &bounds[other * neighbour_points]);
                    recalled |= (around != 0 ? 1U : 0U) << i;
                }
            }
            mine.counts.covered += static_cast<std::uint64_t>(std::popcount(covered));
            mine.counts.recalled += static_cast<std::uint64_t>(std::popcount(recalled));
            return true;
        });
    BallCounts counts = team[0].counts;
    std::vector<std::uint32_t> precise = team[0].precise;
    for (std::size_t worker = 1; worker < workers; ++worker) {
        counts.pairs += team[worker].counts.pairs;
        counts.covered += team[worker].counts.covered;
        counts.recalled += team[worker].counts.recalled;
        for (std::size_t word = 0; word < others; ++word)
            precise[word] |= team[worker].precise[word];
    }
    counts.precise = count_of(precise);
    return counts;
}

}  // namespace calibrant
