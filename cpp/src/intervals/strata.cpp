#include "calibrant/intervals/strata.hpp"

#include <utility>

namespace calibrant {

bool at_most(const ExactSum& a, const ExactSum& b) {
    ExactSum difference = b;
    difference.subtract(a);
    return difference.value().high >= 0.0;
}

void Stratum::merge(const Stratum& other) {
    if (other.weight.is_zero()) return;
    see(other.least);
    see(other.largest);
    weight.merge(other.weight);
    covered.merge(other.covered);
}

void Stratum::write(Writer& out) const {
    out.f64(least);
    out.f64(largest);
    weight.write(out);
    covered.write(out);
}

Stratum Stratum::read(Reader& in) {
    Stratum result;
    result.least = in.f64();
    result.largest = in.f64();
    result.weight = ExactSum::read(in);
    result.covered = ExactSum::read(in);
    const bool is_empty = result.weight.is_zero();
    const Stratum none;
    const bool sizes_fit = is_empty ? result.least == none.least && result.largest == none.largest
                                    : result.least >= 0.0 && result.least <= result.largest &&
                                          result.largest <= std::numeric_limits<double>::max();
    if (!sizes_fit || !at_most(ExactSum(), result.covered) ||
        !at_most(result.covered, result.weight)) {
        throw CorruptState("malformed state: a group by size does not add up");
    }
    return result;
}

std::vector<Stratum> StratumTally::take() {
    for (std::size_t k = 0; k < strata_.size(); ++k) {
        strata_[k].weight.add(static_cast<Int128>(counts_[k].rows), 0);
        strata_[k].covered.add(static_cast<Int128>(counts_[k].covered), 0);
        counts_[k] = {};
    }
    return std::exchange(strata_, std::vector<Stratum>(strata_.size()));
}

void StratumTally::finish_into(std::vector<Stratum>& result) {
    const std::vector<Stratum> strata = take();
    for (std::size_t k = 0; k < strata.size(); ++k) result[k].merge(strata[k]);
}

}  // namespace calibrant
