#include "calibrant/ensemble/ensemble.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "calibrant/rows/check.hpp"
#include "ensemble/vote_sums.hpp"
#include "kernels/ensemble_kernels.hpp"
#include "kernels/kernels.hpp"
#include "rows/workers.hpp"

namespace calibrant {
namespace {

void check_weight(double weight, std::size_t member, const Ensemble& ensemble) {
    const Row where{member, std::nullopt, 0, false};
    if (std::isnan(weight)) reject_missing("weights", where);
    if (ensemble.combine == Combine::share && weight < 0.0) {
        reject("weights", "not be negative with combine='share'",
               number_text(weight, ensemble.weights.dtype), where);
    }
}

// Sums of all weights stay below 2^62, and differences of sums below 2^63.
IntegerWeights integer_weights(const Ensemble& ensemble) {
    const std::size_t members = ensemble.weights.size;
    std::vector<double> weights(members);
    load(ensemble.weights, 0, members, weights.data());
    double largest = 0.0;
    bool any_infinite = false;
    for (std::size_t t = 0; t < members; ++t) {
        check_weight(weights[t], t, ensemble);
        const double magnitude = std::abs(weights[t]);
        if (std::isinf(magnitude))
            any_infinite = true;
        else
            largest = std::max(largest, magnitude);
    }
    IntegerWeights result;
    int bound = 0;  // all finite weights are below 2^bound
    std::frexp(largest, &bound);
    result.exponent = bound + static_cast<int>(std::bit_width(members)) - 62;
    for (const double weight : weights) {
        const bool infinite = std::isinf(weight);
        const double units = infinite ? 0.0 : std::ldexp(weight, -result.exponent);
        result.finite.push_back(std::llrint(units));
        if (any_infinite) result.certain.push_back(infinite ? (weight > 0.0 ? 1 : -1) : 0);
    }
    return result;
}

// 2^exponent / temperature. From 2^20 on, all but the largest sums have an exponential of 0.
Scale scale_of(int exponent, double temperature) {
    const double reciprocal = 1.0 / temperature;
    const double rest = std::fma(-reciprocal, temperature, 1.0) / temperature;
    const double high = std::ldexp(reciprocal, exponent);
    if (high > 0x1p20) return {0x1p20, 0.0};
    return {high, std::ldexp(rest, exponent)};
}

// From sums to confidences.
class Confidence {
public:
    Confidence(const Ensemble& ensemble, int exponent, std::size_t plane)
        : combine_(ensemble.combine),
          width_(ensemble.n_classes),
          plane_(plane),
          scale_(scale_of(exponent, ensemble.temperature)),
          terms_(width_ * plane),
          most_(plane),
          high_(plane),
          low_(plane),
          reciprocal_(plane) {}

    void of_rows(VoteSums& sums, std::size_t rows, double* out) {
        if (combine_ == Combine::softmax) {
            softmax(sums.classes(), rows, width_, plane_, out);
            return;
        }
        for (std::size_t i = 0; i < rows; ++i) share(sums, i, out + i * width_);
    }

    // With infinite weights: `certain` counts their votes.
    void of_certain_row(const VoteSums& certain, const VoteSums& sums, std::size_t i, double* out) {
        if (combine_ == Combine::share) {
            share(total(certain, i) != 0 ? certain : sums, i, out);
            return;
        }
        std::int64_t most = certain.at(i, 0);
        for (std::size_t j = 1; j < width_; ++j) most = std::max(most, certain.at(i, j));
        contenders_.clear();
        for (std::size_t j = 0; j < width_; ++j) {
            if (certain.at(i, j) == most) contenders_.push_back(sums.at(i, j));
        }
        among_.resize(contenders_.size());
        softmax(contenders_.data(), 1, contenders_.size(), 1, among_.data());
        for (std::size_t j = 0, next = 0; j < width_; ++j) {
            out[j] = certain.at(i, j) == most ? among_[next++] : 0.0;
        }
    }

private:
    void softmax(const std::int64_t* sums, std::size_t rows, std::size_t width, std::size_t plane,
                 double* out) {
        const SoftmaxRoom room{terms_.data(), most_.data(), high_.data(), low_.data(),
                               reciprocal_.data()};
        kernels().ensemble->softmax(sums, rows, width, plane, scale_, room, out);
    }

    [[nodiscard]] std::int64_t total(const VoteSums& sums, std::size_t i) const {
        std::int64_t total = 0;
        for (std::size_t j = 0; j < width_; ++j) total += sums.at(i, j);
        return total;
    }

    void share(const VoteSums& sums, std::size_t i, double* out) const {
        const std::int64_t all = total(sums, i);
        for (std::size_t j = 0; j < width_; ++j) {
            out[j] = all == 0 ? 1.0 / static_cast<double>(width_)
                              : static_cast<double>(sums.at(i, j)) / static_cast<double>(all);
        }
    }

    Combine combine_;
    std::size_t width_, plane_;
    Scale scale_;
    std::vector<double> terms_;
    std::vector<std::int64_t> most_;
    std::vector<double> high_, low_, reciprocal_;
    std::vector<std::int64_t> contenders_;
    std::vector<double> among_;
};

// What stays in the nearest caches: so many votes, and so many values of the result.
constexpr std::size_t votes_at_once = 8192;
constexpr std::size_t values_at_once = 1024;

class Worker {
public:
    Worker(const Ensemble& ensemble, const IntegerWeights& weights, const VoteTable& table,
           double* out)
        : ensemble_(&ensemble),
          weights_(&weights),
          table_(&table),
          out_(out),
          plane_(std::max<std::size_t>(values_at_once / ensemble.n_classes, 1)),
          rows_at_once_(std::max<std::size_t>(votes_at_once / members(), 1)),
          sums_(ensemble.n_classes, plane_),
          certain_(ensemble.n_classes, has_certain() ? plane_ : 0),
          confidence_(ensemble, weights.exponent, plane_) {}

    [[nodiscard]] bool add(std::size_t begin, std::size_t end) {
        const std::size_t step = ensemble_->path ? rows_at_once_ : std::min(rows_at_once_, plane_);
        for (std::size_t row = begin; row < end; row += step) {
            const std::size_t rows = std::min(step, end - row);
            if (table_->is_used() ? !add_up_by_table(row, rows) : !add_up(row, rows)) return false;
            if (!ensemble_->path) finish(rows, out_ + row * ensemble_->n_classes);
        }
        return true;
    }

private:
    [[nodiscard]] std::size_t members() const { return ensemble_->weights.size; }
    [[nodiscard]] bool has_certain() const { return !weights_->certain.empty(); }

    [[nodiscard]] bool add_up_by_table(std::size_t row, std::size_t rows) {
        const void* votes = in_place_integers(ensemble_->votes, row);
        std::size_t size = item_size(ensemble_->votes.dtype);
        if (votes == nullptr) {
            codes_.resize(rows * members());
            load_votes(ensemble_->votes, row, rows, codes_.data());
            votes = codes_.data();
            size = sizeof codes_[0];
        }
        return table_->add_up(votes, size, rows, narrow_codes_, sums_.classes(), plane_);
    }

    // With a path, of all rows, to the end.
    [[nodiscard]] bool add_up(std::size_t row, std::size_t rows) {
        codes_.resize(rows * members());
        load_votes(ensemble_->votes, row, rows, codes_.data());
        // As unsigned numbers one higher, -1 is 0 and what is invalid is the largest of all.
        std::uint32_t most = 0;
        for (const std::int32_t code : codes_) {
            most = std::max(most, static_cast<std::uint32_t>(code) + 1U);
        }
        if (most > ensemble_->n_classes) return false;
        if (ensemble_->path) {
            for (std::size_t i = 0; i < rows; ++i) walk(&codes_[i * members()], row + i);
            return true;
        }
        sums_.add_up(codes_.data(), rows, weights_->finite);
        if (has_certain()) certain_.add_up(codes_.data(), rows, weights_->certain);
        return true;
    }

    // The confidences of one row after each member.
    void walk(const std::int32_t* codes, std::size_t row) {
        sums_.restart();
        certain_.restart();
        for (std::size_t t = 0; t < members(); t += plane_) {
            const std::size_t steps = std::min(plane_, members() - t);
            sums_.follow(codes + t, steps, &weights_->finite[t]);
            if (has_certain()) certain_.follow(codes + t, steps, &weights_->certain[t]);
            finish(steps, out_ + (row * members() + t) * ensemble_->n_classes);
        }
    }

    void finish(std::size_t rows, double* out) {
        if (!has_certain()) {
            confidence_.of_rows(sums_, rows, out);
            return;
        }
        for (std::size_t i = 0; i < rows; ++i) {
            confidence_.of_certain_row(certain_, sums_, i, out + i * ensemble_->n_classes);
        }
    }

    const Ensemble* ensemble_;
    const IntegerWeights* weights_;
    const VoteTable* table_;
    double* out_;
    std::size_t plane_;  // rows of the result at once
    std::size_t rows_at_once_;
    std::vector<std::int32_t> codes_;
    std::vector<std::uint8_t> narrow_codes_;
    VoteSums sums_, certain_;
    Confidence confidence_;
};

[[noreturn]] void reject_votes(const Ensemble& ensemble, std::size_t begin, std::size_t end) {
    const Column& votes = ensemble.votes;
    std::vector<std::int32_t> codes(votes.width);
    const std::string requirement =
        "be -1 or an integer from 0 to " + std::to_string(ensemble.n_classes - 1);
    for (std::size_t row = begin; row < end; ++row) {
        load_votes(votes, row, 1, codes.data());
        for (std::size_t t = 0; t < votes.width; ++t) {
            if (static_cast<std::uint32_t>(codes[t]) + 1U <= ensemble.n_classes) continue;
            const Row where{row, t, 0, false};
            const std::string found = value_text(votes, row, t);
            if (found == "nan" || found == "-nan") reject_missing("votes", where);
            if (found == "null") reject_missing("votes", where, found);
            reject("votes", requirement, found, where);
        }
    }
    throw InvalidInput("votes changed while they were being read");
}

}  // namespace

void check_ensemble(const Ensemble& ensemble) {
    if (ensemble.n_classes < 1 || ensemble.n_classes > most_ensemble_classes) {
        throw InvalidInput("n_classes must be from 1 to " + std::to_string(most_ensemble_classes) +
                           ", got " + std::to_string(ensemble.n_classes));
    }
    const double temperature = ensemble.temperature;
    if (!(temperature >= least_temperature && temperature <= largest_temperature)) {
        throw InvalidInput("temperature must lie in [1e-150, 1e150], got " +
                           number_text(temperature));
    }
    if (ensemble.combine == Combine::share && temperature != 1.0) {
        throw InvalidInput("temperature must be 1 with combine='share', got " +
                           number_text(temperature));
    }
    if (ensemble.votes.width == 0) throw InvalidInput("votes must have at least one member, got 0");
    if (ensemble.votes.width != ensemble.weights.size) {
        throw InvalidInput("votes must have one column for each of the " +
                           std::to_string(ensemble.weights.size) + " weights, got " +
                           std::to_string(ensemble.votes.width));
    }
}

void ensemble_confidence(const Ensemble& ensemble, Poll poll, double* out) {
    const IntegerWeights weights = integer_weights(ensemble);
    const VoteTable table(ensemble, weights);
    const std::size_t n = ensemble.votes.size;
    const std::size_t members = ensemble.votes.width;
    const std::size_t values = members + 4 * ensemble.n_classes * (ensemble.path ? members : 1);
    const std::size_t chunk = std::max<std::size_t>(4 * chunk_values / values, 1);
    const std::size_t n_workers = workers_for(n, chunks_per_worker * chunk);
    std::vector<Worker> workers;
    workers.reserve(n_workers);
    for (std::size_t i = 0; i < n_workers; ++i) workers.emplace_back(ensemble, weights, table, out);
    const std::size_t failed = for_each_chunk(
        n, chunk, n_workers, poll, [&](std::size_t worker, std::size_t begin, std::size_t end) {
            return workers[worker].add(begin, end);
        });
    if (failed != npos) reject_votes(ensemble, failed, std::min(n, failed + chunk));
}

}  // namespace calibrant
