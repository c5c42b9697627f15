#include "cumulative/simulated_tests.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "calibrant/rows/check.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "numeric/philox.hpp"
#include "ordering/sorted_scores.hpp"
#include "rows/workers.hpp"

namespace calibrant {
namespace {

// Whole numbers of these hold the terms; a sum over most_simulated_rows fits in 63 bits.
constexpr double grid = 0x1p44;
// A worker takes simulations of about as many draws at a time.
constexpr std::size_t draws_per_chunk = std::size_t{1} << 16;

std::int64_t on_grid(double x) { return static_cast<std::int64_t>(std::floor(x * grid + 0.5)); }

// The rows of one score.
struct Tie {
    std::int64_t score;    // on the grid
    std::int64_t away;     // 1 - 2s
    std::int64_t product;  // s (1 - 2s)
    std::uint64_t high;    // a word below it is a hit
    std::uint32_t low;     // at equality, a second one below this
    std::uint32_t rows, hits;
};

// A hit comes with probability s: that of 64 random bits below s 2^64.
void set_limits(double s, Tie& tie) {
    const double scaled = s * 0x1p32;
    tie.high = static_cast<std::uint64_t>(scaled);  // 2^32 for s = 1: every word is below
    tie.low = static_cast<std::uint32_t>((scaled - static_cast<double>(tie.high)) * 0x1p32);
}

[[noreturn]] void reject_weights(const Events& events) {
    for (std::size_t row = 0; row < events.size(); ++row) {
        double weight;
        load(*events.sample_weight, row, 1, &weight);
        if (std::isfinite(weight) && weight != std::floor(weight)) {
            throw InvalidInput(
                "sample_weight must hold whole numbers for simulated p-values, as a weight is a "
                "number of rows, found " +
                value_text(*events.sample_weight, row) + " at row " + std::to_string(row));
        }
    }
    throw InvalidInput("sample_weight must hold whole numbers for simulated p-values");
}

class TiedRows {
public:
    TiedRows(const ScoredRows& rows, const Simulations& simulations, Poll poll) {
        const SortedScores sorted(rows, poll);
        const int exponent = sorted.unit_exponent();
        if (exponent < 0) reject_weights(rows.events);
        UInt128 total = 0;
        sorted.for_each_score(poll, [&](double score, UInt128 units, UInt128 hits) {
            // Saturated, so that nothing overflows: it is rejected below.
            const bool small = units < UInt128{1} << 62 && exponent < 62;
            const UInt128 weight = small ? units << exponent : UInt128{1} << 64;
            total = std::min(total + weight, UInt128{1} << 64);
            if (total > most_simulated_rows) return;
            Tie tie{};
            tie.score = on_grid(score);
            tie.away = on_grid(1.0 - 2.0 * score);
            tie.product = on_grid(score * (1.0 - 2.0 * score));
            set_limits(score, tie);
            tie.rows = static_cast<std::uint32_t>(weight);
            tie.hits = static_cast<std::uint32_t>(hits << exponent);
            ties_.push_back(tie);
        });
        n_ = static_cast<std::uint64_t>(std::min(total, UInt128{1} << 63));
        if (n_ == 0) {
            reject_weightless("the test needs", sorted.count());
        }
        if (n_ > most_simulated_rows || n_ * simulations.number > most_simulated_draws) {
            throw InvalidInput(
                "simulated p-values are for at most " + std::to_string(most_simulated_rows) +
                " rows, and 2^32 draws: rows times n_simulations; got " +
                (n_ < std::uint64_t{1} << 63 ? std::to_string(n_) : std::string("too many")) +
                " rows and " + std::to_string(simulations.number) +
                " simulations. Of so many rows, method='asymptotic' holds unless the sum of "
                "s (1 - s) is below 20");
        }
    }

    [[nodiscard]] std::uint64_t size() const { return n_; }

    // visit(tie, hits) for all in ascending order.
    template <class Visit>
    void observed(const Visit& visit) const {
        for (const Tie& tie : ties_) visit(tie, tie.hits);
    }

    template <class Visit>
    void simulated(std::uint64_t seed, std::uint32_t simulation, const Visit& visit) const {
        PhiloxBlock words{};
        std::uint64_t row = 0;
        for (const Tie& tie : ties_) {
            std::uint32_t hits = 0;
            for (std::uint32_t i = 0; i < tie.rows; ++i, ++row) {
                const RandomPlace place{seed, row / 4, simulation, Purpose::outcome};
                if (row % 4 == 0) words = place.block(0);
                const std::uint32_t word = words[row % 4];
                hits += word < tie.high ? 1U : 0U;
                if (word == tie.high) hits += place.block(1)[row % 4] < tie.low ? 1U : 0U;
            }
            visit(tie, hits);
        }
    }

    // How far rounding can move a statistic: each row's terms by a unit or two.
    [[nodiscard]] std::int64_t slack() const { return 4 * static_cast<std::int64_t>(n_); }

private:
    std::vector<Tie> ties_;
    std::uint64_t n_ = 0;
};

struct WalkReach {
    std::int64_t place = 0, highest = 0, lowest = 0;

    void step(const Tie& tie, std::uint32_t hits) {
        place += static_cast<std::int64_t>(hits) * static_cast<std::int64_t>(grid);
        place -= static_cast<std::int64_t>(tie.rows) * tie.score;
        highest = std::max(highest, place);
        lowest = std::min(lowest, place);
    }
    [[nodiscard]] std::int64_t distance() const { return std::max(highest, -lowest); }
    [[nodiscard]] std::int64_t range() const { return highest - lowest; }
};

// The Brier score less its expectation.
struct Excess {
    std::int64_t sum = 0;

    void step(const Tie& tie, std::uint32_t hits) {
        sum += static_cast<std::int64_t>(hits) * tie.away;
        sum -= static_cast<std::int64_t>(tie.rows) * tie.product;
    }
    [[nodiscard]] std::int64_t reach(Alternative alternative) const {
        if (alternative == Alternative::two_sided) return sum < 0 ? -sum : sum;
        return alternative == Alternative::greater ? sum : -sum;
    }
};

// For each of the reaches of Statistic, in how many simulations it is at least the observed.
template <class Statistic, std::size_t n_reaches, class Reaches>
std::array<double, n_reaches> pvalues(const TiedRows& rows, const Simulations& simulations,
                                      Poll poll, const Reaches& reaches) {
    using Counts = std::array<std::uint64_t, n_reaches>;
    const auto of = [&](Statistic& statistic) {
        return [&](const Tie& tie, std::uint32_t hits) { statistic.step(tie, hits); };
    };
    Statistic seen;
    rows.observed(of(seen));
    std::array<std::int64_t, n_reaches> least = reaches(seen);
    for (std::int64_t& reach : least) reach -= rows.slack();
    const std::size_t chunk =
        std::max<std::size_t>(draws_per_chunk / static_cast<std::size_t>(rows.size()), 1);
    const std::size_t workers = workers_for(simulations.number, chunks_per_worker * chunk);
    std::vector<Counts> counts(workers);
    (void)for_each_chunk(simulations.number, chunk, workers, poll,
                         [&](std::size_t worker, std::size_t begin, std::size_t end) {
                             Counts found{};
                             for (std::size_t b = begin; b < end; ++b) {
                                 Statistic statistic;
                                 rows.simulated(simulations.seed, static_cast<std::uint32_t>(b),
                                                of(statistic));
                                 const auto reached = reaches(statistic);
                                 for (std::size_t k = 0; k < n_reaches; ++k) {
                                     found[k] += reached[k] >= least[k] ? 1U : 0U;
                                 }
                             }
                             for (std::size_t k = 0; k < n_reaches; ++k) {
                                 counts[worker][k] += found[k];
                             }
                             return true;
                         });
    std::array<double, n_reaches> result{};
    for (std::size_t k = 0; k < n_reaches; ++k) {
        std::uint64_t total = 1;
        for (const Counts& of_worker : counts) total += of_worker[k];
        result[k] = static_cast<double>(total) / (static_cast<double>(simulations.number) + 1.0);
    }
    return result;
}

}  // namespace

SimulatedWalkTests simulated_walk_tests(const ScoredRows& rows, const Simulations& simulations,
                                        Poll poll) {
    const WalkTests walk = walk_tests(rows, poll);
    const TiedRows ties(rows, simulations, poll);
    const auto found = pvalues<WalkReach, 2>(ties, simulations, poll, [](const WalkReach& reach) {
        return std::array<std::int64_t, 2>{reach.distance(), reach.range()};
    });
    return {{walk.ks(), found[0], std::log(found[0])},
            {walk.kuiper(), found[1], std::log(found[1])},
            walk};
}

double simulated_spiegelhalter(const ScoredRows& rows, Alternative alternative,
                               const Simulations& simulations, Poll poll) {
    const TiedRows ties(rows, simulations, poll);
    return pvalues<Excess, 1>(ties, simulations, poll, [=](const Excess& excess) {
        return std::array<std::int64_t, 1>{excess.reach(alternative)};
    })[0];
}

}  // namespace calibrant
