#include "calibrant/parallel.hpp"

#include "calibrant/float_environment.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#if defined(_OPENMP)
#include <omp.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace calibrant {
namespace {

constinit std::atomic<int> asked_for{0};  // by set_num_threads; 0 is the default
constinit std::atomic<bool> forked{false};
constinit thread_local bool alone = false;

#if defined(__unix__) || defined(__APPLE__)
// At load time and not before our first region: another library may have opened one in
// the runtime that we share. (pthread_atfork fails for want of memory only, and there
// is nobody to tell.)
[[maybe_unused]] const int fork_handler =
    pthread_atfork(nullptr, nullptr, [] { forked.store(true, std::memory_order_relaxed); });
#endif

std::size_t chunks_in(std::size_t n, std::size_t chunk) {
    if (chunk == 0) throw std::invalid_argument("chunk must be at least 1, got 0");
    return n / chunk + (n % chunk != 0);
}

// 0 if the variable is not set. Empty counts as unset.
int threads_from_environment() {
    const char* const variable = std::getenv("CALIBRANT_NUM_THREADS");
    const std::string_view text = variable == nullptr ? "" : variable;
    if (text.empty()) return 0;
    int threads = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, threads);
    if (error != std::errc() || end != last || threads < 1 || threads > max_threads) {
        throw std::invalid_argument(
            "environment variable CALIBRANT_NUM_THREADS must be a whole number from 1 to " +
            std::to_string(max_threads) + ", got '" + std::string(text) + "'");
    }
    return threads;
}

struct Threads {
    int number;
    const char* source;
};

Threads threads_in_force() {
    static const int environment = threads_from_environment();
#if defined(_OPENMP)
    if (forked.load(std::memory_order_relaxed)) return {1, "fork"};
    if (alone) return {1, "work_alone"};
    if (const int asked = asked_for.load(std::memory_order_relaxed); asked != 0)
        return {asked, "set_num_threads"};
    if (environment != 0) return {environment, "CALIBRANT_NUM_THREADS"};
    return {std::clamp(omp_get_max_threads(), 1, max_threads), "OpenMP"};
#else
    static_cast<void>(environment);  // checked all the same
    return {1, "no OpenMP"};
#endif
}

// Says true when it is time to give up; remembers that it did.
class Watch {
public:
    explicit Watch(Poll poll) : poll_(poll), last_(Clock::now()) {}

    bool interrupted() {
        if (poll_ == nullptr) return false;
        // 20 ms: far below what a person notices, and rare enough for taking the GIL to cost
        // nothing.
        const auto now = Clock::now();
        if (now - last_ < std::chrono::milliseconds(20)) return false;
        const bool give_up = poll_();
        last_ = Clock::now();  // after the poll: waiting for the GIL may itself have taken long
        return give_up;
    }

private:
    using Clock = std::chrono::steady_clock;
    Poll poll_;
    Clock::time_point last_;
};

struct Loop {
    std::size_t n;
    std::size_t chunk;
    detail::ChunkFunction function;
    void* work;

    bool run(std::size_t worker, std::size_t index) const {
        const std::size_t begin = index * chunk;
        return function(work, worker, begin, begin + std::min(chunk, n - begin));
    }
};

std::size_t run_alone(const Loop& loop, std::size_t chunks, Poll poll) {
    const FloatEnvironment standard;
    Watch watch(poll);
    for (std::size_t index = 0; index < chunks; ++index) {
        if (!loop.run(0, index)) return index * loop.chunk;
        if (watch.interrupted()) throw Interrupted();
    }
    return npos;
}

#if defined(_OPENMP)
// An OpenMP runtime ends the process when the system refuses it a thread, as it does where
// memory is limited. It keeps the threads of the last region for the thread that opened it, so
// only a larger team has to be asked for: by starting as many threads at once and letting them go.
constinit thread_local std::size_t last_team = 1;

bool can_have(std::size_t team) noexcept {
    if (team <= last_team) return true;
    std::mutex gate;
    std::vector<std::thread> trial;
    gate.lock();
    try {
        for (trial.reserve(team); last_team + trial.size() < team;)
            trial.emplace_back([&gate] { const std::lock_guard wait(gate); });
    } catch (...) {  // no thread, or no memory to list them
    }
    gate.unlock();
    for (std::thread& thread : trial) thread.join();
    return last_team + trial.size() >= team;
}

// What the workers share.
class Team {
public:
    Team(const Loop& loop, std::size_t chunks) : loop_(loop), chunks_(chunks) {}

    // Nothing may escape: an exception that leaves an OpenMP region ends the process.
    void run_worker(std::size_t worker, Poll poll) noexcept {
        const FloatEnvironment standard;
        Watch watch(poll);
        // Stop is looked at before a chunk is taken, never after: a chunk once taken is
        // done, which makes the lowest failed chunk the lowest of all.
        while (!stop_.load(std::memory_order_relaxed)) {
            const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
            if (index >= chunks_) return;
            try {
                if (!loop_.run(worker, index)) fail(index, nullptr);
                if (watch.interrupted()) {
                    interrupted_.store(true, std::memory_order_relaxed);
                    stop_.store(true, std::memory_order_relaxed);
                }
            } catch (...) {
                fail(index, std::current_exception());
            }
        }
    }

    // After the join, which makes all that the workers wrote visible.
    std::size_t outcome() {
        // First: behind it stands a pending Python exception that must not be lost.
        if (interrupted_.load()) throw Interrupted();
        if (error_) std::rethrow_exception(error_);
        return lowest_failed_ == npos ? npos : lowest_failed_ * loop_.chunk;
    }

private:
    void fail(std::size_t index, std::exception_ptr error) noexcept {
        const std::lock_guard lock(mutex_);
        if (index < lowest_failed_) {
            lowest_failed_ = index;
            error_ = std::move(error);
        }
        stop_.store(true, std::memory_order_relaxed);
    }

    Loop loop_;
    std::size_t chunks_;
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> stop_{false};
    std::atomic<bool> interrupted_{false};
    std::mutex mutex_;
    std::size_t lowest_failed_ = npos;
    std::exception_ptr error_;
};
#endif

}  // namespace

int num_threads() { return threads_in_force().number; }

const char* num_threads_source() { return threads_in_force().source; }

void set_num_threads(long long n) {
    if (n < 0 || n > max_threads) {
        throw std::invalid_argument("number of threads must be from 1 to " +
                                    std::to_string(max_threads) + ", or 0 for the default, got " +
                                    std::to_string(n));
    }
    asked_for.store(static_cast<int>(n), std::memory_order_relaxed);
}

bool work_alone(bool on) noexcept { return std::exchange(alone, on); }

int openmp_date() noexcept {
#if defined(_OPENMP)
    return _OPENMP;
#else
    return 0;
#endif
}

std::size_t workers_for(std::size_t n, std::size_t chunk) {
    const std::size_t chunks = chunks_in(n, chunk);
    if (chunks < 2) return 1;  // the common small call: no need to ask anybody
    return std::min(static_cast<std::size_t>(num_threads()), chunks);
}

std::size_t detail::for_each_chunk(std::size_t n, std::size_t chunk, std::size_t workers, Poll poll,
                                   ChunkFunction function, void* work) {
    const std::size_t chunks = chunks_in(n, chunk);
    const Loop loop{n, chunk, function, work};
#if defined(_OPENMP)
    const int team_size =
        static_cast<int>(std::min({workers, chunks, static_cast<std::size_t>(max_threads)}));
    if (team_size > 1 && !forked.load(std::memory_order_relaxed) &&
        can_have(static_cast<std::size_t>(team_size))) {
        last_team = static_cast<std::size_t>(team_size);
        Team team(loop, chunks);
        // The runtime may give fewer threads than asked for; those it gives do all the work.
#pragma omp parallel num_threads(team_size)
        {
            // Thread 0 of a region is the one that opened it.
            const int thread = omp_get_thread_num();
            team.run_worker(static_cast<std::size_t>(thread), thread == 0 ? poll : nullptr);
        }
        return team.outcome();
    }
#else
    static_cast<void>(workers);
#endif
    return run_alone(loop, chunks, poll);
}

}  // namespace calibrant
