// The loops of width_boxes.hpp, one table an instruction set (kernels.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace calibrant {

// The terms of a row are v and v^2 in two limbs each, in units of 2^-22 and 2^-62, and v^3 .. v^9,
// in units of 2^-40. Each still has the shift in it by which it was rounded, so a sum of n of them
// has n times box_shift(limb); what remains is exact for up to 2^22 rows.
inline constexpr std::size_t box_limbs = 11;
inline constexpr std::size_t box_rows = 64;   // at a time
inline constexpr double most_boxes = 0x1p50;  // widths are below as many boxes

struct BoxKernels {
    // Keys, 2 box + (excess is 0), and terms[limb * box_rows + row]. boxes_per_unit is 1 / box,
    // rounded. Returns false if a width is beyond most_boxes; widths are not negative.
    bool (*terms)(const double* width, const double* excess, std::size_t n, double box,
                  double boxes_per_unit, std::int64_t* key, double* terms);
    // The least and the most of both and those given.
    void (*extremes)(const double* width, std::size_t n, double* least, double* most);
};

}  // namespace calibrant
