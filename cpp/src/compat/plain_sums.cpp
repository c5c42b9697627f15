#include "compat/plain_sums.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "kernels/kernels.hpp"
#include "kernels/plain_sum_kernels.hpp"

namespace calibrant {
namespace {

constexpr std::size_t chunk = std::size_t{1} << 14;

// Calls work(part, begin, count) for the blocks of each chunk, with the part that belongs to the
// chunk, and returns the parts in order.
template <class Part, class Work>
std::vector<Part> by_chunk(std::size_t n, Poll poll, Work work) {
    std::vector<Part> parts((n + chunk - 1) / chunk);
    const std::size_t workers = workers_for(n, 4 * chunk);
    for_each_chunk(n, chunk, workers, poll, [&](std::size_t, std::size_t begin, std::size_t end) {
        Part part{};
        for (std::size_t i = begin; i < end; i += block_rows) {
            work(part, i, std::min(block_rows, end - i));
        }
        parts[begin / chunk] = part;
        return true;
    });
    return parts;
}

double total_of(const std::vector<double>& parts) {
    double total = 0.0;
    for (const double part : parts) total += part;
    return total;
}

// Rows of a column, contiguous: in place, or gathered.
class Gathered {
public:
    const double* rows(Strided from, std::size_t begin, std::size_t n) {
        if (from.stride == 1) return from.data + begin;
        for (std::size_t i = 0; i < n; ++i) buffer_[i] = from[begin + i];
        return buffer_;
    }

private:
    alignas(64) double buffer_[block_rows];
};

bool lie_in_pairs(Strided lower, Strided upper) { return lower.stride == 2 && upper.stride == 2; }

// Calls work(kernels, lower, upper) with the rows of both bounds.
template <class Work>
void with_bounds(Strided lower, Strided upper, std::size_t begin, std::size_t n, Work work) {
    const PlainSumKernels& sums = *kernels().plain_sums;
    if (lie_in_pairs(lower, upper)) {
        work(sums.in_pairs, lower.data + 2 * begin, upper.data + 2 * begin);
    } else {
        Gathered low, high;
        work(sums.apart, low.rows(lower, begin, n), high.rows(upper, begin, n));
    }
}

}  // namespace

IntervalHits interval_hits(Strided y, Strided lower, Strided upper, std::size_t n, Poll poll) {
    const auto parts =
        by_chunk<IntervalHits>(n, poll, [&](IntervalHits& part, std::size_t begin, std::size_t m) {
            Gathered values;
            const double* const x = values.rows(y, begin, m);
            with_bounds(lower, upper, begin, m,
                        [&](const auto& sums, const double* l, const double* u) {
                            part.finite = sums.hits(x, l, u, m, &part.covered) && part.finite;
                        });
        });
    IntervalHits total;
    for (const IntervalHits& part : parts) {
        total.covered += part.covered;
        total.finite = total.finite && part.finite;
    }
    return total;
}

double interval_widths(Strided lower, Strided upper, std::size_t n, Poll poll) {
    return total_of(by_chunk<double>(n, poll, [&](double& part, std::size_t begin, std::size_t m) {
        with_bounds(lower, upper, begin, m,
                    [&](const auto& sums, const double* l, const double* u) {
                        part += sums.widths(l, u, m);
                    });
    }));
}

IntervalTotals interval_totals(Strided y, Strided lower, Strided upper, std::size_t n, Poll poll) {
    const auto first = y[0];
    const auto parts = by_chunk<IntervalTotals>(
        n, poll, [&](IntervalTotals& part, std::size_t begin, std::size_t m) {
            Gathered values;
            const double* const x = values.rows(y, begin, m);
            if (begin % chunk == 0) part.least_y = part.largest_y = y[begin];
            with_bounds(lower, upper, begin, m,
                        [&](const auto& sums, const double* l, const double* u) {
                            part.finite = sums.hits(x, l, u, m, &part.covered) && part.finite;
                            part.width += sums.widths(l, u, m);
                            part.excess += sums.excesses(x, l, u, m);
                        });
            double least = 0.0, largest = 0.0;
            kernels().range(x, m, &least, &largest);
            part.least_y = std::min(part.least_y, least);
            part.largest_y = std::max(part.largest_y, largest);
        });
    IntervalTotals total;
    total.least_y = total.largest_y = first;
    for (const IntervalTotals& part : parts) {
        total.covered += part.covered;
        total.width += part.width;
        total.excess += part.excess;
        total.least_y = std::min(total.least_y, part.least_y);
        total.largest_y = std::max(total.largest_y, part.largest_y);
        total.finite = total.finite && part.finite;
    }
    total.finite = total.finite && std::isfinite(total.width + total.excess);
    return total;
}

double score_variance(Strided s, std::size_t n, Poll poll) {
    return total_of(by_chunk<double>(n, poll, [&](double& part, std::size_t begin, std::size_t m) {
        Gathered values;
        part += kernels().plain_sums->score_variance(values.rows(s, begin, m), m);
    }));
}

bool set_hits(const std::int64_t* label, std::ptrdiff_t label_stride, const SetTable& sets,
              std::size_t n, Poll poll, std::uint64_t* hits) {
    std::atomic<std::uint64_t> total = 0;
    const std::size_t workers = workers_for(n, 4 * chunk);
    const std::size_t bad = for_each_chunk(
        n, chunk, workers, poll, [&](std::size_t, std::size_t begin, std::size_t end) {
            std::uint64_t count = 0;
            const std::uint8_t* row =
                sets.data + static_cast<std::ptrdiff_t>(begin) * sets.row_step;
            const std::int64_t* code = label + static_cast<std::ptrdiff_t>(begin) * label_stride;
            for (std::size_t i = begin; i < end; ++i) {
                if (static_cast<std::uint64_t>(*code) >= sets.classes) return false;
                count += row[*code * sets.class_step] != 0 ? 1U : 0U;
                row += sets.row_step;
                code += label_stride;
            }
            total += count;
            return true;
        });
    *hits = total;
    return bad == npos;
}

}  // namespace calibrant
