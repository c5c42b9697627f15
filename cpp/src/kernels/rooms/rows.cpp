#include "kernels/loops/class_loops.hpp"
#include "kernels/loops/event_loops.hpp"
#include "kernels/loops/interval_loops.hpp"
#include "kernels/rooms.hpp"

namespace calibrant {
namespace CALIBRANT_KERNELS {

void add_rows(Kernels& table) {
    table.int64_labels = label_kernels<std::int64_t>;
    table.int32_labels = label_kernels<std::int32_t>;
    table.uint8_labels = label_kernels<std::uint8_t>;
    table.top_label = top_label<double>;
    table.top_label_of_floats = top_label<float>;
    table.clip = clip;
    table.intervals = intervals;
    table.tally_intervals = tally_intervals;
    table.range = range;
}

}  // namespace CALIBRANT_KERNELS
}  // namespace calibrant
