// HSIC between the width of prediction intervals and whether they cover (Feldman, Bates and Romano
// 2021), for one or many levels, in one pass and linear time.
//
// With K_ij = exp(-(w_i - w_j)^2 / (2 h^2)) for the widths, L_ij = exp(-(c_i - c_j)^2 / (2 g^2))
// for the indicators c of coverage, which is 1 or b = exp(-1 / (2 g^2)), H the centring matrix and
// a the centred indicator,
//
//     trace(K H L H) = 2 (1 - b) a'Ka
//
// and the form a'Ka comes from boxes along the widths (width_boxes.hpp), which also has the
// accuracy. Estimators: biased, trace / n^2; gretton, trace / (n - 1)^2 (Gretton et al. 2005);
// unbiased, the U-statistic of Song et al. (2012), which can be negative and is accurate relative
// to its terms, not to itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "calibrant/numeric/sum.hpp"
#include "calibrant/rows/check.hpp"
#include "calibrant/rows/interval_rows.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "calibrant/state/bytes.hpp"

namespace calibrant {

enum class HsicEstimator : std::uint8_t { biased, gretton, unbiased };

struct HsicBandwidths {
    double width, coverage;
};

// What one level amounts to.
struct CoverageHsicValue {
    double hsic;
    std::uint64_t covered;
    double least_width, most_width;
};

// The widths are so far apart that the accumulator would need more than its bound of memory.
class TooManyBoxes : public InvalidInput {
public:
    using InvalidInput::InvalidInput;
};

// The rows of a box (width_boxes.hpp) that are covered, or of those that are not: their number and
// the sums of the powers v^1 .. v^9 of their places v in the box.
struct BoxCell {
    static constexpr std::size_t n_powers = 9;

    std::uint64_t count = 0;
    // In units of 2^-62 (v and v^2) and of 2^-40. They cannot overflow: |v| <= 1, counts < 2^64.
    std::array<Int128, n_powers> powers{};

    // Adds `rows` rows, whose terms were summed limb by limb.
    void add(std::uint64_t rows, const std::uint64_t* limbs);
    void merge(const BoxCell& other);
};

// By box, then by the indicator: key = 2 box + covered.
using BoxCells = std::map<std::int64_t, BoxCell>;

class CoverageHsic {
public:
    static constexpr Kind kind = Kind::coverage_hsic;

    // Bandwidths in [1e-150, 1e150]. max_boxes counts boxes of all levels, those of covered and
    // uncovered rows apart.
    CoverageHsic(HsicBandwidths bandwidths, std::uint64_t max_boxes);

    [[nodiscard]] CoverageHsic empty() const { return {bandwidths_, max_boxes_}; }

    // Adds the rows, on several threads where they are many. If a row is bad, the boxes too many or
    // the poll says stop, throws and leaves this as it was. rows_before is for messages only.
    void update(const IntervalRows& rows, std::uint64_t rows_before, Poll poll);
    void merge(const CoverageHsic& other);

    [[nodiscard]] std::uint64_t count() const { return n_; }
    [[nodiscard]] std::uint64_t omitted() const { return omitted_; }
    [[nodiscard]] std::uint64_t n_boxes() const;
    [[nodiscard]] std::uint64_t max_boxes() const { return max_boxes_; }
    [[nodiscard]] HsicBandwidths bandwidths() const { return bandwidths_; }
    [[nodiscard]] std::size_t n_levels() const { return levels_.size(); }

    // One a level. Throws InvalidInput with less than 2 rows, for the unbiased one less than 4.
    [[nodiscard]] std::vector<CoverageHsicValue> values(HsicEstimator estimator) const;

    [[nodiscard]] std::string to_bytes() const;
    static CoverageHsic from_bytes(std::string_view bytes);

private:
    struct Level {
        BoxCells cells;
        double least = std::numeric_limits<double>::infinity();
        double most = 0.0;
    };

    friend class CoverageHsicWorker;

    HsicBandwidths bandwidths_;
    std::uint64_t max_boxes_;
    std::uint64_t n_ = 0;
    std::uint64_t omitted_ = 0;
    std::vector<Level> levels_;  // none before the first rows
};

struct CoverageHsicValues {
    std::vector<CoverageHsicValue> levels;
    std::uint64_t n, omitted;
};

// The same values, to the bit, for arrays in hand. However far apart the widths are: past 2^16
// boxes they are sorted range by range, in at most 64 MB unless very many are close together.
[[nodiscard]] CoverageHsicValues coverage_hsic(const IntervalRows& rows, HsicBandwidths bandwidths,
                                               HsicEstimator estimator, Poll poll);

}  // namespace calibrant
