// Copies long rows in another order, whatever they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "calibrant/runtime/parallel.hpp"

namespace calibrant {

// Row i of `to` is row order[i] of `from`, which has `rows`, side by side; on several threads.
inline void take_rows(const std::byte* from, std::size_t rows, std::size_t row_bytes,
                      const std::int64_t* order, std::size_t n, std::byte* to, Poll poll) {
    constexpr std::size_t ahead = 24;  // rows between asking for one and using it
    constexpr std::size_t line = 64, chunk_bytes = std::size_t{1} << 16;
    const auto ask_for = [&](std::size_t i) {
        const std::byte* const row = from + static_cast<std::size_t>(order[i]) * row_bytes;
        for (std::size_t at = 0; at < row_bytes; at += line) __builtin_prefetch(row + at);
    };
    const std::size_t chunk = chunk_bytes / row_bytes + 1;
    (void)for_each_chunk(n, chunk, workers_for(n, 4 * chunk), poll,
                         [&](std::size_t, std::size_t begin, std::size_t end) {
                             for (std::size_t i = begin; i < end; ++i) {
                                 if (i + ahead < end) ask_for(i + ahead);
                                 const auto row = static_cast<std::size_t>(order[i]);
                                 if (row >= rows) throw std::out_of_range("no such row");
                                 std::memcpy(to + i * row_bytes, from + row * row_bytes, row_bytes);
                             }
                             return true;
                         });
}

}  // namespace calibrant
