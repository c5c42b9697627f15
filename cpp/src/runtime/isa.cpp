#include "calibrant/runtime/isa.hpp"

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace calibrant {
namespace {

// CMake defines CALIBRANT_HAVE_... for the kernels it builds.
#if defined(CALIBRANT_HAVE_AVX2) && defined(CALIBRANT_HAVE_AVX512)
// __builtin_cpu_supports also asks the operating system whether it saves the wide registers.
bool is_available(Isa isa) {
    switch (isa) {
        case Isa::baseline:
            return true;
        case Isa::avx2:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        case Isa::avx512:
            return is_available(Isa::avx2) && __builtin_cpu_supports("avx512f") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512bw");
    }
    return false;
}
#else
bool is_available(Isa isa) { return isa == Isa::baseline; }
#endif

constexpr Isa all_isas[] = {Isa::baseline, Isa::avx2, Isa::avx512};

std::string choices() {
    std::string text;
    for (const Isa isa : available_isas()) {
        text += text.empty() ? "" : ", ";
        text += std::string("'") + name(isa) + "'";
    }
    return text;
}

struct Choice {
    Isa isa;
    const char* source;
};

Choice choose() {
    // An empty variable counts as unset, as shells have no handy way to unset for one command.
    const char* const wanted = std::getenv("CALIBRANT_ISA");
    if (wanted == nullptr || *wanted == '\0') return {available_isas().back(), "CPU"};
    try {
        return {isa_from_name(wanted), "CALIBRANT_ISA"};
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(std::string("environment variable CALIBRANT_ISA: ") +
                                    error.what());
    }
}

const Choice& initial_choice() {
    static const Choice choice = choose();
    return choice;
}

constexpr int not_set = -1;
constinit std::atomic<int> set_by_test{not_set};

}  // namespace

const char* name(Isa isa) {
    switch (isa) {
        case Isa::baseline:
            return "baseline";
        case Isa::avx2:
            return "avx2";
        case Isa::avx512:
            return "avx512";
    }
    return "unknown";
}

std::vector<Isa> available_isas() {
    std::vector<Isa> available;
    for (const Isa isa : all_isas) {
        if (is_available(isa)) available.push_back(isa);
    }
    return available;
}

Isa isa_from_name(std::string_view wanted) {
    for (const Isa isa : available_isas()) {
        if (wanted == name(isa)) return isa;
    }
    bool known = false;
    for (const Isa isa : all_isas) known = known || wanted == name(isa);
    throw std::invalid_argument(
        "instruction set must be one of " + choices() + ", got '" + std::string(wanted) + "'" +
        (known ? ", which this processor or this build does not support" : ""));
}

Isa isa() {
    const int forced = set_by_test.load(std::memory_order_relaxed);
    return forced == not_set ? initial_choice().isa : static_cast<Isa>(forced);
}

const char* isa_source() {
    return set_by_test.load(std::memory_order_relaxed) == not_set ? initial_choice().source
                                                                  : "set_isa";
}

void set_isa(Isa isa) {
    set_by_test.store(static_cast<int>(isa_from_name(name(isa))), std::memory_order_relaxed);
}

}  // namespace calibrant
