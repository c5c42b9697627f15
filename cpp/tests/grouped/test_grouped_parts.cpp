// Groups that are merged while memory runs out: whole, or not at all.
#include "grouped/grouped_parts.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "calibrant/rows/spans.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "expect.hpp"
#include "fuzz.hpp"
#include "grouped/add_events.hpp"
#include "grouped/grouped_events.hpp"

namespace {

constexpr std::size_t endless = std::numeric_limits<std::size_t>::max();
std::size_t allocations_left = endless;

void* allocated(std::size_t bytes, std::size_t alignment) {
    if (allocations_left == 0) throw std::bad_alloc();
    if (allocations_left != endless) --allocations_left;
    void* const memory = std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

// Where it is inlined, GCC warns of memory that is freed but was not allocated likewise.
[[gnu::noinline]] void release(void* memory) noexcept { std::free(memory); }

}  // namespace

void* operator new(std::size_t bytes) { return allocated(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocated(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

using namespace calibrant;

namespace {

using Places = std::vector<std::size_t>;

// Rows of groups 0, 1, 2, ..., each of so many.
template <class State>
GroupedParts<State> parts_of(const State& empty, const std::vector<std::size_t>& rows_of_group,
                             bool weighted) {
    fuzz::Numbers numbers;
    std::vector<std::int8_t> labels;
    std::vector<double> p, weights;
    std::vector<std::int32_t> groups;
    for (std::size_t group = 0; group < rows_of_group.size(); ++group) {
        for (std::size_t i = 0; i < rows_of_group[group]; ++i) {
            labels.push_back(static_cast<std::int8_t>(numbers.below(2)));
            p.push_back(numbers.unit());
            weights.push_back(0.5 * static_cast<double>(numbers.below(4)));
            groups.push_back(static_cast<std::int32_t>(group));
        }
    }
    const Column y_true = column_of(std::span(labels));
    const Column sample_weight = column_of(std::span(weights));
    Events events;
    events.y_true = &y_true;
    events.y_proba = column_of(std::span(p));
    if (weighted) events.sample_weight = &sample_weight;
    GroupedParts<State> parts(empty);
    update_groups(parts, events, events.size(), {groups.data(), rows_of_group.size()}, 0, nullptr,
                  [](State& state, const Events& some, std::size_t, std::uint64_t before,
                     Poll poll) { add_events(state, some, before, poll); });
    return parts;
}

template <class State>
std::vector<std::string> states_of(const GroupedParts<State>& parts) {
    std::vector<std::string> states;
    states.reserve(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) states.push_back(parts.group(i).to_bytes());
    return states;
}

template <class State>
void merged_whole_or_not_at_all(const GroupedParts<State>& before, const GroupedParts<State>& other,
                                const Places& places) {
    const std::vector<std::string> states = states_of(before);
    GroupedParts<State> whole(before);
    whole.merge(other, places, nullptr);
    const std::vector<std::string> after = states_of(whole);
    bool is_merged = false;
    for (std::size_t allocations = 0; !is_merged; ++allocations) {
        GroupedParts<State> parts(before);
        try {
            allocations_left = allocations;
            parts.merge(other, places, nullptr);
            allocations_left = endless;
            is_merged = true;
        } catch (const std::bad_alloc&) {
            allocations_left = endless;
            expect::equal(states_of(parts), states);
            expect::equal(parts.counts(), before.counts());
            parts.merge(other, places, nullptr);
        }
        expect::equal(states_of(parts), after);
    }
}

template <class State>
void merged_whole_or_not_at_all(const State& empty) {
    // More than a cell has room for, or may wait, alone or together with others.
    const std::size_t many = buffers_rows<State> ? most_buffered<State> : most_cell_rows;
    const std::vector<std::vector<std::size_t>> sizes = {
        {}, {0, 3}, {2, many / 2 + 1, 5}, {many / 2, many / 2}, {many + 1, 1}};
    for (const std::vector<std::size_t>& left : sizes) {
        for (const std::vector<std::size_t>& right : sizes) {
            Places places;
            for (std::size_t i = 0; i < right.size(); ++i) {
                places.push_back(right[i] == 0 ? npos : right.size() - i);
            }
            for (const bool weighted : {false, true}) {
                merged_whole_or_not_at_all(parts_of(empty, left, false),
                                           parts_of(empty, right, weighted), places);
            }
        }
    }
}

}  // namespace

int main() {
    (void)work_alone();
    merged_whole_or_not_at_all(ScoreSums(ScoreSet().with(Score::brier), 0.0));
    merged_whole_or_not_at_all(RiskProfile({1.0, 0.0}, 0.0));
    merged_whole_or_not_at_all(Reliability(Bins({0.0, 0.5, 1.0})));
    merged_whole_or_not_at_all(Assessment(Bins({0.0, 0.5, 1.0}), 0.0, true));
    return expect::summary();
}
