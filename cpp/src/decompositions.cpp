#include "calibrant/decompositions.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "calibrant/check.hpp"
#include "calibrant/isotonic.hpp"
#include "calibrant/sorted_scores.hpp"

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

// The parts of one bin, or of several: the total is a bin, too.
class Parts {
public:
    explicit Parts(BrierBins::Bin total) : total_(std::move(total)) {
        if (total_.weight.is_zero()) {
            throw InvalidInput("a decomposition needs a row with positive weight");
        }
    }

    [[nodiscard]] DoubleDouble reliability(const BrierBins::Bin& bin) const {
        return quotient(square(difference(bin.hits, bin.scores)), bin.weight * total_.weight);
    }
    [[nodiscard]] DoubleDouble resolution(const BrierBins::Bin& bin) const {
        const ExactSum excess =
            difference(bin.hits * total_.weight, total_.hits * bin.weight);  // W W_k (o_k - o)
        return quotient(square(excess), bin.weight * total_.weight * square(total_.weight));
    }
    [[nodiscard]] DoubleDouble uncertainty() const {
        return quotient(total_.hits * misses(total_), square(total_.weight));
    }
    [[nodiscard]] DoubleDouble variance(const BrierBins::Bin& bin) const {
        return quotient(difference(bin.weight * bin.squares, square(bin.scores)),
                        bin.weight * total_.weight);
    }
    [[nodiscard]] DoubleDouble covariance(const BrierBins::Bin& bin) const {
        const DoubleDouble half =
            quotient(difference(bin.weight * bin.hit_scores, bin.scores * bin.hits),
                     bin.weight * total_.weight);
        return {2.0 * half.high, 2.0 * half.low};
    }
    // Reliability + variance - covariance: the sum of w (s - y)^2 less w (o_k - y)^2.
    [[nodiscard]] DoubleDouble miscalibration(const BrierBins::Bin& bin) const {
        ExactSum excess = bin.squares;
        excess.subtract(bin.hit_scores);
        excess.subtract(bin.hit_scores);
        excess = excess * bin.weight;
        excess.merge(square(bin.hits));
        return quotient(excess, bin.weight * total_.weight);
    }
    [[nodiscard]] DoubleDouble sampling_variance(const BrierBins::Bin& bin) const {
        return quotient(bin.hits * misses(bin), bin.weight * less_one(bin.weight) * total_.weight);
    }
    [[nodiscard]] DoubleDouble uncertainty_bias() const {
        if (!at_least_two(total_.weight)) {
            throw InvalidInput(
                "bias_corrected needs at least two rows, or a sum of sample_weight of at least 2, "
                "got " +
                number_text(total_.weight.to_double()));
        }
        return quotient(total_.hits * misses(total_),
                        square(total_.weight) * less_one(total_.weight));
    }

private:
    static ExactSum misses(const BrierBins::Bin& bin) { return difference(bin.weight, bin.hits); }

    BrierBins::Bin total_;
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
        terms.reliability = terms.reliability + parts.reliability(bin);
        terms.resolution = terms.resolution + parts.resolution(bin);
        terms.variance = terms.variance + parts.variance(bin);
        terms.covariance = terms.covariance + parts.covariance(bin);
        if (!bias_corrected) continue;
        if (at_least_two(bin.weight)) {
            bias = bias + parts.sampling_variance(bin);
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
            terms.miscalibration = terms.miscalibration + parts.miscalibration(bin);
            terms.discrimination = terms.discrimination + parts.resolution(bin);
        }
    }
    // Only weights that were rounded to a unit can do that, and by less than anything shows.
    if (terms.miscalibration.high < 0.0) terms.miscalibration = {};
    return terms;
}

}  // namespace calibrant
