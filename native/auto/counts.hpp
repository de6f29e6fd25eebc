// Counts that are kept in the narrowest type that holds them, read as doubles a part at a time.
#pragma once
#include "auto/rows.hpp"

namespace bayeskit::automatic {

using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// (n_lines, n_classes) of int32, int64 or double
class Counts {
public:
    const int64_t n_lines, n_classes;

    explicit Counts(const AnyMatrix& cells)
        : n_lines(static_cast<int64_t>(cells.shape(0))), n_classes(static_cast<int64_t>(cells.shape(1))), data_(cells.data()) {
        if (cells.dtype() == nb::dtype<double>()) read_ = &read<double>;
        else if (cells.dtype() == nb::dtype<int32_t>()) read_ = &read<int32_t>;
        else if (cells.dtype() == nb::dtype<int64_t>()) read_ = &read<int64_t>;
        else need(false, "counts are int32, int64 or float64.");
    }

    // Lines first .. last - 1
    std::vector<double> lines(int64_t first, int64_t last) const { return read_(data_, first * n_classes, last * n_classes); }

private:
    const void* data_;
    std::vector<double> (*read_)(const void*, int64_t, int64_t) = nullptr;

    template <typename T>
    static std::vector<double> read(const void* data, int64_t first, int64_t last) {
        const T* cells = static_cast<const T*>(data);
        return std::vector<double>(cells + first, cells + last);
    }
};

}  // namespace bayeskit::automatic
