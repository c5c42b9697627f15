#include "intervals/width_boxes.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/elementary.hpp"

namespace calibrant {
namespace {

constexpr std::size_t n_moments = BoxCell::n_powers + 1;
constexpr std::size_t reach = 20;  // nodes to each side
constexpr std::int64_t boxes_per_node = 5;
constexpr double boxes_per_bandwidth = 16.0;
constexpr std::int64_t most_near = 16;  // boxes from the first to the last

constexpr double unit_of(std::size_t power) { return power <= 2 ? 0x1p-62 : 0x1p-40; }

// By where a box lies between two nodes: for each moment, what it adds to the nodes around.
using NodeTable =
    std::array<std::array<std::array<double, 2 * reach + 1>, n_moments>, boxes_per_node>;

// exp(-(z + e)^2) = sum_k a_k e^k with a_0 = exp(-z^2) and
// (k + 1) a_{k+1} = -2 z a_k - 2 a_{k-1}; e is v half boxes.
NodeTable make_node_table() {
    NodeTable table{};
    for (std::size_t place = 0; place < table.size(); ++place) {
        for (std::size_t j = 0; j <= 2 * reach; ++j) {
            const double boxes = static_cast<double>(place) -
                                 static_cast<double>(boxes_per_node) *
                                     (static_cast<double>(j) - static_cast<double>(reach));
            const double z = boxes / boxes_per_bandwidth;
            constexpr double half_box = 0.5 / boxes_per_bandwidth;
            double before = 0.0;
            double a = exp(-z * z);
            double scale = 1.0;
            for (std::size_t k = 0; k < n_moments; ++k) {
                table[place][k][j] = a * scale;
                const double next = (-2.0 * z * a - 2.0 * before) / static_cast<double>(k + 1);
                before = a;
                a = next;
                scale *= half_box;
            }
        }
    }
    return table;
}

const NodeTable& node_table() {
    static const NodeTable table = make_node_table();
    return table;
}

// n0 * covered - n1 * uncovered, rounded once.
double balance(Int128 n0, Int128 covered, Int128 n1, Int128 uncovered) {
    Int128 left = 0, right = 0, difference = 0;
    if (!__builtin_mul_overflow(n0, covered, &left) &&
        !__builtin_mul_overflow(n1, uncovered, &right) &&
        !__builtin_sub_overflow(left, right, &difference)) {
        return static_cast<double>(difference);
    }
    const auto exact = [](Int128 x) {
        ExactSum sum;
        if (x != 0) sum.add(x, 0);
        return sum;
    };
    ExactSum sum = exact(n0) * exact(covered);
    sum.subtract(exact(n1) * exact(uncovered));
    return sum.to_double();
}

}  // namespace

double one_minus_exp(double x) {
    if (!(x < 0.25)) return 1.0 - exp(-x);
    const double r = -x;
    return -(r + r * r * (0.5 + r * exp_tail(r, r * r)));
}

void BoxCell::add(std::uint64_t rows, const std::uint64_t* limbs) {
    using detail::bits_of, detail::snap_shift;
    const auto whole = [&](std::size_t limb, double shift) {
        return Int128{static_cast<std::int64_t>(limbs[limb] - rows * bits_of(shift))};
    };
    count += rows;
    for (std::size_t k = 0; k < 2; ++k) {
        powers[k] += (whole(2 * k, snap_shift<22>) << 40) + whole(2 * k + 1, snap_shift<62>);
    }
    for (std::size_t k = 2; k < n_powers; ++k) powers[k] += whole(k + 2, snap_shift<40>);
}

void BoxCell::merge(const BoxCell& other) {
    count += other.count;
    for (std::size_t k = 0; k < n_powers; ++k) powers[k] += other.powers[k];
}

BoxFormer::BoxFormer(std::uint64_t uncovered, std::uint64_t covered, bool with_all)
    : uncovered_(static_cast<double>(uncovered)),
      covered_(static_cast<double>(covered)),
      whole_uncovered_(uncovered),
      whole_covered_(covered),
      with_all_(with_all),
      n_vectors_(with_all ? 3 : 1) {}

void BoxFormer::Compensated::add(double x) {
    const double next = sum + x;
    error += std::fabs(sum) >= std::fabs(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
}

void BoxFormer::add(std::int64_t key, const BoxCell& cell) {
    const std::int64_t index = key >> 1;
    if (open_ && index != index_) close_box();
    if (!open_) {
        pair_[0] = pair_[1] = BoxCell{};
        index_ = index;
        open_ = true;
    }
    pair_[key & 1] = cell;
}

void BoxFormer::close_box() {
    open_ = false;
    Box box;
    box.index = index_;
    for (std::size_t k = 0; k < n_moments; ++k) {
        const Int128 u = k == 0 ? Int128{pair_[0].count} : pair_[0].powers[k - 1];
        const Int128 c = k == 0 ? Int128{pair_[1].count} : pair_[1].powers[k - 1];
        const double unit = k == 0 ? 1.0 : unit_of(k);
        box.moments[0][k] = balance(whole_uncovered_, c, whole_covered_, u) * unit;
        box.moments[1][k] = static_cast<double>(c) * unit;
        box.moments[2][k] = static_cast<double>(u) * unit;
    }
    if (near_.empty() && is_near_) first_ = index_;
    if (is_near_ && index_ - first_ > most_near) {
        is_near_ = false;
        if (!with_all_) {
            for (const Box& earlier : near_) spread(earlier);
            near_.clear();
        }
    }
    if (is_near_) near_.push_back(box);
    if (!is_near_ || with_all_) spread(box);
}

void BoxFormer::spread(const Box& box) {
    const std::int64_t place = ((box.index % boxes_per_node) + boxes_per_node) % boxes_per_node;
    const std::int64_t lowest =
        (box.index - place) / boxes_per_node - static_cast<std::int64_t>(reach);
    retire_below(lowest);
    const auto& table = node_table()[static_cast<std::size_t>(place)];
    const auto start = static_cast<std::size_t>(lowest - base_);
    for (std::size_t vector = 0; vector < n_vectors_; ++vector) {
        double* __restrict const out = &nodes_[vector][start];
        for (std::size_t k = 0; k < n_moments; ++k) {
            const double moment = box.moments[vector][k];
            const double* __restrict const row = table[k].data();
            for (std::size_t j = 0; j < n_nodes; ++j) out[j] += moment * row[j];
        }
    }
}

// Squares what no later box can reach, and moves the window when it would not hold the next.
void BoxFormer::retire_below(std::int64_t node) {
    if (!started_) {
        base_ = node;
        started_ = true;
        return;
    }
    if (node - base_ <= static_cast<std::int64_t>(ring - n_nodes)) return;
    const auto gone = static_cast<std::size_t>(std::min<std::int64_t>(node - base_, ring));
    for (std::size_t i = 0; i < gone; ++i) {
        centred_.add(nodes_[0][i] * nodes_[0][i]);
        if (!with_all_) continue;
        const double any = nodes_[1][i] + nodes_[2][i];
        all_.add(any * any);
        squares_.add(any *
                     (uncovered_ * uncovered_ * nodes_[1][i] + covered_ * covered_ * nodes_[2][i]));
    }
    for (std::size_t vector = 0; vector < n_vectors_; ++vector) {
        auto& nodes = nodes_[vector];
        std::copy(nodes.begin() + static_cast<std::ptrdiff_t>(gone), nodes.end(), nodes.begin());
        std::fill(nodes.end() - static_cast<std::ptrdiff_t>(gone), nodes.end(), 0.0);
    }
    base_ = node;
}

// With u = w - w0 in units of h, exp(-(u - v)^2 / 2) = sum_k f_k(u) f_k(v) with
// f_k(u) = u^k exp(-u^2 / 2) / sqrt(k!). Of f_0 the constant 1 is left out.
double BoxFormer::near_form() const {
    constexpr std::size_t most = 28;
    const std::int64_t middle = first_ + (near_.back().index - first_) / 2;
    // Sums of U^m, where u = U / 32 and U = 2 d + v
    std::array<double, most + 1> power{};
    for (const Box& box : near_) {
        const auto twice = static_cast<double>(2 * (box.index - middle));
        std::array<double, most + 1> shifted{};  // by Horner: moments about the middle
        for (std::size_t j = 0; j < n_moments; ++j) shifted[j] = box.moments[0][j];
        // sum v^m (2 d)^(m - j) C(m, j), built row by row of Pascal's triangle
        std::array<double, most + 1> binomial{};
        binomial[0] = 1.0;
        std::array<double, most + 1> power_of_twice{};
        power_of_twice[0] = 1.0;
        for (std::size_t m = 1; m <= most; ++m) power_of_twice[m] = power_of_twice[m - 1] * twice;
        for (std::size_t m = 0; m <= most; ++m) {
            for (std::size_t j = 0; j <= std::min(m, n_moments - 1); ++j) {
                power[m] += binomial[j] * power_of_twice[m - j] * shifted[j];
            }
            for (std::size_t j = m + 1; j > 0; --j) {
                if (j <= most) binomial[j] += binomial[j - 1];
            }
        }
    }
    power[0] = 0.0;  // a is centred
    double scale = 1.0;
    for (double& p : power) {
        p *= scale;
        scale *= 0.5 / boxes_per_bandwidth;
    }
    double form = 0.0;
    double factorial = 1.0;
    for (std::size_t k = 0; k + 6 <= most; ++k) {
        if (k > 0) factorial *= static_cast<double>(k);
        double sum = 0.0;
        double factor = 1.0;
        for (std::size_t j = 0; k + 2 * j <= most; ++j) {
            if (j > 0) factor *= -0.5 / static_cast<double>(j);
            sum += factor * power[k + 2 * j];
        }
        form += sum * sum / factorial;
    }
    return form;
}

BoxForms BoxFormer::finish() {
    if (open_) close_box();
    BoxForms forms;
    retire_below(base_ + static_cast<std::int64_t>(ring));
    // sqrt(2 / pi) times the step
    constexpr double weight = 0x1.9884533d43651p-1 * 5.0 / boxes_per_bandwidth;
    forms.centred =
        is_near_ && !near_.empty() ? near_form() : weight * (centred_.sum + centred_.error);
    forms.all = weight * (all_.sum + all_.error);
    forms.squares = weight * (squares_.sum + squares_.error);
    return forms;
}

}  // namespace calibrant
