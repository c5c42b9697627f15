#include "calibrant/rows/check.hpp"

#include <cmath>

namespace calibrant {
namespace {

// string + string_view arrives with C++26.
template <class... Parts>
std::string join(const Parts&... parts) {
    std::string text;
    (text.append(parts), ...);
    return text;
}

}  // namespace

std::string place_text(const Row& where) {
    std::string text = "row " + std::to_string(where.row);
    if (where.column) text += ", column " + std::to_string(*where.column);
    if (where.rows_before > 0)
        text += " (row " + std::to_string(where.rows_before + where.row) + " of the stream)";
    return text;
}

void reject(std::string_view argument, std::string_view requirement, std::string_view found,
            const Row& where) {
    throw InvalidInput(
        join(argument, " must ", requirement, ", found ", found, " at ", place_text(where)));
}

void reject_missing(std::string_view argument, const Row& where, std::string_view what) {
    const std::string_view remedy =
        where.may_be_omitted ? "; pass nan_policy=\"omit\" to drop and count such rows" : "";
    throw InvalidInput(
        join(argument, " has a missing value (", what, ") at ", place_text(where), remedy));
}

void reject_probability(std::string_view argument, double value, const Row& where, Dtype dtype) {
    if (std::isnan(value)) reject_missing(argument, where);
    reject(argument, "lie in [0, 1]", number_text(value, dtype), where);
}

void reject_weight(std::string_view argument, double value, const Row& where, Dtype dtype) {
    if (std::isnan(value)) reject_missing(argument, where);
    reject(argument, "be finite and not negative", number_text(value, dtype), where);
}

void reject_weightless(std::string_view what, std::uint64_t n) {
    throw InvalidInput(std::string(what) + (n == 0 ? std::string(" at least one row, got none")
                                                   : " a row with positive weight, all " +
                                                         std::to_string(n) + " have weight 0"));
}

void reject_not_finite(std::string_view argument, double value, const Row& where, Dtype dtype) {
    if (std::isnan(value)) reject_missing(argument, where);
    reject(argument, "be finite", number_text(value, dtype), where);
}

void reject_label(std::string_view argument, const Column& labels, const Row& where,
                  std::size_t n_classes) {
    const std::string found = value_text(labels, where.row);
    if (found == "null") reject_missing(argument, where, found);
    if (found == "nan" || found == "-nan") reject_missing(argument, where);
    if (n_classes == 2) reject(argument, "be 0 or 1", found, where);
    if (n_classes > 2)
        reject(argument, "be an integer from 0 to " + std::to_string(n_classes - 1), found, where);
    reject(argument, "be 0", found, where);
}

void require_same_columns(std::uint64_t so_far, std::uint64_t now) {
    if (so_far == now) return;
    const auto shape = [](std::uint64_t columns) {
        return columns == 1 ? "(n,)" : "(n, " + std::to_string(columns) + ")";
    };
    throw InvalidInput("y_proba must keep its shape: " + shape(so_far) + " so far, now " +
                       shape(now));
}

void require_same_length(std::string_view first, std::size_t first_length, std::string_view second,
                         std::size_t second_length) {
    if (first_length == second_length) return;
    throw InvalidInput(join(first, " and ", second, " must have the same length, got ",
                            std::to_string(first_length), " and ", std::to_string(second_length)));
}

}  // namespace calibrant
