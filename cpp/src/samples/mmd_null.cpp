#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "kernels/kernels.hpp"
#include "kernels/mmd_kernels.hpp"
#include "numeric/shuffle.hpp"
#include "samples/mmd_line.hpp"
#include "samples/mmd_tiles.hpp"

namespace calibrant {
namespace {

// Of a subset as large as x; the rest is as large as y.
MmdSums split_sums(const PooledPoints& points, double inside, double touching, double total) {
    return {points.n(), points.m(), inside, (total - touching) + inside, touching - 2.0 * inside,
            0.0,        0.0};
}

// A bit for each split and point, 64 points in a word: words of a block of points side by side.
std::vector<std::uint64_t> bits_of(const Splits& splits, std::size_t n, std::size_t size,
                                   Poll poll) {
    const std::size_t count = splits.count();
    std::vector<std::uint64_t> words((size + block_points - 1) / block_points * count, 0);
    const std::size_t workers = workers_for(count * size, std::size_t{1} << 16);
    std::vector<std::vector<std::uint32_t>> orders(workers);
    for_each_chunk(
        count, 16, workers, poll, [&](std::size_t worker, std::size_t begin, std::size_t end) {
            for (std::size_t b = begin; b < end; ++b) {
                const std::uint32_t* const members = splits.members(b, orders[worker]);
                for (std::size_t k = 0; k < n; ++k) {
                    const std::uint32_t i = members[k];
                    words[i / block_points * count + b] |= std::uint64_t{1} << (i % block_points);
                }
            }
            return true;
        });
    return words;
}

class TileNull final : public MmdNull {
public:
    TileNull(PooledPoints points, MmdSetting setting, Splits splits)
        : points_(std::move(points)),
          setting_(std::move(setting)),
          tiles_(points_, setting_),
          splits_(std::move(splits)) {}

    double advance(Poll poll) override {
        if (words_.empty()) words_ = bits_of(splits_, points_.n(), points_.size(), poll);
        const std::size_t end = last_panel();
        const std::size_t workers = workers_for(end - done_, 1);
        std::vector<Worker> team(workers, Worker(splits_.count()));
        for_each_chunk(end - done_, 1, workers, poll,
                       [&](std::size_t worker, std::size_t panel, std::size_t) {
                           add_panel(team[worker], done_ + panel);
                           return true;
                       });
        for (const Worker& worker : team) total_.merge(worker);
        done_ = end;
        if (done_ < tiles_.n_panels()) {
            const double share = static_cast<double>(end) / static_cast<double>(tiles_.n_panels());
            return share * share;
        }
        observed_ = total_.totals.sums(tiles_);
        all_ = total_.all.to_double();
        return 1.0;
    }

    [[nodiscard]] MmdSums observed() const override { return observed_; }

    [[nodiscard]] MmdSums split(std::size_t index) const override {
        MmdSums sums = split_sums(points_, total_.inside[index].to_double(),
                                  total_.touching[index].to_double(), all_);
        sums.x_self = total_.self[index].to_double();
        sums.y_self = (observed_.x_self + observed_.y_self) - sums.x_self;
        return sums;
    }

private:
    struct Worker {
        explicit Worker(std::size_t count)
            : inside(count), touching(count), self(count), sums(count * panel_points) {}

        void merge(const Worker& other) {
            totals.merge(other.totals);
            all.merge(other.all);
            for (std::size_t b = 0; b < inside.size(); ++b) {
                inside[b].merge(other.inside[b]);
                touching[b].merge(other.touching[b]);
                self[b].merge(other.self[b]);
            }
        }

        MmdTotals totals;
        ExactSum all;
        std::vector<ExactSum> inside, touching, self;
        std::vector<double> sums;  // of the row panel at hand, 8 a split
    };

    // So many panels that a step takes some tenths of a second.
    [[nodiscard]] std::size_t last_panel() const {
        const double work =
            static_cast<double>(panel_points * (points_.dimension() + 4) + splits_.count() / 4) *
            panel_points;
        double rest = 2e9;
        std::size_t panel = done_;
        for (; panel < tiles_.n_panels() && rest > 0.0; ++panel) {
            rest -= work * static_cast<double>(panel);
        }
        return panel;
    }

    void add_panel(Worker& worker, std::size_t panel) const {
        const std::size_t count = splits_.count(), own_block = panel / panels_a_block;
        alignas(64) double distances[tile_values], values[tile_values];
        PanelSums observed;
        std::fill(worker.sums.begin(), worker.sums.end(), 0.0);
        for (std::size_t block = 0; block <= own_block; ++block) {
            tiles_.distances(panel, block, distances);
            tiles_.mean_values(distances, panel, block, values);
            observed.add(values, block, points_.n());
            kernels().mmd->add_subsets(values, &words_[block * count], count, worker.sums.data());
        }
        worker.totals.add(observed, panel, points_.n());
        double rows[panel_points], self[panel_points];
        for (std::size_t lane = 0; lane < panel_points; ++lane) {
            const std::size_t i = panel * panel_points + lane;
            rows[lane] = observed.x[lane] + observed.y[lane];
            self[lane] = i < points_.size() ? tiles_.self(i) : 0.0;
            worker.all.add(rows[lane]);
        }
        const std::size_t shift = panel % panels_a_block * panel_points;
        for (std::size_t b = 0; b < count; ++b) {
            const std::uint64_t members = words_[own_block * count + b] >> shift;
            add_rows(worker, b, members, rows, self);
        }
    }

    // What the 8 rows add to the sums of a split.
    void add_rows(Worker& worker, std::size_t b, std::uint64_t members, const double* rows,
                  const double* self) const {
        const double* const in_subset = &worker.sums[b * panel_points];
        double inside = 0.0, touching = 0.0, own = 0.0;
        for (std::size_t lane = 0; lane < panel_points; ++lane) {
            const double member = (members >> lane & 1U) != 0 ? 1.0 : 0.0;
            inside += member * in_subset[lane];
            touching += in_subset[lane] + member * rows[lane];
            own += member * self[lane];
        }
        worker.inside[b].add(inside);
        worker.touching[b].add(touching);
        if (setting_.kernel == MmdKernel::polynomial) worker.self[b].add(own);
    }

    PooledPoints points_;
    MmdSetting setting_;
    KernelTiles tiles_;
    Splits splits_;
    std::vector<std::uint64_t> words_;
    std::size_t done_ = 0;  // panels
    Worker total_{splits_.count()};
    MmdSums observed_;
    double all_ = 0.0;
};

class LineNull final : public MmdNull {
public:
    LineNull(PooledPoints points, const MmdSetting& setting, Splits splits)
        : points_(std::move(points)), splits_(std::move(splits)), sums_(splits_.count()) {
        const auto count = static_cast<double>(setting.bandwidths.size());
        for (const double bandwidth : setting.bandwidths) {
            const MmdSums sums = line_sums(points_, setting.kernel, bandwidth);
            observed_.xx += sums.xx / count;
            observed_.yy += sums.yy / count;
            observed_.xy += sums.xy / count;
            lines_.emplace_back(points_, setting.kernel, bandwidth);
            total_ += lines_.back().total() / count;
        }
        observed_.n = points_.n();
        observed_.m = points_.m();
    }

    double advance(Poll poll) override {
        const std::size_t at_once = std::max<std::size_t>((std::size_t{1} << 24) / points_.size(),
                                                          static_cast<std::size_t>(num_threads()));
        const std::size_t end = std::min(splits_.count(), done_ + at_once * subsets_at_once);
        const std::size_t workers = workers_for(end - done_, subsets_at_once);
        for_each_chunk(end - done_, subsets_at_once, workers, poll,
                       [&](std::size_t, std::size_t begin, std::size_t until) {
                           add_splits(done_ + begin, done_ + until);
                           return true;
                       });
        done_ = end;
        return static_cast<double>(done_) / static_cast<double>(splits_.count());
    }

    [[nodiscard]] MmdSums observed() const override { return observed_; }

    [[nodiscard]] MmdSums split(std::size_t index) const override {
        return split_sums(points_, sums_[index].inside, sums_[index].touching, total_);
    }

private:
    void add_splits(std::size_t begin, std::size_t end) {
        std::vector<std::uint64_t> members(points_.size(), 0);
        std::vector<std::uint32_t> order;
        for (std::size_t b = begin; b < end; ++b) {
            const std::uint32_t* const index = splits_.members(b, order);
            for (std::size_t k = 0; k < points_.n(); ++k) {
                members[index[k]] |= std::uint64_t{1} << (b - begin);
            }
        }
        std::array<SubsetSums, subsets_at_once> sums{};
        for (const LineSubsets& line : lines_) line.add(members, points_.n(), sums);
        const auto count = static_cast<double>(lines_.size());
        for (std::size_t b = begin; b < end; ++b) {
            sums_[b] = {sums[b - begin].inside / count, sums[b - begin].touching / count};
        }
    }

    PooledPoints points_;
    Splits splits_;
    std::vector<LineSubsets> lines_;  // one a bandwidth
    std::vector<SubsetSums> sums_;
    MmdSums observed_;
    double total_ = 0.0;
    std::size_t done_ = 0;
};

}  // namespace

Splits::Splits(std::size_t n, std::size_t m, std::size_t count, std::uint64_t seed)
    : n_(n), size_(n + m), count_(count), seed_(seed) {}

// In the order of the dictionary.
Splits::Splits(std::size_t n, std::size_t m) : n_(n), size_(n + m), count_(0) {
    const std::size_t part = std::min(n, m);
    std::vector<std::uint32_t> subset(part);
    std::iota(subset.begin(), subset.end(), std::uint32_t{0});
    while (true) {
        all_.insert(all_.end(), subset.begin(), subset.end());
        ++count_;
        std::size_t k = part;
        while (k > 0 && subset[k - 1] == size_ - part + k - 1) --k;
        if (k == 0) return;
        ++subset[k - 1];
        for (; k < part; ++k) subset[k] = subset[k - 1] + 1;
    }
}

const std::uint32_t* Splits::members(std::size_t index, std::vector<std::uint32_t>& order) const {
    const bool fewer = 2 * n_ <= size_;
    if (!all_.empty()) {
        const std::uint32_t* const part = &all_[index * (fewer ? n_ : size_ - n_)];
        if (fewer) return part;
        order.resize(n_);
        for (std::uint32_t i = 0, k = 0; k < n_; ++i) {
            if (i - k < size_ - n_ && part[i - k] == i) continue;
            order[k++] = i;
        }
        return order.data();
    }
    order.resize(size_);
    shuffle(order, seed_, index, fewer ? n_ : size_ - n_);
    return order.data() + (fewer ? size_ - n_ : 0);
}

std::unique_ptr<MmdNull> make_mmd_null(PooledPoints points, MmdSetting setting, Splits splits) {
    if (points.dimension() > 1 || setting.kernel == MmdKernel::polynomial) {
        return std::make_unique<TileNull>(std::move(points), std::move(setting), std::move(splits));
    }
    return std::make_unique<LineNull>(std::move(points), setting, std::move(splits));
}

}  // namespace calibrant
