// The area under the curve of the accuracy against the share of rows rejected (roc.hpp).
#include "calibrant/numeric/double_double.hpp"
#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"
#include "numeric/quotients.hpp"
#include "ordering/sorted_scores.hpp"
#include "roc/roc_parts.hpp"

namespace calibrant {
namespace {

// The sum of rows (hits kept) / (rows kept), all numbers of rows.
class RejectionSum {
public:
    void add(double rows, double hits_kept, double rows_kept) {
        rows_[n_] = rows;
        hits_kept_[n_] = hits_kept;
        rows_kept_[n_] = rows_kept;
        any_ties_ = any_ties_ || rows != 1.0;
        if (++n_ == block_rows) flush();
    }

    [[nodiscard]] const ExactSum& total() {
        flush();
        return total_;
    }

private:
    void flush() {
        alignas(64) double high[block_rows], low[block_rows];
        (void)quotients(hits_kept_, nullptr, rows_kept_, n_, high, low);  // none is large or small
        for (const double* part : {high, low}) {
            if (any_ties_) {
                total_.add_products(rows_, part, n_);
            } else {
                total_.add_block(part, n_);
            }
        }
        n_ = 0;
        any_ties_ = false;
    }

    ExactSum total_;
    std::size_t n_ = 0;
    bool any_ties_ = false;
    alignas(64) double rows_[block_rows], hits_kept_[block_rows], rows_kept_[block_rows];
};

double rejection_area(const SortedScores& scores, UInt128 all, UInt128 all_hits, Poll poll) {
    auto rows_kept = static_cast<std::uint64_t>(all);
    auto hits_kept = static_cast<std::uint64_t>(all_hits);
    RejectionSum sum;
    scores.for_each_score(poll, [&](double, UInt128 rows, UInt128 hits) {
        sum.add(static_cast<double>(static_cast<std::uint64_t>(rows)),
                static_cast<double>(hits_kept), static_cast<double>(rows_kept));
        rows_kept -= static_cast<std::uint64_t>(rows);
        hits_kept -= static_cast<std::uint64_t>(hits);
    });
    ExactSum weight;
    weight.add(static_cast<Int128>(all), 0);
    return mean(sum.total(), weight);
}

}  // namespace

double accuracy_rejection_auc(const ScoredRows& rows, Poll poll) {
    const SortedScores scores(rows, poll);
    UInt128 weight_kept = 0, hits_kept = 0;
    scores.for_each_score(poll, [&](double, UInt128 weight, UInt128 hits) {
        weight_kept += weight;
        hits_kept += hits;
    });
    if (weight_kept == 0) {
        reject_weightless("the area under the accuracy-rejection curve needs", scores.count());
    }
    if (!scores.weighted()) return rejection_area(scores, weight_kept, hits_kept, poll);
    const DoubleDouble all = wide(weight_kept);
    DoubleDouble area;
    scores.for_each_score(poll, [&](double, UInt128 weight, UInt128 hits) {
        area = area + wide(weight) * (wide(hits_kept) / wide(weight_kept));
        weight_kept -= weight;
        hits_kept -= hits;
    });
    return (area / all).high;
}

}  // namespace calibrant
