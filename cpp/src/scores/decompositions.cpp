#include "calibrant/scores/decompositions.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "calibrant/rows/check.hpp"
#include "calibration/isotonic.hpp"
#include "ordering/sorted_scores.hpp"

namespace calibrant {
namespace {

// Blocks whose sums are kept at once, some 100 MB a thread.
constexpr std::size_t blocks_at_once = std::size_t{1} << 18;

ExactSum square(const ExactSum& a) { return a * a; }

bool at_least_two(const ExactSum& weight) {
    ExactSum rest = weight;
    rest.add(-2.0);
    return rest.value().high >= 0.0;
}

ExactSum less_one(const ExactSum& weight) {
    ExactSum rest = weight;
    rest.add(-1.0);
    return rest;
}

// A bin, and the product of its weight and that of all, by which most parts are divided.
struct WeighedBin {
    const BrierBins::Bin& bin;
    ExactSum product;
    Scaled divisor;
};

// The parts of one bin, or of several: the total is a bin, too.
class Parts {
public:
    explicit Parts(BrierBins::Bin total)
        : total_(std::move(total)), square_(square(total_.weight)) {
        if (total_.weight.is_zero()) {
            throw InvalidInput("a decomposition needs a row with positive weight");
        }
    }

    [[nodiscard]] WeighedBin weighed(const BrierBins::Bin& bin) const {
        ExactSum product = bin.weight * total_.weight;
        const Scaled divisor = product.value();
        return {bin, std::move(product), divisor};
    }
    [[nodiscard]] DoubleDouble reliability(const WeighedBin& of) const {
        return quotient(square(difference(of.bin.hits, of.bin.scores)), of.divisor);
    }
    [[nodiscard]] DoubleDouble resolution(const WeighedBin& of) const {
        const ExactSum excess = difference(of.bin.hits * total_.weight,
                                           total_.hits * of.bin.weight);  // W W_k (o_k - o)
        return quotient(square(excess), (of.product * square_).value());
    }
    [[nodiscard]] DoubleDouble uncertainty() const {
        return quotient(total_.hits * misses(total_), square_.value());
    }
    [[nodiscard]] DoubleDouble variance(const WeighedBin& of) const {
        return quotient(difference(of.bin.weight * of.bin.squares, square(of.bin.scores)),
                        of.divisor);
    }
    [[nodiscard]] DoubleDouble covariance(const WeighedBin& of) const {
        const DoubleDouble half = quotient(
            difference(of.bin.weight * of.bin.hit_scores, of.bin.scores * of.bin.hits), of.divisor);
        return {2.0 * half.high, 2.0 * half.low};
    }
    // Reliability + variance - covariance: the sum of w (s - y)^2 less w (o_k - y)^2.
    [[nodiscard]] DoubleDouble miscalibration(const WeighedBin& of) const {
        ExactSum excess = of.bin.squares;
        excess.subtract(of.bin.hit_scores);
        excess.subtract(of.bin.hit_scores);
        excess = excess * of.bin.weight;
        excess.merge(square(of.bin.hits));
        return quotient(excess, of.divisor);
    }
    [[nodiscard]] DoubleDouble sampling_variance(const WeighedBin& of) const {
        return quotient(of.bin.hits * misses(of.bin),
                        (of.product * less_one(of.bin.weight)).value());
    }
    [[nodiscard]] DoubleDouble uncertainty_bias() const {
        if (!at_least_two(total_.weight)) {
            throw InvalidInput(
                "bias_corrected needs at least two rows, or a sum of sample_weight of at least 2, "
                "got " +
                number_text(total_.weight.to_double()));
        }
        return quotient(total_.hits * misses(total_), (square_ * less_one(total_.weight)).value());
    }

private:
    static ExactSum misses(const BrierBins::Bin& bin) { return difference(bin.weight, bin.hits); }

    BrierBins::Bin total_;
    ExactSum square_;  // of its weight
};

// Edges of blocks [from, to), with a bin for all scores below and one for all above, where there
// are such.
std::vector<double> edges_of(const std::vector<IsotonicBlock>& blocks, std::size_t from,
                             std::size_t to) {
    std::vector<double> edges{0.0};
    for (std::size_t k = std::max<std::size_t>(from, 1); k < to; ++k) {
        edges.push_back(blocks[k].first);
    }
    if (to < blocks.size()) edges.push_back(blocks[to].first);
    edges.push_back(1.0);
    return edges;
}

}  // namespace

void MurphyTerms::add(const MurphyTerms& other) {
    reliability = reliability + other.reliability;
    resolution = resolution + other.resolution;
    uncertainty = uncertainty + other.uncertainty;
    variance = variance + other.variance;
    covariance = covariance + other.covariance;
    uncorrected_bins += other.uncorrected_bins;
}

void CorpTerms::add(const CorpTerms& other) {
    miscalibration = miscalibration + other.miscalibration;
    discrimination = discrimination + other.discrimination;
    uncertainty = uncertainty + other.uncertainty;
}

MurphyTerms murphy_terms(const BrierBins& bins, bool bias_corrected) {
    const Parts parts(bins.total());
    MurphyTerms terms;
    terms.uncertainty = parts.uncertainty();
    DoubleDouble bias;
    for (const BrierBins::Bin& bin : bins.table()) {
        if (bin.weight.is_zero()) continue;
        const WeighedBin weighed = parts.weighed(bin);
        terms.reliability = terms.reliability + parts.reliability(weighed);
        terms.resolution = terms.resolution + parts.resolution(weighed);
        terms.variance = terms.variance + parts.variance(weighed);
        terms.covariance = terms.covariance + parts.covariance(weighed);
        if (!bias_corrected) continue;
        if (at_least_two(bin.weight)) {
            bias = bias + parts.sampling_variance(weighed);
        } else {
            ++terms.uncorrected_bins;
        }
    }
    if (bias_corrected) {
        const DoubleDouble uncertainty_bias = parts.uncertainty_bias();
        terms.reliability = terms.reliability - bias;
        terms.resolution = terms.resolution - bias + uncertainty_bias;
        terms.uncertainty = terms.uncertainty + uncertainty_bias;
    }
    return terms;
}

CorpTerms corp_terms(const ScoredRows& rows, Poll poll) {
    const std::vector<IsotonicBlock> blocks = isotonic_blocks(SortedScores(rows, poll), poll);
    CorpTerms terms;
    for (std::size_t from = 0; from == 0 || from < blocks.size(); from += blocks_at_once) {
        const std::size_t to = std::min(blocks.size(), from + blocks_at_once);
        BrierBins bins(Bins(edges_of(blocks, from, to)));
        bins.update(rows, 0, poll);
        const Parts parts(bins.total());
        terms.uncertainty = parts.uncertainty();
        const std::size_t first = from == 0 ? 0 : 1;
        for (std::size_t k = first; k < first + (to - from); ++k) {
            const BrierBins::Bin& bin = bins.table()[k];
            if (bin.weight.is_zero()) continue;  // the array has changed meanwhile
            const WeighedBin weighed = parts.weighed(bin);
            terms.miscalibration = terms.miscalibration + parts.miscalibration(weighed);
            terms.discrimination = terms.discrimination + parts.resolution(weighed);
        }
    }
    // Only weights that were rounded to a unit can do that, and by less than anything shows.
    if (terms.miscalibration.high < 0.0) terms.miscalibration = {};
    return terms;
}

}  // namespace calibrant
