// A table with one row of numbers per word (or feature) and one column per class: rows times values are added up.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/codes.hpp"
#include "base/column.hpp"
#include "table/vocabulary.hpp"

namespace bayeskit::score {

// The sums of one row stay in registers while its words are gone through.
template <int quads, bool ones>
BAYESKIT_INLINE void add_quads(const double* rows, int64_t lanes, const uint32_t* index, const double* value, size_t n,
                               bool finite, double* sum) {
    constexpr size_t AHEAD = 12;
    Quad total[quads];
    BAYESKIT_UNROLL
    for (int q = 0; q < quads; ++q) total[q] = read_quad(sum + QUAD * q);
    for (size_t k = 0; k < n; ++k) {
        if (k + AHEAD < n) {
            const double* soon = rows + static_cast<int64_t>(index[k + AHEAD]) * lanes;
            for (int c = 0; c < QUAD * quads; c += 8) table::prefetch(soon + c);
        }
        const double* row = rows + static_cast<int64_t>(index[k]) * lanes;
        if constexpr (ones) {
            BAYESKIT_UNROLL
            for (int q = 0; q < quads; ++q) total[q] = total[q] + read_quad(row + QUAD * q);
        } else {
            if (!finite && value[k] == 0.0) continue;
            const Quad x = quad_of(value[k]);
            BAYESKIT_UNROLL
            for (int q = 0; q < quads; ++q) total[q] = total[q] + x * read_quad(row + QUAD * q);
        }
    }
    BAYESKIT_UNROLL
    for (int q = 0; q < quads; ++q) std::memcpy(sum + QUAD * q, &total[q], sizeof(Quad));
}

template <bool ones>
BAYESKIT_INLINE void add_lanes(const double* rows, int64_t lanes, const uint32_t* index, const double* value, size_t n,
                               bool finite, double* sum) {
    int64_t begin = 0;
    for (; begin + 5 * QUAD <= lanes; begin += 5 * QUAD)
        add_quads<5, ones>(rows + begin, lanes, index, value, n, finite, sum + begin);
    switch ((lanes - begin) / QUAD) {
        case 1: add_quads<1, ones>(rows + begin, lanes, index, value, n, finite, sum + begin); break;
        case 2: add_quads<2, ones>(rows + begin, lanes, index, value, n, finite, sum + begin); break;
        case 3: add_quads<3, ones>(rows + begin, lanes, index, value, n, finite, sum + begin); break;
        case 4: add_quads<4, ones>(rows + begin, lanes, index, value, n, finite, sum + begin); break;
        default: break;
    }
}

// Without values, each row is added once.
BAYESKIT_SIMD static void add_linear_rows(const double* rows, int64_t lanes, const uint32_t* index, const double* value,
                                          size_t n, bool finite, double* sum) {
    if (value) add_lanes<false>(rows, lanes, index, value, n, finite, sum);
    else add_lanes<true>(rows, lanes, index, nullptr, n, finite, sum);
}

class LinearRows {
public:
    explicit LinearRows(const Array& table) {
        if (table.ndim() != 2 || type_of(table) != Type::f64)
            throw std::invalid_argument("the table must be float64 with one row per word.");
        n_rows_ = table.shape(0);
        n_classes_ = table.shape(1);
        lanes_ = quad_lanes_for(static_cast<int64_t>(n_classes_));
        rows_.resize(n_rows_ * lanes_);
        const auto* from = static_cast<const double*>(table.data());
        for (size_t r = 0; r < n_rows_; ++r)
            for (size_t c = 0; c < n_classes_; ++c) {
                const double x = from[r * table.stride(0) + c * table.stride(1)];
                rows_[r * lanes_ + c] = x;
                finite_ = finite_ && x > -INFINITY;
            }
    }

    // scale[c] · (row[w] + column[c]) where a word has no cell of its own; those that have one come in compressed rows.
    LinearRows(const std::vector<double>& row, const std::vector<double>& column, const std::vector<double>& scale,
               const std::vector<int64_t>& pointer, const std::vector<int64_t>& classes, const std::vector<double>& cells)
        : n_rows_(row.size()), n_classes_(column.size()), lanes_(quad_lanes_for(static_cast<int64_t>(column.size()))) {
        if (scale.size() != n_classes_ || pointer.size() != n_rows_ + 1 || pointer[0] != 0 ||
            classes.size() != cells.size() || pointer[n_rows_] != static_cast<int64_t>(cells.size()))
            throw std::invalid_argument("the parts of the table do not fit together.");
        rows_.resize(n_rows_ * lanes_);
        for (size_t r = 0; r < n_rows_; ++r) {
            double* out = rows_.data() + r * lanes_;
            for (size_t c = 0; c < n_classes_; ++c) out[c] = scale[c] * (row[r] + column[c]);
            if (pointer[r] > pointer[r + 1]) throw std::invalid_argument("row pointers must rise.");
            for (int64_t k = pointer[r]; k < pointer[r + 1]; ++k) {
                if (classes[k] < 0 || classes[k] >= static_cast<int64_t>(n_classes_))
                    throw std::invalid_argument("a class code is out of range.");
                out[classes[k]] = cells[k];
            }
            for (size_t c = 0; c < n_classes_; ++c) finite_ = finite_ && out[c] > -INFINITY;
        }
    }

    const double* row(size_t r) const { return rows_.data() + r * lanes_; }
    size_t n_rows() const { return n_rows_; }
    size_t n_classes() const { return n_classes_; }
    size_t lanes() const { return lanes_; }

    // sum[c] += Σ value[k] · row[index[k]][c], or each row once; a value of zero adds nothing, even to −∞.
    void add(const uint32_t* index, const double* value, size_t n, double* sum) const {
        add_linear_rows(rows_.data(), lanes_, index, value, n, finite_, sum);
    }

private:
    size_t n_rows_ = 0, n_classes_ = 0;
    int64_t lanes_ = 0;
    bool finite_ = true;
    LargeVector<double> rows_;
};

}  // namespace bayeskit::score
