// The loops of ensemble.hpp, one table an instruction set (kernels.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace calibrant {

// A factor, high + low.
struct Scale {
    double high, low;
};

// What the softmax of a plane of rows needs to work: `terms` for each class, the others once.
struct SoftmaxRoom {
    double* terms;
    std::int64_t* most;
    double *high, *low, *reciprocal;
};

// Sums of votes come in planes, one a class: that of row i and class j is sums[j * plane + i].
struct EnsembleKernels {
    // codes[i] is 4, or 8, times votes[i] + 1, of signed integers of 1, 2, 4 or 8 bytes, and at
    // most 8 classes. Returns false if some vote is neither -1 nor below n_classes.
    bool (*narrow_4)(const void* votes, std::size_t item_size, std::size_t n,
                     std::uint8_t n_classes, std::uint8_t* codes);
    bool (*narrow_8)(const void* votes, std::size_t item_size, std::size_t n,
                     std::uint8_t n_classes, std::uint8_t* codes);

    // Of at most 4, or 8, classes: row i adds up, for each member t, the 4, or 8, integers from
    // table[t * table_step + codes[i * members + t]] on.
    void (*add_up_4)(const std::uint8_t* codes, std::size_t rows, std::size_t members,
                     const std::int64_t* table, std::size_t table_step, std::size_t n_classes,
                     std::int64_t* sums, std::size_t plane);
    void (*add_up_8)(const std::uint8_t* codes, std::size_t rows, std::size_t members,
                     const std::int64_t* table, std::size_t table_step, std::size_t n_classes,
                     std::int64_t* sums, std::size_t plane);

    // out[i * n_classes + j] = exp(scale F_j) / sum of the same over the classes; 0 <= scale <=
    // 2^20.
    void (*softmax)(const std::int64_t* sums, std::size_t rows, std::size_t n_classes,
                    std::size_t plane, Scale scale, const SoftmaxRoom& room, double* out);
};

}  // namespace calibrant
