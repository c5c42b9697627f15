#include "runtime/processors.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#include <unistd.h>
#endif

namespace calibrant {
namespace {

constexpr int no_limit = std::numeric_limits<int>::max();

// Is it one of a list with commas?
bool lists(std::string_view list, std::string_view wanted) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        if (list.substr(0, end) == wanted) return true;
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return false;
}

// The process's path among the groups of version 2, or of version 1's "cpu"; empty if it has none.
std::string path_of_process(const std::string& root, bool version_2) {
    std::ifstream file(root + "/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {  // number:controllers:path
        const std::size_t first = line.find(':');
        if (first == std::string::npos) continue;
        const std::size_t second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const auto controllers = std::string_view(line).substr(first + 1, second - first - 1);
        const bool is_2 = line.starts_with("0:") && controllers.empty();
        if (version_2 ? is_2 : lists(controllers, "cpu")) return line.substr(second + 1);
    }
    return "";
}

// Of one group. Files that are missing or not understood set no limit.
int quota_of(const std::string& directory, bool version_2) {
    long long quota = -1, period = -1;
    if (version_2) {
        std::ifstream(directory + "/cpu.max") >> quota >> period;  // quota may be "max"
    } else {
        std::ifstream(directory + "/cpu.cfs_quota_us") >> quota;
        std::ifstream(directory + "/cpu.cfs_period_us") >> period;
    }
    if (quota <= 0 || period <= 0) return no_limit;
    return static_cast<int>(std::clamp<long long>(quota / period, 1, no_limit));
}

// `path` as it is below a mount that shows only what is below `top`.
std::string below(const std::string& top, const std::string& path) {
    if (path.find("/..") != std::string::npos) return "";  // outside of what the process can see
    if (top == "/") return path;
    if (path.starts_with(top)) return path.substr(top.size());
    return "";
}

}  // namespace

Processors processors_of_affinity() noexcept {
    static const int all = [] {
#if defined(__linux__)
        const long online = sysconf(_SC_NPROCESSORS_ONLN);
        return static_cast<int>(std::max(online, 1L));
#else
        return static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
#endif
    }();
#if defined(__linux__)
    cpu_set_t sets[8];  // Linux has up to 8192 processors
    if (sched_getaffinity(0, sizeof sets, sets) == 0) {
        const int number = std::max(CPU_COUNT_S(sizeof sets, sets), 1);
        if (number < all) return {number, "affinity"};
    }
#endif
    return {all, "processors"};
}

Processors processors_of_quota(const std::string& root) {
    int fewest = no_limit;
    std::ifstream mounts(root + "/proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line);) {
        // number parent device top mount-point options... - type source options
        std::istringstream words(line);
        std::string number, parent, device, top, mount, word, type, source, options;
        words >> number >> parent >> device >> top >> mount;
        while (words >> word && word != "-") {
        }
        words >> type >> source >> options;
        const bool version_2 = type == "cgroup2";
        if (!version_2 && !(type == "cgroup" && lists(options, "cpu"))) continue;
        for (std::string path = below(top, path_of_process(root, version_2));;) {
            fewest = std::min(fewest, quota_of(root + mount + path, version_2));
            if (path.empty()) break;
            path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
        }
    }
    return {fewest, "cgroup quota"};
}

}  // namespace calibrant
