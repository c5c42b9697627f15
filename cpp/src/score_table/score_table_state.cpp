// The saved form of a ScoreTable: written in canonical form, cross-checked when read.
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/score_table/score_table.hpp"
#include "kernels/score_cells.hpp"

namespace calibrant {
namespace {

// Of whole cells of rows: 1.
constexpr std::uint16_t version_of_list = 2;
constexpr std::uint16_t version_of_pairs = 3;

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
    if (model.powers() != named_profile(0.0).powers()) return false;
    if (!table.of_pairs()) {
        if (model.q_lim() != 0.0) return false;
        if (table.columns() != 1) return true;
    }
    ScoreTable::Sums all;
    for (const ScoreTable::Cell* cell : table.filled()) table.add_to(all, *cell);
    // What each event gave to the outcome. Of pairs that is the score of the true one, of which
    // each event has at most one; else p, or 1 - p, which the model has rounded.
    const ExactSum& events = table.of_pairs() ? all.hits : all.weight;
    const bool counted =
        table.of_pairs() ? model.count() <= table.count() : model.count() == table.count();
    if (!counted || model.omitted() != 0 || !difference(events, model.weight()).is_zero()) {
        return false;
    }
    if (events.is_zero()) return true;
    ExactSum given = all.hit_scores;
    if (!table.of_pairs()) {
        given.merge(difference(all.weight, all.hits));
        given.subtract(difference(all.scores, all.hit_scores));
    }
    constexpr double rounding = 0x1p-50;
    constexpr double underflow = 0x1p-1072;
    const double decisiveness = model.mean(0);
    const double accuracy = model.mean(1);
    const double robustness = model.mean(2);
    return std::fabs(decisiveness - mean(given, events)) <= rounding && robustness >= 0.0 &&
           robustness <= accuracy * (1.0 + rounding) + underflow &&
           accuracy <= decisiveness * (1.0 + rounding) + underflow;
}

}  // namespace

namespace {

double score_of(const ScoreTable::Cell& cell) { return std::bit_cast<double>(cell.part); }

// What is known of the rows of one score: all else follows.
void write_score(Writer& out, const ScoreTable::Cell& cell, const ScoreTable::Sums* sums) {
    out.f64(score_of(cell));
    out.u64(cell.n);
    out.u64(cell.zeros);
    out.u64(cell.ones);
    out.u64(cell.hits);
    if (cell.n == cell.ones) return;
    sums->weight.write(out);
    sums->hits.write(out);
}

struct ListedScore {
    ScoreTable::Cell cell;
    ScoreTable::Sums sums;
    bool good = false;
};

ExactSum times(const ExactSum& sum, double score) {
    ExactSum factor;
    factor.add(score);
    return factor * sum;
}

ListedScore read_score(Reader& in) {
    ListedScore result;
    ScoreTable::Cell& cell = result.cell;
    const double score = in.f64();
    cell.part = std::bit_cast<std::uint64_t>(score);
    cell.n = in.u64();
    cell.zeros = in.u64();
    cell.ones = in.u64();
    cell.hits = in.u64();
    const bool weighted = cell.ones < cell.n;
    if (weighted) {
        result.sums.weight = ExactSum::read(in);
        result.sums.hits = ExactSum::read(in);
    }
    if (!(score >= 0.0 && score <= 1.0) || std::signbit(score) || cell.empty() ||
        cell.ones > cell.n || cell.hits > cell.ones || cell.n > ScoreTable::most_listed_rows) {
        return result;
    }
    const ScorePlace place = place_of_score(score);
    cell.cell = place.cell;
    cell.offsets = static_cast<Int128>(place.offset) * cell.ones;
    cell.hit_offsets = static_cast<Int128>(place.offset) * cell.hits;
    if (cell.n != 0) cell.least = cell.greatest = score;
    ScoreTable::Sums& sums = result.sums;
    const auto negative = [](const ExactSum& sum) { return sum.value().high < 0.0; };
    if (weighted && (!(sums.weight.value().high > 0.0) || negative(sums.hits) ||
                     negative(difference(sums.weight, sums.hits)))) {
        return result;
    }
    ExactSum scored = sums.weight;
    ExactSum hit = sums.hits;
    if (cell.cell < cells::tail) {  // these have the scores of weight 1 in Sums, too
        scored.add(static_cast<Int128>(cell.ones), 0);
        hit.add(static_cast<Int128>(cell.hits), 0);
    }
    sums.scores = times(scored, score);
    sums.hit_scores = times(hit, score);
    result.good = true;
    return result;
}

}  // namespace

std::string ScoreTable::to_bytes() const {
    Writer out;
    out.u64(n_);
    out.u64(omitted_);
    out.u64(columns_);
    if (columns_ == 1 || of_pairs_) model_.write(out);
    out.u64(weights_.n);
    out.f64(weights_.largest);
    out.i64(weights_.lowest_bit);
    const std::vector<const Cell*> all = filled();
    out.u64(all.size());
    const bool is_list = lists_scores_ && columns_ != 0;
    for (const Cell* cell : all) {
        if (is_list) {
            const auto sums = sums_.find(cell->key());
            write_score(out, *cell, sums != sums_.end() ? &sums->second : nullptr);
            continue;
        }
        out.u32(cell->cell);
        out.u64(cell->n);
        out.u64(cell->zeros);
        out.u64(cell->ones);
        out.u64(cell->hits);
        write_int128(out, cell->offsets);
        write_int128(out, cell->hit_offsets);
        out.f64(cell->least);
        out.f64(cell->greatest);
        const auto sums = sums_.find(cell->key());
        out.u8(sums != sums_.end() ? 1 : 0);
        if (sums == sums_.end()) continue;
        sums->second.weight.write(out);
        sums->second.hits.write(out);
        sums->second.scores.write(out);
        sums->second.hit_scores.write(out);
    }
    return seal(kind, of_pairs_ ? version_of_pairs : is_list ? version_of_list : 1, out);
}

ScoreTable ScoreTable::from_bytes(std::string_view bytes) {
    constexpr std::size_t bytes_per_cell = 85;
    constexpr std::size_t bytes_per_score = 40;
    Reader in = open(bytes, kind, version_of_pairs);
    ScoreTable result;
    result.of_pairs_ = in.version() == version_of_pairs;
    result.n_ = in.u64();
    result.omitted_ = in.u64();
    result.columns_ = in.u64();
    if (result.columns_ == 1 || result.of_pairs_) result.model_ = RiskProfile::read(in);
    result.weights_.n = in.u64();
    result.weights_.largest = in.f64();
    result.weights_.lowest_bit = in.i64();
    const bool is_list = in.version() == version_of_list;
    result.lists_scores_ = !result.of_pairs_ && (is_list || result.columns_ == 0);
    const std::size_t count = in.count(is_list ? bytes_per_score : bytes_per_cell);
    bool good = true;
    std::uint64_t rows = 0;
    std::uint64_t weighted = 0;
    for (std::size_t i = 0; i < count && good && is_list; ++i) {
        ListedScore listed = read_score(in);
        const Cell& cell = listed.cell;
        const bool rises = result.cells_.empty() || cell.part > result.cells_.back().part;
        good = listed.good && rises && !__builtin_add_overflow(rows, cell.n, &rows) &&
               !__builtin_add_overflow(rows, cell.zeros, &rows);
        weighted += cell.n - cell.ones;
        result.cells_.push_back(cell);
        if (!needs_no_sums(cell)) result.sums_.emplace(cell.key(), std::move(listed.sums));
    }
    for (std::size_t i = 0; i < count && good && !is_list; ++i) {
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
        Sums& sums = result.sums_[cell.key()];
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
    std::uint64_t scores = 0;
    good = good && !__builtin_mul_overflow(result.n_, result.scores_per_event(), &scores);
    if (!good || rows != scores || weighted != weights.n || !weights_good ||
        (result.columns_ != 0) != any_rows ||
        (is_list && (result.n_ > most_listed_rows || result.omitted_ > most_listed_rows ||
                     result.n_ + result.omitted_ > most_listed_rows)) ||
        !possible_model(result) || result.to_bytes() != bytes) {
        throw CorruptState("malformed state: the cells of the ScoreTable do not add up");
    }
    return result;
}

}  // namespace calibrant
