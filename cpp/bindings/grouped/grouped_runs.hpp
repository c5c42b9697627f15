// Accumulators that take in other rows than events: how each reads the arguments of its update,
// which must outlive the rows. Most take them by runs (group_runs.hpp).
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <vector>

#include "bindings/partition/group_inputs.hpp"
#include "calibrant/intervals/intervals.hpp"
#include "calibrant/intervals/prediction_sets.hpp"
#include "calibrant/ranks/ranks.hpp"
#include "calibrant/scores/comparison.hpp"
#include "partition/group_runs.hpp"

namespace calibrant::bindings {

// What groups have had before, in rows.
using RowsSeen = std::vector<std::uint64_t>;

// Of all rows of a batch, as they come.
PartsOfGroups<Intervals> parts_of_rows(const Intervals& empty, const Groups& groups,
                                       std::size_t n_groups, const pybind11::tuple& arguments);

PartsOfGroups<PredictionSets> parts_by_run(const PredictionSets& empty, const GroupStarts& starts,
                                           const RowsSeen& seen, const pybind11::tuple& arguments);
PartsOfGroups<PairedScores> parts_by_run(const PairedScores& empty, const GroupStarts& starts,
                                         const RowsSeen& seen, const pybind11::tuple& arguments);
PartsOfGroups<Ranks> parts_by_run(const Ranks& empty, const GroupStarts& starts,
                                  const RowsSeen& seen, const pybind11::tuple& arguments);

}  // namespace calibrant::bindings
