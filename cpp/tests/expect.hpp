// The least a test of the core needs: expectations that are counted, and a summary.
#pragma once

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <typeinfo>

namespace expect {

inline int failures = 0;

// The caller's, as a default argument. (std::source_location is not there for every Clang.)
struct Place {
    const char* file = __builtin_FILE();
    int line = __builtin_LINE();
};

inline void that(bool holds, std::string_view what, Place where = {}) {
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "%s:%d: %.*s\n", where.file, where.line, static_cast<int>(what.size()),
                 what.data());
}

template <class Left, class Right>
void equal(const Left& found, const Right& expected, Place where = {}) {
    that(found == expected, "found and expected differ", where);
}

// Call throws an Error whose message contains the words.
template <class Error, class Call>
void throws(Call&& call, std::string_view words, Place where = {}) {
    try {
        call();
    } catch (const Error& error) {
        const std::string_view message = error.what();
        that(message.find(words) != std::string_view::npos,
             "expected '" + std::string(words) + "' in the message '" + std::string(message) + "'",
             where);
        return;
    } catch (const std::exception& error) {
        that(false, std::string("another exception: ") + error.what(), where);
        return;
    }
    that(false, std::string("no exception; expected one of ") + typeid(Error).name(), where);
}

// For main to return.
inline int summary() {
    if (failures != 0) std::fprintf(stderr, "%d failed\n", failures);
    return failures == 0 ? 0 : 1;
}

}  // namespace expect
