#include "cumulative/walk_turns.hpp"

#include "kernels/score_cells.hpp"

namespace calibrant {
namespace {

// What rows move the walk by, in the units of Walk.
struct Move {
    WalkSum total, up;  // all of it, and by the hits alone

    Move(std::uint32_t cell, const RowSums& rows) {
        const CellUnits units = units_of(cell);
        const auto shift = static_cast<unsigned>(units.exponent + Walk::grid);
        const auto part = [&](std::uint64_t n, Int128 offsets) {
            return static_cast<UInt128>(static_cast<Int128>(units.base) * n + offsets);
        };
        const UInt128 all = part(rows.n, rows.offsets), hit = part(rows.hits, rows.hit_offsets);
        total.add(rows.hits, Walk::grid);
        if (units.of_complement) {
            total.subtract(rows.n, Walk::grid);
            total.add(all, shift);
            up.add(hit, shift);
        } else {
            total.subtract(all, shift);
            up.add(rows.hits, Walk::grid);
            up.subtract(hit, shift);
        }
    }
};

template <class Visit>
void for_each_move(const CellParts& parts, const std::vector<RowSums>& sums, const Visit& visit) {
    for (std::uint32_t cell = cells::tail; cell < n_score_cells; ++cell) {
        for (std::size_t part = parts.first(cell); part < parts.first(cell + 1); ++part) {
            if (sums[part].n != 0) visit(cell, part, Move(cell, sums[part]));
        }
    }
}

}  // namespace

WalkTurns::WalkTurns(const CellParts& parts, const std::vector<RowSums>& sums,
                     const CellSet& ties) {
    WalkSum edge;
    for_each_move(parts, sums, [&](std::uint32_t, std::size_t, const Move& move) {
        edge += move.total;
        if (highest < edge) highest = edge;
        if (edge < lowest) lowest = edge;
    });
    edge = {};
    for_each_move(parts, sums, [&](std::uint32_t cell, std::size_t part, const Move& move) {
        const WalkSum begin = edge;
        WalkSum up = begin, down = edge += move.total;
        up += move.up;
        down -= move.up;
        if (!(highest < up || down < lowest) || ties[cell] != 0) return;
        turns.push_back({cell, part, begin});
        n += sums[part].n;
    });
}

CellSet WalkTurns::cells() const {
    CellSet result(n_score_cells, 0);
    for (const Turn& turn : turns) result[turn.cell] = 1;
    return result;
}

}  // namespace calibrant
