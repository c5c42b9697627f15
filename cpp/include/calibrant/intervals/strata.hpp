// Strata: rows grouped by the size of their interval or set, or by any key, with the weight of
// each group and of those of its rows that are covered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "calibrant/numeric/sum.hpp"
#include "calibrant/state/bytes.hpp"

namespace calibrant {

struct Stratum {
    // The sizes in it, over rows of positive weight; infinity and -infinity where there are none.
    double least = std::numeric_limits<double>::infinity();
    double largest = -std::numeric_limits<double>::infinity();
    ExactSum weight, covered;

    void see(double size) {
        least = size < least ? size : least;
        largest = size > largest ? size : largest;
    }
    void merge(const Stratum& other);
    void write(Writer& out) const;
    static Stratum read(Reader& in);  // throws CorruptState where it cannot be
};

// One thread's strata: rows without weights are counted in plain integers.
class StratumTally {
public:
    explicit StratumTally(std::size_t n_strata) : strata_(n_strata), counts_(n_strata) {}

    void add(std::size_t k, double size, bool covered) {
        strata_[k].see(size);
        ++counts_[k].rows;
        counts_[k].covered += covered ? 1 : 0;
    }
    void add(std::size_t k, double size, bool covered, double weight) {
        if (weight == 0.0) return;
        strata_[k].see(size);
        strata_[k].weight.add(weight);
        if (covered) strata_[k].covered.add(weight);
    }
    // The strata so far, to begin anew.
    [[nodiscard]] std::vector<Stratum> take();
    void finish_into(std::vector<Stratum>& result);

private:
    struct Counts {
        std::uint64_t rows = 0, covered = 0;
    };
    std::vector<Stratum> strata_;
    std::vector<Counts> counts_;
};

// a <= b
[[nodiscard]] bool at_most(const ExactSum& a, const ExactSum& b);

}  // namespace calibrant
