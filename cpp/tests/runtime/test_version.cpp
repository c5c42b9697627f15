#include <cassert>

#include "calibrant/runtime/version.hpp"

int main() {
    const auto version = calibrant::version();
    assert(!version.empty());
    assert(version.front() >= '0' && version.front() <= '9');
}
