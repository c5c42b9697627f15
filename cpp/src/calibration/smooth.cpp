#include "calibrant/calibration/smooth.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"
#include "rows/scored_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {
namespace {

constexpr std::size_t n_cells = SmoothResiduals::n_cells;

// Residuals are counted in units of 2^-40; 64 bits then hold this many rows.
constexpr int unit_bits = 40;
constexpr double units = 0x1p40;
constexpr std::size_t rows_before_flush = std::size_t{1} << 22;

// Of the logit: e^8 / (1 + e^8) = 0.99966 and its opposite.
constexpr double most_logit = 8.0;
constexpr double least_proba = 0x1.5fa3dd7d2f7a6p-12;

struct Shared {
    std::uint32_t point;
    std::int64_t here, next;  // residual of this point and of the next, in units
};

// For fewer rows a table of all points costs more than it saves: the rows are kept instead.
constexpr std::size_t rows_worth_a_table = 4096;

struct Kept {
    Shared part;
    double weight;
};

// In units where there are no weights.
struct Residuals {
    std::vector<Int128> counted;
    std::vector<ExactSum> weighted;
    std::vector<Kept> kept;
    ExactSum weight;
    std::uint64_t n = 0;

    Residuals(bool has_weights, bool has_table) {
        if (has_table && has_weights) weighted.resize(n_cells + 1);
        if (has_table && !has_weights) counted.resize(n_cells + 1);
    }

    void add_weighted(std::size_t at, std::int64_t residual, double w) {
        weighted[at].add_product(w, static_cast<double>(residual), -unit_bits);
    }
};

// Points in ascending order, found by counting bits.
class PointSet {
public:
    void add(std::uint32_t point) { words_[point / 64] |= std::uint64_t{1} << point % 64; }

    // To be called when all have been added; returns how many there are.
    std::size_t count() {
        std::uint32_t before = 0;
        for (std::size_t k = 0; k < n_words; ++k) {
            before_[k] = before;
            if (words_[k] != 0) before += static_cast<std::uint32_t>(std::popcount(words_[k]));
        }
        return before;
    }

    // How many are less than this one.
    [[nodiscard]] std::size_t rank(std::uint32_t point) const {
        const std::uint64_t less = (std::uint64_t{1} << point % 64) - 1;
        return before_[point / 64] +
               static_cast<std::size_t>(std::popcount(words_[point / 64] & less));
    }

    template <class Visit>
    void for_each(const Visit& visit) const {
        std::size_t rank = 0;
        for (std::size_t k = 0; k < n_words; ++k) {
            for (std::uint64_t left = words_[k]; left != 0; left &= left - 1) {
                visit(static_cast<std::uint32_t>(64 * k) +
                          static_cast<std::uint32_t>(std::countr_zero(left)),
                      rank++);
            }
        }
    }

private:
    static constexpr std::size_t n_words = n_cells / 64 + 1;
    std::array<std::uint64_t, n_words> words_{};
    std::array<std::uint32_t, n_words> before_;
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
        return load_each(block_, rows_.scored, begin, end, [&](std::size_t) {
            sums_.n += block_.n();
            place();
            add_weight();
            if (rows_.has_table()) {
                add_to_table();
            } else {
                keep();
            }
        });
    }

    void finish_into(Residuals& total) {
        flush();
        for (std::size_t j = 0; j < sums_.counted.size(); ++j) {
            total.counted[j] += sums_.counted[j];
        }
        for (std::size_t j = 0; j < sums_.weighted.size(); ++j) {
            if (!sums_.weighted[j].is_zero()) total.weighted[j].merge(sums_.weighted[j]);
        }
        total.kept.insert(total.kept.end(), sums_.kept.begin(), sums_.kept.end());
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

    void keep() {
        for (std::size_t i = 0; i < block_.n(); ++i) {
            sums_.kept.push_back({shared(i), weighted_ ? block_.weight()[i] : 1.0});
        }
    }

    void add_to_table() {
        for (std::size_t i = 0; i < block_.n(); ++i) {
            const Shared part = shared(i);
            if (weighted_) {
                sums_.add_weighted(part.point, part.here, block_.weight()[i]);
                sums_.add_weighted(part.point + 1, part.next, block_.weight()[i]);
            } else {
                counts_[part.point] += part.here;
                counts_[part.point + 1] += part.next;
            }
        }
        rows_since_flush_ += block_.n();
        if (rows_since_flush_ >= rows_before_flush) flush();
    }

    void add_weight() {
        if (!weighted_) {
            sums_.weight.add(static_cast<Int128>(block_.n()), 0);
            return;
        }
        for (std::size_t i = 0; i < block_.n(); ++i) sums_.weight.add(block_.weight()[i]);
    }

    void flush() {
        for (std::size_t j = 0; j < counts_.size(); ++j) {
            sums_.counted[j] += counts_[j];
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

// Fills the sums with what the kept rows have at each of their points.
PointSet sum_kept(Residuals& total, bool has_weights) {
    PointSet points;
    for (const Kept& row : total.kept) {
        points.add(row.part.point);
        points.add(row.part.point + 1);
    }
    const std::size_t n = points.count();
    total.counted.resize(has_weights ? 0 : n);
    total.weighted.resize(has_weights ? n : 0);
    for (const Kept& row : total.kept) {
        const std::size_t here = points.rank(row.part.point);  // the next point is the next one
        if (has_weights) {
            total.add_weighted(here, row.part.here, row.weight);
            total.add_weighted(here + 1, row.part.next, row.weight);
        } else {
            total.counted[here] += row.part.here;
            total.counted[here + 1] += row.part.next;
        }
    }
    return points;
}

}  // namespace

SmoothResiduals::SmoothResiduals(const ScoredRows& rows, SmoothScale scale, Poll poll)
    : scale_(scale) {
    const PlacedRows placed{rows, scale};
    Residuals total(placed.has_weights(), placed.has_table());
    update_by_workers<SmoothWorker>(total, placed, rows.events, 0, poll);
    const Scaled weight = total.weight.value();
    if (weight.high == 0.0) {
        reject_weightless("a calibration error needs", total.n);
    }
    weight_ = weight.high;
    const auto keep = [&](std::uint32_t point, double residual) {
        if (residual != 0.0) masses_.push_back({point, residual});
    };
    // Of counts: a power of two, so that no product is rounded.
    const double unit = placed.has_weights()
                            ? 0.0
                            : std::ldexp(1.0, static_cast<int>(-unit_bits - weight.exponent));
    const auto keep_sum = [&](std::uint32_t point, std::size_t at) {
        keep(point, placed.has_weights() ? scaled(total.weighted[at].value(), weight.exponent)
                                         : static_cast<double>(total.counted[at]) * unit);
    };
    if (placed.has_table()) {
        for (std::uint32_t j = 0; j <= n_cells; ++j) keep_sum(j, j);
        return;
    }
    const PointSet points = sum_kept(total, placed.has_weights());
    masses_.reserve(2 * total.kept.size());
    points.for_each(keep_sum);
}

}  // namespace calibrant
