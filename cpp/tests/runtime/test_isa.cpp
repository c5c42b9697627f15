#include "calibrant/runtime/isa.hpp"

#include "expect.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

using namespace calibrant;

int main() {
    const auto available = available_isas();
    expect::that(available.front() == Isa::baseline, "baseline is always there");
    expect::that(std::is_sorted(available.begin(), available.end()), "from narrow to wide");
    for (const Isa each : available) {
        set_isa(each);
        expect::that(isa() == each, name(each));
        expect::that(isa_from_name(name(each)) == each, name(each));
    }
    expect::equal(std::string(isa_source()), "set_isa");
    expect::throws<std::invalid_argument>([] { isa_from_name("sse9"); },
                                          "must be one of 'baseline'");
    if (available.back() != Isa::avx512) {
        expect::throws<std::invalid_argument>([] { set_isa(Isa::avx512); },
                                              "'avx512', which this processor or this build");
        expect::that(isa() == available.back(), "a rejected choice changes nothing");
    }
    return expect::summary();
}
