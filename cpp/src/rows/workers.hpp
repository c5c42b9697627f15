// How every accumulator of events is updated: workers, one a thread, each with sums of its own,
// take chunks of rows and are merged when all is done.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "calibrant/runtime/parallel.hpp"
#include "kernels/kernels.hpp"
#include "rows/event_blocks.hpp"

namespace calibrant {

// Values a worker takes at a time: some 30 microseconds, so that Ctrl-C is noticed soon, however
// many columns there are. A second worker is worth having for 100 microseconds.
inline constexpr std::size_t chunk_values = 16 * block_rows;
inline constexpr std::size_t chunks_per_worker = 4;

// A Worker is made from (total, rows), has `bool add(begin, end)`, false if a row is bad, and
// `finish_into(total)`. `events` say how many rows there are, and of how many values. If a row is
// bad, reject(begin, end) must throw, for the first of the rows in which one is; if it does or
// the poll says stop, total is as it was.
template <class Worker, class Total, class Rows, class Reject>
void run_workers(Total& total, const Rows& rows, const Events& events, const Reject& reject,
                 Poll poll) {
    const std::size_t n = events.size();
    const std::size_t width = std::max<std::size_t>(events.y_proba.width, 1);
    const std::size_t chunk = std::max<std::size_t>(chunk_values / width, 1);
    const std::size_t workers = workers_for(n, chunks_per_worker * chunk);
    // A worker that gets no chunk would cost its tables' memory for nothing. The first is on the
    // stack: memory for it would take longer than a few rows.
    std::optional<Worker> first(std::in_place, total, rows);
    std::vector<std::optional<Worker>> others(workers - 1);
    const auto worker_at = [&](std::size_t i) -> std::optional<Worker>& {
        return i == 0 ? first : others[i - 1];
    };
    const std::size_t failed = for_each_chunk(
        n, chunk, workers, poll, [&](std::size_t worker, std::size_t begin, std::size_t end) {
            std::optional<Worker>& mine = worker_at(worker);
            if (!mine) mine.emplace(total, rows);
            return mine->add(begin, end);
        });
    if (failed != npos) reject(failed, std::min(n, failed + chunk));
    for (std::size_t i = 0; i < workers; ++i) {
        if (std::optional<Worker>& worker = worker_at(i)) worker->finish_into(total);
    }
}

// The same for rows made of `events` alone, or for the events themselves.
template <class Worker, class Total, class Rows>
void update_by_workers(Total& total, const Rows& rows, const Events& events,
                       std::uint64_t rows_before, Poll poll) {
    const auto reject = [&](std::size_t begin, std::size_t end) {
        reject_events(events, begin, end, rows_before);
    };
    run_workers<Worker>(total, rows, events, reject, poll);
}

}  // namespace calibrant
