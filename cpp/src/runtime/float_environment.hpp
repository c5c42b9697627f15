// FloatEnvironment: while it lives, this thread computes as IEEE 754 says: round to
// nearest, subnormals kept, no traps. Before and after, whatever the thread had.
//
// Needed because any library in the process may have changed it: one built with
// -ffast-math sets flush-to-zero for the thread that loads it, and exact sums and
// reproducible elementwise functions rest on the defaults.
//
// The compiler does not know that arithmetic depends on these registers. Put the
// guard around a call it cannot inline (parallel.cpp does), not around an expression.
#pragma once

#if defined(__SSE2__) || defined(_M_X64)
#include <xmmintrin.h>
#elif defined(__aarch64__) && defined(__GNUC__)
#include <cstdint>
#else
#include <cfenv>
#endif

namespace calibrant {

class FloatEnvironment {
public:
    FloatEnvironment(const FloatEnvironment&) = delete;
    FloatEnvironment& operator=(const FloatEnvironment&) = delete;

    // Restoring also drops the sticky flags raised meanwhile (inexact, underflow), so
    // that NumPy's warnings about its own arithmetic do not report ours.
#if defined(__SSE2__) || defined(_M_X64)
    FloatEnvironment() noexcept : saved_(_mm_getcsr()) { _mm_setcsr(all_masked_nearest); }
    ~FloatEnvironment() { _mm_setcsr(saved_); }

private:
    static constexpr unsigned all_masked_nearest = 0x1F80;  // the MXCSR of a new process
    unsigned saved_;
#elif defined(__aarch64__) && defined(__GNUC__)
    FloatEnvironment() noexcept {
        __asm__ volatile("mrs %0, fpcr" : "=r"(saved_));
        __asm__ volatile("msr fpcr, %0" : : "r"(std::uint64_t{0}) : "memory");
    }
    ~FloatEnvironment() { __asm__ volatile("msr fpcr, %0" : : "r"(saved_) : "memory"); }

private:
    std::uint64_t saved_;
#else
    FloatEnvironment() noexcept {
        std::fegetenv(&saved_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~FloatEnvironment() { std::fesetenv(&saved_); }

private:
    std::fenv_t saved_;
#endif
};

}  // namespace calibrant
