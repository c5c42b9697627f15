// The saved form of a ScoreTable: written in canonical form, cross-checked when read.
#include <algorithm>
#include <cmath>

#include "calibrant/double_double.hpp"
#include "calibrant/score_table.hpp"

namespace calibrant {
namespace {

void write_int128(Writer& out, Int128 value) {
    out.u64(static_cast<std::uint64_t>(value));
    out.i64(static_cast<std::int64_t>(value >> 64));
}

Int128 read_int128(Reader& in) {
    const std::uint64_t low = in.u64();
    const std::int64_t high = in.i64();
    return (static_cast<Int128>(high) << 64) + static_cast<Int128>(low);
}

// Whether so many scores between least and greatest can have these offsets.
bool possible_offsets(const ScoreTable::Cell& cell, std::uint64_t rows, Int128 offsets) {
    const std::int64_t a = place_of_score(cell.least).offset;
    const std::int64_t b = place_of_score(cell.greatest).offset;
    return offsets >= static_cast<Int128>(std::min(a, b)) * rows &&
           offsets <= static_cast<Int128>(std::max(a, b)) * rows;
}

bool needs_no_sums(const ScoreTable::Cell& cell) {
    return cell.n == cell.ones && (cell.cell >= cells::tail || cell.greatest == 0.0);
}

bool possible(const ScoreTable::Cell& cell) {
    if (cell.empty() || cell.ones > cell.n || cell.hits > cell.ones) return false;
    if (cell.n == 0) {
        return cell.least == 1.0 && cell.greatest == 0.0 && cell.offsets == 0 &&
               cell.hit_offsets == 0;
    }
    const auto in_cell = [&](double score) {
        return !std::signbit(score) && score <= 1.0 && cell_of_score(score) == cell.cell;
    };
    return in_cell(cell.least) && in_cell(cell.greatest) && cell.least <= cell.greatest &&
           (cell.n > 1 || cell.least == cell.greatest) &&
           possible_offsets(cell, cell.ones, cell.offsets) &&
           possible_offsets(cell, cell.hits, cell.hit_offsets) &&
           possible_offsets(cell, cell.ones - cell.hits, cell.offsets - cell.hit_offsets);
}

// Whether the mean of the scores can lie between least and greatest.
bool possible_mean(const ScoreTable::Cell& cell, const ExactSum& weight, const ExactSum& scores) {
    if (weight.value().high < 0.0 || scores.value().high < 0.0) return false;
    if (weight.is_zero()) return scores.is_zero();
    const double found = mean(scores, weight);
    return found >= cell.least && found <= cell.greatest;
}

bool possible(const ScoreTable& table, const ScoreTable::Cell& cell, const ScoreTable::Sums& sums) {
    if ((cell.n > cell.ones) == sums.weight.is_zero() || sums.is_zero()) return false;
    if (needs_no_sums(cell)) return false;
    const auto not_negative = [](const ExactSum& sum) { return sum.value().high >= 0.0; };
    if (!not_negative(sums.hits) || !not_negative(difference(sums.weight, sums.hits))) return false;
    ScoreTable::Sums all;
    table.add_to(all, cell);
    return possible_mean(cell, all.weight, all.scores) &&
           possible_mean(cell, all.hits, all.hit_scores) &&
           possible_mean(cell, difference(all.weight, all.hits),
                         difference(all.scores, all.hit_scores));
}

bool possible_model(const ScoreTable& table) {
    const RiskProfile& model = table.model();
    const RiskProfile expected = named_profile(0.0);
    if (model.powers() != expected.powers() || model.q_lim() != expected.q_lim()) return false;
    if (table.columns() != 1) return true;
    ScoreTable::Sums all;
    for (const ScoreTable::Cell* cell : table.filled()) table.add_to(all, *cell);
    if (model.count() != table.count() || model.omitted() != 0 ||
        !difference(all.weight, model.weight()).is_zero()) {
        return false;
    }
    if (all.weight.is_zero()) return true;
    // p over hits and 1 - p, which the model has rounded, over the rest; then means in their order.
    ExactSum given = difference(all.weight, all.hits);
    given.subtract(difference(all.scores, all.hit_scores));
    given.merge(all.hit_scores);
    constexpr double rounding = 0x1p-50;
    constexpr double underflow = 0x1p-1072;
    const double decisiveness = model.mean(0);
    const double accuracy = model.mean(1);
    const double robustness = model.mean(2);
    return std::fabs(decisiveness - mean(given, all.weight)) <= rounding && robustness >= 0.0 &&
           robustness <= accuracy * (1.0 + rounding) + underflow &&
           accuracy <= decisiveness * (1.0 + rounding) + underflow;
}

}  // namespace

std::string ScoreTable::to_bytes() const {
    Writer out;
    out.u64(n_);
    out.u64(omitted_);
    out.u64(columns_);
    if (columns_ == 1) model_.write(out);
    out.u64(weights_.n);
    out.f64(weights_.largest);
    out.i64(weights_.lowest_bit);
    const std::vector<const Cell*> all = filled();
    out.u64(all.size());
    for (const Cell* cell : all) {
        out.u32(cell->cell);
        out.u64(cell->n);
        out.u64(cell->zeros);
        out.u64(cell->ones);
        out.u64(cell->hits);
        write_int128(out, cell->offsets);
        write_int128(out, cell->hit_offsets);
        out.f64(cell->least);
        out.f64(cell->greatest);
        const auto sums = sums_.find(cell->cell);
        out.u8(sums != sums_.end() ? 1 : 0);
        if (sums == sums_.end()) continue;
        sums->second.weight.write(out);
        sums->second.hits.write(out);
        sums->second.scores.write(out);
        sums->second.hit_scores.write(out);
    }
    return seal(kind, 1, out);
}

ScoreTable ScoreTable::from_bytes(std::string_view bytes) {
    constexpr std::size_t bytes_per_cell = 85;
    Reader in = open(bytes, kind, 1);
    ScoreTable result;
    result.n_ = in.u64();
    result.omitted_ = in.u64();
    result.columns_ = in.u64();
    if (result.columns_ == 1) result.model_ = RiskProfile::read(in);
    result.weights_.n = in.u64();
    result.weights_.largest = in.f64();
    result.weights_.lowest_bit = in.i64();
    const std::size_t count = in.count(bytes_per_cell);
    bool good = true;
    std::uint64_t rows = 0;
    std::uint64_t weighted = 0;
    for (std::size_t i = 0; i < count && good; ++i) {
        Cell cell;
        cell.cell = in.u32();
        cell.n = in.u64();
        cell.zeros = in.u64();
        cell.ones = in.u64();
        cell.hits = in.u64();
        cell.offsets = read_int128(in);
        cell.hit_offsets = read_int128(in);
        cell.least = in.f64();
        cell.greatest = in.f64();
        const std::uint8_t has_sums = in.u8();
        const bool rises = result.cells_.empty() || cell.cell > result.cells_.back().cell;
        good = cell.cell < n_score_cells && rises && has_sums <= 1 && possible(cell) &&
               !__builtin_add_overflow(rows, cell.n, &rows) &&
               !__builtin_add_overflow(rows, cell.zeros, &rows) &&
               (has_sums != 0 || needs_no_sums(cell));
        weighted += cell.n - cell.ones;
        result.cells_.push_back(cell);
        if (!good || has_sums == 0) continue;
        Sums& sums = result.sums_[cell.cell];
        sums.weight = ExactSum::read(in);
        sums.hits = ExactSum::read(in);
        sums.scores = ExactSum::read(in);
        sums.hit_scores = ExactSum::read(in);
        good = possible(result, cell, sums);
    }
    if (good) in.finish();
    const Weights& weights = result.weights_;
    const bool weights_good =
        weights.n == 0
            ? weights.largest == 0.0 && weights.lowest_bit == 0
            : weights.largest > 0.0 && weights.largest <= 0x1.fffffffffffffp+1023 &&
                  weights.lowest_bit >= -1074 && weights.lowest_bit <= std::ilogb(weights.largest);
    const bool any_rows = result.n_ != 0 || result.omitted_ != 0;
    if (!good || rows != result.n_ || weighted != weights.n || !weights_good ||
        (result.columns_ != 0) != any_rows || !possible_model(result) ||
        result.to_bytes() != bytes) {
        throw CorruptState("malformed state: the cells of the ScoreTable do not add up");
    }
    return result;
}

}  // namespace calibrant
