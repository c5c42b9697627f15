#include "calibrant/means/means.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "calibrant/rows/check.hpp"
#include "kernels/kernels.hpp"
#include "means/risk_sums.hpp"
#include "rows/event_blocks.hpp"
#include "rows/workers.hpp"

namespace calibrant {
namespace {

// Below this G_m is G_0 to 2^-60, since log q varies by at most 745; and m log q would lose
// bits of its own.
constexpr double least_power = 0x1p-80;

std::string list_text(const std::vector<double>& powers) {
    std::string text = "(";
    for (const double m : powers) text += (text.size() > 1 ? ", " : "") + number_text(m);
    return text + ")";
}

DoubleDouble power_of(double m) {
    const Power power = make_power(m);
    return {power.value, power.trailing - (power.value - power.leading)};
}

double round_exp(DoubleDouble x) {
    // Far beyond the doubles exp_parts would leave its range.
    if (x.high < -800.0) return 0.0;
    return round_parts(exp_parts(x.high, x.low));
}

}  // namespace

// One thread's share of an update.
class RiskProfileWorker {
public:
    RiskProfileWorker(const RiskProfile& parameters, const Events& events)
        : events_(events),
          q_lim_(parameters.q_lim()),
          nothing_(parameters.empty()),
          rows_(nothing_) {}

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; row += block_rows) {
            const std::size_t count = std::min(block_rows, end - row);
            if (!load_events(events_, row, count, q_lim_, block_)) return false;
            double* const weight = events_.sample_weight != nullptr ? block_.weight : nullptr;
            adder_.add(rows_, block_.q, weight, block_.n, next_block(events_, row + count));
            omitted_ += block_.omitted;
        }
        return true;
    }

    // The rows so far, to begin anew.
    [[nodiscard]] RiskProfile take() {
        RiskProfile profile = nothing_;
        rows_.move_to(profile);
        profile.omitted_ = std::exchange(omitted_, 0);
        return profile;
    }

    void finish_into(RiskProfile& total) {
        if (total.count() == 0 && total.omitted() == 0) {
            total = take();
        } else {
            total.merge(take());
        }
    }

private:
    const Events& events_;
    double q_lim_;
    RiskProfile nothing_;
    RiskSums rows_;
    RiskAdder adder_;
    EventBlock block_;
    std::uint64_t omitted_ = 0;
};

RiskProfile::RiskProfile(std::vector<double> powers, double q_lim)
    : powers_(std::move(powers)), q_lim_(q_lim + 0.0), sums_(powers_.size()) {
    if (!(q_lim >= 0.0 && q_lim < 0.5)) {
        throw InvalidInput("q_lim must satisfy 0 <= q_lim < 0.5, got " + number_text(q_lim));
    }
    if (powers_.size() > most_powers) {
        throw InvalidInput("at most " + std::to_string(most_powers) + " powers at once, got " +
                           std::to_string(powers_.size()));
    }
    for (double& m : powers_) {
        if (std::isnan(m) || (std::fabs(m) > largest_power && !std::isinf(m))) {
            throw InvalidInput("a power must be infinite or lie in [-2^26, 2^26], got " +
                               number_text(m));
        }
        if (std::fabs(m) < least_power) m = 0.0;  // -0.0 too
    }
}

RiskProfile::RiskProfile(const RiskProfile& parameters, const RowCounts& rows, ExactSum weight,
                         std::vector<ExactSum> sums)
    : powers_(parameters.powers_),
      q_lim_(parameters.q_lim_),
      n_(rows.n),
      omitted_(rows.omitted),
      zeros_(rows.zeros),
      weight_(std::move(weight)),
      sums_(std::move(sums)) {}

void RiskProfile::update(const Events& events, std::uint64_t rows_before, Poll poll) {
    update_by_workers<RiskProfileWorker>(*this, events, events, rows_before, poll);
}

void RiskProfile::merge(const RiskProfile& other) {
    if (powers_ != other.powers_) {
        throw std::invalid_argument("cannot merge a risk profile with powers " +
                                    list_text(other.powers_) + " into one with powers " +
                                    list_text(powers_));
    }
    if (q_lim_ != other.q_lim_) {
        throw std::invalid_argument("cannot merge a risk profile with q_lim " +
                                    number_text(other.q_lim_) + " into one with q_lim " +
                                    number_text(q_lim_));
    }
    RiskProfile merged = *this;
    merged.n_ = checked_add(n_, other.n_);
    merged.omitted_ = checked_add(omitted_, other.omitted_);
    merged.zeros_ = checked_add(zeros_, other.zeros_);
    merged.least_ = std::min(least_, other.least_);
    merged.most_ = std::max(most_, other.most_);
    merged.weight_.merge(other.weight_);
    for (std::size_t i = 0; i < sums_.size(); ++i) merged.sums_[i].merge(other.sums_[i]);
    *this = std::move(merged);
}

void RiskProfile::track_extremes(const double* q, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const double x = q[i] + 0.0;  // -0.0 is 0, whichever comes first
        least_ = std::min(least_, x);
        most_ = std::max(most_, x);
    }
}

void RiskProfile::require_weight() const {
    if (weight_.is_zero()) {
        reject_weightless("a mean needs", n_);
    }
}

bool RiskProfile::is_zero(std::size_t index) const {
    const double m = powers_[index];
    if (std::isinf(m)) return (m > 0 ? most_ : least_) == 0.0;
    return m > 0.0 ? sums_[index].is_zero() : zeros_ != 0;
}

// log G_m, for a mean that is not 0.
DoubleDouble RiskProfile::log_of_mean(std::size_t index) const {
    const double m = powers_[index];
    if (std::isinf(m)) {
        ExactSum extreme;
        extreme.add(m > 0 ? most_ : least_);
        ExactSum one;
        one.add(1.0);
        const ScaledDoubleDouble ratio = divide(extreme.value(), one.value());
        return multiple_of_ln2(ratio.exponent) + log1p(ratio.value - DoubleDouble{1.0, 0.0});
    }
    const ScaledDoubleDouble ratio = divide(sums_[index].value(), weight_.value());
    if (m == 0.0) {
        const double scale = std::ldexp(1.0, static_cast<int>(ratio.exponent));
        return {ratio.value.high * scale, ratio.value.low * scale};
    }
    DoubleDouble f = ratio.value - DoubleDouble{1.0, 0.0};
    if (ratio.exponent == 0) {
        // Near 1 the difference must be taken before anything is rounded: for small m all
        // the information is in it.
        ExactSum difference = sums_[index];
        difference.subtract(weight_);
        // Not 0 * 2^1074, where all q are 1 and the weights are subnormal.
        const ScaledDoubleDouble rest = divide(difference.value(), weight_.value());
        const double scale = std::ldexp(1.0, static_cast<int>(rest.exponent));
        f = {rest.value.high * scale, rest.value.low * scale};
    }
    return (multiple_of_ln2(ratio.exponent) + log1p(f)) / power_of(m);
}

double RiskProfile::mean(std::size_t index) const {
    require_weight();
    const double m = powers_[index];
    if (is_zero(index)) return 0.0;
    if (std::isinf(m)) return m > 0 ? most_ : least_;
    if (m == 1.0) {
        const ScaledDoubleDouble ratio = divide(sums_[index].value(), weight_.value());
        return std::ldexp(ratio.value.high, static_cast<int>(ratio.exponent));
    }
    return round_exp(log_of_mean(index));
}

double RiskProfile::log_mean(std::size_t index) const {
    require_weight();
    if (is_zero(index)) return -std::numeric_limits<double>::infinity();
    return log_of_mean(index).high;
}

double RiskProfile::mean_power_minus_one(std::size_t index) const {
    require_weight();
    const double m = powers_[index];
    if (m == 0.0 || std::isinf(m)) {
        throw std::invalid_argument("the power must be finite and not 0");
    }
    if (m < 0.0 && zeros_ != 0) return std::numeric_limits<double>::infinity();
    ScaledDoubleDouble ratio = divide(sums_[index].value(), weight_.value());
    // Far from 1 the difference is decided by the larger of the two, and the exact one may
    // be too wide for a sum.
    if (ratio.exponent < -64) return -1.0;
    if (ratio.exponent <= 64) {
        ExactSum difference = sums_[index];
        difference.subtract(weight_);
        ratio = divide(difference.value(), weight_.value());
    }
    return std::ldexp(ratio.value.high,
                      static_cast<int>(std::clamp<std::int64_t>(ratio.exponent, -2000, 2000)));
}

double RiskProfile::mean_ratio(std::size_t index, const RiskProfile& other) const {
    require_weight();
    other.require_weight();
    if (is_zero(index)) return 0.0;
    if (other.is_zero(index)) return std::numeric_limits<double>::infinity();
    const DoubleDouble log_ratio = log_of_mean(index) - other.log_of_mean(index);
    if (log_ratio.high > 800.0) return std::numeric_limits<double>::infinity();
    return round_exp(log_ratio);
}

std::string RiskProfile::to_bytes() const {
    Writer out;
    write(out);
    return seal(kind, 1, out);
}

void RiskProfile::write(Writer& out) const {
    out.f64(q_lim_);
    out.u64(powers_.size());
    for (const double m : powers_) out.f64(m);
    out.u64(n_);
    out.u64(omitted_);
    out.u64(zeros_);
    out.f64(least_);
    out.f64(most_);
    weight_.write(out);
    for (const ExactSum& sum : sums_) sum.write(out);
}

RiskProfile RiskProfile::from_bytes(std::string_view bytes) {
    Reader in = open(bytes, kind, 1);
    RiskProfile result = read(in);
    in.finish();
    // A parameter that the constructor has changed, such as -0.0.
    if (result.to_bytes() != bytes) {
        throw CorruptState("malformed state: the risk profile is not in its canonical form");
    }
    return result;
}

RiskProfile RiskProfile::read(Reader& in) {
    const double q_lim = in.f64();
    std::vector<double> powers(in.count(sizeof(double)));
    for (double& m : powers) m = in.f64();
    RiskProfile result = [&] {
        try {
            return RiskProfile(std::move(powers), q_lim);
        } catch (const std::invalid_argument& error) {
            throw CorruptState(std::string("malformed state: ") + error.what());
        }
    }();
    result.n_ = in.u64();
    result.omitted_ = in.u64();
    result.zeros_ = in.u64();
    result.least_ = in.f64();
    result.most_ = in.f64();
    result.weight_ = ExactSum::read(in);
    // Powers of probabilities, which may lie anywhere; nothing is multiplied with them.
    for (ExactSum& sum : result.sums_) sum = ExactSum::read(in, std::int64_t{1} << 40);
    const auto in_unit = [](double x) { return !std::signbit(x) && x <= 1.0; };
    if (result.zeros_ > result.n_ || !in_unit(result.least_) || !in_unit(result.most_) ||
        result.weight_.to_double() < 0.0 || (result.n_ == 0 && !result.weight_.is_zero())) {
        throw CorruptState("malformed state: counts and sums of the risk profile disagree");
    }
    return result;
}

RiskProfile named_profile(double q_lim) { return {{1.0, 0.0, -2.0 / 3.0}, q_lim}; }

namespace {

// Sums of logarithms and of their squares; of rows with weight.
struct LogSums {
    std::uint64_t n = 0, zeros = 0, others = 0;
    ExactSum weight, logs, squares;
};

class LogSumsWorker {
public:
    struct Rows {
        const Events& events;
        double q_lim;
    };

    LogSumsWorker(const LogSums&, const Rows& rows) : rows_(rows) {}

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; row += block_rows) {
            const std::size_t count = std::min(block_rows, end - row);
            if (!load_events(rows_.events, row, count, rows_.q_lim, block_)) return false;
            add_block();
        }
        return true;
    }

    void finish_into(LogSums& total) {
        total.n = checked_add(total.n, sums_.n);
        total.zeros += sums_.zeros;
        total.others += sums_.others;
        total.weight.merge(sums_.weight);
        total.logs.merge(sums_.logs);
        total.squares.merge(sums_.squares);
    }

private:
    void add_block() {
        const bool weighted = rows_.events.sample_weight != nullptr;
        const std::size_t n = block_.n;
        if (!weighted) std::fill_n(block_.weight, n, 1.0);
        sums_.n += n;
        (void)kernels().logs(block_.q, n, high_, low_);
        for (std::size_t i = 0; i < n; ++i) {
            const bool counts = block_.weight[i] > 0.0;
            sums_.zeros += counts && block_.q[i] == 0.0 ? 1U : 0U;
            sums_.others += counts && block_.q[i] > 0.0 ? 1U : 0U;
            twice_[i] = 2.0 * high_[i];
        }
        sums_.weight.add_block(block_.weight, n);
        for (const double* part : {high_, low_}) sums_.logs.add_products(block_.weight, part, n);
        add_square(high_, high_, n);
        add_square(twice_, low_, n);
        add_square(low_, low_, n);
    }

    // The products are multiples of 2^-116 below 2^20, and so products and errors are exact.
    void add_square(const double* a, const double* b, std::size_t n) {
        (void)kernels().products(a, b, n, product_, error_);
        sums_.squares.add_products(block_.weight, product_, n);
        sums_.squares.add_products(block_.weight, error_, n);
    }

    const Rows& rows_;
    EventBlock block_;
    LogSums sums_;
    alignas(64) double high_[block_rows], low_[block_rows], twice_[block_rows];
    alignas(64) double product_[block_rows], error_[block_rows];
};

}  // namespace

double geometric_deviation(const Events& events, double q_lim, Poll poll) {
    const RiskProfile nothing({}, q_lim);  // rejects a bad one
    LogSums sums;
    update_by_workers<LogSumsWorker>(sums, LogSumsWorker::Rows{events, nothing.q_lim()}, events, 0,
                                     poll);
    if (sums.zeros == 0 && sums.others == 0) {
        reject_weightless("a deviation needs", sums.n);
    }
    if (sums.zeros != 0) {
        return sums.others == 0 ? 1.0 : std::numeric_limits<double>::infinity();
    }
    // W sum w L^2 - (sum w L)^2, exactly, over W^2.
    const ExactSum spread = difference(sums.weight * sums.squares, sums.logs * sums.logs);
    if (spread.is_zero()) return 1.0;
    const double deviation =
        over_root(spread.value(), (spread * sums.weight * sums.weight).value());
    return round_exp({deviation, 0.0});
}

}  // namespace calibrant
