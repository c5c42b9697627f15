#include "rows/evaluate.hpp"

#include <cmath>
#include <cstddef>
#include <optional>

#include "calibrant/rows/check.hpp"

namespace calibrant {

void evaluate(double (*function)(double), const Column& x, double* out, Poll poll) {
    constexpr std::size_t chunk = 128;  // some 50 microseconds
    const std::size_t n = x.size;
    std::size_t failed = for_each_chunk(n, chunk, workers_for(n, 4 * chunk), poll,
                                        [&](std::size_t, std::size_t begin, std::size_t end) {
                                            load(x, begin, end - begin, out + begin);
                                            for (std::size_t i = begin; i < end; ++i) {
                                                if (std::isnan(out[i])) return false;
                                                out[i] = function(out[i]);
                                            }
                                            return true;
                                        });
    if (failed == npos) return;
    while (!std::isnan(out[failed])) ++failed;  // the chunk was left at its first NaN
    reject_missing("x", {failed, std::nullopt, 0, false});
}

}  // namespace calibrant
