#include "calibrant/score_table/score_bounds.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "calibrant/rows/check.hpp"
#include "score_table/score_cuts.hpp"

namespace calibrant {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

ExactSum sum_of(std::initializer_list<const ExactSum*> parts) {
    ExactSum sum;
    for (const ExactSum* part : parts) sum.merge(*part);
    return sum;
}

// fraction * sum, to double precision; fractions are coarse, so that what is left is not all
// rounding.
double coarse(double fraction) { return std::floor(fraction * 0x1p20) * 0x1p-20; }

ExactSum part_of(const ExactSum& sum, double fraction) {
    const Scaled value = sum.value();
    ExactSum part;
    part.add(value.high * fraction, value.exponent);
    return part;
}

}  // namespace

// From a table and its cuts to the bins and their bounds.
class ScoreCutter {
public:
    explicit ScoreCutter(const ScoreTable& table) : table_(table), cells_(table.filled()) {
        ScoreTable::Sums all;
        for (const ScoreTable::Cell* cell : cells_) table.add_to(all, *cell);
        total_ = std::move(all.weight);
        if (total_.is_zero()) {
            reject_weightless("a calibration error needs", table.count());
        }
    }

    [[nodiscard]] CutFinder finder() const { return {table_, cells_, total_}; }

    [[nodiscard]] ScoreBounds cut(std::vector<Cut> cuts, double first_edge, double last_edge,
                                  bool columns) {
        cuts_ = std::move(cuts);
        find_groups();
        sum_bins();
        ScoreBounds bounds(likely(first_edge, last_edge));
        for (const Group& group : groups_) bounds.chain_.groups.push_back(chain_group(group));
        for (std::size_t k = 0; k < bins_.size(); ++k) bounds.chain_.bins.push_back(chain_bin(k));
        if (columns) fill_columns(bounds, first_edge, last_edge);
        return bounds;
    }

private:
    struct Content {
        std::uint64_t n = 0;
        ScoreTable::Sums sums;
        double least = 1.0, greatest = 0.0;
    };
    // Cells [begin, end), undivided by what is known, and the cuts that fall among them.
    struct Group {
        std::size_t begin, end, first_cut, last_cut;
        Content content{};
    };
    struct Bin {
        std::size_t left = Chain::none, right = Chain::none;
        bool inside = false;
        Content content{};
    };

    void find_groups() {
        group_of_.assign(cuts_.size(), Chain::none);
        for (std::size_t i = 0; i < cuts_.size(); ++i) {
            const Cut& cut = cuts_[i];
            if (!groups_.empty() && cut.begin < groups_.back().end) {
                groups_.back().end = std::max(groups_.back().end, cut.end);
                groups_.back().last_cut = i;
            } else if (cut.begin < cut.end) {
                groups_.push_back({cut.begin, cut.end, i, i});
            } else {
                continue;
            }
            group_of_[i] = groups_.size() - 1;
        }
        for (Group& group : groups_) add_cells(group.content, group.begin, group.end);
    }

    void add_cells(Content& content, std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i) {
            content.n += cells_[i]->n;
            table_.add_to(content.sums, *cells_[i]);
            if (cells_[i]->n == 0) continue;
            content.least = std::min(content.least, cells_[i]->least);
            content.greatest = std::max(content.greatest, cells_[i]->greatest);
        }
    }

    void sum_bins() {
        bins_.resize(cuts_.size() + 1);
        for (std::size_t k = 0; k < bins_.size(); ++k) {
            Bin& bin = bins_[k];
            bin.left = k == 0 ? Chain::none : group_of_[k - 1];
            bin.right = k == cuts_.size() ? Chain::none : group_of_[k];
            bin.inside = bin.left != Chain::none && bin.left == bin.right;
            if (bin.inside) continue;
            const std::size_t begin = k == 0                    ? 0
                                      : bin.left != Chain::none ? groups_[bin.left].end
                                                                : cuts_[k - 1].end;
            const std::size_t end = k == cuts_.size()          ? cells_.size()
                                    : bin.right != Chain::none ? groups_[bin.right].begin
                                                               : cuts_[k].begin;
            add_cells(bin.content, begin, end);
        }
    }

    [[nodiscard]] std::uint64_t zeros(std::size_t begin, std::size_t end) const {
        std::uint64_t sum = 0;
        for (std::size_t i = begin; i < end; ++i) sum += cells_[i]->zeros;
        return sum;
    }

    // Rows of weight 0 that are in bin k for certain, or perhaps.
    [[nodiscard]] std::uint64_t zeros_of(std::size_t k, bool perhaps) const {
        const std::size_t begin = k == 0    ? 0
                                  : perhaps ? cuts_[k - 1].zero_begin
                                            : cuts_[k - 1].zero_end;
        const std::size_t end = k == cuts_.size() ? cells_.size()
                                : perhaps         ? cuts_[k].zero_end
                                                  : cuts_[k].zero_begin;
        return zeros(begin, end);
    }

    // Each group divided among its bins in the cuts' likely fractions.
    [[nodiscard]] Reliability likely(double first_edge, double last_edge) const {
        std::vector<Reliability::Bin> table(bins_.size());
        std::vector<double> edges{first_edge};
        for (std::size_t k = 0; k < bins_.size(); ++k) {
            const Content& content = bins_[k].content;
            table[k] = {content.n, content.sums.weight, content.sums.hits, content.sums.scores};
            const std::size_t from = k == 0 ? 0 : cuts_[k - 1].end;
            table[k].n += zeros(from, k == cuts_.size() ? cells_.size() : cuts_[k].end);
            if (k == cuts_.size()) continue;
            edges.push_back(std::clamp(likely_edge(k), edges.back(), last_edge));
        }
        edges.push_back(last_edge);
        for (const Group& group : groups_) divide(group, table);
        return {Bins(std::move(edges)), std::move(table), table_.omitted()};
    }

    [[nodiscard]] double likely_edge(std::size_t k) const {
        if (group_of_[k] == Chain::none) return cuts_[k].edge;
        const Content& content = groups_[group_of_[k]].content;
        const double width = content.greatest - content.least;
        return std::clamp(content.least + cuts_[k].fraction * width, cuts_[k].edge_low,
                          cuts_[k].edge_high);
    }

    void divide(const Group& group, std::vector<Reliability::Bin>& table) const {
        const Content& all = group.content;
        Reliability::Bin rest{all.n, all.sums.weight, all.sums.hits, all.sums.scores};
        double taken = 0.0;
        for (std::size_t cut = group.first_cut; cut <= group.last_cut; ++cut) {
            const double until = std::max(taken, coarse(cuts_[cut].fraction));
            const double fraction = until - taken;
            taken = until;
            const double likely_rows = fraction * static_cast<double>(all.n) + 0.5;
            const auto rows =
                taken == 1.0 ? rest.n : std::min(rest.n, static_cast<std::uint64_t>(likely_rows));
            Reliability::Bin& bin = table[cut];
            bin.n += rows;
            rest.n -= rows;
            const auto move = [&](ExactSum& to, ExactSum& from, const ExactSum& sum) {
                const ExactSum part = taken == 1.0 ? from : part_of(sum, fraction);
                to.merge(part);
                from.subtract(part);
            };
            move(bin.weight, rest.weight, all.sums.weight);
            move(bin.hits, rest.hits, all.sums.hits);
            move(bin.scores, rest.scores, all.sums.scores);
        }
        Reliability::Bin& last = table[group.last_cut + 1];
        last.n += rest.n;
        last.weight.merge(rest.weight);
        last.hits.merge(rest.hits);
        last.scores.merge(rest.scores);
    }

    [[nodiscard]] double share(const ExactSum& sum) const { return mean(sum, total_); }

    // At least this share of all weight is in the group and goes to the bin before it.
    [[nodiscard]] double needed(const Group& group) const {
        if (group.first_cut != group.last_cut) return 0.0;
        return std::max(cuts_[group.first_cut].needed - share_slack, 0.0);
    }

    [[nodiscard]] std::uint64_t rows_needed(std::size_t group) const {
        if (table_.weights().n != 0) return 0;
        const double rows = std::ceil(needed(groups_[group]) * total_.to_double());
        return std::min(static_cast<std::uint64_t>(rows), groups_[group].content.n);
    }

    [[nodiscard]] Chain::Group chain_group(const Group& group) const {
        const ScoreTable::Sums& sums = group.content.sums;
        Chain::Group g;
        g.positive = share(difference(sums.hits, sums.hit_scores));
        g.negative = share(difference(sums.scores, sums.hit_scores));
        g.weight = share(sums.weight);
        g.several = group.first_cut != group.last_cut;
        // Where hits alone, or misses alone, are not enough, some of the others move too.
        g.hits = share(sums.hits);
        g.misses = share(difference(sums.weight, sums.hits));
        g.needed = needed(group);
        const double few_misses = std::max(g.needed - g.misses - share_slack, 0.0);
        const double few_hits = std::max(g.needed - g.hits - share_slack, 0.0);
        g.least_left = few_misses * (1.0 - group.content.greatest) - g.negative;
        g.most_left = std::max(g.positive - few_hits * group.content.least, g.least_left);
        return g;
    }

    // No row can be further from its label than this.
    [[nodiscard]] static double reach(const Content& content) {
        const bool has_hits = !content.sums.hits.is_zero();
        const bool has_misses = !difference(content.sums.weight, content.sums.hits).is_zero();
        return std::max(has_hits ? 1.0 - content.least : 0.0, has_misses ? content.greatest : 0.0);
    }

    [[nodiscard]] Chain::Bin chain_bin(std::size_t k) const {
        const Bin& bin = bins_[k];
        const ScoreTable::Sums& sums = bin.content.sums;
        Chain::Bin result;
        result.left = bin.left;
        result.right = bin.right;
        result.inside = bin.inside;
        if (bin.inside) result.reach = reach(groups_[bin.left].content);
        result.amount = share(difference(sums.hits, sums.scores));
        result.hits = share(sums.hits);
        result.misses = share(difference(sums.weight, sums.hits));
        result.least_weight = result.most_weight = share(sums.weight);
        if (bin.left != Chain::none) {
            const Group& left = groups_[bin.left];
            result.most_weight += share(left.content.sums.weight) - needed(left) + share_slack;
        }
        if (bin.right != Chain::none && !bin.inside) {
            const Group& right = groups_[bin.right];
            result.least_weight += needed(right);
            result.most_weight += share(right.content.sums.weight) + share_slack;
        }
        return result;
    }

    void fill_columns(ScoreBounds& bounds, double first_edge, double last_edge) const {
        ScoreBounds::Columns& low = bounds.low_;
        ScoreBounds::Columns& high = bounds.high_;
        low.edges.push_back(first_edge);
        high.edges.push_back(first_edge);
        for (const Cut& cut : cuts_) {
            low.edges.push_back(cut.edge_low);
            high.edges.push_back(cut.edge_high);
        }
        low.edges.push_back(last_edge);
        high.edges.push_back(last_edge);
        for (std::size_t k = 0; k < bins_.size(); ++k) fill_bin(k, low, high);
    }

    void fill_bin(std::size_t k, ScoreBounds::Columns& low, ScoreBounds::Columns& high) const {
        static const Content nothing;
        const Bin& bin = bins_[k];
        const Content& sure = bin.content;
        const Content& left = bin.left != Chain::none ? groups_[bin.left].content : nothing;
        const Content& right =
            bin.right != Chain::none && !bin.inside ? groups_[bin.right].content : nothing;
        const ExactSum weight = sum_of({&sure.sums.weight, &left.sums.weight, &right.sums.weight});
        const ExactSum hits = sum_of({&sure.sums.hits, &left.sums.hits, &right.sums.hits});
        // Where all weights are 1, what is needed before a cut is a number of rows.
        const std::uint64_t in_least = bin.right != Chain::none ? rows_needed(bin.right) : 0;
        const std::uint64_t out_least = bin.left != Chain::none ? rows_needed(bin.left) : 0;
        const std::uint64_t fewest = sure.n + in_least;
        const std::uint64_t most = sure.n + left.n + right.n - out_least;
        low.counts.push_back(fewest + zeros_of(k, false));
        high.counts.push_back(most + zeros_of(k, true));
        low.weights.push_back(in_least != 0 ? static_cast<double>(fewest)
                                            : sure.sums.weight.to_double());
        high.weights.push_back(out_least != 0 ? static_cast<double>(most) : weight.to_double());
        low.hits.push_back(sure.sums.hits.to_double());
        high.hits.push_back(hits.to_double());
        // As if all misses of the groups were here and no hit, or the other way round.
        const ExactSum misses = difference(weight, hits);
        const ExactSum sure_misses = difference(sure.sums.weight, sure.sums.hits);
        const bool none = weight.is_zero();
        const ExactSum most_misses = sum_of({&sure.sums.hits, &misses});
        const ExactSum fewest_misses = sum_of({&hits, &sure_misses});
        low.frequencies.push_back(none                    ? nan
                                  : most_misses.is_zero() ? 1.0
                                                          : mean(sure.sums.hits, most_misses));
        high.frequencies.push_back(none                      ? nan
                                   : fewest_misses.is_zero() ? 0.0
                                                             : mean(hits, fewest_misses));
        fill_mean_scores(sure, left, right, low, high);
    }

    // The groups' scores lie outside those of the bin: more of the left one lower the mean, more
    // of the right one raise it.
    void fill_mean_scores(const Content& sure, const Content& left, const Content& right,
                          ScoreBounds::Columns& low, ScoreBounds::Columns& high) const {
        if (left.n == 0 && right.n == 0) {
            const double exact = mean(sure.sums.scores, sure.sums.weight);
            low.mean_scores.push_back(exact);
            high.mean_scores.push_back(exact);
            return;
        }
        const double weight = share(sure.sums.weight);
        const double scores = share(sure.sums.scores);
        const auto with = [&](const Content& group, double score) {
            const double more = share(group.sums.weight);
            return (scores + more * score) / (weight + more);
        };
        const bool simple = sure.n == 0 || weight < 0x1p-900;  // or next to nothing
        const double lowest =
            simple ? std::min({left.least, sure.least, right.least}) : with(left, left.least);
        const double highest = simple ? std::max({left.greatest, sure.greatest, right.greatest})
                                      : with(right, right.greatest);
        constexpr double underflow = 0x1p-170;  // 2^-1074 over the least weight
        low.mean_scores.push_back(std::max(lowest * (1.0 - share_slack) - underflow, 0.0));
        high.mean_scores.push_back(std::min(highest * (1.0 + share_slack) + underflow, 1.0));
    }

    const ScoreTable& table_;
    std::vector<const ScoreTable::Cell*> cells_;
    ExactSum total_;
    std::vector<Cut> cuts_;
    std::vector<std::size_t> group_of_;  // of a cut
    std::vector<Group> groups_;
    std::vector<Bin> bins_;
};

ScoreBounds ScoreBounds::equal_count(const ScoreTable& table, std::size_t n_bins, bool columns) {
    ScoreCutter cutter(table);
    return cutter.cut(cutter.finder().equal_count(n_bins), 0.0, 1.0, columns);
}

ScoreBounds ScoreBounds::between(const ScoreTable& table, const Bins& bins, bool columns) {
    ScoreCutter cutter(table);
    std::vector<Cut> cuts;
    const CutFinder finder = cutter.finder();
    for (std::size_t k = 1; k < bins.size(); ++k) cuts.push_back(finder.at_edge(bins.edges()[k]));
    return cutter.cut(std::move(cuts), bins.edges().front(), bins.edges().back(), columns);
}

}  // namespace calibrant
