#include "calibrant/dependence/dependence.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>

#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/check.hpp"
#include "dependence/dense_hsic.hpp"
#include "dependence/gaussian_features.hpp"
#include "dependence/laplace_forms.hpp"
#include "numeric/shuffle.hpp"

namespace calibrant {
namespace {

constexpr std::size_t rows_a_worker = 1024;

double sum_of_products(const std::vector<double>& a, const std::vector<double>& b) {
    ExactSum sum;
    for (std::size_t i = 0; i < a.size(); ++i) sum.add_product(a[i], b[i]);
    return sum.to_double();
}

double sum_of(const std::vector<double>& a) {
    ExactSum sum;
    for (const double x : a) sum.add(x);
    return sum.to_double();
}

// What all three ways to the sums do: the trace for y in its own or another order, and diagonals.
class Traces {
public:
    virtual ~Traces() = default;
    [[nodiscard]] virtual double trace(const std::uint32_t* partner, std::size_t workers,
                                       Poll poll) const = 0;
    [[nodiscard]] virtual HsicSums sums(HsicDepth depth, Poll poll) = 0;
    virtual void expect_many() {}  // traces
};

HsicSums with_diagonals(HsicSums sums, const std::vector<double>& a, const std::vector<double>& b) {
    sums.trace_x = sum_of(a);
    sums.trace_y = sum_of(b);
    sums.diagonals = sum_of_products(a, b);
    sums.diagonal_x = sum_of_products(a, a);
    sums.diagonal_y = sum_of_products(b, b);
    return sums;
}

class GaussianTraces final : public Traces {
public:
    GaussianTraces(HsicSide x, HsicSide y)
        : x_(x.points->coordinate(0), x.points->n, x.bandwidth, "x"),
          y_(y.points->coordinate(0), y.points->n, y.bandwidth, "y") {
        if (!is_small(x_, y_)) add_up();
    }

    void expect_many() override {
        x_.keep_features();
        y_.keep_features();
    }

    [[nodiscard]] double trace(const std::uint32_t* partner, std::size_t workers,
                               Poll poll) const override {
        return centred_trace(x_, y_, partner, workers, poll);
    }

    [[nodiscard]] HsicSums sums(HsicDepth depth, Poll poll) override {
        const std::size_t n = x_.size();
        const std::size_t workers = workers_for(n, rows_a_worker);
        HsicSums sums;
        sums.n = n;
        sums.trace = trace(nullptr, workers, poll);
        if (depth == HsicDepth::trace) return sums;
        add_up();
        std::vector<double> a(n), b(n);
        x_.diagonal(a.data());
        y_.diagonal(b.data());
        sums = with_diagonals(sums, a, b);
        if (depth == HsicDepth::diagonals) return sums;
        sums.square_x = centred_trace(x_, x_, nullptr, workers, poll);
        sums.square_y = centred_trace(y_, y_, nullptr, workers, poll);
        return sums;
    }

private:
    void add_up() {
        x_.add_up();
        y_.add_up();
    }

    FeatureMap x_, y_;
};

class LaplaceTraces final : public Traces {
public:
    LaplaceTraces(HsicSide x, HsicSide y)
        : x_(x),
          y_(y),
          x_pairs_(x.points->coordinate(0), x.points->n, x.bandwidth),
          x_sums_(laplace_row_sums(x.points->coordinate(0), x.points->n, x.bandwidth)),
          y_sums_(laplace_row_sums(y.points->coordinate(0), y.points->n, y.bandwidth)),
          x_total_(sum_of(x_sums_)),
          y_total_(sum_of(y_sums_)) {}

    [[nodiscard]] double trace(const std::uint32_t* partner, std::size_t workers,
                               Poll poll) const override {
        const double pairs =
            x_pairs_.sum(y_.points->coordinate(0), y_.bandwidth, partner, workers, poll);
        return centred(pairs, x_sums_, x_total_, y_sums_, y_total_, partner);
    }

    [[nodiscard]] HsicSums sums(HsicDepth depth, Poll poll) override {
        const std::size_t n = x_sums_.size();
        const std::size_t workers = workers_for(n, rows_a_worker);
        HsicSums sums;
        sums.n = n;
        sums.trace = trace(nullptr, workers, poll);
        if (depth == HsicDepth::trace) return sums;
        sums = with_diagonals(sums, diagonal(x_sums_, x_total_), diagonal(y_sums_, y_total_));
        if (depth == HsicDepth::diagonals) return sums;
        sums.square_x =
            centred(x_pairs_.sum(x_.points->coordinate(0), x_.bandwidth, nullptr, workers, poll),
                    x_sums_, x_total_, x_sums_, x_total_, nullptr);
        const LaplacePairs y_pairs(y_.points->coordinate(0), n, y_.bandwidth);
        sums.square_y =
            centred(y_pairs.sum(y_.points->coordinate(0), y_.bandwidth, nullptr, workers, poll),
                    y_sums_, y_total_, y_sums_, y_total_, nullptr);
        return sums;
    }

private:
    // sum k l - 2/n sum r_i s_i + R S / n^2, rounded once.
    static double centred(double pairs, const std::vector<double>& r, double r_total,
                          const std::vector<double>& s, double s_total,
                          const std::uint32_t* partner) {
        const auto n = static_cast<double>(r.size());
        ExactSum rows;
        for (std::size_t i = 0; i < r.size(); ++i) {
            rows.add_product(r[i], s[partner == nullptr ? i : partner[i]]);
        }
        return (pairs - 2.0 * (rows.to_double() / n)) + (r_total / n) * (s_total / n);
    }

    static std::vector<double> diagonal(const std::vector<double>& r, double total) {
        const auto n = static_cast<double>(r.size());
        std::vector<double> a(r.size());
        for (std::size_t i = 0; i < r.size(); ++i) a[i] = total / n / n - 2.0 * (r[i] / n);
        return a;
    }

    HsicSide x_, y_;
    LaplacePairs x_pairs_;
    std::vector<double> x_sums_, y_sums_;
    double x_total_, y_total_;
};

class DenseTraces final : public Traces {
public:
    DenseTraces(HsicSide x, HsicSide y, HsicKernel kernel, Poll poll) : hsic_(x, y, kernel, poll) {}

    [[nodiscard]] double trace(const std::uint32_t* partner, std::size_t /*workers*/,
                               Poll /*poll*/) const override {
        return hsic_.permuted_trace(partner);
    }
    [[nodiscard]] HsicSums sums(HsicDepth depth, Poll /*poll*/) override {
        return hsic_.sums(depth);
    }

private:
    DenseHsic hsic_;
};

std::unique_ptr<Traces> make_traces(HsicSide x, HsicSide y, HsicKernel kernel, Poll poll) {
    if (x.points->dimension > 1 || y.points->dimension > 1) {
        return std::make_unique<DenseTraces>(x, y, kernel, poll);
    }
    if (kernel == HsicKernel::laplace) return std::make_unique<LaplaceTraces>(x, y);
    return std::make_unique<GaussianTraces>(x, y);
}

}  // namespace

Points read_points(const Column& column, const char* name) {
    Points points{column.size, column.width, std::vector<double>(column.size * column.width)};
    std::vector<double> row(column.width);
    if (column.width == 1) {
        load(column, 0, column.size, points.values.data());
        for (std::size_t i = 0; i < column.size; ++i) {
            double& value = points.values[i];
            if (!std::isfinite(value)) {
                reject_not_finite(name, value, {i, std::nullopt, 0, false}, column.dtype);
            }
            value += 0.0;
        }
        return points;
    }
    for (std::size_t i = 0; i < column.size; ++i) {
        load_row(column, i, row.data());
        for (std::size_t k = 0; k < column.width; ++k) {
            if (!std::isfinite(row[k])) {
                reject_not_finite(name, row[k], {i, k, 0, false}, column.dtype);
            }
            points.values[k * column.size + i] = row[k] + 0.0;
        }
    }
    return points;
}

double HsicSums::biased() const {
    const auto rows = static_cast<double>(n);
    return trace / rows / rows;
}

double HsicSums::gretton() const {
    const double rows = static_cast<double>(n) - 1.0;
    return trace / rows / rows;
}

double HsicSums::unbiased() const {
    const auto rows = static_cast<double>(n);
    const double sum = (trace - diagonals * (rows / (rows - 2.0))) +
                       trace_x / (rows - 1.0) * (trace_y / (rows - 2.0));
    return sum / rows / (rows - 3.0);
}

double HsicSums::null_mean() const { return trace_x * trace_y / (static_cast<double>(n) - 1.0); }

double HsicSums::null_variance() const {
    const auto m = static_cast<double>(n);
    const auto spread = [&](double trace_of, double square) {
        return (m - 1.0) * square - trace_of * trace_of;
    };
    const auto kurtosis = [&](double trace_of, double square, double diagonal) {
        return m * (m + 1.0) * diagonal - (m - 1.0) * (trace_of * trace_of + 2.0 * square);
    };
    return 2.0 * (spread(trace_x, square_x) / ((m - 1.0) * (m - 1.0))) *
               (spread(trace_y, square_y) / ((m + 1.0) * (m - 2.0))) +
           kurtosis(trace_x, square_x, diagonal_x) / (m * (m + 1.0) * (m - 1.0)) *
               (kurtosis(trace_y, square_y, diagonal_y) / ((m - 2.0) * (m - 3.0)));
}

HsicSums hsic_sums(HsicSide x, HsicSide y, HsicKernel kernel, HsicDepth depth, Poll poll) {
    return make_traces(x, y, kernel, poll)->sums(depth, poll);
}

std::uint64_t hsic_exceedances(HsicSide x, HsicSide y, HsicKernel kernel,
                               std::uint64_t permutations, std::uint64_t seed, Poll poll) {
    const std::unique_ptr<Traces> traces = make_traces(x, y, kernel, poll);
    traces->expect_many();
    const double observed = traces->sums(HsicDepth::trace, poll).trace;
    const double bound = observed - 0x1p-40 * std::fabs(observed);
    const std::size_t workers = workers_for(permutations, 1);
    std::vector<std::uint64_t> counts(workers, 0);
    std::vector<std::vector<std::uint32_t>> orders(workers,
                                                   std::vector<std::uint32_t>(x.points->n));
    for_each_chunk(permutations, 1, workers, poll,
                   [&](std::size_t worker, std::size_t permutation, std::size_t) {
                       shuffle(orders[worker], seed, permutation, x.points->n);
                       const double trace = traces->trace(orders[worker].data(), 1, nullptr);
                       counts[worker] += trace >= bound ? 1 : 0;
                       return true;
                   });
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace calibrant
