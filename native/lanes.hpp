// Rows of a table, one for each class and padded to whole lanes, added to the sums of many rows.
#pragma once
#include <cstdint>

#include "parallel.hpp"

namespace bayeskit {

inline int64_t lanes_for(int64_t n_classes) { return n_classes <= 2 ? 2 : (n_classes + 3) / 4 * 4; }

template <int lanes>
BAYESKIT_INLINE void add_rows_lanes(double* acc, const double* table, const int64_t* cell, int64_t n) {
    for (int64_t r = 0; r < n; ++r, acc += lanes) {
        const double* row = table + cell[r] * lanes;
        // All lanes are read before one is written: the compiler need not fear that they overlap, and adds them at once.
        double sum[lanes];
        for (int k = 0; k < lanes; ++k) sum[k] = acc[k] + row[k];
        for (int k = 0; k < lanes; ++k) acc[k] = sum[k];
    }
}

// acc[r] += table[cell[r]] for n rows of `lanes` numbers
BAYESKIT_INLINE void add_rows(double* acc, const double* table, const int64_t* cell, int64_t n, int64_t lanes) {
    if (lanes == 2) return add_rows_lanes<2>(acc, table, cell, n);
    if (lanes == 4) return add_rows_lanes<4>(acc, table, cell, n);
    if (lanes == 8) return add_rows_lanes<8>(acc, table, cell, n);
    for (int64_t r = 0; r < n; ++r) {
        const double* row = table + cell[r] * lanes;
        for (int64_t k = 0; k < lanes; ++k) acc[r * lanes + k] += row[k];
    }
}

}  // namespace bayeskit
