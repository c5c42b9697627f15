#include <algorithm>
#include <cmath>
#include <vector>

#include "calibrant/ensemble_scores/ensemble_scores.hpp"
#include "calibrant/numeric/double_double.hpp"
#include "calibrant/numeric/sum.hpp"
#include "ensemble_scores/crps_sums.hpp"
#include "ensemble_scores/ensemble_chunks.hpp"
#include "ensemble_scores/ensemble_points.hpp"
#include "kernels/kernels.hpp"
#include "numeric/poisson_bootstrap.hpp"

namespace calibrant {
namespace {

// Distances of one draw after another, added up block by block.
class DistanceSum {
public:
    DistanceSum(const EnsemblePoints& points, Power half) : points_(points), half_(half) {
        point_.resize(points.dimension);
    }

    // From the outcome to all draws.
    void add_outcome() { add(points_.y.data(), 0); }

    // From draw i to those behind it.
    void add_draw(std::size_t i) {
        for (std::size_t k = 0; k < points_.dimension; ++k) point_[k] = points_.coordinate(k)[i];
        add(point_.data(), i + 1);
    }

    const ExactSum& total() {
        flush();
        return sum_;
    }

private:
    void flush() {
        if (filled_ > 0) sum_.add_block(block_.data(), filled_);
        filled_ = 0;
    }

    void add(const double* point, std::size_t begin) {
        while (begin < points_.n) {
            if (filled_ == block_rows) flush();
            const std::size_t count = std::min(block_rows - filled_, points_.n - begin);
            kernels().ensemble_scores->distances(point, points_.coordinate(0) + begin, points_.n,
                                                 points_.dimension, count, half_,
                                                 block_.data() + filled_);
            filled_ += count;
            begin += count;
        }
    }

    const EnsemblePoints& points_;
    Power half_;
    std::vector<double> point_;
    std::vector<double> block_ = std::vector<double>(block_rows);
    std::size_t filled_ = 0;
    ExactSum sum_;
};

ExactSum exact(double a, double b = 0.0) {
    ExactSum sum;
    sum.add(a);
    sum.add(b);
    return sum;
}

// With A the sum of distances from the outcome and B that of the pairs i < j:
// A / m - B (a / (m (m - 1)) + (1 - a) / m^2).
double score_of_sums(const ExactSum& from_outcome, const ExactSum& of_pairs, std::size_t n,
                     double fair_share) {
    const auto m = static_cast<double>(n);
    if (fair_share == 0.0) {
        ExactSum total = from_outcome * exact(m);
        total.subtract(of_pairs);
        return mean(total, exact(m) * exact(m));
    }
    ExactSum total = from_outcome * exact(m) * exact(m - 1.0);
    total.subtract(of_pairs * exact(m - 1.0, fair_share));
    return mean(total, exact(m) * exact(m) * exact(m - 1.0));
}

// The factor that EnsemblePoints took out of distances to the power beta: 2^(exponent beta).
double put_back(double score, int exponent, double beta) {
    const double power = static_cast<double>(exponent) * beta;
    const double whole = std::nearbyint(power);
    constexpr double ln2 = 0x1.62e42fefa39efp-1;
    if (power != whole) score *= exp((power - whole) * ln2);
    return std::ldexp(score, static_cast<int>(whole));
}

// Rows with so many draws are done one after another, each by all threads.
constexpr std::size_t many_draws = 1024;

double score_by_all_threads(const EnsemblePoints& points, Power half, double fair_share,
                            Poll poll) {
    constexpr std::size_t draws_a_chunk = 16;
    const std::size_t workers = workers_for(points.n, draws_a_chunk);
    std::vector<DistanceSum> team(workers, DistanceSum(points, half));
    for_each_chunk(points.n, draws_a_chunk, workers, poll,
                   [&](std::size_t k, std::size_t begin, std::size_t end) {
                       for (std::size_t i = begin; i < end; ++i) team[k].add_draw(i);
                       return true;
                   });
    ExactSum of_pairs;
    for (DistanceSum& part : team) of_pairs.merge(part.total());
    DistanceSum from_outcome(points, half);
    from_outcome.add_outcome();
    return score_of_sums(from_outcome.total(), of_pairs, points.n, fair_share);
}

struct EnergyWorker {
    const EnsembleRows& rows;
    const double* scale;
    double beta, fair_share;
    double* out;
    EnsemblePoints points{};

    void add(std::size_t begin, std::size_t end) {
        const Power half = make_power(0.5 * beta);
        for (std::size_t row = begin; row < end; ++row) {
            points.load(rows, row, scale);
            points.rescale();
            DistanceSum from_outcome(points, half), of_pairs(points, half);
            from_outcome.add_outcome();
            for (std::size_t i = 0; i < points.n; ++i) of_pairs.add_draw(i);
            const double score =
                score_of_sums(from_outcome.total(), of_pairs.total(), points.n, fair_share);
            out[row] = put_back(score, points.exponent, beta);
        }
    }
};

// Directions on the unit sphere, eight to a tile: coordinate j of direction k at [j * 8 + k].
// Normal numbers by Marsaglia's polar method, from our own logarithm: the same on every machine.
std::vector<double> make_directions(std::size_t dimension, std::size_t n, std::uint64_t seed) {
    const std::size_t tiles = (n + double_lanes - 1) / double_lanes;
    std::vector<double> directions(tiles * dimension * double_lanes);
    std::vector<double> normal(dimension + 1);
    for (std::size_t direction = 0; direction < tiles * double_lanes; ++direction) {
        RandomStream random(seed, direction);
        double squares = 0.0;
        for (std::size_t j = 0; j < dimension; j += 2) {
            double u, v, s;
            do {
                u = 2.0 * random.uniform() - 1.0;
                v = 2.0 * random.uniform() - 1.0;
                s = u * u + v * v;
            } while (s >= 1.0 || s == 0.0);
            const double factor = std::sqrt(-2.0 * log(s) / s);
            normal[j] = u * factor;
            normal[j + 1] = v * factor;
        }
        for (std::size_t j = 0; j < dimension; ++j) squares += normal[j] * normal[j];
        double* const to = directions.data() +
                           (direction / double_lanes) * dimension * double_lanes +
                           direction % double_lanes;
        const double length = std::sqrt(squares);
        for (std::size_t j = 0; j < dimension; ++j) to[j * double_lanes] = normal[j] / length;
    }
    return directions;
}

// The mean of |u . v| / |v| over the directions u: Gamma(D/2) / (sqrt(pi) Gamma((D + 1)/2)).
double mean_projection(std::size_t dimension) {
    double c = dimension % 2 == 1 ? 1.0 : 0x1.45f306dc9c883p-1;  // 2 / pi
    for (std::size_t d = dimension % 2 == 1 ? 1 : 2; d < dimension; d += 2) {
        c *= static_cast<double>(d) / static_cast<double>(d + 1);
    }
    return c;
}

class SlicedWorker {
public:
    SlicedWorker(const EnsembleRows& rows, const double* scale, double fair_share,
                 const std::vector<double>& directions, std::size_t n_directions, double* out,
                 double* standard_error)
        : rows_(rows),
          scale_(scale),
          fair_share_(fair_share),
          directions_(directions),
          scores_(n_directions),
          out_(out),
          standard_error_(standard_error) {}

    void add(std::size_t begin, std::size_t end) {
        const auto n = static_cast<double>(scores_.size());
        for (std::size_t row = begin; row < end; ++row) {
            points_.load(rows_, row, scale_);
            points_.rescale();
            centre();
            for (std::size_t i = 0; i < scores_.size(); i += double_lanes) project(i);
            const double mean = exact_sum(scores_.data(), scores_.size()) / n;
            for (double& score : scores_) score = (score - mean) * (score - mean);
            const double variance = exact_sum(scores_.data(), scores_.size()) / (n - 1.0);
            const double c = mean_projection(points_.dimension);
            out_[row] = std::ldexp(mean / c, points_.exponent);
            standard_error_[row] = std::ldexp(std::sqrt(variance / n) / c, points_.exponent);
        }
    }

private:
    void centre() {
        centred_.resize(points_.draws.size());
        for (std::size_t k = 0; k < points_.dimension; ++k) {
            const double* const x = points_.coordinate(k);
            for (std::size_t i = 0; i < points_.n; ++i) {
                centred_[i * points_.dimension + k] = x[i] - points_.y[k];
            }
        }
    }

    void project(std::size_t first) {
        const std::size_t n = points_.n;
        const EnsembleScoreKernels& loops = *kernels().ensemble_scores;
        double* const tile = tile_in(tile_, n * double_lanes);
        loops.project(centred_.data(), n, points_.dimension,
                      directions_.data() + first * points_.dimension, tile);
        const std::size_t count = std::min(double_lanes, scores_.size() - first);
        if (n > most_in_lanes) {
            row_.resize(n + double_lanes);
            for (std::size_t k = 0; k < count; ++k) {
                for (std::size_t i = 0; i < n; ++i) row_[i] = tile[i * double_lanes + k];
                scores_[first + k] = crps_of_row(row_.data(), n, 0.0, fair_share_, scratch_);
            }
            return;
        }
        const double outcomes[double_lanes] = {};
        CrpsLanes sums;
        loops.sort_doubles(tile, n);
        loops.sum_doubles(tile, n, outcomes, &sums);
        for (std::size_t k = 0; k < count; ++k) {
            scores_[first + k] = crps_of_terms(terms_of_lane(sums, k), n, fair_share_);
        }
    }

    const EnsembleRows& rows_;
    const double* scale_;
    double fair_share_;
    const std::vector<double>& directions_;
    std::vector<double> scores_;
    double* out_;
    double* standard_error_;
    EnsemblePoints points_;
    std::vector<double> centred_, tile_, row_, scratch_;
};

}  // namespace

void energy_score(const EnsembleRows& rows, const double* scale, double beta, double fair_share,
                  double* out, Poll poll) {
    const std::size_t n = rows.n_draws();
    if (n < many_draws) {
        const EnergyWorker worker{rows, scale, beta, fair_share, out};
        for_each_ensemble(rows.size(), 1, n * (n + rows.draws.width), worker, poll);
        return;
    }
    EnsemblePoints points;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        points.load(rows, row, scale);
        points.rescale();
        const double score = score_by_all_threads(points, make_power(0.5 * beta), fair_share, poll);
        out[row] = put_back(score, points.exponent, beta);
    }
}

void sliced_energy_score(const EnsembleRows& rows, const double* scale, double fair_share,
                         std::size_t n_directions, std::uint64_t seed, double* out,
                         double* standard_error, Poll poll) {
    const std::vector<double> directions = make_directions(rows.dimension, n_directions, seed);
    const SlicedWorker worker(rows, scale, fair_share, directions, n_directions, out,
                              standard_error);
    for_each_ensemble(rows.size(), 1, n_directions * rows.draws.width, worker, poll);
}

}  // namespace calibrant
