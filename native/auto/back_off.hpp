// Back-off smoothing of one column in one network (a unit), from its counts:
//   P_d(x | context, c) = (n(x, context, c) + m_d P_{d-1}) / (n(context, c) + m_d), from P(x) at the root on.
#pragma once
#include "auto/networks.hpp"

namespace bayeskit::automatic {

// The m of each depth with the greatest leave-one-out log-likelihood.
void choose_back_off(const Layout& layout, int64_t unit, const double* cells, int64_t n_classes, const std::vector<double>& grid, double* m);

// log P(x | context, c) of each value of each node; 0 for a value that no row has.
void log_back_off(const Layout& layout, int64_t unit, const double* cells, int64_t n_classes, const double* m, float* out);

// log P(x | context, c) of rows that are left out of the counts themselves, the mean over some networks.
class LeftOut {
public:
    // `cells` (n_values, n_classes) and `m` (n_units, DEPTHS + 1) must outlive this.
    LeftOut(const Layout& layout, const double* cells, int64_t n_classes, const double* m, int parity, int n_threads);

    static constexpr int64_t ROWS = 256;  // at once

    // Adds the mean of column `feature` for the rows from `first` on: out[c * stride + r]. `own` is how much of each row is
    // taken out.
    void add(int64_t feature, const uint8_t* codes, int64_t n_rows, int64_t first, int64_t size, const uint32_t* y, const double* row_weight,
             float* out, int64_t stride) const;

private:
    const Layout& layout_;
    const double* cells_;
    int64_t n_classes_;
    const double* m_;
    int parity_;
    std::vector<double> total_;      // (n_nodes, n_classes)
    std::vector<int64_t> margin_at_; // (n_units + 1,)
    std::vector<double> margin_;     // how often each bin came in all classes together
};

}  // namespace bayeskit::automatic
