#include "bindings/rows/draw_inputs.hpp"

#include <string>

#include "calibrant/rows/check.hpp"

namespace calibrant::bindings {

DrawInputs::DrawInputs(const py::object& draws, const py::object& truth,
                       const py::object& references, bool omit_missing) {
    has_dims_ = py::isinstance<py::array>(draws) && py::cast<py::array>(draws).ndim() == 3;
    if (has_dims_) {
        const auto array = py::cast<py::array>(draws);
        rows_.n_dims = static_cast<std::size_t>(array.shape(2));
        rows_.dim_stride = array.strides(2);
        if (rows_.n_dims == 0) throw InvalidInput("draws must have at least one dimension, got 0");
        const py::slice all(std::nullopt, std::nullopt, std::nullopt);
        draws_.emplace(as_column(array[py::make_tuple(all, all, 0)], "draws", Shape::matrix));
    } else {
        draws_.emplace(as_column(draws, "draws", Shape::matrix));
    }
    rows_.draws = draws_->column();
    if (rows_.n_draws() == 0) throw InvalidInput("draws must hold at least one draw a pair, got 0");
    if (rows_.n_draws() > most_draws) {
        throw InvalidInput("draws must hold at most 2^31 - 2 draws a pair, got " +
                           std::to_string(rows_.n_draws()));
    }
    truth_.emplace(of_truths(truth, "truth"));
    rows_.truth = truth_->column();
    if (!references.is_none()) {
        references_.emplace(of_truths(references, "references"));
        rows_.references = &references_->column();
    }
    rows_.omit_missing = omit_missing;
}

Input DrawInputs::of_truths(const py::object& value, const char* name) const {
    Input input = as_column(value, name, has_dims_ ? Shape::matrix : Shape::vector);
    const std::size_t dims = has_dims_ ? input.column().width : 1;
    if (input.size() != rows_.size() || dims != rows_.n_dims) {
        const auto shape = [this](std::size_t n, std::size_t d) {
            return "(" + std::to_string(n) + (has_dims_ ? ", " + std::to_string(d) + ")" : ",)");
        };
        throw InvalidInput(std::string(name) + " must have shape " +
                           shape(rows_.size(), rows_.n_dims) + ", as there are draws, got " +
                           shape(input.size(), dims));
    }
    return input;
}

py::array::ShapeContainer DrawInputs::shape() const {
    const auto n = static_cast<py::ssize_t>(rows_.size());
    if (!has_dims_ || rows_.references != nullptr) return {n};
    return {n, static_cast<py::ssize_t>(rows_.n_dims)};
}

}  // namespace calibrant::bindings
