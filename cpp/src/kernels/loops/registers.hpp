// Vectors as wide as a register of the instruction set. Included by kernels only, and under their
// rules.
#pragma once

#include <cstddef>
#include <cstdint>

namespace calibrant {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t register_bytes = 64;
#elif defined(__AVX2__)
constexpr std::size_t register_bytes = 32;
#else
constexpr std::size_t register_bytes = 16;
#endif
constexpr std::size_t register_doubles = register_bytes / sizeof(double);

template <class T, std::size_t bytes = register_bytes>
using Register __attribute__((vector_size(bytes))) = T;
using Doubles = Register<double>;
using Words = Register<std::int64_t>;

template <class V, class T>
[[gnu::always_inline]] inline V load_register(const T* from) {
    V values;
    __builtin_memcpy(&values, from, sizeof values);
    return values;
}

template <class V, class T>
[[gnu::always_inline]] inline void store_register(const V& values, T* to) {
    __builtin_memcpy(to, &values, sizeof values);
}

}  // namespace
}  // namespace calibrant
