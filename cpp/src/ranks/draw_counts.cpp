#include "calibrant/rows/draw_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/kernels.hpp"
#include "kernels/rank_kernels.hpp"

namespace calibrant {
namespace {

// Truths at a time, with their counts: a first-level cache has room for them.
constexpr std::size_t tile = 2048;
// Values of short rows that are joined to one: more have no use, as each has a truth of its own.
constexpr std::size_t joined_values = 128;
constexpr std::size_t chunk_draws = std::size_t{1} << 16;

// How the draws lie in memory, in values; strides along an axis of one value say nothing.
enum class Layout { by_pair, by_dimension, by_draw, by_draw_and_dimension, scattered };

template <class T>
bool has_type(const DrawRows& rows) {
    constexpr auto item = static_cast<std::ptrdiff_t>(sizeof(T));
    const Column& draws = rows.draws;
    return draws.dtype == (sizeof(T) == 4 ? Dtype::float32 : Dtype::float64) && !draws.swapped &&
           draws.validity == nullptr &&
           reinterpret_cast<std::uintptr_t>(draws.data) % alignof(T) == 0 &&
           draws.stride % item == 0 && draws.column_stride % item == 0 &&
           rows.dim_stride % item == 0;
}

Layout layout_of(const DrawRows& rows) {
    if (rows.references != nullptr) return Layout::scattered;
    if (!has_type<float>(rows) && !has_type<double>(rows)) return Layout::scattered;
    const auto item = static_cast<std::ptrdiff_t>(item_size(rows.draws.dtype));
    const auto dims = static_cast<std::ptrdiff_t>(rows.n_dims);
    const std::ptrdiff_t pair = rows.draws.stride, draw = rows.draws.column_stride;
    const bool dims_adjacent = rows.n_dims == 1 || rows.dim_stride == item;
    if (draw == item || rows.n_draws() == 1) return Layout::by_pair;
    if (dims_adjacent && pair == dims * item) return Layout::by_draw_and_dimension;
    if (rows.n_dims > 1 && dims_adjacent) return Layout::by_dimension;
    return pair == item ? Layout::by_draw : Layout::scattered;
}

std::size_t block_pairs(const DrawRows& rows, Layout layout) {
    const std::size_t dims = rows.n_dims;
    if (layout == Layout::by_draw_and_dimension) return std::max<std::size_t>(tile / dims, 1);
    if (layout == Layout::by_draw) return tile;
    const std::size_t values = std::max<std::size_t>(rows.n_draws() * dims, 1);
    return std::clamp<std::size_t>(chunk_draws / values, 1, std::max<std::size_t>(tile / dims, 1));
}

// The least float that is not below the truth: a float is less than one exactly if it is less than
// the other.
float threshold(double truth, float) {
    const auto nearest = static_cast<float>(truth);
    return static_cast<double>(nearest) < truth
               ? std::nextafter(nearest, std::numeric_limits<float>::infinity())
               : nearest;
}
double threshold(double truth, double) { return truth; }

template <class T>
const RankLoops<T>& loops();
template <>
const RankLoops<float>& loops<float>() {
    return kernels().ranks->floats;
}
template <>
const RankLoops<double>& loops<double>() {
    return kernels().ranks->doubles;
}

// One worker's counts of a block of pairs.
class Block {
public:
    Block(const DrawRows& rows, Layout layout, std::size_t pairs)
        : rows_(rows),
          layout_(layout),
          truth_(pairs * rows.n_dims),
          less_(pairs * rows.n_ranks()),
          equal_(pairs * rows.n_ranks()),
          reference_(rows.references != nullptr ? rows.n_dims : 0) {}

    // False if a value is missing and may not be.
    bool count(std::size_t first, std::size_t n) {
        load_block(rows_.truth, first, n, truth_.data());
        if (rows_.references != nullptr) {
            for (std::size_t i = 0; i < n; ++i) {
                if (!count_nearer(first + i, i)) return false;
            }
        } else if (has_type<float>(rows_)) {
            count_values<float>(first, n);
        } else if (has_type<double>(rows_)) {
            count_values<double>(first, n);
        } else {
            count_scattered(first, n);
        }
        return mark_missing(n);
    }

    [[nodiscard]] const std::int64_t* less() const { return less_.data(); }
    [[nodiscard]] const std::int64_t* equal() const { return equal_.data(); }

private:
    template <class T>
    void count_values(std::size_t first, std::size_t n) {
        const std::size_t dims = rows_.n_dims;
        const auto* const draws = reinterpret_cast<const T*>(rows_.draws.data);
        const auto pair = rows_.draws.stride / static_cast<std::ptrdiff_t>(sizeof(T));
        const auto dim = rows_.dim_stride / static_cast<std::ptrdiff_t>(sizeof(T));
        const auto at = [&](std::size_t i, std::size_t d) {
            return draws + static_cast<std::ptrdiff_t>(first + i) * pair +
                   static_cast<std::ptrdiff_t>(d) * dim;
        };
        bool has_nan = false;
        switch (layout_) {
            case Layout::by_pair:
                for (std::size_t i = 0; i < n; ++i) {
                    for (std::size_t d = 0; d < dims; ++d) count_within(at(i, d), i * dims + d);
                }
                return;
            case Layout::by_draw_and_dimension:
                for (std::size_t j = 0; j < n * dims; j += tile) {
                    has_nan |= count_across(at(0, 0) + j, std::min(tile, n * dims - j), j, 1);
                }
                break;
            case Layout::by_draw:
                for (std::size_t d = 0; d < dims; ++d) {
                    has_nan |= count_across(at(0, d), n, d, dims);
                }
                break;
            case Layout::by_dimension:
                for (std::size_t i = 0; i < n; ++i) {
                    for (std::size_t d = 0; d < dims; d += tile) {
                        has_nan |=
                            count_interleaved(at(i, d), std::min(tile, dims - d), i * dims + d);
                    }
                }
                break;
            case Layout::scattered:
                return count_scattered(first, n);
        }
        if (has_nan) count_scattered(first, n);  // which says where
    }

    // The truth of this place against contiguous values.
    template <class T>
    void count_within(const T* values, std::size_t place) {
        const double truth = truth_[place];
        const T compared = threshold(truth, T{});
        bool has_nan = false;
        loops<T>().within(values, rows_.n_draws(), compared, &less_[place], &equal_[place],
                          &has_nan);
        settle(place, static_cast<double>(compared) == truth, has_nan);
    }

    // `width` truths, `step` places apart, each against one value of each draw. True if one is NaN.
    template <class T>
    bool count_across(const T* values, std::size_t width, std::size_t place, std::size_t step) {
        Tile<T> counts;
        counts.clear(width);
        for (std::size_t j = 0; j < width; ++j) {
            counts.truth[j] = threshold(truth_[place + j * step], T{});
        }
        const auto stride = rows_.draws.column_stride / static_cast<std::ptrdiff_t>(sizeof(T));
        const bool has_nan = counts.add(values, stride, rows_.n_draws(), width);
        for (std::size_t j = 0; j < width; ++j) {
            const std::size_t to = place + j * step;
            less_[to] = counts.less[j];
            equal_[to] = counts.equal[j];
            settle(to, static_cast<double>(counts.truth[j]) == truth_[to], false);
        }
        return has_nan;
    }

    // `width` dimensions of one pair: short rows of adjacent draws are taken as one longer, with
    // the truths repeated.
    template <class T>
    bool count_interleaved(const T* values, std::size_t width, std::size_t place) {
        const auto stride = rows_.draws.column_stride / static_cast<std::ptrdiff_t>(sizeof(T));
        const bool adjacent = stride == static_cast<std::ptrdiff_t>(width);
        const std::size_t joined =
            adjacent ? std::clamp<std::size_t>(joined_values / width, 1, rows_.n_draws()) : 1;
        Tile<T> counts;
        counts.clear(joined * width);
        for (std::size_t d = 0; d < width; ++d) {
            const T compared = threshold(truth_[place + d], T{});
            for (std::size_t k = 0; k < joined; ++k) counts.truth[k * width + d] = compared;
        }
        const std::size_t rows = rows_.n_draws() / joined;
        const auto whole = static_cast<std::ptrdiff_t>(joined) * stride;
        bool has_nan = counts.add(values, whole, rows, joined * width);
        has_nan |= counts.add(values + static_cast<std::ptrdiff_t>(rows) * whole, stride, 1,
                              rows_.n_draws() % joined * width);
        for (std::size_t d = 0; d < width; ++d) {
            std::int64_t less = 0, equal = 0;
            for (std::size_t k = 0; k < joined; ++k) {
                less += counts.less[k * width + d];
                equal += counts.equal[k * width + d];
            }
            less_[place + d] = less;
            equal_[place + d] = equal;
            settle(place + d, static_cast<double>(counts.truth[d]) == truth_[place + d], false);
        }
        return has_nan;
    }

    void count_scattered(std::size_t first, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t d = 0; d < rows_.n_dims; ++d) {
                const Column draws = rows_.draws_of(first + i, d);
                const std::size_t place = i * rows_.n_dims + d;
                count_blocks(place, truth_[place], [&](std::size_t begin, std::size_t count) {
                    load(draws, begin, count, values_);
                });
            }
        }
    }

    bool count_nearer(std::size_t pair, std::size_t place) {
        load_row(*rows_.references, pair, reference_.data());
        double truth = 0.0;
        for (std::size_t d = 0; d < rows_.n_dims; ++d) {
            if (!std::isfinite(reference_[d])) return false;
            const double difference = truth_[place * rows_.n_dims + d] - reference_[d];
            truth += difference * difference;
        }
        if (std::isinf(truth)) return false;
        count_blocks(place, truth, [&](std::size_t begin, std::size_t count) {
            std::fill_n(values_, count, 0.0);
            for (std::size_t d = 0; d < rows_.n_dims; ++d) {
                load(rows_.draws_of(pair, d), begin, count, coordinate_);
                kernels().ranks->add_squares(coordinate_, count, reference_[d], values_);
            }
        });
        return true;
    }

    // fill(begin, count) puts what is compared with the truth into values_.
    template <class Fill>
    void count_blocks(std::size_t place, double truth, const Fill& fill) {
        less_[place] = equal_[place] = 0;
        bool any_nan = std::isnan(truth);
        for (std::size_t begin = 0; begin < rows_.n_draws(); begin += block_rows) {
            const std::size_t count = std::min(block_rows, rows_.n_draws() - begin);
            fill(begin, count);
            std::int64_t less = 0, equal = 0;
            bool has_nan = false;
            kernels().ranks->doubles.within(values_, count, truth, &less, &equal, &has_nan);
            less_[place] += less;
            equal_[place] += equal;
            any_nan = any_nan || has_nan;
        }
        settle(place, true, any_nan);
    }

    // A truth between two floats equals none of them.
    void settle(std::size_t place, bool is_exact, bool has_nan) {
        if (!is_exact) equal_[place] = 0;
        if (has_nan) less_[place] = missing_pair;
    }

    // One missing value of a pair makes all of them so.
    bool mark_missing(std::size_t n) {
        const std::size_t ranks = rows_.n_ranks(), dims = rows_.n_dims;
        bool any = false;
        for (std::size_t i = 0; i < n; ++i) {
            const auto less = less_.begin() + static_cast<std::ptrdiff_t>(i * ranks);
            const auto end = less + static_cast<std::ptrdiff_t>(ranks);
            bool missing = std::find(less, end, missing_pair) != end;
            for (std::size_t d = 0; d < dims; ++d) missing |= std::isnan(truth_[i * dims + d]);
            if (missing) std::fill(less, end, missing_pair);
            any |= missing;
        }
        return !any || rows_.omit_missing;
    }

    template <class T>
    struct Tile {
        using Count = typename RankLoops<T>::Count;
        alignas(64) T truth[tile];
        alignas(64) Count less[tile];
        alignas(64) Count equal[tile];

        void clear(std::size_t width) {
            std::fill_n(less, width, Count{0});
            std::fill_n(equal, width, Count{0});
        }
        bool add(const T* values, std::ptrdiff_t stride, std::size_t rows, std::size_t width) {
            return loops<T>().across(values, stride, rows, truth, width, less, equal);
        }
    };

    const DrawRows& rows_;
    Layout layout_;
    std::vector<double> truth_;
    std::vector<std::int64_t> less_, equal_;
    std::vector<double> reference_;
    alignas(64) double values_[block_rows];
    alignas(64) double coordinate_[block_rows];
};

}  // namespace

std::size_t draw_workers(const DrawRows& rows) {
    const std::size_t values = std::max<std::size_t>(rows.n_draws() * rows.n_dims, 1);
    const std::size_t worth_a_thread = std::max<std::size_t>(4 * chunk_draws / values, 1);
    return workers_for(rows.size(), std::max(block_pairs(rows, layout_of(rows)), worth_a_thread));
}

void count_draws(const DrawRows& rows, std::uint64_t pairs_before, Poll poll, VisitCounts visit,
                 void* target) {
    const Layout layout = layout_of(rows);
    const std::size_t pairs = block_pairs(rows, layout);
    const std::size_t workers = draw_workers(rows);
    std::vector<Block> blocks;
    blocks.reserve(workers);
    for (std::size_t i = 0; i < workers; ++i) {
        blocks.emplace_back(rows, layout, std::min(pairs, rows.size()));
    }
    const std::size_t failed =
        for_each_chunk(rows.size(), pairs, workers, poll,
                       [&](std::size_t worker, std::size_t begin, std::size_t end) {
                           Block& block = blocks[worker];
                           if (!block.count(begin, end - begin)) return false;
                           visit(target, worker, begin, end - begin, block.less(), block.equal());
                           return true;
                       });
    if (failed != npos) {
        reject_draws(rows, failed, std::min(rows.size(), failed + pairs), pairs_before);
    }
}

}  // namespace calibrant
