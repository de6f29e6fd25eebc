// What all kernels of the automatic classifier read: a table of byte codes, one row of bytes per column of the table.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "base/column.hpp"
#include "base/parallel.hpp"

namespace bayeskit::automatic {

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Cube = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// A cell that nobody has asked for yet; it differs from a cell that was recorded as missing, which is level 0.
constexpr uint8_t HIDDEN = 255;
constexpr int64_t ROWS_AT_ONCE = 1024;

template <typename T>
std::vector<T> copy_of(const Vector<T>& array) {
    return std::vector<T>(array.data(), array.data() + array.shape(0));
}

inline void need(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

// Every code is a level of its column, or hidden: the kernels look levels up without asking again.
inline void check_codes(const Matrix<uint8_t>& codes, const std::vector<int64_t>& level_at) {
    const int64_t n = static_cast<int64_t>(codes.shape(0)), rows = static_cast<int64_t>(codes.shape(1));
    need(n + 1 == static_cast<int64_t>(level_at.size()), "the codes have another number of columns than the model.");
    for (int64_t j = 0; j < n; ++j) {
        const uint8_t* column = codes.data() + j * rows;
        const uint8_t size = static_cast<uint8_t>(level_at[j + 1] - level_at[j]);
        uint8_t bad = 0;
        for (int64_t r = 0; r < rows; ++r) bad |= static_cast<uint8_t>(column[r] >= size) & static_cast<uint8_t>(column[r] != HIDDEN);
        need(!bad, "a code is out of range.");
    }
}

inline void check_classes(const Vector<uint32_t>& y, int64_t rows, int64_t n_classes) {
    need(static_cast<int64_t>(y.shape(0)) == rows, "y and the table differ in length.");
    for (int64_t r = 0; r < rows; ++r) need(y.data()[r] < n_classes, "a class code is out of range.");
}

inline void check_level_at(const std::vector<int64_t>& level_at) {
    need(!level_at.empty() && level_at[0] == 0, "levels must begin at 0.");
    for (size_t j = 1; j < level_at.size(); ++j) {
        const int64_t size = level_at[j] - level_at[j - 1];
        need(size >= 1 && size <= HIDDEN, "a column has between 1 and 255 levels.");
    }
}

inline int64_t n_chunks_of(int64_t rows) { return (rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE; }

}  // namespace bayeskit::automatic
