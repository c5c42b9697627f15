// How many threads take in the rows of many groups: each has a partition_worker of its own, with
// memory for the rows of a partition (group_partition.hpp) and a worker that takes in one group
// after the other. So rows stay in the cache of the thread that sorted them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include "calibrant/runtime/parallel.hpp"
#include "partition/group_partition.hpp"
#include "partition/group_runs.hpp"

namespace calibrant {

// Rows [begin, end) of a memory, all those of a group in a batch.
struct RowsOfGroup {
    std::size_t group, begin, end;
};

// A Source has together(), which has read all rows, and a class Scratch, made from (source, rows)
// with room for so many rows and columns() to copy them to. rows_of(memory) is what a Worker is
// made from, as for parts_by_workers.
template <class Worker, class Part, class Source, class RowsOf>
class PartitionWorker {
public:
    PartitionWorker(const Part& empty, const Source& source, std::size_t room,
                    const RowsOf& rows_of)
        : memory_(source, room), rows_(rows_of(memory_)), worker_(empty, rows_) {}
    PartitionWorker(const PartitionWorker&) = delete;  // the worker points into it
    PartitionWorker& operator=(const PartitionWorker&) = delete;
    ~PartitionWorker() = default;

    // Adds the groups of a partition but those set aside; false if a row is bad.
    template <class Aside>
    [[nodiscard]] bool add(const GroupPartition& together, std::size_t partition,
                           PartsOfGroups<Part>& parts, const Aside& aside) {
        const GroupStarts starts = together.sort(partition, memory_.columns());
        const std::size_t first = together.first_group(partition);
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
    typename Source::Scratch memory_;
    std::invoke_result_t<RowsOf, const typename Source::Scratch&> rows_;
    Worker worker_;
};

// `worth` rows are worth a thread. parts_of(rows, starts) takes in the groups of a partition on
// all threads; reject() must throw if there is a bad row. Groups need no accumulator where
// aside(memory, rows) says so.
template <class Worker, class Part, class Source, class RowsOf, class PartsOf, class Reject,
          class Aside = std::nullptr_t>
[[nodiscard]] PartsOfGroups<Part> update_partitions(const Part& empty, const Source& source,
                                                    const RowsOf& rows_of, std::size_t worth,
                                                    const PartsOf& parts_of, const Reject& reject,
                                                    Poll poll, const Aside& aside = nullptr) {
    using OfThread = PartitionWorker<Worker, Part, Source, RowsOf>;
    // Nobody can interrupt a thread before it is done with a partition.
    constexpr std::size_t most_rows = std::size_t{1} << 21;
    const GroupPartition& together = source.together();
    const std::size_t n_partitions = together.partitions();
    const std::size_t threads = workers_for(together.rows(), worth);
    const auto is_large = [&](std::size_t partition) {
        const std::size_t rows = together.rows_of(partition);
        const bool others_would_wait = rows * threads >= together.rows();
        return rows >= rows_worth_all_threads && (others_would_wait || rows >= most_rows);
    };
    std::size_t room = 0;
    for (std::size_t partition = 0; partition < n_partitions; ++partition) {
        if (!is_large(partition)) room = std::max(room, together.rows_of(partition));
    }
    PartsOfGroups<Part> parts(together.groups());
    std::vector<std::unique_ptr<OfThread>> partition_workers(
        std::min(threads, workers_for(n_partitions, 1)));
    const std::size_t failed = for_each_chunk(
        n_partitions, 1, partition_workers.size(), poll,
        [&](std::size_t worker, std::size_t partition, std::size_t) {
            if (together.rows_of(partition) == 0 || is_large(partition)) return true;
            std::unique_ptr<OfThread>& partition_worker = partition_workers[worker];
            if (!partition_worker)
                partition_worker = std::make_unique<OfThread>(empty, source, room, rows_of);
            return partition_worker->add(together, partition, parts, aside);
        });
    if (failed != npos) reject();
    partition_workers.clear();
    for (std::size_t partition = 0; partition < n_partitions; ++partition) {
        if (!is_large(partition)) continue;
        const typename Source::Scratch memory(source, together.rows_of(partition));
        const GroupStarts starts = together.sort(partition, memory.columns(), poll);
        PartsOfGroups<Part> of_partition = parts_of(rows_of(memory), starts);
        const auto first = static_cast<std::ptrdiff_t>(together.first_group(partition));
        std::ranges::move(of_partition, parts.begin() + first);
    }
    return parts;
}

}  // namespace calibrant
