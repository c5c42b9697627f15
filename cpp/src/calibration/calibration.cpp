#include "calibrant/calibration/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"
#include "rows/scored_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {
namespace {

// The 64-bit sums of a bin hold this many rows.
constexpr std::size_t rows_before_flush = std::size_t{1} << 22;

// hits - scores, exactly.
ExactSum excess(const Reliability::Bin& bin) {
    ExactSum difference = bin.hits;
    difference.subtract(bin.scores);
    return difference;
}

double gap(const Reliability::Bin& bin) { return mean(excess(bin), bin.weight); }

ExactSum of_weight(const ExactSum& weight, double x) {
    ExactSum factor;
    factor.add(x);
    return weight * factor;
}

void merge_bin(Reliability::Bin& bin, const Reliability::Bin& from) {
    bin.n = checked_add(bin.n, from.n);
    bin.weight.merge(from.weight);
    bin.hits.merge(from.hits);
    bin.scores.merge(from.scores);
}

}  // namespace

// Sums of blocks of rows over cells: the bins of one table, or of several. Unweighted rows are
// counted in plain integers, a score as its multiples of 2^-40 and of 2^-80.
class CellTally {
public:
    explicit CellTally(std::size_t n_cells)
        : cells_(n_cells), counts_(n_cells), score_sums_(n_cells) {}

    // The cell of each row of the block.
    void add(const ScoredBlock& block, bool weighted, const std::uint32_t* cell) {
        if (weighted) {
            add_weighted(block, cell);
        } else {
            add_unweighted(block, cell);
        }
    }

    // All of it; the tally is empty afterwards.
    [[nodiscard]] std::vector<Reliability::Bin> take() {
        flush();
        for (std::size_t k = 0; k < cells_.size(); ++k) score_sums_[k].add_to(cells_[k].scores);
        return std::move(cells_);
    }

private:
    struct Counts {
        std::uint64_t rows = 0;  // and the hits, times 2^32: one addition for both
        std::int64_t score_high = 0, score_low = 0;
    };

    void add_unweighted(const ScoredBlock& block, const std::uint32_t* cell) {
        const bool tiny = kernels().split(block.score(), block.n(), high_, low_);
        for (std::size_t i = 0; i < block.n(); ++i) {
            Counts& counts = counts_[cell[i]];
            counts.rows += 1 + (static_cast<std::uint64_t>(block.hit()[i]) << 32);
            counts.score_high += high_[i];
            counts.score_low += low_[i];
        }
        for (std::size_t i = 0; tiny && i < block.n(); ++i) {
            if (block.score()[i] < least_gridded) cells_[cell[i]].scores.add(block.score()[i]);
        }
        rows_since_flush_ += block.n();
        if (rows_since_flush_ >= rows_before_flush) flush();
    }

    void add_weighted(const ScoredBlock& block, const std::uint32_t* cell) {
        for (std::size_t i = 0; i < block.n(); ++i) {
            const double weight = block.weight()[i];
            Reliability::Bin& bin = cells_[cell[i]];
            ++bin.n;
            bin.weight.add(weight);
            if (block.hit()[i] != 0) bin.hits.add(weight);
            bin.scores.add_product(weight, block.score()[i]);
        }
    }

    void flush() {
        for (std::size_t k = 0; k < counts_.size(); ++k) {
            Counts& counts = counts_[k];
            if (counts.rows == 0) continue;
            const std::uint64_t n = counts.rows & 0xFFFFFFFF;
            Reliability::Bin& bin = cells_[k];
            bin.n += n;
            bin.weight.add(static_cast<Int128>(n), 0);
            bin.hits.add(static_cast<Int128>(counts.rows >> 32), 0);
            score_sums_[k].add((static_cast<Int128>(counts.score_high) << 40) + counts.score_low);
            counts = {};
        }
        rows_since_flush_ = 0;
    }

    std::vector<Reliability::Bin> cells_;
    std::vector<Counts> counts_;
    std::vector<FixedSum<80>> score_sums_;
    std::size_t rows_since_flush_ = 0;
    alignas(64) std::int64_t high_[block_rows], low_[block_rows];
};

// One thread's share of an update.
class ReliabilityWorker {
public:
    ReliabilityWorker(const Reliability& parameters, const ScoredRows& rows)
        : rows_(rows), block_(rows), bins_(parameters.bins_), tally_(bins_.size()) {}

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        return load_each(block_, rows_, begin, end, [&](std::size_t) {
            omitted_ += block_.omitted();
            bins_.locate(block_.score(), block_.n(), cell_);
            tally_.add(block_, rows_.events.sample_weight != nullptr, cell_);
        });
    }

    void finish_into(Reliability& result) {
        result.merge(Reliability(bins_, tally_.take(), omitted_));
    }

private:
    const ScoredRows& rows_;
    ScoredBlock block_;
    Bins bins_;
    CellTally tally_;
    std::uint64_t omitted_ = 0;
    std::uint32_t cell_[block_rows];
};

// The tables of several labels, one after the other.
struct LabelCells {
    std::vector<Reliability::Bin> cells;
    std::uint64_t omitted = 0;
};

struct LabelledRows {
    const ScoredRows& rows;
    const PredictedLabels& labels;
    const std::vector<Bins>& bins;  // of all labels, or of each
    std::vector<std::size_t> first_cell;
};

class LabelWorker {
public:
    LabelWorker(const LabelCells&, const LabelledRows& source)
        : source_(source), block_(source.rows), tally_(source.first_cell.back()) {}

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        return load_each(block_, source_.rows, begin, end, [&](std::size_t row) {
            omitted_ += block_.omitted();
            find_cells(source_.labels.of_block(block_, row, label_));
            tally_.add(block_, source_.rows.events.sample_weight != nullptr, cell_);
        });
    }

    void finish_into(LabelCells& result) {
        std::vector<Reliability::Bin> mine = tally_.take();
        result.omitted = checked_add(result.omitted, omitted_);
        if (result.cells.empty()) {
            result.cells = std::move(mine);
            return;
        }
        for (std::size_t k = 0; k < mine.size(); ++k) merge_bin(result.cells[k], mine[k]);
    }

private:
    void find_cells(const std::int32_t* label) {
        const bool shared = source_.bins.size() == 1;
        if (shared) source_.bins[0].locate(block_.score(), block_.n(), cell_);
        for (std::size_t i = 0; i < block_.n(); ++i) {
            const auto of = static_cast<std::size_t>(label[i]);
            if (!shared) source_.bins[of].locate(block_.score() + i, 1, cell_ + i);
            cell_[i] += static_cast<std::uint32_t>(source_.first_cell[of]);
        }
    }

    const LabelledRows& source_;
    ScoredBlock block_;
    CellTally tally_;
    std::uint64_t omitted_ = 0;
    std::int32_t label_[block_rows];
    std::uint32_t cell_[block_rows];
};

Reliability::Reliability(Bins bins) : bins_(std::move(bins)), table_(bins_.size()) {}

Reliability::Reliability(Bins bins, std::vector<Bin> table, std::uint64_t omitted)
    : bins_(std::move(bins)), omitted_(omitted), table_(std::move(table)) {
    for (const Bin& bin : table_) n_ = checked_add(n_, bin.n);
}

void Reliability::update(const ScoredRows& rows, std::uint64_t rows_before, Poll poll) {
    update_by_workers<ReliabilityWorker>(*this, rows, rows.events, rows_before, poll);
}

void Reliability::merge(const Reliability& other) {
    if (bins_.edges() != other.bins_.edges()) {
        throw std::invalid_argument("cannot merge a Reliability with " +
                                    std::to_string(other.bins_.size()) + " bins into one with " +
                                    std::to_string(bins_.size()) + ": both need the same edges");
    }
    if (n_ == 0 && omitted_ == 0) {
        *this = other;
        return;
    }
    Reliability merged = *this;
    merged.n_ = checked_add(n_, other.n_);
    merged.omitted_ = checked_add(omitted_, other.omitted_);
    for (std::size_t k = 0; k < table_.size(); ++k) merge_bin(merged.table_[k], other.table_[k]);
    *this = std::move(merged);
}

ExactSum Reliability::total_weight() const {
    ExactSum weight;
    for (const Bin& bin : table_) weight.merge(bin.weight);
    if (weight.is_zero()) reject_weightless("a calibration error needs", n_);
    return weight;
}

double Reliability::error(GapNorm norm, bool debiased) const {
    if (norm == GapNorm::mean) return mean_gap();
    return norm == GapNorm::largest ? largest_gap() : root_mean_square_gap(debiased);
}

double Reliability::mean_difference() const {
    ExactSum difference;
    for (const Bin& bin : table_) difference.subtract(excess(bin));
    return mean(difference, total_weight());
}

double Reliability::mean_gap() const {
    ExactSum gaps;
    for (const Bin& bin : table_) {
        if (bin.n == 0) continue;
        const ExactSum difference = excess(bin);
        if (difference.is_negative()) {
            gaps.subtract(difference);
        } else {
            gaps.merge(difference);
        }
    }
    return mean(gaps, total_weight());
}

double Reliability::root_mean_square_gap(bool debiased) const {
    const ExactSum total = total_weight();
    double mean_square = 0.0;
    for (const Bin& bin : table_) {
        const double weight = bin.weight.to_double();
        if (bin.weight.is_zero() || (debiased && weight < 2.0)) continue;
        const double share = mean(bin.weight, total);
        const double difference = gap(bin);
        const double frequency = mean(bin.hits, bin.weight);
        const double variance = debiased ? frequency * (1.0 - frequency) / (weight - 1.0) : 0.0;
        mean_square += share * (difference * difference - variance);
    }
    return mean_square > 0.0 ? std::sqrt(mean_square) : 0.0;
}

double Reliability::largest_gap() const {
    (void)total_weight();
    double largest = 0.0;
    for (const Bin& bin : table_) {
        if (!bin.weight.is_zero()) largest = std::max(largest, std::fabs(gap(bin)));
    }
    return largest;
}

const std::int32_t* PredictedLabels::of_block(const ScoredBlock& block, std::size_t row,
                                              std::int32_t* room) const {
    if (of_row_ != nullptr) return of_row_ + row;
    block.find_top_labels(room);
    return room;
}

std::vector<std::vector<double>> edges_of_labels(const ScoredRows& rows,
                                                 const PredictedLabels& labels, std::size_t n_bins,
                                                 EdgesOfLabel find, Poll poll) {
    struct OfLabel {
        std::vector<double> score, weight;
    };
    const bool weighted = rows.events.sample_weight != nullptr;
    const std::size_t workers = workers_for(rows.size(), chunks_per_worker * chunk_rows(rows));
    std::vector<std::vector<OfLabel>> found(workers, std::vector<OfLabel>(labels.size()));
    for_each_block(rows, workers, poll,
                   [&](std::size_t worker, std::size_t row, const ScoredBlock& block) {
                       std::int32_t room[block_rows];
                       const std::int32_t* const label = labels.of_block(block, row, room);
                       for (std::size_t i = 0; i < block.n(); ++i) {
                           OfLabel& mine = found[worker][static_cast<std::size_t>(label[i])];
                           mine.score.push_back(block.score()[i]);
                           if (weighted) mine.weight.push_back(block.weight()[i]);
                       }
                   });
    std::vector<std::vector<double>> edges;
    for (std::size_t j = 0; j < labels.size(); ++j) {
        OfLabel& all = found[0][j];
        for (std::size_t worker = 1; worker < workers; ++worker) {
            OfLabel& more = found[worker][j];
            all.score.insert(all.score.end(), more.score.begin(), more.score.end());
            all.weight.insert(all.weight.end(), more.weight.begin(), more.weight.end());
            more = {};
        }
        // Edges do not depend on the outcome.
        const std::vector<std::int8_t> hit(all.score.size());
        const Column y_true = side_by_side(hit.data(), hit.size(), 1, Dtype::int8);
        const Column weight = side_by_side(all.weight.data(), hit.size(), 1, Dtype::float64);
        Events events;
        events.y_true = &y_true;
        events.y_proba = side_by_side(all.score.data(), hit.size(), 1, Dtype::float64);
        if (weighted) events.sample_weight = &weight;
        edges.push_back(find(ScoredRows{events}, n_bins, poll));
        all = {};
    }
    return edges;
}

LabelErrors label_errors(const ScoredRows& rows, const PredictedLabels& labels,
                         const std::vector<Bins>& bins, GapNorm norm, bool debiased, Poll poll) {
    LabelledRows source{rows, labels, bins, {0}};
    const auto bins_of = [&](std::size_t j) -> const Bins& {
        return bins[bins.size() == 1 ? 0 : j];
    };
    for (std::size_t j = 0; j < labels.size(); ++j) {
        source.first_cell.push_back(source.first_cell.back() + bins_of(j).size());
    }
    if (source.first_cell.back() > most_bins) {
        throw InvalidInput("n_bins times the number of labels must be at most " +
                           std::to_string(most_bins) + ", got " +
                           std::to_string(source.first_cell.back()));
    }
    LabelCells sums;
    update_by_workers<LabelWorker>(sums, source, rows.events, 0, poll);
    LabelErrors result;
    std::uint64_t n = 0;
    for (std::size_t j = 0; j < labels.size(); ++j) {
        const auto begin = sums.cells.begin() + static_cast<std::ptrdiff_t>(source.first_cell[j]);
        const auto end = sums.cells.begin() + static_cast<std::ptrdiff_t>(source.first_cell[j + 1]);
        const Reliability table(bins_of(j), {begin, end}, 0);
        n += table.count();
        ExactSum weight;
        for (const Reliability::Bin& bin : table.table()) weight.merge(bin.weight);
        if (weight.is_zero()) continue;
        const double error = table.error(norm, debiased);
        ++result.labels;
        result.sum.add(error);
        result.weighted_sum.merge(of_weight(weight, error));
        result.weight.merge(weight);
    }
    if (result.labels == 0) reject_weightless("a calibration error needs", n);
    return result;
}

double LabelErrors::macro() const {
    ExactSum number;
    number.add(static_cast<Int128>(labels), 0);
    return mean(sum, number);
}

double LabelErrors::weighted() const { return mean(weighted_sum, weight); }

std::string Reliability::to_bytes() const {
    Writer out;
    bins_.write(out);
    out.u64(n_);
    out.u64(omitted_);
    for (const Bin& bin : table_) {
        out.u64(bin.n);
        bin.weight.write(out);
        bin.hits.write(out);
        bin.scores.write(out);
    }
    return seal(kind, 1, out);
}

Reliability Reliability::from_bytes(std::string_view bytes) {
    Reader in = open(bytes, kind, 1);
    Reliability result(Bins::read(in));
    result.n_ = in.u64();
    result.omitted_ = in.u64();
    std::uint64_t rows = 0;
    bool possible = true;
    for (Bin& bin : result.table_) {
        bin.n = in.u64();
        bin.weight = ExactSum::read(in);
        bin.hits = ExactSum::read(in);
        bin.scores = ExactSum::read(in);
        possible = possible && !__builtin_add_overflow(rows, bin.n, &rows);
        // 0 <= hits, scores <= weight, and nothing without rows.
        for (const ExactSum* part : {&bin.hits, &bin.scores}) {
            ExactSum rest = bin.weight;
            rest.subtract(*part);
            possible = possible && part->value().high >= 0.0 && rest.value().high >= 0.0;
        }
        possible = possible && (bin.n != 0 || bin.weight.is_zero());
    }
    in.finish();
    if (!possible || rows != result.n_) {
        throw CorruptState("malformed state: the bins of the Reliability do not add up");
    }
    return result;
}

}  // namespace calibrant
