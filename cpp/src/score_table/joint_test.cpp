#include "score_table/joint_test.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "calibrant/cumulative/walk.hpp"
#include "calibrant/numeric/tails.hpp"
#include "numeric/gamma_tail.hpp"

namespace calibrant {
namespace {

constexpr double ln_2 = 0x1.62e42fefa39efp-1;
constexpr double most_groups = 10.0;

class GroupMaker {
public:
    explicit GroupMaker(double weight) : step_(weight / most_groups) {}

    void add(const ScoreTable::RoundedSums& cell) {
        weight_ += cell.weight;
        hits_ += cell.hits;
        scores_ += cell.scores;
        before_ += cell.weight;
        if (before_ >= step_ * static_cast<double>(groups_.size() + 1)) finish();
    }

    [[nodiscard]] std::vector<JointTest::Group> groups() {
        finish();
        return std::move(groups_);
    }

private:
    void finish() {
        if (weight_ > 0.0) groups_.push_back({weight_, scores_ / weight_, hits_ / weight_});
        weight_ = hits_ = scores_ = 0.0;
    }

    double step_, before_ = 0.0;
    double weight_ = 0.0, hits_ = 0.0, scores_ = 0.0;
    std::vector<JointTest::Group> groups_;
};

}  // namespace

JointTest joint_test(const ScoreTable& table) {
    JointTest result;
    double weight = 0.0;
    for (const ScoreTable::Cell* cell : table.filled()) weight += table.rounded(*cell).weight;
    WalkTests counted;
    counted.n = table.count();
    counted.weight.add(weight);
    counted.require_weight();
    result.weight = weight;

    GroupMaker groups(weight);
    double numerator = 0.0, numerator_variance = 0.0, numerator_third = 0.0, third = 0.0;
    double walk = 0.0, distance = 0.0, most_distance = 0.0;
    for (const ScoreTable::Cell* at : table.filled()) {
        if (at->n == 0) continue;
        const ScoreTable::RoundedSums cell = table.rounded(*at);
        if (!(cell.weight > 0.0)) continue;  // underflow
        groups.add(cell);
        result.hits += cell.hits;
        result.expected += cell.scores;
        const double score = std::clamp(cell.scores / cell.weight, 0.0, 1.0);
        const double slope = 1.0 - 2.0 * score;
        const double variance = cell.weight * score * (1.0 - score);
        numerator += (cell.hits - cell.scores) - 2.0 * (cell.hit_scores - cell.scores * score);
        numerator_variance += slope * slope * variance;
        numerator_third += slope * slope * slope * slope * variance;
        result.variance += variance;
        third += slope * variance;
        // Inside a cell the walk rises by the hits' sum of 1 - s at most, and falls by the misses'
        // sum of s; equal scores move together.
        const double rise = at->least == at->greatest ? 0.0 : cell.hits - cell.hit_scores;
        const double highest = walk + rise;
        walk += cell.hits - cell.scores;
        distance = std::max(distance, std::fabs(walk));
        most_distance = std::max(most_distance, distance);
        if (rise > 0.0) {
            most_distance = std::max({most_distance, std::fabs(highest), std::fabs(walk - rise)});
        }
        // A miss of score 1.
        if (at->least == 1.0 && cell.hits < cell.weight) result.impossible = true;
    }
    if (table.columns() == 1 && std::isinf(table.model().log_mean(1))) result.impossible = true;
    result.groups = groups.groups();

    const double deviation = std::sqrt(result.variance);
    const auto ks_pvalue = [&](double reached) {
        if (!(result.variance > 0.0)) return reached == 0.0 ? 1.0 : 0.0;
        const double least = reached - ln_2;
        const double bound = 2.0 * (tails_of_events(least, result.variance, third).upper +
                                    tails_of_events(-least, result.variance, third).lower);
        return std::min(1.0, std::max(brownian_sup_sf(reached / deviation), bound));
    };
    const auto joint = [&](double of_ks) {
        return std::min(1.0, 2.0 * std::min(result.spiegelhalter_pvalue, of_ks));
    };
    if (numerator_variance > 0.0) {
        result.spiegelhalter = numerator / std::sqrt(numerator_variance);
        result.spiegelhalter_pvalue =
            tails_of_events(numerator, numerator_variance, numerator_third).two_sided();
    }
    result.ks = result.variance > 0.0 ? distance / deviation : distance;
    result.ks_pvalue = ks_pvalue(distance);
    result.pvalue = joint(result.ks_pvalue);
    result.least_pvalue = joint(ks_pvalue(most_distance));
    return result;
}

}  // namespace calibrant
