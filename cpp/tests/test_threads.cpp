// Accumulators that several threads share, as the bindings share them: a batch is summed aside,
// with threads of its own and nobody waiting for it, and then merged under one lock. Whichever
// thread comes first, the state is that of one pass. The thread sanitizer looks on.
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "calibrant/rows/spans.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "expect.hpp"
#include "fuzz.hpp"
#include "state_kinds.hpp"

using namespace calibrant;

namespace {

constexpr std::size_t n_threads = 3;
constexpr std::size_t rows_each = 33'000;  // enough for two workers
constexpr std::size_t n_rows = n_threads * rows_each;

Column part_of(Column column, std::size_t begin, std::size_t count) {
    column.data += static_cast<std::ptrdiff_t>(begin) * column.stride;
    column.size = count;
    return column;
}

struct Data {
    std::vector<std::uint8_t> label = std::vector<std::uint8_t>(n_rows);
    std::vector<double> p = std::vector<double>(n_rows), upper = p, weight = p;

    Data() {
        fuzz::Numbers numbers;
        for (std::size_t i = 0; i < n_rows; ++i) {
            label[i] = static_cast<std::uint8_t>(numbers.below(2));
            p[i] = numbers.unit();
            upper[i] = p[i] + numbers.unit();
            weight[i] = numbers.unit();
        }
    }
};

const Data& data() {
    static const Data made;
    return made;
}

// Some of the rows, as all of the forms in which they are read.
struct Rows {
    Rows(std::size_t begin, std::size_t count)
        : y_true(part_of(column_of(std::span(data().label)), begin, count)),
          weight(part_of(column_of(std::span(data().weight)), begin, count)) {
        events.y_true = &y_true;
        events.y_proba = part_of(column_of(std::span(data().p)), begin, count);
        events.sample_weight = &weight;
        intervals.y_true = &weight;
        intervals.lower = {events.y_proba};
        intervals.upper = {part_of(column_of(std::span(data().upper)), begin, count)};
    }
    Rows(const Rows&) = delete;  // they point into it
    Rows& operator=(const Rows&) = delete;

    Column y_true, weight;
    Events events;
    IntervalRows intervals;
};

template <class State, class Update>
void shared_by_threads(const State& parameters, const Update& update) {
    State whole = parameters.empty();
    update(whole, Rows(0, n_rows));

    State shared = parameters.empty();
    std::mutex lock;
    const auto work = [&](std::size_t thread) {
        std::unique_lock locked(lock);
        State batch = shared.empty();
        locked.unlock();
        update(batch, Rows(thread * rows_each, rows_each));
        locked.lock();
        shared.merge(batch);
        const State copy = shared;
        locked.unlock();
        expect::that(copy.to_bytes().starts_with("CLBR"), "a copy is of its owner alone");
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < n_threads; ++i) threads.emplace_back(work, i);
    for (std::thread& thread : threads) thread.join();
    expect::that(shared.to_bytes() == whole.to_bytes(), "the state of one pass");
}

const auto add_events = [](auto& state, const Rows& rows) {
    state.update(rows.events, 0, nullptr);
};
const auto add_scored = [](auto& state, const Rows& rows) {
    state.update(ScoredRows{rows.events, Scoring::binary, 0, 0.0}, 0, nullptr);
};
const auto add_intervals = [](auto& state, const Rows& rows) {
    state.update(rows.intervals, 0, nullptr);
};

// Settings are read by all regions, and written by whoever likes.
void threads_are_set_meanwhile() {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < n_threads; ++i) {
        threads.emplace_back([i] {
            for (int k = 0; k < 5; ++k) {
                set_num_threads(1 + (static_cast<long long>(i) + k) % 4);
                ScoreSums sums(ScoreSet(7), 0.0);
                add_events(sums, Rows(0, rows_each));
                expect::equal(sums.count(), rows_each);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    set_num_threads(0);
}

}  // namespace

int main() {
    // First, so that what is set up once is set up by several threads at a time.
    set_num_threads(2);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < n_threads; ++i) {
        threads.emplace_back([] {
            RiskProfile profile({0.0, 1.0}, 0.0);
            add_events(profile, Rows(0, rows_each));
            Reliability table(Bins::equal_width(15));
            add_scored(table, Rows(0, rows_each));
        });
    }
    for (std::thread& thread : threads) thread.join();

    const Bins bins = Bins::equal_width(15);
    shared_by_threads(RiskProfile({0.0, 1.0, -2.0 / 3.0}, 0.0), add_events);
    shared_by_threads(ScoreSums(ScoreSet(7), 0.0), add_events);
    shared_by_threads(Scorecard(15, 0.0, true), add_events);
    shared_by_threads(Assessment(bins, 0.0, true), add_scored);
    shared_by_threads(Reliability(bins), add_scored);
    shared_by_threads(ScoreTable(), add_scored);
    shared_by_threads(Spiegelhalter(), add_scored);
    shared_by_threads(CoverageHsic({1.0, 1.0}, 1 << 20), add_intervals);
    shared_by_threads(Intervals({}, {0.25, 0.5}), add_intervals);
    threads_are_set_meanwhile();
    return expect::summary();
}
