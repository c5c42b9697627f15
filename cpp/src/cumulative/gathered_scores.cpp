#include "cumulative/gathered_scores.hpp"

#include "kernels/kernels.hpp"
#include "kernels/score_cells.hpp"

#include <algorithm>

namespace calibrant {
namespace {

// What is looked for, and the cells that it is in.
struct Wanted {
    const CellParts& parts;
    CellSet cells;
    std::vector<std::uint8_t> of_part;

    Wanted(const CellParts& all, const std::vector<std::size_t>& chosen)
        : parts(all), cells(n_score_cells, 0), of_part(all.size(), 0) {
        for (const std::size_t part : chosen) of_part[part] = 1;
        for (std::size_t cell = 0; cell < n_score_cells; ++cell) {
            const auto begin = of_part.begin();
            const auto first = static_cast<std::ptrdiff_t>(parts.first(cell));
            const auto end = static_cast<std::ptrdiff_t>(parts.first(cell + 1));
            cells[cell] = std::find(begin + first, begin + end, 1) != begin + end ? 1 : 0;
        }
    }
};

// Most rows are in cells that are not wanted, and that is quickly seen.
void gather(const ShownRows& rows, const Wanted& wanted, std::vector<ScoreKey>& keys) {
    alignas(64) std::uint32_t cell[block_rows];
    ScoreKey found[block_rows];
    kernels().cells(rows.score, rows.n, cell);
    std::size_t n = 0;
    for (std::size_t i = 0; i < rows.n; ++i) {
        if (i % rows_per_prefetch == 0) {
            prefetch(rows.ahead, i / rows_per_prefetch, block_rows / rows_per_prefetch);
        }
        found[n] = ScoreKey::of(rows.score[i], rows.hit[i] != 0);
        n += wanted.cells[cell[i]];
    }
    for (std::size_t k = 0; k < n; ++k) {
        if (wanted.of_part[wanted.parts.of(found[k].score())] != 0) keys.push_back(found[k]);
    }
}

}  // namespace

GatheredScores::GatheredScores(const CellParts& parts, const std::vector<std::size_t>& chosen,
                               const std::vector<RowSums>& sums, const Rereader& rows, Poll poll)
    : ranges_(parts.size()) {
    const Wanted wanted(parts, chosen);
    std::vector<std::vector<ScoreKey>> found(rows.workers);
    rows.show(wanted.cells, [&](std::size_t worker, const ShownRows& shown) {
        gather(shown, wanted, found[worker]);
    });
    std::size_t n = 0;
    for (const std::size_t part : chosen) {
        ranges_[part].begin = ranges_[part].end = n;
        n += sums[part].n;
    }
    keys_.resize(n);
    put(parts, sums, found);
    for (const std::size_t part : chosen) {
        if (ranges_[part].end - ranges_[part].begin != sums[part].n) reject_changed_rows();
    }
    for_each_chunk(chosen.size(), 1, workers_for(n, 4096), poll,
                   [&](std::size_t, std::size_t k, std::size_t) {
                       const Range range = ranges_[chosen[k]];
                       std::sort(keys_.data() + range.begin, keys_.data() + range.end,
                                 [](ScoreKey a, ScoreKey b) { return a.bits < b.bits; });
                       return true;
                   });
}

void GatheredScores::put(const CellParts& parts, const std::vector<RowSums>& sums,
                         const std::vector<std::vector<ScoreKey>>& found) {
    for (const auto& keys : found) {
        for (const ScoreKey key : keys) {
            const std::size_t part = parts.of(key.score());
            Range& range = ranges_[part];
            if (range.end - range.begin == sums[part].n) reject_changed_rows();
            keys_[range.end++] = key;
        }
    }
}

void GatheredScores::walk(Walk& walk, std::size_t part) const {
    const Range range = ranges_[part];
    for (std::size_t i = range.begin; i < range.end;) {
        const double score = keys_[i].score();
        std::uint64_t rows = 0, hits = 0;
        for (; i < range.end && keys_[i].score() == score; ++i) {
            ++rows;
            hits += keys_[i].hit() ? 1U : 0U;
        }
        walk.step(score, rows, hits);
    }
}

}  // namespace calibrant
