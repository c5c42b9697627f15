#include "calibrant/runtime/parallel.hpp"

#include "runtime/float_environment.hpp"
#include "runtime/processors.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#if defined(_OPENMP)
#include <omp.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace calibrant {
namespace {

using Clock = std::chrono::steady_clock;

constinit std::atomic<int> asked_for{0};  // by set_num_threads; 0 is the default
constinit std::atomic<bool> forked{false};
// Set by work_alone, in helpers, and during a loop: a loop inside a loop uses no other thread.
constinit thread_local bool alone = false;

#if defined(__unix__) || defined(__APPLE__)
// (pthread_atfork fails for want of memory only, and there is nobody to tell.)
[[maybe_unused]] const int fork_handler =
    pthread_atfork(nullptr, nullptr, [] { forked.store(true, std::memory_order_relaxed); });
#endif

std::size_t chunks_in(std::size_t n, std::size_t chunk) {
    if (chunk == 0) throw std::invalid_argument("chunk must be at least 1, got 0");
    return n / chunk + (n % chunk != 0);
}

// The numbers of threads -----------------------------------------------------------------------

std::string_view environment(const char* variable) {
    const char* const value = std::getenv(variable);
    return value == nullptr ? "" : value;
}

// 0 if the variable is not set. Empty counts as unset.
int threads_from_environment() {
    const std::string_view text = environment("CALIBRANT_NUM_THREADS");
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

// The first number of OMP_NUM_THREADS, which may list one for each level of nesting; 0 if it is not
// set, or not understood.
int threads_of_openmp_variable() {
    const std::string_view text = environment("OMP_NUM_THREADS");
    int threads = 0;
    const auto first = std::min(text.find_first_not_of(" \t"), text.size());
    const auto found = std::from_chars(text.data() + first, text.data() + text.size(), threads);
    return found.ec == std::errc() ? std::clamp(threads, 0, max_threads) : 0;
}

struct Threads {
    int number;
    const char* source;
};

Threads threads_by_default() {
    static const int variable = threads_of_openmp_variable();
#if defined(_OPENMP)
    // What the runtime says now: omp_set_num_threads, as threadpoolctl calls it, counts.
    const int openmp = std::clamp(omp_get_max_threads(), 1, max_threads);
    if (variable != 0) return {openmp, openmp == variable ? "OMP_NUM_THREADS" : "OpenMP"};
#else
    if (variable != 0) return {variable, "OMP_NUM_THREADS"};
    constexpr int openmp = max_threads;
#endif
    static const Processors quota = processors_of_quota("");
    const Processors affinity = processors_of_affinity();
    const Processors& fewest = quota.number < affinity.number ? quota : affinity;
    if (openmp < fewest.number) return {openmp, "OpenMP"};
    return {std::min(fewest.number, max_threads), fewest.source};
}

Threads threads_in_force() {
    static const int environment = threads_from_environment();
    if (forked.load(std::memory_order_relaxed)) return {1, "fork"};
    if (alone) return {1, "work_alone"};
    if (const int asked = asked_for.load(std::memory_order_relaxed); asked != 0)
        return {asked, "set_num_threads"};
    if (environment != 0) return {environment, "CALIBRANT_NUM_THREADS"};
    return threads_by_default();
}

// Loops ----------------------------------------------------------------------------------------

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
    Poll poll_;
    Clock::time_point last_;
};

class WorkAlone {
public:
    WorkAlone() noexcept : before_(work_alone()) {}
    ~WorkAlone() { work_alone(before_); }
    WorkAlone(const WorkAlone&) = delete;
    WorkAlone& operator=(const WorkAlone&) = delete;

private:
    bool before_;
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

// Helpers --------------------------------------------------------------------------------------
//
// Helpers are threads that are started when they are first called, and then stay. Without work a
// helper sleeps until it is called, and takes no processor time. A call that wants help takes a
// slot, and writes into one atomic word how many of its chunks are left. Its own thread takes
// chunks from there, one at a time, and so does a helper once it is awake. The call returns when
// every chunk that was taken is done, so it never waits for a helper that has not begun with one:
// on a busy machine that may take a time slice or many.
//
// A helper that loses its processor in a chunk keeps the call waiting. It would for about as long
// as it waited for a processor when it was called, so it takes no chunk of a call that has less
// than that to do. On an idle machine this is the time to wake up, and on a busy one a time slice.
//
// Slots and helpers are never freed. A helper that looks at the word of a call that has ended, or
// of the next one, does no harm: it takes a chunk by exchanging the word for one that is less by
// one, and reads nothing of the call unless that succeeded. The call waits for it then.

// A caller goes without help rather than ask for it for less: that takes a few microseconds of its
// own time, and another processor some 50 to be awake.
constexpr double worth_a_call = 1e5;  // nanoseconds

// Nanoseconds that a row took the last time, by what is done with it: how the first chunk of a loop
// is judged. Where two share a place, or rows cost more than the last time, help comes a chunk too
// early or too late.
std::atomic<float>& known_cost(detail::ChunkFunction function) noexcept {
    static constinit std::array<std::atomic<float>, 1024> costs{};
    const auto address = reinterpret_cast<std::uintptr_t>(function);
    return costs[(address * 0x9E3779B97F4A7C15U >> 40) % costs.size()];
}

// So long a caller looks whether the last chunks are done before it sleeps.
constexpr std::chrono::microseconds before_sleep{50};

constexpr std::size_t cache_line = 128;  // two of x86, which fetches them in pairs

double nanoseconds() noexcept {
    const std::chrono::duration<double, std::nano> now = Clock::now().time_since_epoch();
    return now.count();
}

struct alignas(cache_line) Helper {
    std::atomic<int> called{0};  // 1 until it is awake
    std::atomic<double> called_at{0.0};
    std::atomic<bool> started{false};
};
constinit std::array<Helper, max_threads> helpers{};  // the first is not used: worker 0 is a caller

void serve(std::size_t number) noexcept;

// Wakes a helper, or starts it. Without memory or leave for another thread there is no helper.
void call_helper(std::size_t number) noexcept {
    Helper& helper = helpers[number];
    if (helper.called.load() != 0) return;
    helper.called_at.store(nanoseconds());
    if (helper.called.exchange(1) != 0) return;
    if (helper.started.load()) {
        helper.called.notify_one();
    } else {
        helper.started.store(true);
        try {
            std::thread(serve, number).detach();
        } catch (...) {
            helper.started.store(false);
            helper.called.store(0);
        }
    }
}

class Call;

class alignas(cache_line) Slot {
public:
    [[nodiscard]] bool claim() noexcept {
        return !claimed_.load(std::memory_order_relaxed) &&
               !claimed_.exchange(true, std::memory_order_acquire);
    }
    void release() noexcept { claimed_.store(false, std::memory_order_release); }

    void open(Call& call, std::size_t workers, std::size_t chunks) noexcept {
        call_ = &call;
        done_.store(0, std::memory_order_relaxed);
        next_helper_.store(1, std::memory_order_relaxed);
        left_.store(std::uint64_t{workers} << chunk_bits | chunks);  // before helpers are called
    }

    // Takes the next chunk if there is one that this worker may take, and chunks that would keep
    // one thread for so many nanoseconds. Returns how many were left before, or 0.
    [[nodiscard]] std::size_t take(std::size_t worker, double least) noexcept {
        std::uint64_t left = left_.load();
        while ((left & most_chunks) != 0 && worker < left >> chunk_bits &&
               static_cast<double>(left & most_chunks) * cost_of_chunk() >= least) {
            if (left_.compare_exchange_weak(left, left - 1, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
                return static_cast<std::size_t>(left & most_chunks);
            }
        }
        return 0;
    }

    // Leaves out the chunks that nobody has taken. For those that have one, and for the caller.
    void close() noexcept { done_.fetch_add(left_.exchange(0) & most_chunks); }

    [[nodiscard]] double cost_of_chunk() const noexcept {
        return cost_of_chunk_.load(std::memory_order_relaxed);
    }
    void set_cost_of_chunk(double cost) noexcept {
        cost_of_chunk_.store(cost, std::memory_order_relaxed);
    }

    // For those that have a chunk, and for the caller.
    void call_one_more(std::size_t workers) noexcept {
        const std::size_t next = next_helper_.fetch_add(1, std::memory_order_relaxed);
        if (next < workers) call_helper(next);
    }
    [[nodiscard]] std::size_t called() const noexcept {
        return next_helper_.load(std::memory_order_relaxed);
    }

    void call_all_again() noexcept { next_helper_.store(1, std::memory_order_relaxed); }

    void help(std::size_t number, double delay) noexcept;

    // Returns when helpers have done so many chunks, those left out included.
    void wait_for(std::size_t chunks) noexcept {
        const auto start = Clock::now();
        do {
            if (done_.load() == chunks) return;
        } while (Clock::now() - start < before_sleep);
        awaited_.store(true);
        for (;;) {
            const int rung = bell_.load();
            if (done_.load() == chunks) break;
            bell_.wait(rung);
        }
        awaited_.store(false);
    }

    static constexpr int chunk_bits = 48;
    static constexpr std::uint64_t most_chunks = (std::uint64_t{1} << chunk_bits) - 1;

private:
    std::atomic<std::uint64_t> left_{0};  // chunks that nobody has taken; above, the workers
    std::atomic<std::uint64_t> done_{0};
    std::atomic<double> cost_of_chunk_{0.0};  // nanoseconds
    std::atomic<std::size_t> next_helper_{1};
    std::atomic<bool> claimed_{false};
    std::atomic<bool> awaited_{false};
    std::atomic<int> bell_{0};
    Call* call_ = nullptr;
};

// More calls at a time go without help; each has a thread of its own.
constinit std::array<Slot, 16> slots{};

// What the workers of a loop share. Lives as long as one of them has a chunk.
class Call {
public:
    Call(const Loop& loop, std::size_t chunks, std::size_t workers, Slot& slot)
        : loop_(loop), chunks_(chunks), workers_(workers), slot_(slot) {}

    // All that the calling thread does. Nothing may escape while others have chunks.
    void lead(Poll poll) noexcept {
        const FloatEnvironment standard;
        const WorkAlone inside;
        const double rows = static_cast<double>(loop_.chunk);  // of a chunk
        std::atomic<float>& known = known_cost(loop_.function);
        const double known_before = known.load(std::memory_order_relaxed);
        slot_.set_cost_of_chunk(known_before * rows);
        slot_.open(*this, workers_, chunks_);
        Watch watch(poll);
        const double start = nanoseconds();
        std::size_t own = 0;
        while (const std::size_t left = slot_.take(0, 0.0)) {
            if (left > 1) call_helpers(left - 1, own, start);
            run(0, left);
            ++own;
            if (watch.interrupted()) {
                interrupted_ = true;
                slot_.close();
            }
            // A signal handler forked: this is the child, and chunks of helpers stay undone.
            if (forked.load(std::memory_order_relaxed)) return;
        }
        if (own > 0) {  // at most twice what it was: the thread may have waited for a processor
            const double most = known_before == 0.0 ? HUGE_VAL : 2.0 * known_before;
            const double cost = (nanoseconds() - start) / static_cast<double>(own) / rows;
            known.store(static_cast<float>(std::min(cost, most)), std::memory_order_relaxed);
        }
        slot_.wait_for(chunks_ - own);
    }

    // One chunk of a helper's.
    void help(std::size_t worker, std::size_t left) noexcept {
        if (left > slot_.called()) slot_.call_one_more(workers_);
        run(worker, left);
    }

    // After lead.
    std::size_t outcome() {
        // First: behind it stands a pending Python exception that must not be lost.
        if (interrupted_) throw Interrupted();
        if (forked.load(std::memory_order_relaxed))
            throw std::runtime_error("a fork during the call left its threads behind");
        if (error_) std::rethrow_exception(error_);
        return lowest_failed_ == npos ? npos : lowest_failed_ * loop_.chunk;
    }

private:
    // One at a time, as each calls another. When all have been called, then all again whenever a
    // power of two of chunks is done, since costs may have risen, and those who came may have gone.
    void call_helpers(std::size_t left, std::size_t own, double start) noexcept {
        const bool again = slot_.called() >= workers_;
        if (again && !std::has_single_bit(own)) return;
        if (own > 0) slot_.set_cost_of_chunk((nanoseconds() - start) / static_cast<double>(own));
        if (slot_.cost_of_chunk() * static_cast<double>(left) < worth_a_call) return;
        if (again) slot_.call_all_again();
        slot_.call_one_more(workers_);
    }

    // A chunk once taken is done, and they are taken in order, which makes the lowest failed chunk
    // the lowest of all.
    void run(std::size_t worker, std::size_t left) noexcept {
        const std::size_t index = chunks_ - left;
        try {
            if (!loop_.run(worker, index)) fail(index, nullptr);
        } catch (...) {
            fail(index, std::current_exception());
        }
    }

    void fail(std::size_t index, std::exception_ptr error) noexcept {
        const std::lock_guard lock(mutex_);
        if (index < lowest_failed_) {
            lowest_failed_ = index;
            error_ = std::move(error);
        }
        slot_.close();
    }

    Loop loop_;
    std::size_t chunks_, workers_;
    Slot& slot_;
    bool interrupted_ = false;
    std::mutex mutex_;
    std::size_t lowest_failed_ = npos;
    std::exception_ptr error_;
};

// `delay` is how long the helper waited for a processor, in nanoseconds.
void Slot::help(std::size_t number, double delay) noexcept {
    while (const std::size_t left = take(number, delay)) {
        const double start = nanoseconds();
        call_->help(number, left);
        done_.fetch_add(1);  // from here on the call may be over
        if (awaited_.load()) {
            bell_.fetch_add(1);
            bell_.notify_one();
        }
        delay = std::max(delay, nanoseconds() - start);  // it may have waited in the chunk
    }
}

// A thread-local variable of a library that was loaded at run time gets its memory when a thread
// first uses it, and where there is none the C library ends the process. So a thread first asks
// whether there is some, and then uses those that it will need: ours, and that of exceptions.
bool make_thread_locals() noexcept {
    void* volatile const room = std::malloc(std::size_t{1} << 16);
    if (room == nullptr) return false;
    std::free(room);
    try {
        throw 0;
    } catch (int) {
        alone = true;
    }
    return true;
}

// Signals are for the threads of the program. Those of a fault stay with the thread at fault.
void block_signals() noexcept {
#if defined(__unix__) || defined(__APPLE__)
    sigset_t signals;
    sigfillset(&signals);
    for (const int fault : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGPROF, SIGSEGV, SIGSYS, SIGTRAP})
        sigdelset(&signals, fault);
    pthread_sigmask(SIG_SETMASK, &signals, nullptr);
#endif
}

// For tests.
constinit std::atomic<int> stalling{0}, stalled{0};

void stand_still() noexcept {
    if (stalling.load() == 0) return;
    stalled.fetch_add(1);
    while (stalling.load() != 0) stalling.wait(1);
    stalled.fetch_sub(1);
}

// What a helper does, for ever.
void serve(std::size_t number) noexcept {
    block_signals();
    Helper& helper = helpers[number];
    if (!make_thread_locals()) {
        helper.started.store(false);
        helper.called.store(0);
        return;
    }
    const FloatEnvironment standard;
    for (;;) {
        helper.called.wait(0);
        helper.called.store(0);  // before it looks: who calls later is heard
        const double delay = nanoseconds() - helper.called_at.load();
        stand_still();
        for (Slot& slot : slots) slot.help(number, delay);
    }
}

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
    workers = std::min({workers, chunks, static_cast<std::size_t>(max_threads)});
    if (workers > 1 && chunks <= Slot::most_chunks && !alone &&
        !forked.load(std::memory_order_relaxed)) {
        if (const auto slot = std::ranges::find_if(slots, &Slot::claim); slot != slots.end()) {
            Call call(loop, chunks, workers, *slot);
            call.lead(poll);
            slot->release();
            return call.outcome();
        }
    }
    return run_alone(loop, chunks, poll);
}

void detail::stall_helpers(bool on) noexcept {
    stalling.store(on ? 1 : 0);
    stalling.notify_all();
}

int detail::stalled_helpers() noexcept { return stalled.load(); }

}  // namespace calibrant
