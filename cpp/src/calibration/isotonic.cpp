#include "calibration/isotonic.hpp"

#include "numeric/wide_product.hpp"

namespace calibrant {
namespace {

// Whether a's frequency is below b's.
bool rises(const IsotonicBlock& a, const IsotonicBlock& b) {
    return product_less(a.hits, b.weight, b.hits, a.weight);
}

}  // namespace

std::vector<IsotonicBlock> isotonic_blocks(const SortedScores& sorted, Poll poll) {
    std::vector<IsotonicBlock> blocks;
    sorted.for_each_score(poll, [&](double score, UInt128 weight, UInt128 hits) {
        IsotonicBlock block{score, score, weight, hits};
        while (!blocks.empty() && !rises(blocks.back(), block)) {
            const IsotonicBlock& left = blocks.back();
            block.first = left.first;
            block.weight += left.weight;
            block.hits += left.hits;
            blocks.pop_back();
        }
        blocks.push_back(block);
    });
    return blocks;
}

}  // namespace calibrant
