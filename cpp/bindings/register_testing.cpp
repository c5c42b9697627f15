// _core._testing: ways for the tests to reach what the public functions hide.
#include "bindings/register.hpp"
#include "bindings/rows/scored_inputs.hpp"
#include "bindings/runtime/gil.hpp"
#include "bindings/state/register_accumulator.hpp"
#include "calibrant/runtime/isa.hpp"
#include "calibrant/runtime/parallel.hpp"
#include "calibrant/state/bytes.hpp"
#include "kernels/score_cells.hpp"
#include "ordering/sorted_scores.hpp"
#include "runtime/processors.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <new>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace calibrant::bindings {
namespace {

constexpr std::size_t always_unlock = npos;

// The least that an accumulator can be: it counts rows. Its label is a parameter.
class RowCounter {
public:
    static constexpr Kind kind = Kind::row_counter;
    static constexpr std::uint16_t newest_version = 1;

    RowCounter(std::string label, std::uint64_t count) : label_(std::move(label)), count_(count) {}

    const std::string& label() const { return label_; }
    std::uint64_t count() const { return count_; }
    RowCounter empty() const { return {label_, 0}; }
    void add(std::uint64_t rows) {
        if (rows > std::numeric_limits<std::uint64_t>::max() - count_)
            throw std::overflow_error("too many rows");
        count_ += rows;
    }
    void merge(const RowCounter& other) {
        if (label_ != other.label_) {
            throw std::invalid_argument("cannot merge RowCounter with label '" + other.label_ +
                                        "' into one with '" + label_ +
                                        "': both need the same label");
        }
        add(other.count_);
    }
    std::string to_bytes() const {
        Writer payload;
        payload.u64(label_.size());
        payload.raw(label_);
        payload.u64(count_);
        return seal(kind, newest_version, payload);
    }
    static RowCounter from_bytes(std::string_view bytes) {
        Reader payload = open(bytes, kind, newest_version);
        std::string label(payload.raw(payload.count(1)));
        const std::uint64_t count = payload.u64();
        payload.finish();
        return {std::move(label), count};
    }

private:
    std::string label_;
    std::uint64_t count_;
};

// As an update of a real accumulator goes, with a bad row and a slow machine to order.
void update_counter(RowCounter& self, std::size_t rows, std::optional<std::size_t> bad_row,
                    double seconds_per_chunk) {
    update_aside(self, rows, [&](RowCounter& batch) {
        constexpr std::size_t chunk = 4096;
        const std::size_t workers = workers_for(rows, chunk);
        std::vector<std::uint64_t> counts(workers);
        const auto failed = for_each_chunk(
            rows, chunk, workers, poll_signals,
            [&](std::size_t worker, std::size_t begin, std::size_t end) {
                std::this_thread::sleep_for(std::chrono::duration<double>(seconds_per_chunk));
                counts[worker] += end - begin;
                return !(bad_row && begin <= *bad_row && *bad_row < end);
            });
        if (failed != npos)
            throw std::invalid_argument("bad row in the chunk at row " + std::to_string(failed));
        batch.add(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
    });
}

// How often each row was visited, and how many chunks each worker did.
std::pair<std::vector<int>, std::vector<int>> visit_rows(std::size_t n, std::size_t chunk,
                                                         std::size_t workers) {
    std::vector<int> visits(n);
    std::vector<int> chunks(workers);
    without_gil(always_unlock, [&] {
        for_each_chunk(n, chunk, workers, poll_signals,
                       [&](std::size_t worker, std::size_t begin, std::size_t end) {
                           for (std::size_t row = begin; row < end; ++row) ++visits[row];
                           ++chunks[worker];
                           return true;
                       });
    });
    return {std::move(visits), std::move(chunks)};
}

// Runs chunks of one row that each take a while; says how many were done.
std::size_t sleep_in_chunks(std::size_t chunks, double seconds_per_chunk, std::size_t workers) {
    std::atomic<std::size_t> done{0};
    without_gil(always_unlock, [&] {
        for_each_chunk(
            chunks, 1, workers, poll_signals, [&](std::size_t, std::size_t, std::size_t) {
                std::this_thread::sleep_for(std::chrono::duration<double>(seconds_per_chunk));
                ++done;
                return true;
            });
    });
    return done;
}

// How many workers are in a chunk at the same time, before a minute is over. The first chunk, which
// one does by itself, is slow, so that help is wanted.
std::size_t meet(std::size_t workers) {
    std::vector<std::atomic<bool>> came(workers);
    std::atomic<std::size_t> present{0};
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    without_gil(always_unlock, [&] {
        for_each_chunk(1'000'000, 1, workers, poll_signals,
                       [&](std::size_t worker, std::size_t begin, std::size_t) {
                           const std::chrono::milliseconds a_while(1);
                           if (begin == 0) std::this_thread::sleep_for(a_while);
                           if (begin > 0 && !came[worker].exchange(true)) ++present;
                           while (begin > 0 && present < workers) {
                               if (std::chrono::steady_clock::now() > end) return false;
                               std::this_thread::sleep_for(a_while);
                           }
                           return true;
                       });
    });
    return present;
}

std::optional<std::size_t> fail_in_chunks(std::size_t n, std::size_t chunk, std::size_t workers,
                                          const std::vector<std::size_t>& bad_rows) {
    const std::size_t failed = without_gil(always_unlock, [&] {
        return for_each_chunk(n, chunk, workers, poll_signals,
                              [&](std::size_t, std::size_t begin, std::size_t end) {
                                  for (const std::size_t row : bad_rows) {
                                      if (begin <= row && row < end) return false;
                                  }
                                  return true;
                              });
    });
    return failed == npos ? std::nullopt : std::optional(failed);
}

void throw_in_chunks(std::size_t n, std::size_t chunk, std::size_t workers, std::size_t row,
                     const std::string& kind) {
    without_gil(always_unlock, [&] {
        for_each_chunk(n, chunk, workers, poll_signals,
                       [&](std::size_t, std::size_t begin, std::size_t end) {
                           if (begin <= row && row < end) {
                               if (kind == "bad_alloc") throw std::bad_alloc();
                               throw std::overflow_error("overflow at row " + std::to_string(row));
                           }
                           return true;
                       });
    });
}

bool keeps_subnormals() {
    const volatile double smallest_normal = std::numeric_limits<double>::min();
    const volatile double half = smallest_normal / 2;  // 0 with flush-to-zero
    return half != 0 && half * 2 == smallest_normal;   // not so with denormals-are-zero
}

// With flush-to-zero and denormals-are-zero set, as another library may leave them: do
// the workers compute with subnormals, and is the caller's setting back afterwards?
std::optional<std::pair<bool, bool>> probe_flush_to_zero([[maybe_unused]] std::size_t workers) {
#if defined(__SSE2__)
    const unsigned saved = _mm_getcsr();
    _mm_setcsr(saved | 0x8040U);
    const bool was_set = !keeps_subnormals();
    const std::size_t failed =
        for_each_chunk(1000, 1, workers, nullptr,
                       [](std::size_t, std::size_t, std::size_t) { return keeps_subnormals(); });
    const bool is_set = !keeps_subnormals();
    _mm_setcsr(saved);
    return std::pair(failed == npos, was_set && is_set);
#else
    return std::nullopt;
#endif
}

// Whole numbers of any size.
py::int_ as_int(UInt128 value) {
    const py::int_ high(static_cast<std::uint64_t>(value >> 64));
    const py::int_ low(static_cast<std::uint64_t>(value));
    return py::int_((high << py::int_(64)) | low);
}

// [(score, weight, hits)], ascending, and the exponent of the unit of the latter two.
std::pair<py::list, int> sorted_scores(const py::object& y_true, const py::object& y_proba,
                                       const py::object& sample_weight, bool omit_missing,
                                       std::int64_t scoring) {
    const EventInputs inputs(y_true, y_proba, sample_weight, omit_missing);
    const ScoredRows rows = scored(inputs, scoring);
    const SortedScores sorted =
        without_gil(inputs.n_values(), [&] { return SortedScores(rows, poll_signals); });
    py::list table;
    sorted.for_each_score(nullptr, [&](double score, UInt128 weight, UInt128 hits) {
        table.append(py::make_tuple(score, as_int(weight), as_int(hits)));
    });
    return {table, sorted.unit_exponent()};
}

}  // namespace

void register_testing(py::module_& m) {
    using namespace py::literals;
    m.def("set_isa", [](const std::string& wanted) { set_isa(isa_from_name(wanted)); }, "name"_a);
    m.def("visit_rows", &visit_rows, "n"_a, "chunk"_a, "workers"_a);
    m.def("sleep_in_chunks", &sleep_in_chunks, "chunks"_a, "seconds_per_chunk"_a, "workers"_a);
    m.def("meet", &meet, "workers"_a);
    m.def("stall_helpers", &detail::stall_helpers, "on"_a);
    m.def("stalled_helpers", &detail::stalled_helpers);
    m.def(
        "processors_of_quota",
        [](const std::string& root) {
            const Processors found = processors_of_quota(root);
            return found.number == std::numeric_limits<int>::max() ? 0 : found.number;
        },
        "root"_a);
    m.def("fail_in_chunks", &fail_in_chunks, "n"_a, "chunk"_a, "workers"_a, "bad_rows"_a);
    m.def("throw_in_chunks", &throw_in_chunks, "n"_a, "chunk"_a, "workers"_a, "row"_a, "kind"_a);
    m.def("probe_flush_to_zero", &probe_flush_to_zero, "workers"_a);
#if defined(__SSE2__)
    m.def("get_mxcsr", [] { return _mm_getcsr(); });
    m.def("set_mxcsr", [](unsigned mxcsr) { _mm_setcsr(mxcsr); }, "mxcsr"_a);
#endif
    m.def("workers_for", &workers_for, "n"_a, "chunk"_a);
    m.def("cell_of_score", &cell_of_score, "score"_a);

    m.def("sorted_scores", &sorted_scores, "y_true"_a, "y_proba"_a, "sample_weight"_a,
          "omit_missing"_a, "scoring"_a);

    register_accumulator<RowCounter>(m, "RowCounter", "Counts rows.")
        .def(py::init<std::string, std::uint64_t>(), "label"_a = "", "count"_a = 0)
        .def_property_readonly("label", &RowCounter::label)
        .def("update", &update_counter, "rows"_a, "bad_row"_a = py::none(),
             "seconds_per_chunk"_a = 0.0);
    // A state of any kind and version around any payload, for reading what no release wrote.
    m.def(
        "seal",
        [](std::uint16_t kind, std::uint16_t version, const py::bytes& payload) {
            Writer writer;
            writer.raw(std::string(payload));
            return py::bytes(seal(Kind{kind}, version, writer));
        },
        "kind"_a, "version"_a, "payload"_a);
}

}  // namespace calibrant::bindings
