#include "calibrant/runtime/parallel.hpp"

#include "expect.hpp"

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstddef>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace calibrant;

namespace {

constexpr std::size_t team_sizes[] = {1, 2, 4, 7};

void every_row_once() {
    for (const std::size_t workers : team_sizes) {
        for (const std::size_t n : {0U, 1U, 9U, 10U, 11U, 1003U}) {
            std::vector<std::atomic<int>> visits(n);
            const auto failed =
                for_each_chunk(n, 10, workers, nullptr,
                               [&](std::size_t worker, std::size_t begin, std::size_t end) {
                                   for (std::size_t row = begin; row < end; ++row) ++visits[row];
                                   return worker < workers && begin < end && end - begin <= 10;
                               });
            expect::equal(failed, npos);
            for (const auto& visit : visits) expect::equal(visit.load(), 1);
        }
    }
}

void chunks_at_the_end_of_the_range() {
    // begin + chunk would overflow.
    constexpr std::size_t n = std::numeric_limits<std::size_t>::max();
    std::atomic<std::size_t> rows{0};
    for_each_chunk(n, n / 3 + 7, 2, nullptr, [&](std::size_t, std::size_t begin, std::size_t end) {
        rows += end - begin;
        return begin < end;
    });
    expect::equal(rows.load(), n);
    expect::equal(workers_for(n, n), 1U);
}

void lowest_failure_wins() {
    // Two bad chunks, under way together if there are threads; either may be known first.
    for (const std::size_t slow : {3000U, 3010U}) {
        for (const std::size_t workers : team_sizes) {
            for (int repeat = 0; repeat < 10; ++repeat) {
                const auto failed = for_each_chunk(
                    5000, 10, workers, nullptr, [=](std::size_t, std::size_t begin, std::size_t) {
                        if (begin < 3000) return true;
                        std::this_thread::sleep_for(
                            std::chrono::milliseconds(begin == slow ? 4 : 1));
                        if (begin == 3010) throw std::runtime_error("of the later chunk");
                        return false;
                    });
                expect::equal(failed, 3000U);
            }
        }
    }
}

void exceptions_come_out_after_the_join() {
    for (const std::size_t workers : team_sizes) {
        const auto run = [=](auto error) {
            for_each_chunk(1000, 1, workers, nullptr,
                           [&](std::size_t, std::size_t begin, std::size_t) -> bool {
                               if (begin == 500) throw error;
                               return begin < 600;
                           });
        };
        expect::throws<std::bad_alloc>([&] { run(std::bad_alloc()); }, "");
        expect::throws<std::overflow_error>([&] { run(std::overflow_error("too much")); },
                                            "too much");
    }
}

void poll_interrupts() {
    for (const std::size_t workers : team_sizes) {
        static std::thread::id poller;
        poller = {};
        std::atomic<int> done{0};
        const Poll poll = [] {
            poller = std::this_thread::get_id();
            return true;
        };
        const auto slow = [&](std::size_t, std::size_t, std::size_t) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            ++done;
            return true;
        };
        expect::throws<Interrupted>([&] { for_each_chunk(100'000, 1, workers, poll, slow); },
                                    "interrupted");
        expect::that(poller == std::this_thread::get_id(), "the calling thread polls");
        expect::that(done < 100'000, "the rest was left out");
    }
}

void numbers_of_threads() {
    set_num_threads(3);
    expect::equal(num_threads(), 3);
    expect::equal(std::string(num_threads_source()), "set_num_threads");
    expect::equal(workers_for(1000, 10), 3U);
    expect::equal(workers_for(20, 10), 2U);
    expect::equal(workers_for(0, 10), 1U);
    expect::throws<std::invalid_argument>([] { set_num_threads(-1); },
                                          "from 1 to 1024, or 0 for the default, got -1");
    expect::throws<std::invalid_argument>([] { set_num_threads(1025); }, "got 1025");
    expect::throws<std::invalid_argument>([] { workers_for(1, 0); }, "chunk must be at least 1");
    expect::equal(num_threads(), 3);
    expect::that(!work_alone(), "not before");
    expect::equal(num_threads(), 1);
    expect::equal(std::string(num_threads_source()), "work_alone");
    work_alone(false);
    set_num_threads(0);
    expect::that(num_threads() >= 1, "the default");
}

// By arithmetic: on x86 std::fegetround looks at the x87 unit, which doubles do not use.
bool rounds_to_nearest() {
    const volatile double tiny = std::numeric_limits<double>::epsilon() / 8;
    const volatile double up = 1.0 + tiny;
    const volatile double down = -1.0 - tiny;
    return up == 1.0 && down == -1.0;
}

void float_environment_is_standard_inside() {
    std::fesetround(FE_UPWARD);
    for (const std::size_t workers : team_sizes) {
        const auto failed = for_each_chunk(
            100, 1, workers, nullptr,
            [](std::size_t, std::size_t, std::size_t) { return rounds_to_nearest(); });
        expect::equal(failed, npos);
        expect::that(!rounds_to_nearest(), "the caller has its own rounding back");
    }
    std::fesetround(FE_TONEAREST);
}

// Chunks after the first, which is slow so that help is wanted, wait until all workers have one.
// Returns how many did before a minute was over.
std::size_t meet(std::size_t workers) {
    std::vector<std::atomic<bool>> came(workers);
    std::atomic<std::size_t> present{0};
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    for_each_chunk(1'000'000, 1, workers, nullptr,
                   [&](std::size_t worker, std::size_t begin, std::size_t) {
                       if (begin == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                       if (begin > 0 && !came[worker].exchange(true)) ++present;
                       while (begin > 0 && present < workers) {
                           if (std::chrono::steady_clock::now() > end) return false;
                           std::this_thread::yield();
                       }
                       return true;
                   });
    return present;
}

std::vector<std::size_t> chunks_of_workers(std::size_t chunks, std::size_t workers) {
    std::vector<std::size_t> done(workers);
    for_each_chunk(chunks, 1, workers, nullptr, [&](std::size_t worker, std::size_t, std::size_t) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ++done[worker];
        return true;
    });
    return done;
}

void a_helper_that_does_not_begin_is_not_waited_for() {
    for (const std::size_t workers : team_sizes) expect::equal(meet(workers), workers);
    detail::stall_helpers(true);
    while (detail::stalled_helpers() < 3) chunks_of_workers(5, 4);
    const std::vector<std::size_t> done = chunks_of_workers(50, 4);
    expect::equal(done[0], 50U);
    detail::stall_helpers(false);
    for (const std::size_t workers : team_sizes) expect::equal(meet(workers), workers);
}

void calls_inside_a_chunk_have_one_thread() {
    set_num_threads(4);
    std::atomic<std::size_t> rows{0};
    const auto failed =
        for_each_chunk(40, 1, 4, nullptr, [&](std::size_t, std::size_t, std::size_t) {
            const std::thread::id self = std::this_thread::get_id();
            return num_threads() == 1 &&
                   for_each_chunk(20, 1, 4, nullptr,
                                  [&](std::size_t worker, std::size_t, std::size_t) {
                                      std::this_thread::sleep_for(std::chrono::microseconds(50));
                                      ++rows;
                                      return worker == 0 && std::this_thread::get_id() == self;
                                  }) == npos;
        });
    expect::equal(failed, npos);
    expect::equal(rows.load(), 800U);
    expect::equal(num_threads(), 4);
    set_num_threads(0);
}

// More than can have help at a time.
void calls_of_many_threads() {
    std::atomic<std::size_t> rows{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 24; ++i) {
        threads.emplace_back([&] {
            for (int repeat = 0; repeat < 30; ++repeat) {
                std::vector<std::size_t> of_worker(4);
                for_each_chunk(20, 1, 4, nullptr,
                               [&](std::size_t worker, std::size_t, std::size_t) {
                                   std::this_thread::sleep_for(std::chrono::microseconds(20));
                                   ++of_worker[worker];
                                   return true;
                               });
                for (const std::size_t each : of_worker) rows += each;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    expect::equal(rows.load(), std::size_t{24 * 30 * 20});
}

// As a signal handler of Python may.
void a_fork_during_a_call_ends_it_in_the_child() {
#if defined(__unix__) || defined(__APPLE__)
    static pid_t child;
    child = -1;
    const Poll poll = [] {
        if (child == -1) child = fork();
        if (child == 0) alarm(20);  // ends the child should it hang
        return false;
    };
    const auto slow = [](std::size_t, std::size_t, std::size_t) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return true;
    };
    try {
        expect::equal(for_each_chunk(200, 1, 4, poll, slow), npos);
    } catch (const std::runtime_error&) {
        _exit(child == 0 && for_each_chunk(20, 1, 4, nullptr, slow) == npos ? 0 : 1);
    }
    if (child == 0) _exit(2);
    int status = -1;
    waitpid(child, &status, 0);
    expect::equal(status, 0);
#endif
}

void forked_child_is_serial() {
#if defined(__unix__) || defined(__APPLE__)
    set_num_threads(4);
    const auto count_rows = [] {
        std::atomic<std::size_t> rows{0};
        for_each_chunk(1000, 1, 4, nullptr,
                       [&](std::size_t, std::size_t, std::size_t) { return ++rows != 0; });
        return rows.load();
    };
    expect::equal(count_rows(), 1000U);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);  // ends the child should it hang
        _exit(count_rows() == 1000 && num_threads() == 1 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    expect::equal(status, 0);
    set_num_threads(0);
#endif
}

}  // namespace

int main() {
    every_row_once();
    chunks_at_the_end_of_the_range();
    lowest_failure_wins();
    exceptions_come_out_after_the_join();
    poll_interrupts();
    numbers_of_threads();
    float_environment_is_standard_inside();
    a_helper_that_does_not_begin_is_not_waited_for();
    calls_inside_a_chunk_have_one_thread();
    calls_of_many_threads();
    a_fork_during_a_call_ends_it_in_the_child();
    forked_child_is_serial();
    return expect::summary();
}
