// Copies rows in another order, whatever they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "calibrant/parallel.hpp"

namespace calibrant {

namespace detail {

// row_bytes is given twice where it is known when compiling: a copy is then one instruction or two.
template <std::size_t fixed_bytes>
void take_chunk(const std::byte* from, std::size_t rows, std::size_t row_bytes,
                const std::int64_t* order, std::size_t begin, std::size_t end, std::byte* to) {
    constexpr std::size_t ahead = 24;  // rows between asking for one and using it
    const std::size_t bytes = fixed_bytes != 0 ? fixed_bytes : row_bytes;
    for (std::size_t i = begin; i < end; ++i) {
        if (i + ahead < end) {
            __builtin_prefetch(from + static_cast<std::size_t>(order[i + ahead]) * bytes);
        }
        const auto row = static_cast<std::size_t>(order[i]);
        if (row >= rows) throw std::out_of_range("no such row");
        std::memcpy(to + i * bytes, from + row * bytes, bytes);
    }
}

}  // namespace detail

// Row i of `to` is row order[i] of `from`, which has `rows`, side by side; on several threads.
inline void take_rows(const std::byte* from, std::size_t rows, std::size_t row_bytes,
                      const std::int64_t* order, std::size_t n, std::byte* to, Poll poll) {
    constexpr std::size_t chunk = std::size_t{1} << 13;
    (void)for_each_chunk(n, chunk, workers_for(n, 4 * chunk), poll,
                         [&](std::size_t, std::size_t begin, std::size_t end) {
                             const auto take = row_bytes == 8    ? detail::take_chunk<8>
                                               : row_bytes == 16 ? detail::take_chunk<16>
                                               : row_bytes == 4  ? detail::take_chunk<4>
                                                                 : detail::take_chunk<0>;
                             take(from, rows, row_bytes, order, begin, end, to);
                             return true;
                         });
}

}  // namespace calibrant
