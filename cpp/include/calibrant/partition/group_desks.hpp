// How many threads take in the rows of many groups: each has a desk of its own, with memory for the
// rows of a neighbourhood (rows_together.hpp) and a worker that takes in one group after the other.
// So rows stay in the cache of the thread that sorted them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include "calibrant/partition/group_runs.hpp"
#include "calibrant/partition/rows_together.hpp"
#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

// Rows [begin, end) of a memory, all those of a group in a batch.
struct RowsOfGroup {
    std::size_t group, begin, end;
};

// A Source has together(), which has read all rows, and a class Memory, made from (source, rows)
// with room for so many rows and columns() to copy them to. rows_of(memory) is what a Worker is
// made from, as for parts_by_workers.
template <class Worker, class Part, class Source, class RowsOf>
class Desk {
public:
    Desk(const Part& empty, const Source& source, std::size_t room, const RowsOf& rows_of)
        : memory_(source, room), rows_(rows_of(memory_)), worker_(empty, rows_) {}
    Desk(const Desk&) = delete;  // the worker points into it
    Desk& operator=(const Desk&) = delete;
    ~Desk() = default;

    // Adds the groups of a neighbourhood but those set aside; false if a row is bad.
    template <class Aside>
    [[nodiscard]] bool add(const RowsTogether& together, std::size_t near,
                           PartsOfGroups<Part>& parts, const Aside& aside) {
        const GroupStarts starts = together.sort(near, memory_.columns());
        const std::size_t first = together.first_group(near);
        for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
            if (starts[i] == starts[i + 1]) continue;
            if constexpr (!std::is_null_pointer_v<Aside>) {
                const RowsOfGroup rows{first + i, starts[i], starts[i + 1]};
                if (aside && aside(memory_, rows)) continue;
            }
            if (!worker_.add(starts[i], starts[i + 1])) return false;
            parts[first + i] = std::make_unique<Part>(worker_.take());
        }
        return true;
    }

private:
    typename Source::Memory memory_;
    std::invoke_result_t<RowsOf, const typename Source::Memory&> rows_;
    Worker worker_;
};

// `worth` rows are worth a thread. parts_of(rows, starts) takes in the groups of a neighbourhood on
// all threads; refuse() must throw if there is a bad row. Groups need no accumulator where
// aside(memory, rows) says so.
template <class Worker, class Part, class Source, class RowsOf, class PartsOf, class Refuse,
          class Aside = std::nullptr_t>
[[nodiscard]] PartsOfGroups<Part> parts_by_desks(const Part& empty, const Source& source,
                                                 const RowsOf& rows_of, std::size_t worth,
                                                 const PartsOf& parts_of, const Refuse& refuse,
                                                 Poll poll, const Aside& aside = nullptr) {
    using OfThread = Desk<Worker, Part, Source, RowsOf>;
    // Nobody can interrupt a thread before it is done with a neighbourhood.
    constexpr std::size_t most_rows = std::size_t{1} << 21;
    const RowsTogether& together = source.together();
    const std::size_t near_end = together.neighbourhoods();
    const std::size_t threads = workers_for(together.rows(), worth);
    const auto is_large = [&](std::size_t near) {
        const std::size_t rows = together.rows_of(near);
        const bool others_would_wait = rows * threads >= together.rows();
        return rows >= rows_worth_all_threads && (others_would_wait || rows >= most_rows);
    };
    std::size_t room = 0;
    for (std::size_t near = 0; near < near_end; ++near) {
        if (!is_large(near)) room = std::max(room, together.rows_of(near));
    }
    PartsOfGroups<Part> parts(together.groups());
    std::vector<std::unique_ptr<OfThread>> desks(std::min(threads, workers_for(near_end, 1)));
    const std::size_t failed = for_each_chunk(
        near_end, 1, desks.size(), poll, [&](std::size_t worker, std::size_t near, std::size_t) {
            if (together.rows_of(near) == 0 || is_large(near)) return true;
            std::unique_ptr<OfThread>& desk = desks[worker];
            if (!desk) desk = std::make_unique<OfThread>(empty, source, room, rows_of);
            return desk->add(together, near, parts, aside);
        });
    if (failed != npos) refuse();
    desks.clear();
    for (std::size_t near = 0; near < near_end; ++near) {
        if (!is_large(near)) continue;
        const typename Source::Memory memory(source, together.rows_of(near));
        const GroupStarts starts = together.sort(near, memory.columns(), poll);
        PartsOfGroups<Part> of_near = parts_of(rows_of(memory), starts);
        const auto first = static_cast<std::ptrdiff_t>(together.first_group(near));
        std::ranges::move(of_near, parts.begin() + first);
    }
    return parts;
}

}  // namespace calibrant
