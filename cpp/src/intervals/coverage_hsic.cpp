#include "calibrant/intervals/coverage_hsic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "intervals/box_counter.hpp"
#include "intervals/multipass_widths.hpp"
#include "intervals/width_boxes.hpp"
#include "kernels/box_kernels.hpp"
#include "kernels/kernels.hpp"
#include "rows/interval_blocks.hpp"

namespace calibrant {
namespace {

constexpr std::uint64_t boxes_in_hand = std::uint64_t{1} << 16;
constexpr std::int64_t key_limit = std::int64_t{1} << 51;

[[noreturn]] void reject_boxes(std::uint64_t max_boxes, double bandwidth) {
    throw TooManyBoxes("the widths fall into more than max_boxes=" + std::to_string(max_boxes) +
                       " boxes of 1/16 of the bandwidth " + number_text(bandwidth) +
                       "; pass a larger max_boxes (152 bytes each) or bandwidth");
}

[[noreturn]] void reject_width(const IntervalBlock& block, std::size_t level, std::size_t row,
                               double bandwidth) {
    for (std::size_t i = 0; i < block.n(); ++i) {
        const double width = block.width(level)[i];
        if (width * (16.0 / bandwidth) < most_boxes) continue;
        // Where rows were omitted, the place is lost.
        const std::string at = block.omitted() == 0 ? " at " + place_text({row + i}) : "";
        throw InvalidInput("intervals must be narrower than 2^46 bandwidths, found a width of " +
                           number_text(width) + at + " for the bandwidth " +
                           number_text(bandwidth));
    }
    throw InvalidInput("the arrays changed while they were being read");
}

void require_rows(std::uint64_t n, HsicEstimator estimator) {
    const std::uint64_t least = estimator == HsicEstimator::unbiased ? 4 : 2;
    if (n >= least) return;
    throw InvalidInput(
        std::string(estimator == HsicEstimator::unbiased ? "an unbiased HSIC" : "an HSIC") +
        " needs at least " + std::to_string(least) + " rows, got " + std::to_string(n));
}

// From the forms of the boxes to the statistic; see width_boxes.hpp for the scales.
double hsic_of(const BoxForms& forms, std::uint64_t uncovered, std::uint64_t covered,
               double coverage_bandwidth, HsicEstimator estimator) {
    const auto n0 = static_cast<double>(uncovered), n1 = static_cast<double>(covered);
    const double n = n0 + n1;
    const double contrast = 2.0 * one_minus_exp(0.5 / coverage_bandwidth / coverage_bandwidth);
    const double form = forms.centred / n / n;
    if (estimator == HsicEstimator::biased) return contrast * (form / n / n);
    if (estimator == HsicEstimator::gretton) return contrast * (form / (n - 1.0) / (n - 1.0));
    // U-centring of K leaves, with r_i = sum_{j != i} K_ij and A = sum a_i^2:
    // a'Ka - A + 2 / (n - 2) sum r_i a_i^2 - A sum r_i / ((n - 1) (n - 2))
    const double squares = n0 * n1 / n;
    const double weighted = forms.squares / n / n - squares;
    const double off_diagonal = forms.all - n;
    const double sum = (form - squares) + 2.0 * weighted / (n - 2.0) -
                       squares * (off_diagonal / ((n - 1.0) * (n - 2.0)));
    return contrast * (sum / n / (n - 3.0));
}

}  // namespace

// One thread's share of an update.
class CoverageHsicWorker {
public:
    CoverageHsicWorker(const CoverageHsic& parameters, std::size_t n_levels)
        : max_boxes_(parameters.max_boxes_),
          bandwidth_(parameters.bandwidths_.width),
          counters_(n_levels, BoxCounter(BoxGrid(bandwidth_))),
          levels_(n_levels) {}

    void add(std::size_t row, const IntervalBlock& block) {
        n_ += block.n();
        omitted_ += block.omitted();
        std::uint64_t boxes = 0;
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            const double* const width = block.width(level);
            BoxCounter& counter = counters_[level];
            if (!counter.add(width, block.excess(level), block.n())) {
                reject_width(block, level, row, bandwidth_);
            }
            auto& [cells, least, most] = levels_[level];
            kernels().boxes->extremes(width, block.n(), &least, &most);
            if (counter.rows() + block_rows > BoxCounter::most_rows) counter.flush_into(cells);
            boxes += std::max<std::uint64_t>(counter.size(), cells.size());
        }
        if (boxes > max_boxes_) reject_boxes(max_boxes_, bandwidth_);
    }

    void finish_into(CoverageHsic& total) {
        CoverageHsic part = total.empty();
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            counters_[level].flush_into(levels_[level].cells);
        }
        part.n_ = n_;
        part.omitted_ = omitted_;
        part.levels_ = std::move(levels_);
        total.merge(part);
    }

private:
    std::uint64_t max_boxes_;
    double bandwidth_;
    std::vector<BoxCounter> counters_;
    std::vector<CoverageHsic::Level> levels_;
    std::uint64_t n_ = 0, omitted_ = 0;
};

CoverageHsic::CoverageHsic(HsicBandwidths bandwidths, std::uint64_t max_boxes)
    : bandwidths_(bandwidths), max_boxes_(max_boxes) {
    for (const double h : {bandwidths.width, bandwidths.coverage}) {
        if (h >= 1e-150 && h <= 1e150) continue;
        throw InvalidInput("bandwidths must lie in [1e-150, 1e150], found " + number_text(h));
    }
}

void CoverageHsic::update(const IntervalRows& rows, std::uint64_t rows_before, Poll poll) {
    const std::size_t workers = workers_of(rows);
    std::vector<CoverageHsicWorker> team(workers, CoverageHsicWorker(*this, rows.n_levels()));
    for_each_block(rows, workers, rows_before, poll,
                   [&](std::size_t worker, std::size_t row, const IntervalBlock& block) {
                       team[worker].add(row, block);
                   });
    CoverageHsic batch = empty();
    for (CoverageHsicWorker& worker : team) worker.finish_into(batch);
    merge(batch);
}

void CoverageHsic::merge(const CoverageHsic& other) {
    if (other.bandwidths_.width != bandwidths_.width ||
        other.bandwidths_.coverage != bandwidths_.coverage) {
        throw std::invalid_argument("cannot merge CoverageHSIC of other bandwidths");
    }
    const std::uint64_t n = checked_add(n_, other.n_);
    const std::uint64_t omitted = checked_add(omitted_, other.omitted_);
    if (other.n_ > 0 && n_ > 0 && other.n_levels() != n_levels()) {
        throw std::invalid_argument("cannot merge CoverageHSIC of " +
                                    std::to_string(other.n_levels()) + " levels into one of " +
                                    std::to_string(n_levels()));
    }
    if (other.n_ > 0 && n_ == 0) {
        if (other.n_boxes() > max_boxes_) reject_boxes(max_boxes_, bandwidths_.width);
        levels_ = other.levels_;
    } else if (other.n_ > 0) {
        std::uint64_t boxes = n_boxes();
        for (std::size_t level = 0; level < n_levels(); ++level) {
            for (const auto& [key, cell] : other.levels_[level].cells) {
                boxes += levels_[level].cells.contains(key) ? 0U : 1U;
            }
        }
        if (boxes > max_boxes_) reject_boxes(max_boxes_, bandwidths_.width);
        for (std::size_t level = 0; level < n_levels(); ++level) {
            Level& mine = levels_[level];
            const Level& theirs = other.levels_[level];
            for (const auto& [key, cell] : theirs.cells) {
                const BoxCell copy = cell;  // of my own, should I be merged with myself
                mine.cells[key].merge(copy);
            }
            mine.least = std::min(mine.least, theirs.least);
            mine.most = std::max(mine.most, theirs.most);
        }
    }
    n_ = n;
    omitted_ = omitted;
}

std::uint64_t CoverageHsic::n_boxes() const {
    std::uint64_t boxes = 0;
    for (const Level& level : levels_) boxes += level.cells.size();
    return boxes;
}

std::vector<CoverageHsicValue> CoverageHsic::values(HsicEstimator estimator) const {
    require_rows(n_, estimator);
    std::vector<CoverageHsicValue> values;
    for (const Level& level : levels_) {
        std::uint64_t covered = 0;
        for (const auto& [key, cell] : level.cells) covered += (key & 1) != 0 ? cell.count : 0;
        const std::uint64_t uncovered = n_ - covered;
        BoxFormer former(uncovered, covered, estimator == HsicEstimator::unbiased);
        for (const auto& [key, cell] : level.cells) former.add(key, cell);
        const double hsic =
            hsic_of(former.finish(), uncovered, covered, bandwidths_.coverage, estimator);
        values.push_back({hsic, covered, level.least, level.most});
    }
    return values;
}

std::string CoverageHsic::to_bytes() const {
    Writer out;
    out.f64(bandwidths_.width);
    out.f64(bandwidths_.coverage);
    out.u64(max_boxes_);
    out.u64(n_);
    out.u64(omitted_);
    out.u64(levels_.size());
    for (const Level& level : levels_) {
        out.f64(level.least);
        out.f64(level.most);
        out.u64(level.cells.size());
        for (const auto& [key, cell] : level.cells) {
            out.i64(key);
            out.u64(cell.count);
            for (const Int128 power : cell.powers) {
                out.u64(static_cast<std::uint64_t>(power));
                out.i64(static_cast<std::int64_t>(power >> 64));
            }
        }
    }
    return seal(kind, 1, out);
}

CoverageHsic CoverageHsic::from_bytes(std::string_view bytes) {
    Reader in = open(bytes, kind, 1);
    const double width = in.f64(), coverage = in.f64();
    const std::uint64_t max_boxes = in.u64();
    const auto reject_state = [](const char* what) {
        throw CorruptState(std::string("malformed state: ") + what);
    };
    for (const double h : {width, coverage}) {
        if (!(h >= 1e-150 && h <= 1e150)) reject_state("bandwidths out of range");
    }
    CoverageHsic result({width, coverage}, max_boxes);
    result.n_ = in.u64();
    result.omitted_ = in.u64();
    const std::size_t n_levels = in.count(24);
    if ((n_levels == 0) != (result.n_ == 0)) reject_state("levels without rows, or none with rows");
    constexpr std::size_t cell_bytes = 16 + 16 * BoxCell::n_powers;
    for (std::size_t i = 0; i < n_levels; ++i) {
        Level& level = result.levels_.emplace_back();
        level.least = in.f64();
        level.most = in.f64();
        const bool ordered = level.least >= 0.0 && level.least <= level.most;
        if (!ordered || std::isinf(level.most)) reject_state("widths out of order");
        std::uint64_t rows = 0;
        std::int64_t before = -1;
        for (std::size_t left = in.count(cell_bytes); left > 0; --left) {
            const std::int64_t key = in.i64();
            if (key <= before || key >= key_limit) reject_state("boxes out of order");
            before = key;
            BoxCell cell;
            cell.count = in.u64();
            if (cell.count == 0 || cell.count > result.n_ - rows) reject_state("counts disagree");
            rows += cell.count;
            for (std::size_t k = 0; k < BoxCell::n_powers; ++k) {
                const std::uint64_t low = in.u64();
                const Int128 high = in.i64();
                cell.powers[k] = static_cast<Int128>((static_cast<UInt128>(high) << 64) | low);
                // |v| <= 1, but for its rounding
                const Int128 most = static_cast<Int128>(cell.count) << (k < 2 ? 62 : 40);
                const Int128 slack = most >> 32;
                if (cell.powers[k] > most + slack || cell.powers[k] < -most - slack) {
                    reject_state("moments disagree with counts");
                }
            }
            level.cells.emplace_hint(level.cells.end(), key, cell);
        }
        if (rows != result.n_) reject_state("counts disagree");
    }
    in.finish();
    if (result.n_boxes() > max_boxes) reject_state("more boxes than it may have");
    return result;
}

CoverageHsicValues coverage_hsic(const IntervalRows& rows, HsicBandwidths bandwidths,
                                 HsicEstimator estimator, Poll poll) {
    CoverageHsic total(bandwidths, boxes_in_hand);
    try {
        total.update(rows, 0, poll);
        return {total.values(estimator), total.count(), total.omitted()};
    } catch (const TooManyBoxes&) {
        CoverageHsicValues result{{}, 0, 0};
        for (std::size_t level = 0; level < rows.n_levels(); ++level) {
            const MultipassWidths widths(rows, level, poll);
            result.n = widths.count();
            require_rows(result.n, estimator);
            BoxFormer former(widths.uncovered(), widths.covered(),
                             estimator == HsicEstimator::unbiased);
            widths.add_boxes(bandwidths.width, former);
            const double hsic = hsic_of(former.finish(), widths.uncovered(), widths.covered(),
                                        bandwidths.coverage, estimator);
            result.levels.push_back({hsic, widths.covered(), widths.least(), widths.most()});
        }
        result.omitted = rows.size() - result.n;
        return result;
    }
}

}  // namespace calibrant
