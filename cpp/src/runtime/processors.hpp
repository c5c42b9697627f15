// How many processors the process may use.
#pragma once

#include <string>

namespace calibrant {

struct Processors {
    int number;  // at least 1
    const char* source;
};

// Those of the calling thread's affinity mask, as taskset, cpusets and job schedulers set it, where
// the system has one ("affinity"; "processors" if it leaves none out); else all of them.
Processors processors_of_affinity() noexcept;

// Those that the quota of the process's control group, or of one above it, is worth, rounded down:
// of version 2 (cpu.max) or 1 (cpu.cfs_quota_us). Containers are limited so. The largest int if
// there is no quota. The files are looked for below `root`, which is empty but in tests.
Processors processors_of_quota(const std::string& root);

}  // namespace calibrant
