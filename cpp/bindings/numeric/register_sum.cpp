// The exact sums, for their tests: _core._testing.
#include "calibrant/numeric/sum.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>

#include "bindings/register.hpp"
#include "calibrant/state/bytes.hpp"
#include "kernels/kernels.hpp"

namespace py = pybind11;

namespace calibrant::bindings {
namespace {

using Doubles = py::array_t<double, py::array::c_style>;

py::bytes canonical_bytes(const ExactSum& sum) {
    Writer out;
    sum.write(out);
    return seal(Kind::exact_sum, 1, out);
}

ExactSum from_canonical_bytes(const py::bytes& bytes) {
    const std::string text = bytes;
    Reader in = open(text, Kind::exact_sum, 1);
    ExactSum sum = ExactSum::read(in, std::int64_t{1} << 40);
    in.finish();
    return sum;
}

void require_same_size(const Doubles& x, const Doubles& y) {
    if (x.size() != y.size()) throw py::value_error("x and y differ in length");
}

void add_all(ExactSum& sum, const Doubles& x, std::int64_t exponent) {
    for (py::ssize_t i = 0; i < x.size(); ++i) sum.add(x.data()[i], exponent);
}

// As the accumulators do it: through the kernels in force, at most block_rows at a time.
template <class AddBlock>
void by_blocks(py::ssize_t n, std::size_t rows, const AddBlock& add_block) {
    if (rows < 1 || rows > block_rows) throw py::value_error("rows must be in [1, 512]");
    const auto end = static_cast<std::size_t>(n);
    for (std::size_t i = 0; i < end; i += rows) add_block(i, std::min(rows, end - i));
}

void add_blocks(ExactSum& sum, const Doubles& x, std::size_t rows) {
    by_blocks(x.size(), rows,
              [&](std::size_t i, std::size_t n) { sum.add_block(x.data() + i, n); });
}

void add_product_blocks(ExactSum& sum, const Doubles& x, const Doubles& y, std::size_t rows) {
    require_same_size(x, y);
    by_blocks(x.size(), rows, [&](std::size_t i, std::size_t n) {
        sum.add_products(x.data() + i, y.data() + i, n);
    });
}

// Python's integers to 128 bits, by halves.
Int128 to_int128(std::int64_t high, std::uint64_t low) {
    return static_cast<Int128>((static_cast<UInt128>(static_cast<std::uint64_t>(high)) << 64) |
                               low);
}

}  // namespace

// NOLINTNEXTLINE(misc-const-correctness): of one signature with the others
void register_sum(py::module_& m) {
    using namespace py::literals;
    py::class_<ExactSum>(m, "ExactSum")
        .def(py::init<>())
        .def("add", &add_all, "x"_a, "exponent"_a = 0)
        .def("add_integer", [](ExactSum& sum, std::int64_t high, std::uint64_t low,
                               std::int64_t exponent) { sum.add(to_int128(high, low), exponent); })
        .def(
            "add_products",
            [](ExactSum& sum, const Doubles& x, const Doubles& y, std::int64_t exponent) {
                require_same_size(x, y);
                for (py::ssize_t i = 0; i < x.size(); ++i) {
                    sum.add_product(x.data()[i], y.data()[i], exponent);
                }
            },
            "x"_a, "y"_a, "exponent"_a = 0)
        .def("add_blocks", &add_blocks, "x"_a, "rows"_a = block_rows)
        .def("add_product_blocks", &add_product_blocks, "x"_a, "y"_a, "rows"_a = block_rows)
        .def("merge", &ExactSum::merge)
        .def("subtract", &ExactSum::subtract)
        .def("times", [](const ExactSum& a, const ExactSum& b) { return a * b; })
        .def("copy", [](const ExactSum& sum) { return sum; })
        .def("is_zero", &ExactSum::is_zero)
        .def("to_double", &ExactSum::to_double)
        .def("value",
             [](const ExactSum& sum) {
                 const Scaled value = sum.value();
                 return py::make_tuple(value.high, value.low, value.exponent);
             })
        .def("to_bytes", &canonical_bytes)
        .def_static("from_bytes", &from_canonical_bytes);
    py::class_<FixedSum<58>>(m, "FixedSum58")
        .def(py::init<>())
        .def("add", [](FixedSum<58>& sum, std::int64_t high,
                       std::uint64_t low) { sum.add(to_int128(high, low)); })
        .def("merge", &FixedSum<58>::merge)
        .def("to_double", &FixedSum<58>::to_double);
}

}  // namespace calibrant::bindings
