#include "calibrant/sorted_scores.hpp"

#include <cmath>
#include <vector>

#include "calibrant/workers.hpp"
#include "sort_keys.hpp"

namespace calibrant {
namespace {

using WeightedKey = SortedScores::WeightedKey;

void put(ScoreKey& item, ScoreKey key, double) { item = key; }
void put(WeightedKey& item, ScoreKey key, double weight) { item = {key, weight}; }

// The rows' items as they come; rows that do not count become absent.
template <class Item>
std::unique_ptr<Item[]> read(const ScoredRows& rows, Poll poll, FoundRows& total) {
    constexpr bool weighted = std::is_same_v<Item, WeightedKey>;
    const std::size_t per_event = rows.scores_per_event();
    auto items = room_for<Item>(rows.size() * per_event);
    const std::size_t workers = workers_for(rows.size(), chunks_per_worker * chunk_rows(rows));
    std::vector<FoundRows> of_worker(workers);
    for_each_block(
        rows, workers, poll, [&](std::size_t worker, std::size_t row, const ScoredBlock& block) {
            FoundRows& found = of_worker[worker];
            found.n += block.n();
            found.omitted += block.omitted();
            for (std::size_t i = 0; i < block.n(); ++i) {
                const auto key = ScoreKey::of(block.score()[i], block.hit()[i] != 0);
                const double weight = weighted ? block.weight()[i] : 1.0;
                put(items[row * per_event + i], weight > 0.0 ? key : ScoreKey{absent}, weight);
                if (weighted && weight > 0.0) found.see_weight(weight);
            }
            for (std::size_t i = 0; i < block.omitted() * per_event; ++i) {
                put(items[row * per_event + block.n() + i], ScoreKey{absent}, 0.0);
            }
        });
    for (const FoundRows& found : of_worker) total.merge(found);
    return items;
}

}  // namespace

WeightUnit::WeightUnit(int exponent) : exponent_(exponent), scale_(std::scalbn(1.0, -exponent)) {}

UInt128 WeightUnit::count(double weight) const {
    const bool scales = std::isnormal(scale_);
    const double units = scales ? weight * scale_ : std::scalbn(weight, -exponent_);
    return static_cast<UInt128>(std::nearbyint(units));
}

SortedScores::SortedScores(const ScoredRows& rows, Poll poll)
    : size_(rows.size() * rows.scores_per_event()) {
    if (size_ == 0) return;
    FoundRows found;
    if (rows.events.sample_weight == nullptr) {
        keys_ = sorted_by_key(read<ScoreKey>(rows, poll, found), size_, poll);
    } else {
        weighted_ = sorted_by_key(read<WeightedKey>(rows, poll, found), size_, poll);
        unit_ = found.unit();
    }
    n_ = found.n;
    omitted_ = found.omitted;
}

}  // namespace calibrant
