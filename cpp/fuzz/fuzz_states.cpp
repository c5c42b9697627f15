// States from anywhere. An input is a saved state, as in tests/state: it is read as it is, and
// then once more with a header and a checksum that fit its payload, since no mutation would find
// those. A state that is accepted is the one its bytes say, can be merged, and has results.
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "state_kinds.hpp"
#include "target.hpp"

using namespace calibrant;
using fuzz::require;

namespace {

constexpr std::size_t header = 20, checksum = 4;

// What is read off each; numbers are not looked at, sanitizers look at how they come about. Of
// several results that may be rejected, each is tried.
template <class... Reads>
void read_each(Reads... reads) {
    const auto attempt = [](auto& read) {
        try {
            read();
        } catch (const std::invalid_argument&) {  // no rows, for one
        } catch (const std::length_error&) {      // sums too far apart
        } catch (const std::overflow_error&) {
        }
    };
    (attempt(reads), ...);
}

void read_results(const RiskProfile& state) {
    for (std::size_t i = 0; i < state.powers().size(); ++i) {
        read_each([&] { (void)state.mean(i); }, [&] { (void)state.log_mean(i); });
        const double power = state.powers()[i];
        if (std::isfinite(power) && power != 0.0)
            read_each([&] { (void)state.mean_power_minus_one(i); });
    }
}

void read_results(const Assessment& state) {
    read_each([&] { read_results(state.model()); });
}

void read_results(const CoverageHsic& state) {
    read_each([&] { (void)state.values(HsicEstimator::biased); },
              [&] { (void)state.values(HsicEstimator::unbiased); });
}

void read_results(const Intervals& state) {
    for (std::size_t level = 0; level < state.levels().size(); ++level) {
        read_each([&] { (void)state.covered(level); }, [&] { (void)state.mean_width(level); },
                  [&] { (void)state.score(level, 0.9); },
                  [&] { (void)state.criterion(level, 0.9, 30.0); });
    }
}

void read_results(const Moments& state) {
    std::vector<double> mean(state.width()), covariance(state.width() * state.width());
    if (state.count() >= 1) read_each([&] { state.mean(mean.data()); });
    if (state.count() >= 2) read_each([&] { state.covariance(covariance.data(), nullptr); });
}

void read_results(const Vendi& state) {
    std::vector<double> moment(state.width() * state.width());
    if (state.count() >= 1) read_each([&] { state.second_moment(moment.data()); });
}

void read_results(const PairedScores& state) {
    for (std::size_t term = 0; term < PairedScores::n_terms; ++term)
        read_each([&] {
            (void)state.difference(static_cast<PairedScores::Term>(term));
            if (state.has_two_rows()) {
                (void)state.judge(static_cast<PairedScores::Term>(term), 0.95);
            }
        });
}

void read_results(const PredictionSets& state) {
    for (std::size_t level = 0; level < state.n_levels(); ++level) {
        read_each([&] { (void)state.total(level); }, [&] { (void)state.mean_size(level); },
                  [&] { (void)state.equal_count_groups(level, 3); });
    }
}

void read_results(const Ranks& state) {
    require(state.counts().size() == state.n_dims() * (state.n_draws() + 1), "a count a rank");
}

void read_results(const Reliability& state) {
    read_each([&] { (void)state.mean_gap(); }, [&] { (void)state.largest_gap(); },
              [&] { (void)state.root_mean_square_gap(true); },
              [&] { (void)state.root_mean_square_gap(false); });
}

void read_results(const ScoreSums& state) {
    for (const Score score : {Score::brier, Score::log, Score::spherical})
        read_each([&] { (void)state.mean(score); });
    read_each([&] { (void)state.class_frequencies(); }, [&] { (void)state.gini(); },
              [&] { (void)state.brier_skill(); });
}

void read_results(const ScoreTable& state) {
    const auto sum_up = [](const ScoreTable& table) {
        ScoreTable::Sums sums;
        for (const ScoreTable::Cell* cell : table.filled()) table.add_to(sums, *cell);
    };
    read_results(state.model());
    read_each([&] { sum_up(state); });
    if (state.columns() == 1) read_each([&] { sum_up(state.pairs()); });
}

void read_results(const Scorecard& state) {
    read_each([&] { read_results(state.risk_profile()); }, [&] { read_results(state.scores()); },
              [&] { read_results(state.reliability()); },
              [&] { (void)state.result(0.95, nullptr); });
}

void read_results(const Spiegelhalter& state) {
    read_each([&] { (void)state.statistic(); }, [&] { (void)state.pvalue(Alternative::greater); },
              [&] { (void)state.log_pvalue(Alternative::two_sided); });
}

template <class State>
void use(std::string_view bytes) {
    const State state = restore<State>(bytes);
    require(state.to_bytes() == bytes, "what is read is written as it was");
    State copy = state.empty();
    copy.merge(state);
    require(copy.to_bytes() == bytes, "merged into an empty one it is the same");
    read_each([&] { copy.merge(copy); });  // rejected where counts overflow
    read_results(state);
}

using Use = void (*)(std::string_view);

std::map<Kind, Use> all_uses() {
    std::map<Kind, Use> uses;
    for_each_accumulator([&]<class State>() { uses[State::kind] = use<State>; });
    uses[Kind::grouped] = [](std::string_view bytes) {
        require(rewrite_grouped(bytes) == bytes, "what is read is written as it was");
    };
    return uses;
}

void use_or_reject(Use use, std::string_view bytes) {
    try {
        use(bytes);
    } catch (const CorruptState&) {
    }
}

std::uint16_t number_at(const std::uint8_t* data, std::size_t at) {
    return static_cast<std::uint16_t>(data[at] | data[at + 1] << 8);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::map<Kind, Use> uses = all_uses();
    if (size < header + checksum) {
        for (const auto& [kind, use] : uses)
            use_or_reject(use, {reinterpret_cast<const char*>(data), size});
        return 0;
    }
    const auto found = uses.find(static_cast<Kind>(number_at(data, 6)));
    if (found == uses.end()) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    use_or_reject(found->second, bytes);
    Writer payload;
    payload.raw(bytes.substr(header, size - header - checksum));
    use_or_reject(found->second, seal(found->first, number_at(data, 8), payload));
    return 0;
}
