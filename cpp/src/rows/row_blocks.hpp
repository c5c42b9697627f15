// How rows that are not events are read: workers, one a thread, each with a block of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "calibrant/runtime/parallel.hpp"
#include "kernels/kernels.hpp"
#include "rows/workers.hpp"

namespace calibrant {

// Calls visit(worker, row, block) for all n rows, in chunks on several threads; the block holds
// those from `row` on that are not omitted. Throws as for_each_chunk does; a chunk that holds a bad
// row is given to reject(begin, end), which throws.
template <class Block, class Rows, class Reject, class Visit>
void visit_blocks(const Rows& rows, std::size_t n, std::size_t chunk, std::size_t workers,
                  Poll poll, const Reject& reject, const Visit& visit) {
    std::vector<Block> blocks;
    blocks.reserve(workers);
    for (std::size_t i = 0; i < workers; ++i) blocks.emplace_back(rows);
    const std::size_t failed = for_each_chunk(
        n, chunk, workers, poll, [&](std::size_t worker, std::size_t begin, std::size_t end) {
            Block& block = blocks[worker];
            for (std::size_t row = begin; row < end; row += block_rows) {
                if (!block.load(rows, row, std::min(block_rows, end - row))) return false;
                visit(worker, row, block);
            }
            return true;
        });
    if (failed != npos) reject(failed, std::min(n, failed + chunk));
}

}  // namespace calibrant
