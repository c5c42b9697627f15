#include "calibrant/rows/draw_rows.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "calibrant/rows/check.hpp"

namespace calibrant {
namespace {

std::string pair_text(std::size_t pair, std::uint64_t pairs_before) {
    std::string text = "pair " + std::to_string(pair);
    if (pairs_before > 0) text += " (pair " + std::to_string(pairs_before + pair) + " of all)";
    return text;
}

std::string dimension_text(const DrawRows& rows, std::size_t d) {
    return rows.n_dims > 1 ? ", dimension " + std::to_string(d) : "";
}

void reject_missing_value(const DrawRows& rows, const std::string& argument,
                          const std::string& where) {
    const char* const what = rows.draws.validity != nullptr ? "null or NaN" : "NaN";
    const char* const remedy =
        rows.may_be_omitted ? "; pass nan_policy=\"omit\" to drop such pairs" : "";
    throw InvalidInput(argument + " has a missing value (" + what + ") at " + where + remedy);
}

void check_references(const DrawRows& rows, std::size_t pair, const std::string& where) {
    std::vector<double> reference(rows.n_dims), truth(rows.n_dims);
    load_row(*rows.references, pair, reference.data());
    load_row(rows.truth, pair, truth.data());
    double distance = 0.0;
    for (std::size_t d = 0; d < rows.n_dims; ++d) {
        if (!std::isfinite(reference[d])) {
            throw InvalidInput("references must be finite, found " + number_text(reference[d]) +
                               " at " + where + dimension_text(rows, d));
        }
        distance += (truth[d] - reference[d]) * (truth[d] - reference[d]);
    }
    if (std::isinf(distance)) {
        throw InvalidInput("truth must have a finite squared distance from its reference, found " +
                           number_text(distance) + " at " + where);
    }
}

}  // namespace

Column DrawRows::draws_of(std::size_t pair, std::size_t dimension) const {
    Column column = draws;
    column.size = draws.width;
    column.width = 1;
    column.stride = draws.column_stride;
    column.column_stride = 0;
    if (draws.data != nullptr && draws.dtype != Dtype::bits) {
        column.data += static_cast<std::ptrdiff_t>(pair) * draws.stride +
                       static_cast<std::ptrdiff_t>(dimension) * dim_stride;
    }
    column.bit_offset += pair * draws.width;
    column.validity_offset += pair * draws.width;
    return column;
}

void reject_draws(const DrawRows& rows, std::size_t begin, std::size_t end,
                  std::uint64_t pairs_before) {
    std::vector<double> truth(rows.n_dims), draws(rows.n_draws());
    for (std::size_t pair = begin; pair < end; ++pair) {
        const std::string where = pair_text(pair, pairs_before);
        if (rows.references != nullptr) check_references(rows, pair, where);
        if (rows.omit_missing) continue;
        load_row(rows.truth, pair, truth.data());
        for (std::size_t d = 0; d < rows.n_dims; ++d) {
            if (std::isnan(truth[d])) {
                reject_missing_value(rows, "truth", where + dimension_text(rows, d));
            }
            load(rows.draws_of(pair, d), 0, rows.n_draws(), draws.data());
            const auto bad = std::find_if(draws.begin(), draws.end(),
                                          [](double value) { return std::isnan(value); });
            if (bad != draws.end()) {
                const std::string draw = ", draw " + std::to_string(bad - draws.begin());
                reject_missing_value(rows, "draws", where + draw + dimension_text(rows, d));
            }
        }
    }
    // Another thread has mended the value since it was found bad.
    throw InvalidInput("the arrays changed while they were being read");
}

}  // namespace calibrant
