// How bad input is rejected: what must hold, what was found, and where.
//
// Kernels test values as they use them and remember the first row that fails; only
// then is one of these functions called. All of them throw InvalidInput, which is a
// ValueError in Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "calibrant/rows/column.hpp"

namespace calibrant {

[[nodiscard]] inline bool is_weight(double w) {
    return w >= 0.0 && w <= std::numeric_limits<double>::max();
}

class InvalidInput : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

// A place in the batch at hand. `rows_before` is what a stream has seen before it.
struct Row {
    std::size_t row = 0;
    std::optional<std::size_t> column = std::nullopt;
    std::uint64_t rows_before = 0;
    bool may_be_omitted = true;  // the caller offers nan_policy="omit"
};

// "row 12, column 3", or "row 17 (row 1000017 of the stream)".
[[nodiscard]] std::string place_text(const Row& where);

// "<argument> must <requirement>, found <found> at <where>"
[[noreturn]] void reject(std::string_view argument, std::string_view requirement,
                         std::string_view found, const Row& where);

// None of n rows has weight. `what` ends with "needs" or "need".
[[noreturn]] void reject_weightless(std::string_view what, std::uint64_t n);

// `what` is how the user's library calls it: NaN, or null.
[[noreturn]] void reject_missing(std::string_view argument, const Row& where,
                                 std::string_view what = "NaN");

// The value that failed is passed on, not read again: it may have changed since.
// `dtype` is the type it was stored in, so that a float32 is not printed with digits
// it never had. A NaN is rejected as missing.
[[noreturn]] void reject_probability(std::string_view argument, double value, const Row& where,
                                     Dtype dtype = Dtype::float64);
[[noreturn]] void reject_weight(std::string_view argument, double value, const Row& where,
                                Dtype dtype = Dtype::float64);
[[noreturn]] void reject_not_finite(std::string_view argument, double value, const Row& where,
                                    Dtype dtype = Dtype::float64);

// A label that is missing, or that is no class code below `n_classes`. It is read
// again, because its code no longer says what the user wrote.
[[noreturn]] void reject_label(std::string_view argument, const Column& labels, const Row& where,
                               std::size_t n_classes);

// Of y_proba, from batch to batch.
void require_same_columns(std::uint64_t so_far, std::uint64_t now);

void require_same_length(std::string_view first, std::size_t first_length, std::string_view second,
                         std::size_t second_length);

}  // namespace calibrant
