#include "calibrant/cumulative/spiegelhalter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/numeric/tails.hpp"
#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"
#include "rows/scored_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

// One thread's share of an update.
class SpiegelhalterWorker {
public:
    SpiegelhalterWorker(const Spiegelhalter& parameters, const ScoredRows& rows)
        : rows_(rows), block_(rows), total_(parameters.empty()) {}

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        return load_each(block_, rows_, begin, end, [&](std::size_t) {
            total_.n_ += block_.n();
            total_.omitted_ += block_.omitted();
            if (rows_.events.sample_weight != nullptr) {
                add_weighted();
            } else {
                add_unweighted();
            }
        });
    }

    void finish_into(Spiegelhalter& result) {
        excess_.add_to(total_.excess_);
        variance_.add_to(total_.variance_);
        result.merge(total_);
    }

private:
    void add_unweighted() {
        total_.with_weight_ += block_.n();
        if (add_gridded(block_.score(), block_.hit(), block_.n(), 1)) mend_fine();
    }

    // Adds sign times the sums of the kernel; returns whether there are fine rows.
    bool add_gridded(const double* score, const std::int32_t* hit, std::size_t n, int sign) {
        SpiegelhalterBlock sums;
        const bool fine = kernels().spiegelhalter.sums(score, hit, n, &sums);
        excess_.add(sign * ((static_cast<Int128>(sums.excess_high) << 50) + sums.excess_low));
        variance_.add(sign * ((static_cast<Int128>(sums.variance_high) << 50) + sums.variance_low));
        return fine;
    }

    // The grid was too coarse for fine rows: their terms are taken back, and added as they are.
    void mend_fine() {
        make_terms(block_.score(), block_.hit(), block_.n());
        std::size_t n = 0;
        for (std::size_t i = 0; i < block_.n(); ++i) {
            if (!(terms_[2][i] > 0.0 && terms_[2][i] < least_gridded_variance)) continue;
            fine_score_[n] = block_.score()[i];
            fine_hit_[n] = block_.hit()[i];
            ++n;
        }
        (void)add_gridded(fine_score_, fine_hit_, n, -1);
        make_terms(fine_score_, fine_hit_, n);
        for (std::size_t k = 0; k < 4; ++k) sum_of(k).add_block(terms_[k], n);
    }

    void add_weighted() {
        make_terms(block_.score(), block_.hit(), block_.n());
        for (std::size_t k = 0; k < 4; ++k) {
            sum_of(k).add_products(block_.weight(), terms_[k], block_.n());
        }
        for (std::size_t i = 0; i < block_.n(); ++i) {
            total_.with_weight_ += block_.weight()[i] > 0.0 ? 1U : 0U;
        }
    }

    void make_terms(const double* score, const std::int32_t* hit, std::size_t n) {
        kernels().spiegelhalter.terms(score, hit, n, terms_[0], terms_[1], terms_[2], terms_[3]);
    }

    ExactSum& sum_of(std::size_t term) { return term < 2 ? total_.excess_ : total_.variance_; }

    const ScoredRows& rows_;
    ScoredBlock block_;
    Spiegelhalter total_;
    FixedSum<80> excess_, variance_;
    alignas(64) double fine_score_[block_rows];
    alignas(64) std::int32_t fine_hit_[block_rows];
    alignas(64) double terms_[4][block_rows];  // excess high and low, variance high and low
};

void Spiegelhalter::update(const ScoredRows& rows, std::uint64_t rows_before, Poll poll) {
    update_by_workers<SpiegelhalterWorker>(*this, rows, rows.events, rows_before, poll);
}

void Spiegelhalter::merge(const Spiegelhalter& other) {
    Spiegelhalter merged = *this;
    merged.n_ = checked_add(n_, other.n_);
    merged.omitted_ = checked_add(omitted_, other.omitted_);
    merged.with_weight_ = checked_add(with_weight_, other.with_weight_);
    merged.excess_.merge(other.excess_);
    merged.variance_.merge(other.variance_);
    *this = std::move(merged);
}

void Spiegelhalter::require_weight() const {
    if (with_weight_ != 0) return;
    reject_weightless("the test needs", n_);
}

double Spiegelhalter::statistic() const {
    require_weight();
    if (excess_.is_zero()) return 0.0;
    if (variance_.is_zero()) return infinity;
    return over_root(excess_.value(), variance_.value());
}

double Spiegelhalter::pvalue(Alternative alternative) const {
    const double z = statistic();
    if (variance_.is_zero()) return z > 0.0 && alternative != Alternative::less ? 0.0 : 1.0;
    if (alternative == Alternative::two_sided) return normal_two_sided(z);
    return normal_sf(alternative == Alternative::greater ? z : -z);
}

double Spiegelhalter::log_pvalue(Alternative alternative) const {
    const double z = statistic();
    if (variance_.is_zero()) return z > 0.0 && alternative != Alternative::less ? -infinity : 0.0;
    if (alternative == Alternative::two_sided) return normal_log_two_sided(z);
    return normal_log_sf(alternative == Alternative::greater ? z : -z);
}

std::string Spiegelhalter::to_bytes() const {
    Writer out;
    out.u64(n_);
    out.u64(omitted_);
    out.u64(with_weight_);
    excess_.write(out);
    variance_.write(out);
    return seal(kind, 1, out);
}

Spiegelhalter Spiegelhalter::from_bytes(std::string_view bytes) {
    Reader in = open(bytes, kind, 1);
    Spiegelhalter result;
    result.n_ = in.u64();
    result.omitted_ = in.u64();
    result.with_weight_ = in.u64();
    result.excess_ = ExactSum::read(in);
    result.variance_ = ExactSum::read(in);
    in.finish();
    const double excess = result.excess_.value().high;
    const double variance = result.variance_.value().high;
    const bool any = excess != 0.0 || variance != 0.0;
    // Without a variance there is nothing but certain forecasts that were wrong.
    if (result.with_weight_ > result.n_ || (any && result.with_weight_ == 0) || variance < 0.0 ||
        (variance == 0.0 && excess < 0.0)) {
        throw CorruptState("malformed state: counts and sums of the test disagree");
    }
    return result;
}

}  // namespace calibrant
