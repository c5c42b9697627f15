#include <limits>

#include "calibrant/ranks/ranks.hpp"

namespace calibrant {

std::string Ranks::to_bytes() const {
    Writer out;
    out.u64(n_draws_);
    out.u64(n_dims_);
    out.u64(seed_);
    out.u64(n_);
    out.u64(omitted_);
    for (const std::int64_t count : counts_) out.i64(count);
    return seal(kind, 1, out);
}

Ranks Ranks::from_bytes(std::string_view bytes) {
    Reader in = open(bytes, kind, 1);
    const auto reject_state = [](const char* what) {
        throw CorruptState(std::string("malformed state: ") + what);
    };
    const std::uint64_t n_draws = in.u64(), n_dims = in.u64(), seed = in.u64();
    const std::uint64_t n = in.u64(), omitted = in.u64();
    constexpr std::uint64_t most_pairs = std::numeric_limits<std::int64_t>::max();
    if (n > most_pairs || omitted > most_pairs - n) reject_state("more than 2^63 - 1 pairs");
    const bool sizes = n_draws >= 1 && n_draws <= most_draws && n_dims >= 1 &&
                       n_dims <= std::numeric_limits<std::uint32_t>::max();
    if (!sizes) reject_state("numbers of draws and dimensions out of range");
    // Both factors are below 2^32.
    if (in.remaining() / 8 < n_dims * (n_draws + 1)) reject_state("counts are missing");
    Ranks result(n_draws, n_dims, seed);
    result.n_ = n;
    result.omitted_ = omitted;
    for (std::size_t d = 0; d < n_dims; ++d) {
        std::uint64_t left = n;
        for (std::size_t rank = 0; rank <= n_draws; ++rank) {
            const std::int64_t count = in.i64();
            if (count < 0 || static_cast<std::uint64_t>(count) > left) {
                reject_state("counts disagree");
            }
            left -= static_cast<std::uint64_t>(count);
            result.counts_[d * (n_draws + 1) + rank] = count;
        }
        if (left != 0) reject_state("counts disagree");
    }
    in.finish();
    return result;
}

}  // namespace calibrant
