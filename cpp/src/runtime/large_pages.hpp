// Memory in large pages where there is much of it: fewer page faults when it is first written, and
// fewer searches for the page when it is used here and there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace calibrant {

// Only a wish, whose rejection changes nothing. The memory begins at a page.
void prefer_large_pages(void* memory, std::size_t bytes);

// For containers.
template <class T>
struct LargePages {
    using value_type = T;
    static constexpr std::size_t page = std::size_t{1} << 21;

    LargePages() = default;
    template <class U>
    LargePages(const LargePages<U>&) {}  // NOLINT(google-explicit-constructor): as allocators do

    [[nodiscard]] T* allocate(std::size_t n) {
        if (n * sizeof(T) < page)
            return static_cast<T*>(::operator new(n * sizeof(T), alignment(n)));
        // Whole pages: the rest of the last one would be hundreds of small ones.
        const std::size_t bytes = (n * sizeof(T) + page - 1) / page * page;
        void* const memory = ::operator new(bytes, alignment(n));
        prefer_large_pages(memory, bytes);
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t n) { ::operator delete(memory, alignment(n)); }
    bool operator==(const LargePages&) const = default;

private:
    static constexpr std::align_val_t alignment(std::size_t n) {
        constexpr std::size_t line = 64;  // of a cache
        return std::align_val_t{n * sizeof(T) >= page ? page : std::max(alignof(T), line)};
    }
};

// An array whose values are not set yet, of plain numbers or structs of them: the threads that
// fill it touch it first.
template <class T>
class LargeArray {
public:
    LargeArray() = default;
    explicit LargeArray(std::size_t n) : values_(LargePages<T>().allocate(n), Release{n}) {}
    [[nodiscard]] T* data() { return values_.get(); }
    [[nodiscard]] const T* data() const { return values_.get(); }
    [[nodiscard]] T& operator[](std::size_t i) { return values_[i]; }
    [[nodiscard]] const T& operator[](std::size_t i) const { return values_[i]; }
    explicit operator bool() const { return values_ != nullptr; }

private:
    struct Release {
        std::size_t n = 0;
        void operator()(T* values) const { LargePages<T>().deallocate(values, n); }
    };
    std::unique_ptr<T[], Release> values_;
};

}  // namespace calibrant
