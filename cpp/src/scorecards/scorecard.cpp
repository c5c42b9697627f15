#include "calibrant/scorecards/scorecard.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/rows/check.hpp"
#include "scorecards/scorecard_sums.hpp"

namespace calibrant {
namespace {

using Cell = ScorecardSums::Cell;

constexpr auto all_scores = ScoreSet().with(Score::brier).with(Score::log).with(Score::spherical);

// 0 <= part <= whole.
bool is_part(const ExactSum& part, const ExactSum& whole) {
    return part.value().high >= 0.0 && difference(whole, part).value().high >= 0.0;
}

bool are_equal(const ExactSum& a, const ExactSum& b) { return difference(a, b).is_zero(); }

ExactSum sum_of(const std::vector<ExactSum>& parts) {
    ExactSum total;
    for (const ExactSum& part : parts) total.merge(part);
    return total;
}

template <class Value>
ExactSum sum_of_cells(const ScorecardSums& sums, Value Cell::* value) {
    ExactSum total;
    for (const Cell& cell : sums.cells) total.merge(cell.*value);
    return total;
}

RiskProfile profile_of(const RiskProfile& parameters, const ScorecardSums& sums) {
    return {parameters,
            sums.rows,
            sum_of_cells(sums, &Cell::weight),
            {sums.terms.begin(), sums.terms.begin() + 3}};
}

ScoreSums scores_of(const ScoreSums& parameters, const ScorecardSums& sums) {
    std::vector<ExactSum> class_weight = sums.class_weight;
    if (sums.columns == 1) {
        class_weight.resize(2);
        for (std::size_t i = 0; i < sums.cells.size(); ++i) {
            class_weight[i % 2].merge(sums.cells[i].weight);
        }
    }
    return {parameters,
            sums.columns,
            sums.rows,
            std::move(class_weight),
            {sums.terms[Scorecard::brier], sums.terms[Scorecard::log_q],
             sums.terms[Scorecard::spherical]}};
}

Reliability reliability_of(const Bins& bins, const ScorecardSums& sums) {
    std::vector<Reliability::Bin> table(bins.size());
    for (std::size_t k = 0; k < table.size(); ++k) {
        const Cell& misses = sums.cells[2 * k];
        const Cell& hits = sums.cells[2 * k + 1];
        table[k] = {misses.n + hits.n, misses.weight, hits.weight, misses.scores};
        table[k].weight.merge(hits.weight);
        table[k].scores.merge(hits.scores);
    }
    return {bins, std::move(table), sums.rows.omitted};
}

// Whether some rows could have left these sums; what rounding may decide is not asked.
bool are_possible(const ScorecardSums& sums) {
    std::uint64_t rows = 0;
    bool possible = true;
    for (const Cell& cell : sums.cells) {
        possible = possible && !__builtin_add_overflow(rows, cell.n, &rows) &&
                   is_part(cell.scores, cell.weight) && is_part(cell.squares, cell.weight) &&
                   (cell.n != 0 || cell.weight.is_zero());
    }
    const ExactSum total = sum_of_cells(sums, &Cell::weight);
    possible = possible && rows == sums.rows.n && sums.rows.zeros <= rows &&
               is_part(sums.terms[Scorecard::q], total) &&
               is_part(sums.squares[Scorecard::q], total) && is_part(sums.right, total) &&
               is_part(sums.spread, total);
    for (std::size_t i = 0; i < Scorecard::n_terms; ++i) {
        const bool never_positive = i == Scorecard::log_q;
        const double sum = sums.terms[i].value().high;
        possible = possible && (never_positive ? sum <= 0.0 : sum >= 0.0) &&
                   sums.squares[i].value().high >= 0.0 &&
                   (!total.is_zero() || (sums.terms[i].is_zero() && sums.squares[i].is_zero()));
    }
    for (std::size_t j = 0; j < sums.class_weight.size(); ++j) {
        possible = possible && sums.class_weight[j].value().high >= 0.0 &&
                   sums.class_brier[j].value().high >= 0.0;
    }
    if (sums.columns > 1) {
        possible = possible && are_equal(sum_of(sums.class_weight), total) &&
                   are_equal(sum_of(sums.class_brier), sums.terms[Scorecard::brier]);
    } else {
        possible =
            possible && are_equal(sum_of_cells(sums, &Cell::squares), sums.terms[Scorecard::brier]);
    }
    return possible && (sums.columns != 0) == (sums.rows.n != 0 || sums.rows.omitted != 0);
}

void write(Writer& out, std::uint64_t n, const ExactSum& weight, const ExactSum& scores,
           const ExactSum& squares) {
    out.u64(n);
    weight.write(out);
    scores.write(out);
    squares.write(out);
}

}  // namespace

Scorecard::Scorecard(std::size_t n_bins, double q_lim, bool with_table)
    : sums_{named_profile(q_lim), {all_scores, q_lim}, Reliability(Bins::equal_width(n_bins))} {
    if (with_table) table_.emplace();
}

Scorecard::Scorecard(const Scorecard& parameters, ScorecardSums sums)
    : sums_{profile_of(parameters.risk_profile(), sums), scores_of(parameters.scores(), sums),
            reliability_of(parameters.reliability().bins(), sums)} {
    sums_.class_brier = std::move(sums.class_brier);
    sums_.squares = std::move(sums.squares);
    sums_.right = std::move(sums.right);
    sums_.spread = std::move(sums.spread);
    for (std::size_t k = 0; k < n_bins(); ++k) {
        Cell& hits = sums.cells[2 * k + 1];
        sums_.outcomes[k] = {hits.n, std::move(hits.scores), std::move(sums.cells[2 * k].squares),
                             std::move(hits.squares)};
    }
}

Scorecard Scorecard::empty() const {
    Scorecard card(Sums{sums_.risk.empty(), sums_.scores.empty(), sums_.reliability.empty()});
    if (table_) card.table_.emplace();
    return card;
}

void Scorecard::merge(const Scorecard& other) {
    if (n_bins() != other.n_bins()) {
        throw std::invalid_argument("cannot merge a Scorecard with " +
                                    std::to_string(other.n_bins()) + " bins into one with " +
                                    std::to_string(n_bins()));
    }
    if (q_lim() != other.q_lim()) {
        throw std::invalid_argument("cannot merge a Scorecard with q_lim " +
                                    number_text(other.q_lim()) + " into one with q_lim " +
                                    number_text(q_lim()));
    }
    if (other.columns() == 0) return;
    Sums merged = sums_;
    merged.scores.merge(other.sums_.scores);  // rejects another shape
    merged.risk.merge(other.sums_.risk);
    merged.reliability.merge(other.sums_.reliability);
    for (std::size_t k = 0; k < merged.outcomes.size(); ++k) {
        OutcomeSums& bin = merged.outcomes[k];
        const OutcomeSums& from = other.sums_.outcomes[k];
        bin.hits += from.hits;  // no more than all rows
        bin.hit_scores.merge(from.hit_scores);
        bin.miss_squares.merge(from.miss_squares);
        bin.hit_squares.merge(from.hit_squares);
    }
    const auto merge_all = [](auto& into, const auto& from) {
        for (std::size_t i = 0; i < from.size(); ++i) into[i].merge(from[i]);
    };
    merged.class_brier.resize(other.sums_.class_brier.size());
    merge_all(merged.class_brier, other.sums_.class_brier);
    merge_all(merged.squares, other.sums_.squares);
    merged.right.merge(other.sums_.right);
    merged.spread.merge(other.sums_.spread);
    if (table_ && other.table_) {
        table_->merge(*other.table_);  // all or nothing, and the last to fail
    } else {
        table_.reset();
    }
    sums_ = std::move(merged);
}

void Scorecard::require_weight() const {
    if (!weight().is_zero()) return;
    throw InvalidInput(count() == 0 ? "a scorecard needs at least one row, got none"
                                    : "a scorecard needs a row with positive weight, all " +
                                          std::to_string(count()) + " have weight 0");
}

const ExactSum& Scorecard::sum(Term term) const {
    if (term < brier) return sums_.risk.sum(term);
    return sums_.scores.sum(term == brier ? Score::brier : Score::spherical);
}

ExactSum Scorecard::brier_of_class(std::size_t label) const {
    if (columns() != 1) return sums_.class_brier[label];
    ExactSum sum;
    for (const OutcomeSums& bin : sums_.outcomes) {
        sum.merge(label == 1 ? bin.hit_squares : bin.miss_squares);
    }
    return sum;
}

std::string Scorecard::to_bytes() const {
    Writer out;
    out.u64(n_bins());
    out.f64(q_lim());
    out.u64(columns());
    out.u64(count());
    out.u64(omitted());
    out.u64(zeros());
    for (std::size_t k = 0; k < n_bins(); ++k) {
        const Reliability::Bin& bin = sums_.reliability.table()[k];
        const OutcomeSums& of = sums_.outcomes[k];
        write(out, bin.n - of.hits, difference(bin.weight, bin.hits),
              difference(bin.scores, of.hit_scores), of.miss_squares);
        write(out, of.hits, bin.hits, of.hit_scores, of.hit_squares);
    }
    for (std::size_t j = 0; j < sums_.class_brier.size(); ++j) {
        sums_.scores.class_weight()[j].write(out);
        sums_.class_brier[j].write(out);
    }
    for (const Term term : {q, log_q, power_q, brier, spherical}) {
        sum(term).write(out);
        sums_.squares[term].write(out);
    }
    sums_.right.write(out);
    sums_.spread.write(out);
    if (table_) out.raw(table_->to_bytes());
    return seal(kind, 1, out);
}

Scorecard Scorecard::from_bytes(std::string_view bytes) {
    constexpr std::size_t least_cell_bytes = 8 + 3 * 17;
    constexpr std::size_t least_class_bytes = 2 * 17;
    Reader in = open(bytes, kind, 1);
    const std::size_t n_bins = in.count(2 * least_cell_bytes);
    const double q_lim = in.f64();
    ScorecardSums sums;
    sums.columns = in.count(1);  // at least so many bytes follow, for (n, k)
    if (n_bins < 1 || n_bins > most_bins || std::signbit(q_lim) || !(q_lim < 0.5) ||
        sums.columns > ScoreSums::most_classes) {
        throw CorruptState("malformed state: bins, q_lim or columns are out of range");
    }
    sums.rows.n = in.u64();
    sums.rows.omitted = in.u64();
    sums.rows.zeros = in.u64();
    sums.cells.resize(2 * n_bins);
    for (Cell& cell : sums.cells) {
        cell.n = in.u64();
        for (ExactSum* sum : {&cell.weight, &cell.scores, &cell.squares}) *sum = ExactSum::read(in);
    }
    if (sums.columns > 1) {
        if (sums.columns > in.remaining() / least_class_bytes) {
            throw CorruptState("malformed state: fewer classes than columns");
        }
        sums.class_weight.resize(sums.columns);
        sums.class_brier.resize(sums.columns);
    }
    for (std::size_t j = 0; j < sums.class_weight.size(); ++j) {
        sums.class_weight[j] = ExactSum::read(in);
        sums.class_brier[j] = ExactSum::read(in);
    }
    for (std::size_t i = 0; i < n_terms; ++i) {
        sums.terms[i] = ExactSum::read(in);
        sums.squares[i] = ExactSum::read(in);
    }
    sums.right = ExactSum::read(in);
    sums.spread = ExactSum::read(in);
    bool possible = are_possible(sums);
    std::optional<ScoreTable> table;
    if (in.remaining() != 0) {  // else it keeps none
        table = ScoreTable::from_bytes(in.raw(in.remaining()));
        possible = possible && table->count() == sums.rows.n &&
                   table->omitted() == sums.rows.omitted && table->columns() == sums.columns &&
                   !table->of_pairs();
    }
    if (!possible) {
        throw CorruptState("malformed state: counts and sums of the Scorecard disagree");
    }
    Scorecard card(Scorecard(n_bins, q_lim, false), std::move(sums));
    card.table_ = std::move(table);
    return card;
}

}  // namespace calibrant
