#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "calibrant/dependence/dependence.hpp"

namespace calibrant {
namespace {

// Pairs of a sorted row with a distance of at most d. Distances are rounded differences, which
// never fall along a row.
std::uint64_t pairs_within(const std::vector<double>& x, double d) {
    std::uint64_t count = 0;
    std::size_t j = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        j = std::max(j, i + 1);
        while (j < x.size() && x[j] - x[i] <= d) ++j;
        count += j - i - 1;
    }
    return count;
}

double next_distance(const std::vector<double>& x, double d) {
    double least = std::numeric_limits<double>::infinity();
    std::size_t j = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        j = std::max(j, i + 1);
        while (j < x.size() && x[j] - x[i] <= d) ++j;
        if (j < x.size()) least = std::min(least, x[j] - x[i]);
    }
    return least;
}

// By bisection over the doubles, of which there are 2^64.
double median_on_line(std::vector<double> x, Poll poll) {
    std::sort(x.begin(), x.end());
    const std::uint64_t n = x.size();
    const std::uint64_t pairs = n % 2 == 0 ? n / 2 * (n - 1) : n * ((n - 1) / 2);
    const std::uint64_t rank = (pairs + 1) / 2;  // the lower middle, from 1
    std::uint64_t low = 0, high = std::bit_cast<std::uint64_t>(x.back() - x.front());
    while (low < high) {
        if (poll != nullptr && n > 100'000 && poll()) throw Interrupted();
        const std::uint64_t middle = low + (high - low) / 2;
        if (pairs_within(x, std::bit_cast<double>(middle)) >= rank) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    const auto lower = std::bit_cast<double>(low);
    if (pairs % 2 == 1 || pairs_within(x, lower) > rank) return lower;
    return 0.5 * lower + 0.5 * next_distance(x, lower);
}

}  // namespace

double median_of_distances(std::vector<double>& distances, bool squared) {
    const auto root = [&](double sum) { return squared ? std::sqrt(sum) : sum; };
    const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
    std::nth_element(distances.begin(), middle, distances.end());
    if (distances.size() % 2 == 1) return root(*middle);
    return 0.5 * root(*middle) + 0.5 * root(*std::max_element(distances.begin(), middle));
}

double median_distance(const Points& points, HsicKernel kernel, Poll poll) {
    if (points.dimension == 1) return median_on_line(points.values, poll);
    const std::size_t n = std::min<std::size_t>(points.n, 1000);
    std::vector<double> distances;
    distances.reserve(n * (n - 1) / 2);
    const auto row = [&](std::size_t k) { return k * points.n / n; };
    for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            double sum = 0.0;
            for (std::size_t k = 0; k < points.dimension; ++k) {
                const double d = points.coordinate(k)[row(a)] - points.coordinate(k)[row(b)];
                sum += kernel == HsicKernel::laplace ? std::fabs(d) : d * d;
            }
            distances.push_back(sum);
        }
    }
    return median_of_distances(distances, kernel != HsicKernel::laplace);
}

}  // namespace calibrant
