// A hundred thousand states that nobody wrote: each is rejected, or is what its bytes say.
//
// They are made of those that released versions wrote (the folder is the argument), with bits and
// bytes changed, cut short, half of them with a checksum that fits. A sanitizer looks on.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "expect.hpp"
#include "fuzz.hpp"
#include "state_kinds.hpp"

using namespace calibrant;

namespace {

constexpr std::size_t mutations = 100'000;

struct Saved {
    Kind kind;
    std::string bytes;
};

using Rewrite = std::function<std::string(std::string_view)>;

std::map<Kind, Rewrite> all_readers() {
    std::map<Kind, Rewrite> readers;
    for_each_accumulator([&]<class State>() {
        readers[State::kind] = [](std::string_view bytes) {
            return restore<State>(bytes).to_bytes();
        };
    });
    readers[Kind::grouped] = rewrite_grouped;
    return readers;
}

std::vector<Saved> saved_states(const char* folder) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.path().extension() == ".clbr") paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    std::vector<Saved> states;
    for (const auto& path : paths) {
        std::ifstream file(path, std::ios::binary);
        std::string bytes((std::istreambuf_iterator<char>(file)), {});
        if (!bytes.starts_with("CLBR")) continue;  // evidence: a Python format around such states
        const auto number = static_cast<unsigned char>(bytes[6]);
        states.push_back({static_cast<Kind>(number), std::move(bytes)});
    }
    return states;
}

// Whether it was read; then it must be what the bytes say.
bool is_read(const Rewrite& rewrite, const std::string& bytes) {
    try {
        expect::that(rewrite(bytes) == bytes, "what is read is written as it was");
        return true;
    } catch (const CorruptState&) {
        return false;
    }
}

}  // namespace

int main(int argc, char** argv) {
    expect::that(argc == 2, "usage: test_mutated_states FOLDER");
    const auto readers = all_readers();
    const std::vector<Saved> states = saved_states(argv[1]);
    std::map<Kind, std::size_t> seen;
    for (const Saved& state : states) {
        expect::that(is_read(readers.at(state.kind), state.bytes), "a released state is read");
        ++seen[state.kind];
    }
    expect::equal(seen.size(), readers.size());

    fuzz::Numbers numbers;
    std::size_t accepted = 0;
    for (std::size_t i = 0; i < mutations; ++i) {
        const Saved& state = states[i % states.size()];
        const bool sealed = numbers.below(2) == 0;
        const std::string bytes = sealed ? fuzz::damage_payload(state.bytes, state.kind, numbers)
                                         : fuzz::damage(state.bytes, numbers);
        accepted += is_read(readers.at(state.kind), bytes) ? 1U : 0U;
    }
    // Some must be good (nothing changed, or a sum by a bit) and most must not.
    expect::that(accepted > 0 && accepted < mutations / 2, "most are rejected");
    return expect::summary();
}
