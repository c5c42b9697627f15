#include "dependence/laplace_forms.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "calibrant/numeric/sum.hpp"
#include "kernels/dependence_kernels.hpp"
#include "kernels/kernels.hpp"

namespace calibrant {
namespace {

constexpr std::size_t leaf = 32;  // points whose pairs are taken one by one

void expm1_in_place(std::vector<double>& x) {
    kernels().dependence->expm1(x.data(), x.size(), x.data());
}

// Below, comparing is as fast as counting digits.
constexpr std::size_t rows_worth_digits = 4096;

struct Keyed {
    std::uint64_t key;
    std::uint32_t row;
};

// Ordered as the doubles are, where -0 is 0.
std::uint64_t key_of(double x) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

// By digits from the last to the first, each time in the order there was.
void sort_by_digits(std::vector<Keyed>& items) {
    constexpr int digit_bits = 11;
    std::vector<Keyed> sorted(items.size());
    for (int shift = 0; shift < 64; shift += digit_bits) {
        std::array<std::uint32_t, std::size_t{1} << digit_bits> places{};
        const auto digit = [&](const Keyed& item) {
            return item.key >> shift & (places.size() - 1);
        };
        for (const Keyed& item : items) ++places[digit(item)];
        if (places[digit(items[0])] == items.size()) continue;
        std::uint32_t before = 0;
        for (std::uint32_t& place : places) place = std::exchange(before, before + place);
        for (const Keyed& item : items) sorted[places[digit(item)]++] = item;
        items.swap(sorted);
    }
}

}  // namespace

std::vector<std::uint32_t> ascending(const double* x, std::size_t n) {
    std::vector<std::uint32_t> order(n);
    if (n < rows_worth_digits) {
        std::iota(order.begin(), order.end(), std::uint32_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return x[a] < x[b]; });
        return order;
    }
    std::vector<Keyed> items(n);
    for (std::size_t i = 0; i < n; ++i) items[i] = {key_of(x[i]), static_cast<std::uint32_t>(i)};
    sort_by_digits(items);
    for (std::size_t k = 0; k < n; ++k) order[k] = items[k].row;
    return order;
}

std::vector<double> laplace_decays(const double* x, const std::vector<std::uint32_t>& order,
                                   double bandwidth) {
    std::vector<double> decay(order.size(), 0.0);
    for (std::size_t k = 1; k < order.size(); ++k) {
        decay[k] = -((x[order[k]] - x[order[k - 1]]) / bandwidth);
    }
    expm1_in_place(decay);
    return decay;
}

std::vector<double> laplace_row_sums(const double* x, std::size_t n, double bandwidth) {
    const std::vector<std::uint32_t> order = ascending(x, n);
    const std::vector<double> decay = laplace_decays(x, order, bandwidth);
    std::vector<double> sums(n, 0.0);
    Behind left, right;
    for (std::size_t k = 0; k < n; ++k) {
        left.step(decay[k]);
        sums[order[k]] = left.decayed;
        left.weight += 1.0;
    }
    for (std::size_t k = n; k-- > 0;) {
        if (k + 1 < n) right.step(decay[k + 1]);
        sums[order[k]] += right.decayed;
        right.weight += 1.0;
    }
    return sums;
}

struct LaplacePairs::Scratch {
    double x_bandwidth, y_bandwidth;
    std::vector<Point> merged;
    std::vector<double> e, decay;
    std::vector<std::uint8_t> is_right;
    ExactSum total;
};

LaplacePairs::LaplacePairs(const double* x, std::size_t n, double bandwidth)
    : order_(ascending(x, n)), x_(n), bandwidth_(bandwidth) {
    for (std::size_t k = 0; k < n; ++k) x_[k] = x[order_[k]];
}

double LaplacePairs::within(const Point* points, std::size_t n, Scratch& scratch) {
    scratch.e.clear();
    scratch.decay.clear();
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            scratch.e.push_back(-std::fabs(points[i].x - points[j].x) / scratch.x_bandwidth);
            scratch.decay.push_back(-std::fabs(points[i].y - points[j].y) / scratch.y_bandwidth);
        }
    }
    expm1_in_place(scratch.e);
    expm1_in_place(scratch.decay);
    return kernels().dependence->dot(scratch.e.data(), scratch.decay.data(), scratch.e.size());
}

// Pairs with one point in each part. The parts are apart in x and sorted by y; afterwards the whole
// is sorted by y.
double LaplacePairs::across(Point* points, std::size_t middle, std::size_t n, Scratch& scratch) {
    const auto greatest = [&](std::size_t begin, std::size_t end, double sign) {
        double most = sign * points[begin].x;
        for (std::size_t i = begin; i < end; ++i) most = std::max(most, sign * points[i].x);
        return sign * most;
    };
    const double cut = 0.5 * greatest(0, middle, 1.0) + 0.5 * greatest(middle, n, -1.0);
    scratch.merged.resize(n);
    scratch.is_right.resize(n);
    scratch.e.resize(n);
    scratch.decay.resize(n);
    for (std::size_t k = 0, left = 0, right = middle; k < n; ++k) {
        const bool from_left = right == n || (left < middle && points[left].y <= points[right].y);
        const Point point = points[from_left ? left++ : right++];
        scratch.merged[k] = point;
        scratch.is_right[k] = from_left ? 0 : 1;
        scratch.e[k] = -std::fabs(point.x - cut) / scratch.x_bandwidth;
        scratch.decay[k] =
            k == 0 ? 0.0 : -(point.y - scratch.merged[k - 1].y) / scratch.y_bandwidth;
    }
    expm1_in_place(scratch.e);
    expm1_in_place(scratch.decay);
    Behind ones[2], weighted[2];  // of the left and of the right part: weights 1 and e
    double sum = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
        for (Behind* const behind : {ones, ones + 1, weighted, weighted + 1}) {
            behind->step(scratch.decay[k]);
        }
        const std::size_t mine = scratch.is_right[k], other = 1 - mine;
        const double e = scratch.e[k];
        sum += weighted[other].decayed + e * (ones[other].decayed + weighted[other].decayed);
        ones[mine].weight += 1.0;
        weighted[mine].weight += e;
    }
    std::copy(scratch.merged.begin(), scratch.merged.end(), points);
    return sum;
}

double LaplacePairs::sum(const double* y, double bandwidth, const std::uint32_t* partner,
                         std::size_t workers, Poll poll) const {
    const std::size_t n = x_.size();
    std::vector<Point> points(n);
    for (std::size_t k = 0; k < n; ++k) {
        const std::uint32_t i = order_[k];
        points[k] = {x_[k], y[partner == nullptr ? i : partner[i]]};
    }
    workers = std::max<std::size_t>(workers, 1);
    std::vector<Scratch> team(workers, Scratch{bandwidth_, bandwidth, {}, {}, {}, {}, {}});
    constexpr std::size_t leaves_at_once = 64;
    for_each_chunk(n, leaf * leaves_at_once, workers, poll,
                   [&](std::size_t worker, std::size_t begin, std::size_t end) {
                       for (std::size_t at = begin; at < end; at += leaf) {
                           const std::size_t count = std::min(leaf, end - at);
                           Point* const first = points.data() + at;
                           team[worker].total.add(within(first, count, team[worker]));
                           std::sort(first, first + count, [](const Point& a, const Point& b) {
                               return a.y < b.y || (a.y == b.y && a.x < b.x);
                           });
                       }
                       return true;
                   });
    for (std::size_t length = leaf; length < n; length *= 2) {
        const std::size_t chunk = std::max<std::size_t>(2 * length, 4096);  // whole pairs of parts
        for_each_chunk(
            n, chunk, workers, poll, [&](std::size_t worker, std::size_t begin, std::size_t end) {
                for (std::size_t at = begin; at + length < end; at += 2 * length) {
                    const std::size_t count = std::min(2 * length, end - at);
                    team[worker].total.add(across(points.data() + at, length, count, team[worker]));
                }
                return true;
            });
    }
    ExactSum total;
    for (const Scratch& scratch : team) total.merge(scratch.total);
    return 2.0 * total.to_double();
}

}  // namespace calibrant
