#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibrant/rows/check.hpp"
#include "calibrant/scorecards/scorecard.hpp"
#include "partition/partitioned_rows.hpp"
#include "rows/event_blocks.hpp"
#include "rows/workers.hpp"
#include "scorecards/block_scorer.hpp"
#include "scorecards/rank_metrics.hpp"
#include "scorecards/scorecard_estimates.hpp"

namespace calibrant {
namespace {

class ScorecardWorker {
public:
    ScorecardWorker(const Scorecard& parameters, const Events& events)
        : parameters_(parameters), events_(events), block_(events), scorer_(parameters, events) {}

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; row += block_.most_rows) {
            const std::size_t count = std::min(block_.most_rows, end - row);
            if (!load_outcomes(events_, row, count, block_)) return false;
            scorer_.add(block_, next_block(events_, row + count));
        }
        return true;
    }

    [[nodiscard]] Scorecard take() { return {parameters_, scorer_.take()}; }
    void finish_into(Scorecard& total) { total.merge(take()); }

private:
    const Scorecard& parameters_;
    const Events& events_;
    OutcomeBlock block_;
    BlockScorer scorer_;
};

void check_classes(const Events& events) {
    if (events.n_classes() < 2 || events.n_classes() > ScoreSums::most_classes) {
        throw InvalidInput("scores need 2 to 2^20 classes, got " +
                           std::to_string(events.n_classes()));
    }
}

// A card, and what the order of the scores of its rows says.
struct RankedScorecard {
    Scorecard card;
    RankMetrics ranks;

    void set_rows(const Events& events, Poll poll) {
        card.update(events, 0, poll);
        if (!card.weight().is_zero()) ranks = rank_metrics(binary_or_top_label(events), poll);
    }
    [[nodiscard]] ScorecardOfRows result(double confidence_level, Poll poll) && {
        ScorecardResult found = scorecard_result(card, &ranks, confidence_level, poll);
        return {std::move(card), std::move(found)};
    }
};

// Those of rows without a group are checked and left out.
std::vector<RankedScorecard> ranked_by_group(const Scorecard& parameters,
                                             const GroupedRows& grouped, Poll poll) {
    const Events& events = grouped.events;
    const std::size_t rest = grouped.n_groups;
    std::vector<std::int32_t> codes(grouped.groups, grouped.groups + events.size());
    for (std::int32_t& code : codes) code = code < 0 ? static_cast<std::int32_t>(rest) : code;
    std::vector<RankedScorecard> ranked(rest + 1, RankedScorecard{parameters.empty(), {}});
    try {
        for_each_group(events, events.size(), {codes.data(), ranked.size()}, poll,
                       [&](std::size_t group, const Events& of_group, Poll inner_poll) {
                           ranked[group].set_rows(of_group, inner_poll);
                       });
    } catch (const InvalidInput&) {
        parameters.empty().update(events, 0, poll);  // says which row of all it is
        throw;
    }
    ranked.pop_back();
    return ranked;
}

// All rows that are in groups, as one group.
RankedScorecard ranked_with_key(const Scorecard& parameters, const GroupedRows& grouped,
                                Poll poll) {
    const Events& events = grouped.events;
    std::vector<std::int32_t> codes(grouped.groups, grouped.groups + events.size());
    for (std::int32_t& code : codes) code = std::min(code, 0);
    RankedScorecard all = ranked_by_group(parameters, {events, codes.data(), 1}, poll).front();
    ScorecardSums strays = BlockScorer(parameters, events).take();
    strays.rows.omitted = events.size() - all.card.count() - all.card.omitted();
    all.card.merge({parameters, std::move(strays)});
    return all;
}

}  // namespace

void Scorecard::update(const Events& events, std::uint64_t rows_before, Poll poll) {
    if (events.size() == 0) return;
    check_classes(events);
    std::optional<ScoreTable> table = std::exchange(table_, std::nullopt);
    if (table) table->update(binary_or_top_label(events), rows_before, poll);
    update_by_workers<ScorecardWorker>(*this, events, events, rows_before, poll);
    table_ = std::move(table);
}

ScorecardOfRows scorecard_of_rows(const Scorecard& parameters, const Events& events,
                                  double confidence_level, Poll poll) {
    RankedScorecard ranked{parameters.empty(), {}};
    ranked.set_rows(events, poll);
    ranked.card.require_weight();
    return std::move(ranked).result(confidence_level, poll);
}

std::vector<ScorecardOfRows> scorecards_by_group(const Scorecard& parameters,
                                                 const GroupedRows& rows, double confidence_level,
                                                 Poll poll) {
    const Events& events = rows.events;
    if (events.size() == 0) parameters.require_weight();
    check_classes(events);
    std::vector<RankedScorecard> ranked = ranked_by_group(parameters, rows, poll);
    RankedScorecard all{parameters.empty(), {}};
    for (const RankedScorecard& group : ranked) all.card.merge(group.card);
    if (all.card.count() + all.card.omitted() != events.size()) {
        all = ranked_with_key(parameters, rows, poll);
    } else if (!all.card.weight().is_zero()) {
        all.ranks = rank_metrics(binary_or_top_label(events), poll);
    }
    all.card.require_weight();
    ranked.push_back(std::move(all));
    std::vector<std::optional<ScorecardOfRows>> results(ranked.size());
    (void)for_each_chunk(ranked.size(), 1, workers_for(ranked.size(), 1), poll,
                         [&](std::size_t, std::size_t i, std::size_t) {
                             results[i] = std::move(ranked[i]).result(confidence_level, nullptr);
                             return true;
                         });
    std::vector<ScorecardOfRows> found;
    for (auto& result : results) found.push_back(std::move(*result));
    return found;
}

}  // namespace calibrant
