#include "calibrant/scorecards/scorecard.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include "calibrant/rows/check.hpp"

namespace calibrant {
namespace {

constexpr double robustness = -2.0 / 3.0;  // the power, to the nearest double

// 0 <= part <= whole.
bool is_part(const ExactSum& part, const ExactSum& whole) {
    ExactSum rest = whole;
    rest.subtract(part);
    return part.value().high >= 0.0 && rest.value().high >= 0.0;
}

bool are_equal(ExactSum a, const ExactSum& b) {
    a.subtract(b);
    return a.is_zero();
}

ExactSum sum_of(const std::vector<ExactSum>& parts) {
    ExactSum total;
    for (const ExactSum& part : parts) total.merge(part);
    return total;
}

}  // namespace

Scorecard::Scorecard(std::size_t n_bins, double q_lim, bool with_table)
    : Scorecard(Bins::equal_width(n_bins), q_lim, with_table) {}

Scorecard::Scorecard(Bins bins, double q_lim, bool with_table)
    : bins_(std::move(bins)), q_lim_(q_lim + 0.0), cells_(2 * bins_.size()) {
    if (!(q_lim >= 0.0 && q_lim < 0.5)) {
        throw InvalidInput("q_lim must satisfy 0 <= q_lim < 0.5, got " + number_text(q_lim));
    }
    if (with_table) table_.emplace();
}

Scorecard Scorecard::without_table() const {
    Scorecard copy(bins_, q_lim_, false);
    copy.columns_ = columns_;
    copy.n_ = n_;
    copy.omitted_ = omitted_;
    copy.zeros_ = zeros_;
    copy.cells_ = cells_;
    copy.class_weight_ = class_weight_;
    copy.class_brier_ = class_brier_;
    copy.sums_ = sums_;
    copy.squares_ = squares_;
    copy.right_ = right_;
    copy.spread_ = spread_;
    return copy;
}

void Scorecard::merge(const Scorecard& other) {
    if (bins_.size() != other.bins_.size()) {
        throw std::invalid_argument("cannot merge a Scorecard with " +
                                    std::to_string(other.bins_.size()) + " bins into one with " +
                                    std::to_string(bins_.size()));
    }
    if (q_lim_ != other.q_lim_) {
        throw std::invalid_argument("cannot merge a Scorecard with q_lim " +
                                    number_text(other.q_lim_) + " into one with q_lim " +
                                    number_text(q_lim_));
    }
    if (table_.has_value() != other.table_.has_value()) {
        throw std::invalid_argument("cannot merge Scorecards of which only one has a table");
    }
    if (other.columns_ == 0) return;
    if (columns_ != 0) require_same_columns(columns_, other.columns_);
    Scorecard merged = without_table();
    merged.columns_ = other.columns_;
    merged.n_ = checked_add(n_, other.n_);
    merged.omitted_ = checked_add(omitted_, other.omitted_);
    merged.zeros_ = checked_add(zeros_, other.zeros_);
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        Cell& cell = merged.cells_[i];
        const Cell& from = other.cells_[i];
        cell.n += from.n;  // no more than n_
        cell.weight.merge(from.weight);
        cell.scores.merge(from.scores);
        cell.squares.merge(from.squares);
    }
    const auto merge_all = [](auto& into, const auto& from) {
        for (std::size_t i = 0; i < from.size(); ++i) into[i].merge(from[i]);
    };
    merged.class_weight_.resize(other.class_weight_.size());
    merged.class_brier_.resize(other.class_brier_.size());
    merge_all(merged.class_weight_, other.class_weight_);
    merge_all(merged.class_brier_, other.class_brier_);
    merge_all(merged.sums_, other.sums_);
    merge_all(merged.squares_, other.squares_);
    merged.right_.merge(other.right_);
    merged.spread_.merge(other.spread_);
    if (table_) table_->merge(*other.table_);  // all or nothing, and the last to fail
    merged.table_ = std::move(table_);
    *this = std::move(merged);
}

ExactSum Scorecard::weight() const {
    ExactSum total;
    for (const Cell& cell : cells_) total.merge(cell.weight);
    return total;
}

void Scorecard::require_weight() const {
    if (!weight().is_zero()) return;
    throw InvalidInput(n_ == 0 ? "a scorecard needs at least one row, got none"
                               : "a scorecard needs a row with positive weight, all " +
                                     std::to_string(n_) + " have weight 0");
}

RiskProfile Scorecard::risk_profile() const {
    RiskProfile profile({1.0, 0.0, robustness}, q_lim_);
    profile.n_ = n_;
    profile.omitted_ = omitted_;
    profile.zeros_ = zeros_;
    profile.weight_ = weight();
    profile.sums_ = {sums_[q], sums_[log_q], sums_[power_q]};
    return profile;
}

ScoreSums Scorecard::scores() const {
    ScoreSums scores(ScoreSet().with(Score::brier).with(Score::log).with(Score::spherical), q_lim_);
    scores.columns_ = columns_;
    scores.n_ = n_;
    scores.omitted_ = omitted_;
    scores.zeros_ = zeros_;
    scores.class_weight_ = class_weight_;
    if (columns_ == 1) {
        scores.class_weight_.resize(2);
        for (std::size_t i = 0; i < cells_.size(); ++i) {
            scores.class_weight_[i % 2].merge(cells_[i].weight);
        }
    }
    scores.sums_[0] = sums_[brier];
    scores.sums_[1] = sums_[log_q];
    scores.sums_[2] = sums_[spherical];
    return scores;
}

Reliability Scorecard::reliability() const {
    Reliability table(bins_);
    table.n_ = n_;
    table.omitted_ = omitted_;
    for (std::size_t k = 0; k < bins_.size(); ++k) {
        Reliability::Bin& bin = table.table_[k];
        for (const Cell* cell : {&cells_[2 * k], &cells_[2 * k + 1]}) {
            bin.n += cell->n;
            bin.weight.merge(cell->weight);
            bin.scores.merge(cell->scores);
        }
        bin.hits = cells_[2 * k + 1].weight;
    }
    return table;
}

std::string Scorecard::to_bytes() const {
    Writer out;
    out.u64(bins_.size());
    out.f64(q_lim_);
    out.u64(columns_);
    out.u64(n_);
    out.u64(omitted_);
    out.u64(zeros_);
    for (const Cell& cell : cells_) {
        out.u64(cell.n);
        cell.weight.write(out);
        cell.scores.write(out);
        cell.squares.write(out);
    }
    for (std::size_t j = 0; j < class_weight_.size(); ++j) {
        class_weight_[j].write(out);
        class_brier_[j].write(out);
    }
    for (std::size_t i = 0; i < n_terms; ++i) {
        sums_[i].write(out);
        squares_[i].write(out);
    }
    right_.write(out);
    spread_.write(out);
    if (table_) out.raw(table_->to_bytes());
    return seal(kind, 1, out);
}

Scorecard Scorecard::from_bytes(std::string_view bytes) {
    constexpr std::size_t least_cell_bytes = 8 + 3 * 17;
    constexpr std::size_t least_class_bytes = 2 * 17;
    Reader in = open(bytes, kind, 1);
    const std::size_t n_bins = in.count(2 * least_cell_bytes);
    const double q_lim = in.f64();
    const std::size_t columns = in.count(1);  // at least so many bytes follow, for (n, k)
    if (n_bins < 1 || n_bins > most_bins || std::signbit(q_lim) || !(q_lim < 0.5) ||
        columns > ScoreSums::most_classes) {
        throw CorruptState("malformed state: bins, q_lim or columns are out of range");
    }
    Scorecard card(n_bins, q_lim, true);
    card.columns_ = columns;
    card.n_ = in.u64();
    card.omitted_ = in.u64();
    card.zeros_ = in.u64();
    for (Cell& cell : card.cells_) {
        cell.n = in.u64();
        cell.weight = ExactSum::read(in);
        cell.scores = ExactSum::read(in);
        cell.squares = ExactSum::read(in);
    }
    if (columns > 1) {
        if (columns > in.remaining() / least_class_bytes) {
            throw CorruptState("malformed state: fewer classes than columns");
        }
        card.class_weight_.resize(columns);
        card.class_brier_.resize(columns);
    }
    for (std::size_t j = 0; j < card.class_weight_.size(); ++j) {
        card.class_weight_[j] = ExactSum::read(in);
        card.class_brier_[j] = ExactSum::read(in);
    }
    for (std::size_t i = 0; i < n_terms; ++i) {
        card.sums_[i] = ExactSum::read(in);
        card.squares_[i] = ExactSum::read(in);
    }
    card.right_ = ExactSum::read(in);
    card.spread_ = ExactSum::read(in);
    if (in.remaining() == 0) {
        card.table_.reset();  // of a group
    } else {
        card.table_ = ScoreTable::from_bytes(in.raw(in.remaining()));
    }
    if (!card.is_possible()) {
        throw CorruptState("malformed state: counts and sums of the Scorecard disagree");
    }
    return card;
}

// Whether some rows could have left it; what rounding may decide is not asked.
bool Scorecard::is_possible() const {
    std::uint64_t rows = 0;
    bool possible = true;
    for (const Cell& cell : cells_) {
        possible = possible && !__builtin_add_overflow(rows, cell.n, &rows) &&
                   is_part(cell.scores, cell.weight) && is_part(cell.squares, cell.weight) &&
                   (cell.n != 0 || cell.weight.is_zero());
    }
    const ExactSum total = weight();
    possible = possible && rows == n_ && zeros_ <= n_ && is_part(sums_[q], total) &&
               is_part(squares_[q], total) && is_part(right_, total) && is_part(spread_, total);
    for (std::size_t i = 0; i < n_terms; ++i) {
        const bool never_positive = i == log_q;
        const double sum = sums_[i].value().high;
        possible = possible && (never_positive ? sum <= 0.0 : sum >= 0.0) &&
                   squares_[i].value().high >= 0.0 &&
                   (!total.is_zero() || (sums_[i].is_zero() && squares_[i].is_zero()));
    }
    for (std::size_t j = 0; j < class_weight_.size(); ++j) {
        possible =
            possible && class_weight_[j].value().high >= 0.0 && class_brier_[j].value().high >= 0.0;
    }
    if (columns_ > 1) {
        possible = possible && are_equal(sum_of(class_weight_), total) &&
                   are_equal(sum_of(class_brier_), sums_[brier]);
    } else {
        ExactSum squares;
        for (const Cell& cell : cells_) squares.merge(cell.squares);
        possible = possible && are_equal(squares, sums_[brier]);
    }
    possible = possible && (columns_ != 0) == (n_ != 0 || omitted_ != 0);
    if (!table_) return possible;
    return possible && table_->count() == n_ && table_->omitted() == omitted_ &&
           table_->columns() == columns_ && !table_->of_pairs();
}

}  // namespace calibrant
