// The limbs of an exact sum: a few in the object itself, more on the heap. Most sums have few, and
// groups have very many sums, so that asking for memory would take longer than summing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace calibrant {

class Limbs {
public:
    Limbs() noexcept : room_{} {}
    // All zero.
    explicit Limbs(std::size_t size) : size_(size), room_{} {
        if (is_far()) room_.far = new std::int64_t[size]();
    }
    Limbs(const Limbs& other) : size_(other.size_), room_{} {
        if (is_far()) room_.far = new std::int64_t[size_];
        copy(other);
    }
    Limbs(Limbs&& other) noexcept : room_{} { swap(other); }
    Limbs& operator=(const Limbs& other) {
        if (is_far() || other.is_far()) {
            Limbs copied(other);
            swap(copied);
        } else {
            size_ = other.size_;
            copy(other);
        }
        return *this;
    }
    Limbs& operator=(Limbs&& other) noexcept {
        Limbs taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~Limbs() {
        if (is_far()) delete[] room_.far;
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::int64_t* data() { return is_far() ? room_.far : room_.near; }
    [[nodiscard]] const std::int64_t* data() const { return is_far() ? room_.far : room_.near; }
    [[nodiscard]] std::int64_t* begin() { return data(); }
    [[nodiscard]] std::int64_t* end() { return data() + size_; }
    [[nodiscard]] const std::int64_t* begin() const { return data(); }
    [[nodiscard]] const std::int64_t* end() const { return data() + size_; }

    // So many, with those before from the place `at` on and zeros around them.
    void grow(std::size_t size, std::size_t at) {
        Limbs grown(size);
        std::copy(begin(), end(), grown.begin() + at);
        swap(grown);
    }

private:
    static constexpr std::size_t most_near = 6;

    [[nodiscard]] bool is_far() const { return size_ > most_near; }
    void copy(const Limbs& other) {
        if (is_far()) {
            std::copy(other.begin(), other.end(), room_.far);
        } else {
            room_ = other.room_;
        }
    }
    void swap(Limbs& other) noexcept {
        std::swap(size_, other.size_);
        std::swap(room_, other.room_);
    }

    std::size_t size_ = 0;
    union {
        std::int64_t near[most_near];
        std::int64_t* far;  // where there are more
    } room_;
};

}  // namespace calibrant
