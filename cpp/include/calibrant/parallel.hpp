// Threads, and the only loop of the project that uses them.
//
// for_each_chunk cuts [0, n) into chunks and hands them to workers in increasing
// order. Which worker gets which chunk is left to chance: workers keep partial exact
// sums, so the result is the same bits for any number of them. OpenMP is optional;
// without it the same code runs on one thread.
//
// Fork: an OpenMP runtime does not survive one (a child that opens a region hangs with
// GCC's). A forked child therefore runs on one thread for ever, whatever is asked of it.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <type_traits>

namespace calibrant {

// Results are the same without limits, but OpenMP runtimes end the process when the
// system refuses them a thread, so a slip of the finger must not ask for a million.
inline constexpr int max_threads = 1024;

// In [1, max_threads]: 1 without OpenMP and in a forked child; else what set_num_threads said; else
// the environment variable CALIBRANT_NUM_THREADS; else OpenMP's choice for this thread, so
// OMP_NUM_THREADS and threadpoolctl count. Throws std::invalid_argument if the variable
// is not a whole number in that range; after one success it does not throw again.
int num_threads();

// 0 goes back to the default. For the whole process; calls under way are not affected.
// Throws std::invalid_argument unless 0 <= n <= max_threads.
void set_num_threads(long long n);

// From now on calls of the calling thread use no other, or may again: for those who bring threads
// of their own. Returns what was in force, to be put back.
bool work_alone(bool on = true) noexcept;

// "fork", "work_alone", "set_num_threads", "CALIBRANT_NUM_THREADS", "OpenMP" or "no OpenMP".
const char* num_threads_source();

// The date of the OpenMP standard (201511 is 4.5), 0 if built without.
int openmp_date() noexcept;

// How many workers are worth having: never more than chunks, at least 1.
std::size_t workers_for(std::size_t n, std::size_t chunk);

// Asked now and then whether to give up (Ctrl-C); nullptr is never.
using Poll = bool (*)();

// for_each_chunk was told by its poll to give up.
class Interrupted : public std::exception {
public:
    const char* what() const noexcept override { return "interrupted"; }
};

inline constexpr std::size_t npos = static_cast<std::size_t>(-1);

namespace detail {

using ChunkFunction = bool (*)(void* work, std::size_t worker, std::size_t begin, std::size_t end);

std::size_t for_each_chunk(std::size_t n, std::size_t chunk, std::size_t workers, Poll poll,
                           ChunkFunction function, void* work);

}  // namespace detail

// Calls work(worker, begin, end) -> bool for every chunk [begin, end) of [0, n), with
// worker < workers; calls of one worker do not overlap. Inside, the floating-point
// environment is the standard one (float_environment.hpp).
//
// Returning false says that the chunk holds a bad row: chunks not yet begun are left
// out, those under way finish, and the begin of the lowest bad chunk is returned (npos
// if there is none). All chunks below it were done, so it is the first of all, and the
// same for any number of workers. A throw counts likewise; if it came from the lowest
// chunk that failed, it is rethrown here, after all workers have stopped.
//
// poll is called by the calling thread only, between its chunks, at most every 20 ms;
// so chunks should take a few ms at most. If it says true, Interrupted is thrown.
// With one worker, or in a forked child, it is a plain loop.
template <class Work>
std::size_t for_each_chunk(std::size_t n, std::size_t chunk, std::size_t workers, Poll poll,
                           Work&& work) {
    using Callable = std::remove_reference_t<Work>;
    const auto call = [](void* erased, std::size_t worker, std::size_t begin,
                         std::size_t end) -> bool {
        return (*static_cast<Callable*>(erased))(worker, begin, end);
    };
    void* const erased = const_cast<void*>(static_cast<const void*>(std::addressof(work)));
    return detail::for_each_chunk(n, chunk, workers, poll, call, erased);
}

}  // namespace calibrant
