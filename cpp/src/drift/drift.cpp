#include "calibrant/drift/drift.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "calibrant/numeric/double_double.hpp"
#include "calibrant/numeric/tails.hpp"
#include "calibrant/rows/check.hpp"
#include "kernels/elementary.hpp"
#include "kernels/score_cells.hpp"
#include "numeric/gamma_tail.hpp"
#include "numeric/poisson_bootstrap.hpp"

namespace calibrant {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

constexpr std::size_t n_replicates = 999;
constexpr std::size_t tail_rank = 20;
constexpr double n_groups = 128.0;           // of scores; some more, as bins are not joined
constexpr std::size_t most_compared = 1024;  // bins; of more, neighbours are taken together
constexpr double most_weight = 0x1p900;
// Squares of terms are rounded: a smaller variance, relative to the square of the mean, is none.
constexpr double least_relative_variance = 0x1p-48;

// For an interval: rows of either side; the skewness that its mean may have; and its hits and
// misses, each, for numbers that are no means.
constexpr double few_rows = 50.0, few_rows_of_frequency = 20.0;
constexpr double most_skewness = 0.2;
constexpr double least_events = 30.0;

enum Side : std::size_t { side_a, side_b };

// Rows of neighbouring scores, [0] misses and [1] hits.
struct Group {
    std::size_t bin = 0;
    double rows[2][2] = {{0.0, 0.0}, {0.0, 0.0}};  // of each side
    double scores[2] = {0.0, 0.0};                 // their sum over both sides

    [[nodiscard]] double both(std::size_t hit) const { return rows[0][hit] + rows[1][hit]; }
    [[nodiscard]] double all() const { return both(0) + both(1); }
    [[nodiscard]] double score(std::size_t hit) const { return scores[hit] / both(hit); }
    void merge(const Group& other) {
        for (std::size_t i = 0; i < 4; ++i) rows[i / 2][i % 2] += other.rows[i / 2][i % 2];
        for (std::size_t hit = 0; hit < 2; ++hit) scores[hit] += other.scores[hit];
    }
};

struct Rows {
    std::vector<Group> groups;
    double total[2][2] = {{0.0, 0.0}, {0.0, 0.0}};  // of each side, misses and hits

    void add(const Group& group) {
        groups.push_back(group);
        for (std::size_t i = 0; i < 4; ++i) total[i / 2][i % 2] += group.rows[i / 2][i % 2];
    }
    [[nodiscard]] double of(std::size_t side) const { return total[side][0] + total[side][1]; }
    [[nodiscard]] Side smaller() const { return of(side_a) < of(side_b) ? side_a : side_b; }
    [[nodiscard]] bool are_few_enough() const { return of(0) < most_weight && of(1) < most_weight; }
};

std::size_t compared_bin(std::size_t bin, std::size_t n_bins) {
    return n_bins <= most_compared ? bin : bin * most_compared / n_bins;
}

// Neighbours of one bin, until the groups are n_groups or so, of rows and of hits and misses.
Rows joined(const std::vector<Group>& fine) {
    double hits = 0.0, all = 0.0;
    for (const Group& group : fine) {
        hits += group.both(1);
        all += group.all();
    }
    const double share_of[2] = {1.0 / std::max(all - hits, 1.0), 1.0 / std::max(hits, 1.0)};
    Rows rows;
    Group open;
    double share = 0.0;
    for (const Group& group : fine) {
        const double more = (share_of[0] * group.both(0) + share_of[1] * group.both(1)) / 2.0;
        if (open.all() > 0.0 && (group.bin != open.bin || share + more > 1.0 / n_groups)) {
            rows.add(open);
            open = {};
            share = 0.0;
        }
        open.bin = group.bin;
        open.merge(group);
        share += more;
    }
    if (open.all() > 0.0) rows.add(open);
    return rows;
}

void add(Group& group, Side side, const ScoreTable& table, const ScoreTable::Cell& cell) {
    ScoreTable::Sums sums;
    table.add_to(sums, cell);
    const double hits = sums.hits.to_double();
    group.rows[side][1] += hits;
    sums.weight.subtract(sums.hits);
    group.rows[side][0] += sums.weight.to_double();
    group.scores[1] += sums.hit_scores.to_double();
    sums.scores.subtract(sums.hit_scores);
    group.scores[0] += sums.scores.to_double();
}

Rows rows_of(const ScoreTable& a, const ScoreTable& b, std::size_t n_bins) {
    const std::vector<const ScoreTable::Cell*> cells[2] = {a.filled(), b.filled()};
    std::vector<Group> fine;
    const std::size_t used = std::min(n_bins, most_compared);
    for (std::size_t i = 0, j = 0; i < cells[0].size() || j < cells[1].size();) {
        const std::uint32_t of_a = i < cells[0].size() ? cells[0][i]->cell : UINT32_MAX;
        const std::uint32_t of_b = j < cells[1].size() ? cells[1][j]->cell : UINT32_MAX;
        Group group;
        if (of_a <= of_b) add(group, side_a, a, *cells[0][i++]);
        if (of_b <= of_a) add(group, side_b, b, *cells[1][j++]);
        if (!(group.all() > 0.0)) continue;
        const double score = (group.scores[0] + group.scores[1]) / group.all();
        const double bin = std::floor(std::clamp(score, 0.0, 1.0) * static_cast<double>(used));
        group.bin = std::min(static_cast<std::size_t>(bin), used - 1);
        fine.push_back(group);
    }
    return joined(fine);
}

Rows rows_of(const Scorecard& a, const Scorecard& b) {
    if (a.table() && b.table()) return rows_of(*a.table(), *b.table(), a.n_bins());
    Rows rows;
    Group open;
    for (std::size_t k = 0; k < a.n_bins(); ++k) {
        const std::size_t bin = compared_bin(k, a.n_bins());
        if (bin != open.bin && open.all() > 0.0) rows.add(std::exchange(open, {}));
        open.bin = bin;
        for (std::size_t side = 0; side < 2; ++side) {
            const Scorecard& card = side == 0 ? a : b;
            const Reliability::Bin& all = card.reliability().table()[k];
            const ExactSum& hit_scores = card.outcomes()[k].hit_scores;
            open.rows[side][0] += difference(all.weight, all.hits).to_double();
            open.rows[side][1] += all.hits.to_double();
            open.scores[0] += difference(all.scores, hit_scores).to_double();
            open.scores[1] += hit_scores.to_double();
        }
    }
    if (open.all() > 0.0) rows.add(open);
    return rows;
}

// Hits and misses have the mean score of their bin.
Rows rows_of(const Reliability& a, const Reliability& b) {
    Rows rows;
    Group open;
    double scores = 0.0;
    const auto close = [&] {
        if (!(open.all() > 0.0)) return;
        const double mean_score = scores / open.all();
        for (std::size_t hit = 0; hit < 2; ++hit) open.scores[hit] = mean_score * open.both(hit);
        rows.add(std::exchange(open, {}));
        scores = 0.0;
    };
    for (std::size_t k = 0; k < a.bins().size(); ++k) {
        const std::size_t bin = compared_bin(k, a.bins().size());
        if (bin != open.bin) close();
        open.bin = bin;
        const Reliability::Bin* const bins[2] = {&a.table()[k], &b.table()[k]};
        for (std::size_t side = 0; side < 2; ++side) {
            const double hits = bins[side]->hits.to_double();
            open.rows[side][1] += hits;
            open.rows[side][0] += difference(bins[side]->weight, bins[side]->hits).to_double();
            scores += bins[side]->scores.to_double();
        }
    }
    close();
    return rows;
}

// Functions of the rows per group: the change of each from a to b, but of the curve, which is the
// sum of squares of the bins' changes over their variances.
enum Number : std::size_t {
    reliability,
    resolution,
    skill,
    ece,
    auc,
    ks,
    kuiper,
    curve,
    n_numbers
};
using Numbers = std::array<double, n_numbers>;
constexpr const char* names_of_numbers[n_numbers] = {
    "reliability", "resolution", "brier_skill", "ece", "auc", "ks", "kuiper", "curve"};

// `part` has the misses and hits of each group that are on b.
Numbers changes_of(const Rows& rows, const std::vector<double>& part) {
    struct Sums {
        double hits = 0.0, misses = 0.0, pairs = 0.0, walk = 0.0, least = 0.0, most = 0.0;
        double rel = 0.0, hit_squares = 0.0, ece = 0.0, brier = 0.0;
        double bin_hits = 0.0, bin_all = 0.0, bin_scores = 0.0;
    } sums[2];
    double squares = 0.0;
    const auto close_bin = [&] {
        double gaps[2] = {0.0, 0.0};
        for (std::size_t side = 0; side < 2; ++side) {
            Sums& x = sums[side];
            if (!(x.bin_all > 0.0)) continue;
            gaps[side] = (x.bin_hits - x.bin_scores) / x.bin_all;
            x.rel += x.bin_all * gaps[side] * gaps[side];
            x.ece += std::fabs(x.bin_hits - x.bin_scores);
            x.hit_squares += x.bin_hits * x.bin_hits / x.bin_all;
        }
        const double n[2] = {sums[0].bin_all, sums[1].bin_all};
        if (n[0] > 0.0 && n[1] > 0.0) {
            const double hits = sums[0].bin_hits + sums[1].bin_hits + 0.5;
            const double share = hits / (n[0] + n[1] + 1.0);
            const double distance = gaps[1] - gaps[0];
            squares += distance * distance / (share * (1.0 - share) * (1.0 / n[0] + 1.0 / n[1]));
        }
        for (Sums& x : sums) x.bin_hits = x.bin_all = x.bin_scores = 0.0;
    };
    for (std::size_t i = 0; i < rows.groups.size(); ++i) {
        const Group& group = rows.groups[i];
        if (i > 0 && group.bin != rows.groups[i - 1].bin) close_bin();
        for (std::size_t side = 0; side < 2; ++side) {
            Sums& x = sums[side];
            double of[2], scores = 0.0;
            for (std::size_t hit = 0; hit < 2; ++hit) {
                const double on_b = part[2 * i + hit];
                of[hit] = side == side_b ? on_b : group.both(hit) - on_b;
                if (!(of[hit] > 0.0)) continue;
                const double score = group.score(hit);
                const double gap = hit == 1 ? 1.0 - score : score;
                scores += of[hit] * score;
                x.brier += of[hit] * gap * gap;
            }
            x.pairs += of[1] * (x.misses + 0.5 * of[0]);
            x.misses += of[0];
            x.hits += of[1];
            x.walk += of[1] - scores;
            x.least = std::min(x.least, x.walk);
            x.most = std::max(x.most, x.walk);
            x.bin_hits += of[1];
            x.bin_all += of[0] + of[1];
            x.bin_scores += scores;
        }
    }
    close_bin();
    Numbers found[2];
    for (std::size_t side = 0; side < 2; ++side) {
        const Sums& x = sums[side];
        const double n = x.hits + x.misses;
        const double rate = x.hits / n;
        const bool one_class = !(x.hits > 0.0 && x.misses > 0.0);
        found[side] = {x.rel / n,
                       x.hit_squares / n - rate * rate,
                       one_class ? undefined : 1.0 - x.brier / n / (rate * (1.0 - rate)),
                       x.ece / n,
                       one_class ? undefined : x.pairs / (x.hits * x.misses),
                       std::max(x.most, -x.least) / n,
                       (x.most - x.least) / n,
                       0.0};
    }
    Numbers result;
    for (std::size_t k = 0; k < n_numbers; ++k) result[k] = found[1][k] - found[0][k];
    result[curve] = squares;
    return result;
}

// How many of `drawn` rows, of `all`, are among `some`: by inversion if they vary little; else from
// a normal number with the same variance and skewness, rounded.
double hypergeometric(RandomStream& random, double all, double some, double drawn) {
    if (drawn > 0.5 * all) return some - hypergeometric(random, all, some, all - drawn);
    if (some > 0.5 * all) return drawn - hypergeometric(random, all, all - some, drawn);
    const double few = std::min(some, drawn), many = std::max(some, drawn);
    if (few == 0.0) return 0.0;
    const double expected = drawn * (some / all);
    const double variance = expected * (1.0 - some / all) * (1.0 - drawn / all);
    if (variance >= 12.0) {
        const double z = random.normal();
        const double skewness = (1.0 - 2.0 * some / all) * (1.0 - 2.0 * drawn / all);
        const double number = expected + std::sqrt(variance) * z + skewness * (z * z - 1.0) / 6.0;
        return std::clamp(std::floor(number + 0.5), 0.0, few);
    }
    // P(0), the product of (all - many - j) / (all - j) for j < few; if they are many, by the
    // logarithm of the one in the middle.
    double probability = 1.0;
    if (few <= 32.0) {
        for (double j = 0.0; j < few; ++j) probability *= (all - many - j) / (all - j);
    } else {
        probability = exp(few * log(1.0 - many / (all - 0.5 * (few - 1.0))));
    }
    double rest = random.uniform() - probability;
    double k = 0.0;
    while (rest > 0.0 && k < few) {
        probability *= (few - k) / (k + 1.0) * ((many - k) / (all - few - many + k + 1.0));
        k += 1.0;
        rest -= probability;
    }
    return k;
}

// The rows of a and b, whole numbers of them, split anew: the misses and hits on b.
class Splits {
public:
    explicit Splits(const Rows& rows) : rows_(rows) {
        double sum = 0.0, before = 0.0;
        for (const Group& group : rows.groups) {
            for (std::size_t hit = 0; hit < 2; ++hit) {
                sum += group.both(hit);
                const double now = std::floor(sum + 0.5);
                counts_.push_back(now - before);
                before = now;
            }
        }
        all_ = before;
        drawn_ = std::clamp(std::floor(rows.of(rows.smaller()) + 0.5), 0.0, all_);
    }

    [[nodiscard]] bool are_possible() const { return drawn_ >= 1.0 && drawn_ < all_; }

    void split(std::size_t replicate, std::vector<double>& part) const {
        RandomStream random(replicate, n_replicates);
        double all = all_, drawn = drawn_;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            const double here = drawn > 0.0 ? hypergeometric(random, all, counts_[i], drawn) : 0.0;
            all -= counts_[i];
            drawn -= here;
            // Of what was no whole number, the same share.
            const double exact = rows_.groups[i / 2].both(i % 2);
            const double taken = counts_[i] == 0.0 ? 0.0 : here * (exact / counts_[i]);
            part[i] = rows_.smaller() == side_b ? taken : exact - taken;
        }
    }

private:
    const Rows& rows_;
    std::vector<double> counts_;
    double all_ = 0.0, drawn_ = 0.0;
};

// P(X >= x), of replicates in ascending order; `without` is x without its most telling row.
double upper_tail(const std::vector<double>& values, double x, double without) {
    const auto n = static_cast<double>(values.size());
    const auto at_least =
        static_cast<double>(values.end() - std::lower_bound(values.begin(), values.end(), x));
    const double rank = (at_least + 1.0) / (n + 1.0);
    if (at_least >= static_cast<double>(tail_rank) || values.size() <= tail_rank) return rank;
    const double in_tail = values[values.size() - tail_rank];
    const auto first = std::lower_bound(values.begin(), values.end(), in_tail);
    if (first == values.begin()) return rank;
    const double below = *(first - 1);
    double excess = 0.0;
    for (auto at = first; at != values.end(); ++at) excess += *at - below;
    const auto count = static_cast<double>(values.end() - first);
    const double beyond = std::max(std::min(x, without) - in_tail, 0.0);
    return (count + 1.0) / (n + 1.0) * exp(-beyond * count / excess);
}

std::vector<DriftTest> tests_by_splits(const Rows& rows, const std::vector<Number>& asked,
                                       double confidence_level, Poll poll) {
    std::vector<DriftTest> tests;
    double fewest = infinite;
    for (std::size_t i = 0; i < 4; ++i) fewest = std::min(fewest, rows.total[i / 2][i % 2]);
    const char* const no_interval = rows.of(rows.smaller()) < few_rows ? "too few rows"
                                    : fewest < least_events            ? "too few events"
                                                                       : "";
    const Splits splits(rows);
    const bool possible = rows.are_few_enough() && splits.are_possible();
    std::vector<Numbers> replicates(possible ? n_replicates : 0);
    const std::size_t size = 2 * rows.groups.size();
    const std::size_t chunk = std::max<std::size_t>(8192 / std::max<std::size_t>(size, 1), 1);
    (void)for_each_chunk(replicates.size(), chunk, workers_for(replicates.size(), 4 * chunk), poll,
                         [&](std::size_t, std::size_t begin, std::size_t end) {
                             std::vector<double> part(size);
                             for (std::size_t r = begin; r < end; ++r) {
                                 splits.split(r, part);
                                 replicates[r] = changes_of(rows, part);
                             }
                             return true;
                         });
    std::vector<double> seen_part(size);
    for (std::size_t i = 0; i < size; ++i) seen_part[i] = rows.groups[i / 2].rows[side_b][i % 2];
    const Numbers seen = changes_of(rows, seen_part);
    // The least and the greatest of each change, if one row of the smaller side were on the other.
    std::optional<std::pair<Numbers, Numbers>> without;
    const auto without_one = [&]() -> const std::pair<Numbers, Numbers>& {
        if (without) return *without;
        without.emplace(seen, seen);
        for (std::size_t i = 0; i < size; ++i) {
            const double here = rows.groups[i / 2].rows[rows.smaller()][i % 2];
            if (!(here > 0.0)) continue;
            std::vector<double> part = seen_part;
            const double one = std::min(here, 1.0);
            part[i] += rows.smaller() == side_b ? -one : one;
            const Numbers moved = changes_of(rows, part);
            for (std::size_t k = 0; k < n_numbers; ++k) {
                without->first[k] = std::fmin(without->first[k], moved[k]);
                without->second[k] = std::fmax(without->second[k], moved[k]);
            }
        }
        return *without;
    };
    for (const Number number : asked) {
        DriftTest test{names_of_numbers[number],
                       "permutation",
                       seen[number],
                       undefined,
                       undefined,
                       undefined,
                       "",
                       no_interval};
        std::vector<double> values;
        double sum = 0.0;
        for (const Numbers& replicate : replicates) {
            if (std::isnan(replicate[number])) continue;
            values.push_back(replicate[number]);
            sum += replicate[number];
        }
        if (!possible) {
            test.reason = "too few rows";
        } else if (std::isnan(seen[number]) || 2 * values.size() < n_replicates) {
            test.reason = "too few events";
        } else {
            test.expected = sum / static_cast<double>(values.size());
            std::sort(values.begin(), values.end());
            const bool is_far = seen[number] > values[values.size() - tail_rank] ||
                                seen[number] < values[tail_rank - 1];
            const double least = is_far ? without_one().first[number] : seen[number];
            const double most = is_far ? without_one().second[number] : seen[number];
            const double upper = upper_tail(values, seen[number], least);
            for (double& value : values) value = -value;
            std::reverse(values.begin(), values.end());
            const double lower = upper_tail(values, -seen[number], -most);
            test.pvalue = number == curve ? upper : std::min(1.0, 2.0 * std::min(upper, lower));
            for (double& value : values) value = std::fabs(value + test.expected);  // negated above
            std::sort(values.begin(), values.end());
            const auto n = static_cast<double>(values.size());
            const double rank = std::ceil(confidence_level * (n + 1.0)) - 1.0;
            test.reach = values[static_cast<std::size_t>(std::clamp(rank, 0.0, n - 1.0))];
        }
        tests.push_back(std::move(test));
    }
    return tests;
}

// A mean: of either side, the variance of a row of both, and what its skewness can be.
struct Mean {
    double a, b, variance;
    double least_skewness, most_skewness;
    double step = 0.0;  // between the values that a row can have, if there are two only
};

// Of terms between 0 and `most`, with this mean and variance: E x (x - c)^2 >= 0 for all c, and
// the same for most - x.
void limit_skewness(Mean& terms, double mean, double most) {
    const double deviation = std::sqrt(terms.variance);
    terms.least_skewness = deviation / mean - mean / deviation;
    terms.most_skewness = (most - mean) / deviation - deviation / (most - mean);
}

DriftTest test_of_mean(const char* name, const Mean& terms, double n_a, double n_b) {
    DriftTest test{name, "moments", undefined, undefined, 0.0, 0.0, "", ""};
    const double all = n_a + n_b;
    if (!(all >= 2.0) || !(all < most_weight)) {
        test.reason = "too few rows";
        return test;
    }
    if (!(terms.variance > 0.0) || !std::isfinite(terms.variance)) {
        test.reason = "all rows are alike: there is nothing to chance";
        return test;
    }
    const double variance = terms.variance * all / (all - 1.0);
    const double deviation = std::sqrt(variance * (1.0 / n_a + 1.0 / n_b));
    test.statistic = (terms.b - terms.a) / deviation;
    const double scale = (all - 2.0 * n_b) / std::sqrt(all * n_a * n_b);
    const double ends[2] = {scale * terms.least_skewness, scale * terms.most_skewness};
    const double skewness = std::max(
        test.statistic > 0.0 ? std::max(ends[0], ends[1]) : -std::min(ends[0], ends[1]), 0.0);
    const double half_step =
        std::max(0.5 * skewness, 0.5 * terms.step * (1.0 / n_a + 1.0 / n_b) / deviation);
    const double z = std::max(std::fabs(test.statistic) - half_step, 0.0);
    const double root = 2.0 / skewness;
    const double tail =
        skewness < 0x1p-10 ? normal_sf(z) : gamma_sf(root * root, root * (root + z));
    test.pvalue = std::min(1.0, 2.0 * tail);
    const double most = std::max(std::fabs(terms.least_skewness), std::fabs(terms.most_skewness));
    const double fewer = std::min(n_a, n_b);
    const bool is_frequency = terms.step != 0.0;  // Newcombe's interval holds for few events, too
    if (fewer < (is_frequency ? few_rows_of_frequency : few_rows)) {
        test.no_interval = "too few rows";
    } else if (!is_frequency && !(most / std::sqrt(fewer) <= most_skewness)) {
        test.no_interval = "too few events";
    }
    return test;
}

// Both sides of a Scorecard.
class CardMeans {
public:
    CardMeans(const Scorecard& a, const Scorecard& b, const Rows& rows)
        : a_(a),
          b_(b),
          rows_(rows),
          weights_{a.weight(), b.weight()},
          n_{weights_[0].to_double(), weights_[1].to_double()} {}

    [[nodiscard]] std::vector<DriftTest> tests() const {
        std::vector<DriftTest> tests;
        const auto add = [&](const char* name, const Mean& terms) {
            tests.push_back(test_of_mean(name, terms, n_[0], n_[1]));
        };
        add("base_rate", frequency(most_frequent(), true));
        add("hit_rate", frequency(0, false));
        const Mean q = term(Scorecard::q, 1.0, [](double x, double) { return x; });
        const Mean log_q =
            term(Scorecard::log_q, infinite, [](double x, double) { return log(x); });
        const Mean power = term(Scorecard::power_q, infinite,
                                [](double x, double) { return exp(-2.0 / 3.0 * log(x)); });
        add("decisiveness", q);
        add("accuracy", log_q);
        add("robustness", mirrored(power));
        add("brier", term(Scorecard::brier, a_.columns() == 1 ? 1.0 : 2.0, brier_term));
        if (a_.columns() != 1) add("brier_skill", skill());
        add("log", mirrored(log_q));
        add("spherical", term(Scorecard::spherical, 1.0, [](double x, double miss) {
                return x / std::sqrt(x * x + miss * miss);
            }));
        for (DriftTest& test : tests) {
            if (std::string(test.name) != "robustness" || a_.q_lim() > 0.0) continue;
            test.no_interval =
                "a few rows of small probability may decide it; q_lim > 0 clips them";
        }
        if (a_.zeros() != 0 || b_.zeros() != 0) {
            for (DriftTest& test : tests) {
                const std::string name = test.name;
                if (name != "accuracy" && name != "robustness" && name != "log") continue;
                test.statistic = test.pvalue = undefined;
                test.reason = "a probability of 0 was given to what happened; q_lim > 0 clips it";
            }
        }
        return tests;
    }

private:
    static double brier_term(double, double miss) { return miss * miss; }

    static Mean mirrored(Mean terms) {
        terms.a = -terms.a;
        terms.b = -terms.b;
        std::swap(terms.least_skewness, terms.most_skewness);
        terms.least_skewness = -terms.least_skewness;
        terms.most_skewness = -terms.most_skewness;
        return terms;
    }

    [[nodiscard]] double both(const ExactSum& of_a, const ExactSum& of_b) const {
        ExactSum sum = of_a, weight = weights_[0];
        sum.merge(of_b);
        weight.merge(weights_[1]);
        return mean(sum, weight);
    }

    [[nodiscard]] std::size_t n_classes() const { return a_.scores().class_weight().size(); }

    [[nodiscard]] std::size_t most_frequent() const {
        if (a_.columns() == 1) return 1;
        std::size_t best = 0;
        double largest = -1.0;
        for (std::size_t j = 0; j < n_classes(); ++j) {
            const double share = both(a_.scores().class_weight()[j], b_.scores().class_weight()[j]);
            if (share > largest) {
                largest = share;
                best = j;
            }
        }
        return best;
    }

    [[nodiscard]] Mean frequency(std::size_t label, bool of_label) const {
        const ExactSum parts[2] = {of_label ? a_.scores().class_weight()[label] : a_.right(),
                                   of_label ? b_.scores().class_weight()[label] : b_.right()};
        const double share = both(parts[0], parts[1]);
        const double one = share * (1.0 - share);
        Mean found{mean(parts[0], weights_[0]), mean(parts[1], weights_[1]), one, 0.0, 0.0, 1.0};
        found.least_skewness = found.most_skewness = (1.0 - 2.0 * share) / std::sqrt(one);
        return found;
    }

    // The skewness of what is a function of the probability of the outcome, and of its
    // complement, and of whether it was a hit; where the scores say them.
    template <class Function>
    [[nodiscard]] bool read_skewness(Mean& terms, const Function& function) const {
        if (a_.columns() != 1 || !a_.table() || !b_.table()) return false;
        double n = 0.0, first = 0.0, sum = 0.0;
        const auto each = [&](const auto& use) {
            for (const Group& group : rows_.groups) {
                for (std::size_t hit = 0; hit < 2; ++hit) {
                    if (!(group.both(hit) > 0.0)) continue;
                    const double score = std::clamp(group.score(hit), 0.0, 1.0);
                    use(group.both(hit), function(score, hit));
                }
            }
        };
        each([&](double rows, double value) {
            n += rows;
            sum += rows * value;
        });
        first = sum / n;
        double square = 0.0, cube = 0.0;
        each([&](double rows, double value) {
            const double distance = value - first;
            square += rows * distance * distance;
            cube += rows * distance * distance * distance;
        });
        square /= n;
        if (!(square > 0.0)) return false;
        terms.least_skewness = terms.most_skewness = cube / n / (square * std::sqrt(square));
        return std::isfinite(terms.most_skewness);
    }

    // Of a term of each row, between 0 and `most`; function(q, 1 - q) is the term of a binary row.
    template <class Function>
    [[nodiscard]] Mean term(Scorecard::Term which, double most, const Function& function) const {
        const auto mean_of = [&](const Scorecard& card, std::size_t side) {
            return mean(card.sum(which), weights_[side]);
        };
        ExactSum weight = weights_[0], sum = a_.sum(which), squares = a_.square_sum(which);
        weight.merge(weights_[1]);
        sum.merge(b_.sum(which));
        squares.merge(b_.square_sum(which));
        const DoubleDouble at = quotient(sum, weight);
        const DoubleDouble square = at * at;
        const double variance = (quotient(squares, weight) - square).high;
        Mean terms{mean_of(a_, 0), mean_of(b_, 1),
                   variance > least_relative_variance * square.high ? variance : 0.0, 0.0, 0.0};
        const bool is_clipped = which <= Scorecard::power_q;
        const double q_lim = is_clipped ? std::max(a_.q_lim(), 0x1p-60) : 0.0;
        const auto of_row = [&](double score, std::size_t hit) {
            const double q = hit == 1 ? score : 1.0 - score;
            return function(std::clamp(q, q_lim, is_clipped ? 1.0 - a_.q_lim() : 1.0),
                            hit == 1 ? 1.0 - score : score);
        };
        if (!(terms.variance > 0.0) || read_skewness(terms, of_row)) return terms;
        if (std::isfinite(most)) {
            limit_skewness(terms, at.high, most);
        } else if (which == Scorecard::log_q) {
            limit_skewness_of_log(terms, at.high);
        } else {  // no row is farther off than the root of all squares
            const double rows = n_[0] + n_[1];
            terms.most_skewness = std::sqrt(rows);
            terms.least_skewness = 0.0;
        }
        return terms;
    }

    // Of L = -log q, whose exponential means are known: (c L)^3 / 6 is at most
    // exp(c L) - 1 - c L - (c L)^2 / 2. And E L^3 >= (E L^2)^2 / E L.
    void limit_skewness_of_log(Mean& log_q, double mean_log) const {
        const double first = -mean_log;
        const double second = log_q.variance + first * first;
        double third = infinite;
        const auto power = Scorecard::power_q;
        const double exponentials[2] = {both(a_.sum(power), b_.sum(power)),
                                        both(a_.square_sum(power), b_.square_sum(power))};
        for (const int k : {1, 2}) {
            const double c = 2.0 / 3.0 * k;
            const double rest = exponentials[k - 1] - 1.0 - c * first - 0.5 * c * c * second;
            third = std::min(third, 6.0 * rest / (c * c * c));
        }
        const double cube = log_q.variance * std::sqrt(log_q.variance);
        const double shift = first * (3.0 * log_q.variance + first * first);
        const double least = (second * second / first - shift) / cube;
        const double most = std::max((third - shift) / cube, least);
        log_q.least_skewness = -most;
        log_q.most_skewness = -least;
    }

    // The linear part of 1 - B / U: the terms -b / U - 2 B / U^2 pi of the class, for (n, k).
    [[nodiscard]] Mean skill() const {
        double squares = 0.0, cubes = 0.0, joint = 0.0, change = 0.0, most_pi = 0.0, least_pi = 1.0;
        for (std::size_t j = 0; j < n_classes(); ++j) {
            const ExactSum of_a = a_.scores().class_weight()[j],
                           of_b = b_.scores().class_weight()[j];
            const double pi = both(of_a, of_b);
            squares += pi * pi;
            cubes += pi * pi * pi;
            joint += pi * both(a_.brier_of_class(j), b_.brier_of_class(j));
            change += pi * (mean(of_b, weights_[1]) - mean(of_a, weights_[0]));
            most_pi = std::max(most_pi, pi);
            least_pi = std::min(least_pi, pi);
        }
        const double reference = 1.0 - squares;
        if (!(reference > 0.0)) return {0.0, 0.0, 0.0, 0.0, 0.0};
        const double most_brier = 2.0;
        const Mean brier = term(Scorecard::brier, most_brier, brier_term);
        const double at = both(a_.sum(Scorecard::brier), b_.sum(Scorecard::brier));
        const double slope = 2.0 * at / reference;  // of pi, in units of b
        const double covariance = joint - at * squares;
        const double variance_of_pi = std::max(cubes - squares * squares, 0.0);
        Mean terms{0.0, -(brier.b - brier.a + slope * change) / reference,
                   (brier.variance + 2.0 * slope * covariance + slope * slope * variance_of_pi) /
                       (reference * reference),
                   0.0, 0.0};
        if (!(terms.variance > 0.0)) return terms;
        // b + slope pi lies between slope least_pi and most_brier + slope most_pi.
        Mean mirror = terms;
        mirror.variance *= reference * reference;
        limit_skewness(mirror, at + slope * (squares - least_pi),
                       most_brier + slope * (most_pi - least_pi));
        terms.least_skewness = -mirror.most_skewness;
        terms.most_skewness = -mirror.least_skewness;
        return terms;
    }

    const Scorecard& a_;
    const Scorecard& b_;
    const Rows& rows_;
    ExactSum weights_[2];
    double n_[2];
};

// The two-sided p-value if the smaller side had as many hits as it could, or as few; at least that
// of as many heads as it has rows.
double least_pvalue(const Rows& rows) {
    const double n = rows.of(rows.smaller());
    const double all = rows.of(0) + rows.of(1);
    const double hits = rows.total[0][1] + rows.total[1][1];
    const double events = std::min(hits, all - hits);
    const auto none = [&](double some) {  // of `some` among n of all
        const double few = std::min(some, n), many = std::max(some, n);
        double probability = 1.0;
        for (double j = 0.0; j < few && probability > 0x1p-100; ++j) {
            probability *= std::max(all - many - j, 0.0) / (all - j);
        }
        return probability;
    };
    const double fewer = std::min(events, n), more = std::max(events, n);
    double every = 1.0;
    for (double j = 0.0; j < fewer && every > 0x1p-100; ++j) {
        every *= (more - j) / (all - j);
    }
    const double least = std::max(std::min(every, none(events)), exp(-0.6931471805599453 * n));
    return std::min(1.0, 2.0 * least);
}

DriftTests drift_tests_of(const Rows& rows, std::vector<DriftTest> tests,
                          const std::vector<Number>& asked, double confidence_level, Poll poll) {
    for (DriftTest& test : tests_by_splits(rows, asked, confidence_level, poll))
        tests.push_back(std::move(test));
    return {std::move(tests), least_pvalue(rows)};
}

void require_weight(const Rows& rows) {
    for (std::size_t side = 0; side < 2; ++side) {
        if (!(rows.of(side) > 0.0)) {
            throw InvalidInput(std::string(side == side_a ? "reference" : "current") +
                               " needs at least one row with positive weight, got none");
        }
    }
}

}  // namespace

DriftTests drift_tests(const Scorecard& a, const Scorecard& b, double confidence_level, Poll poll) {
    Scorecard(a).merge(b);  // rejects other parameters and shapes
    a.require_weight();
    b.require_weight();
    const Rows rows = rows_of(a, b);
    std::vector<Number> asked = {reliability, resolution, ece, curve};
    if (a.columns() == 1) asked.push_back(skill);
    if (a.table()) asked.insert(asked.end(), {auc, ks, kuiper});
    return drift_tests_of(rows, CardMeans(a, b, rows).tests(), asked, confidence_level, poll);
}

DriftTests drift_tests(const ScoreTable& a, const ScoreTable& b, std::size_t n_bins,
                       double confidence_level, Poll poll) {
    ScoreTable(a).merge(b);
    const Rows rows = rows_of(a, b, n_bins);
    require_weight(rows);
    return drift_tests_of(rows, {}, {ece, auc, ks, kuiper, curve}, confidence_level, poll);
}

DriftTests drift_tests(const Reliability& a, const Reliability& b, double confidence_level,
                       Poll poll) {
    Reliability(a).merge(b);
    const Rows rows = rows_of(a, b);
    require_weight(rows);
    return drift_tests_of(rows, {}, {ece, curve}, confidence_level, poll);
}

}  // namespace calibrant
