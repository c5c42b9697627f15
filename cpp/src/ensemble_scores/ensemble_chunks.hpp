// How rows of ensembles are handed to workers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

// Copies the worker once a thread and calls add(begin, end) for all n rows, each of which costs
// about `steps` steps. Chunks are multiples of `unit` rows, and some ten microseconds long if one
// unit is not longer.
template <class Worker>
void for_each_ensemble(std::size_t n, std::size_t unit, std::size_t steps, const Worker& worker,
                       Poll poll) {
    constexpr std::size_t steps_a_chunk = std::size_t{1} << 14;
    const std::size_t steps_a_unit = std::max<std::size_t>(steps, 1) * unit;
    const std::size_t chunk = std::max<std::size_t>(steps_a_chunk / steps_a_unit, 1) * unit;
    std::vector<Worker> team(workers_for(n, chunk), worker);
    for_each_chunk(n, chunk, team.size(), poll,
                   [&](std::size_t k, std::size_t begin, std::size_t end) {
                       team[k].add(begin, end);
                       return true;
                   });
}

}  // namespace calibrant
