// Threads, and the only loop of the project that uses them.
//
// for_each_chunk cuts [0, n) into chunks and hands them to workers in increasing
// order. Which worker gets which chunk is left to chance: workers keep partial exact
// sums, so the result is the same bits for any number of them.
//
// The first worker is the calling thread. The others are helpers: threads that are started when
// they are first needed, sleep while there is nothing to do, and are shared by all calls of the
// process. A call never waits for a helper that has not begun with a chunk, so on a busy machine it
// takes as long as on one thread, and the time of one chunk. It goes without helpers until the
// chunks that it has done say that the rest would take it more than about 100 microseconds. What
// a call inside a chunk does, it does on its own thread.
//
// The threads are those of C++, not of OpenMP: an OpenMP runtime ends the process when it gets no
// thread or memory, waits for all threads at the end of a region, and does not survive a fork.
// OpenMP is optional, and only says how many threads there should be.
//
// Fork: threads stay behind in the parent. A forked child works on one thread for ever, whatever
// number is set.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <type_traits>

namespace calibrant {

// Results are the same without limits, but a slip of the finger must not ask for a million.
inline constexpr int max_threads = 1024;

// In [1, max_threads]: 1 in a forked child; else what set_num_threads said; else the environment
// variable CALIBRANT_NUM_THREADS; else OMP_NUM_THREADS, as the OpenMP runtime has it, if there is
// one; else as many processors as the process may use (processors.hpp), or what the OpenMP runtime
// says if that is less, so that threadpoolctl counts. Throws std::invalid_argument if the second is
// not a whole number in that range; after one success it does not throw again.
int num_threads();

// 0 goes back to the default. For the whole process; calls under way are not affected.
// Throws std::invalid_argument unless 0 <= n <= max_threads.
void set_num_threads(long long n);

// From now on calls of the calling thread use no other, or may again: for those who bring threads
// of their own. Returns what was in force, to be put back.
bool work_alone(bool on = true) noexcept;

// As long as it lives, if `on`.
class Alone {
public:
    explicit Alone(bool on) noexcept : on_(on), before_(on && work_alone()) {}
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;
    ~Alone() {
        if (on_) work_alone(before_);
    }

private:
    bool on_, before_;
};

// What decided: "fork", "work_alone", "set_num_threads", "CALIBRANT_NUM_THREADS",
// "OMP_NUM_THREADS", "OpenMP", "processors", "affinity" or "cgroup quota".
const char* num_threads_source();

// The date of the OpenMP standard (201511 is 4.5), 0 if built without.
int openmp_date() noexcept;

// How many workers are worth having: never more than chunks, at least 1. Each may need memory of
// its own; whether they get anything to do is decided by the time that chunks take.
std::size_t workers_for(std::size_t n, std::size_t chunk);

// Called now and then; true means to give up (Ctrl-C). nullptr is never called.
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

// For tests: from now on a helper that is called stands still before it looks for work, or no
// longer; and how many stand.
void stall_helpers(bool on) noexcept;
int stalled_helpers() noexcept;

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
// poll is called by the calling thread only, between its chunks, at most every 20 ms; so chunks
// should take 50 to 100 microseconds, which is also what a call may have to wait for in the end. If
// it says true, Interrupted is thrown. If it forks, the child gets std::runtime_error. With one
// worker, inside another loop with several, or in a forked child, it is a plain loop.
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
