#include <cmath>
#include <utility>

#include "calibrant/intervals/intervals.hpp"
#include "calibrant/rows/check.hpp"

namespace calibrant {
namespace {

std::vector<double> read_numbers(Reader& in) {
    std::vector<double> numbers(in.count(sizeof(double)));
    for (double& number : numbers) number = in.f64();
    return numbers;
}

void write_numbers(Writer& out, const std::vector<double>& numbers) {
    out.u64(numbers.size());
    for (const double number : numbers) out.f64(number);
}

// Least and largest of what has been seen: both finite, or neither there.
bool is_range(double least, double largest, bool seen) {
    if (!seen) return least == INFINITY && largest == -INFINITY;
    const bool canonical =
        !(least == 0.0 && std::signbit(least)) && !(largest == 0.0 && std::signbit(largest));
    return canonical && std::isfinite(least) && std::isfinite(largest) && least <= largest;
}

[[noreturn]] void reject_state() {
    throw CorruptState("malformed state: counts and sums of the intervals disagree");
}

}  // namespace

std::string Intervals::to_bytes() const {
    Writer out;
    write_numbers(out, confidence_levels_);
    write_numbers(out, width_edges_);
    out.u64(n_);
    out.u64(omitted_);
    weight_.write(out);
    out.f64(least_y_);
    out.f64(largest_y_);
    out.u64(levels_.size());
    for (const Level& level : levels_) {
        level.below.write(out);
        level.above.write(out);
        level.width.write(out);
        level.excess.write(out);
        out.f64(level.least_width);
        out.f64(level.largest_width);
        for (const Stratum& stratum : level.by_width) stratum.write(out);
    }
    return seal(kind, 1, out);
}

void Intervals::read_level(Reader& in, Level& level) const {
    const bool seen = !weight_.is_zero();
    level.below = ExactSum::read(in);
    level.above = ExactSum::read(in);
    level.width = ExactSum::read(in);
    level.excess = ExactSum::read(in);
    level.least_width = in.f64();
    level.largest_width = in.f64();
    const ExactSum zero;
    for (const ExactSum* sum : {&level.below, &level.above, &level.width, &level.excess}) {
        if (!at_most(zero, *sum) || (!seen && !sum->is_zero())) reject_state();
    }
    ExactSum outside = level.below;
    outside.merge(level.above);
    if (!at_most(outside, weight_) || outside.is_zero() != level.excess.is_zero() ||
        !is_range(level.least_width, level.largest_width, seen) ||
        (seen && level.least_width < 0.0)) {
        reject_state();
    }
    if (width_edges_.empty()) return;
    ExactSum weight, covered;
    for (std::size_t k = 0; k < level.by_width.size(); ++k) {
        Stratum& stratum = level.by_width[k] = Stratum::read(in);
        weight.merge(stratum.weight);
        covered.merge(stratum.covered);
        if (stratum.weight.is_zero()) continue;
        const bool fits = (k == 0 || stratum.least >= width_edges_[k - 1]) &&
                          (k == width_edges_.size() || stratum.largest < width_edges_[k]) &&
                          !std::signbit(stratum.least) && !std::signbit(stratum.largest) &&
                          stratum.least >= level.least_width &&
                          stratum.largest <= level.largest_width;
        if (!fits) reject_state();
    }
    covered.merge(outside);
    for (const ExactSum* sum : {&weight, &covered}) {
        if (!at_most(*sum, weight_) || !at_most(weight_, *sum)) reject_state();
    }
}

Intervals Intervals::from_bytes(std::string_view bytes) {
    Reader in = open(bytes, kind, 1);
    std::vector<double> confidence_levels = read_numbers(in);
    std::vector<double> width_edges = read_numbers(in);
    Intervals result = make_from_state(
        [&] { return Intervals(std::move(confidence_levels), std::move(width_edges)); });
    result.n_ = in.u64();
    result.omitted_ = in.u64();
    result.weight_ = ExactSum::read(in);
    result.least_y_ = in.f64();
    result.largest_y_ = in.f64();
    const bool seen = !result.weight_.is_zero();
    const bool has_y = result.least_y_ != INFINITY;
    if (!at_most(ExactSum(), result.weight_) || (seen && result.n_ == 0) ||
        !is_range(result.least_y_, result.largest_y_, has_y) || (has_y && !seen)) {
        reject_state();
    }
    const std::size_t n_levels = in.count(1);
    const bool is_known = !result.confidence_levels_.empty();
    if (is_known ? n_levels != result.levels_.size() : n_levels > most_levels) reject_state();
    if (n_levels == 0 && (result.n_ > 0 || result.omitted_ > 0)) reject_state();
    result.set_levels(n_levels);
    for (Level& level : result.levels_) result.read_level(in, level);
    in.finish();
    return result;
}

}  // namespace calibrant
