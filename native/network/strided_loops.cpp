// The loops over tiles, compiled once for wide and once for plain CPUs.
#include "network/strided_loops.hpp"

#include <limits>

namespace bayeskit::network {

BAYESKIT_SIMD void assign_cells(double* tile, const double* operand, const Axis* axes, int n_axes) {
    loop<Operation::assign>(tile, operand, axes, n_axes);
}
BAYESKIT_SIMD void multiply_cells(double* tile, const double* operand, const Axis* axes, int n_axes) {
    loop<Operation::multiply>(tile, operand, axes, n_axes);
}
BAYESKIT_SIMD void add_cells(const double* tile, double* operand, const Axis* axes, int n_axes) {
    loop<Operation::add>(tile, operand, axes, n_axes);
}
BAYESKIT_SIMD void maximise_cells(const double* tile, double* operand, const Axis* axes, int n_axes) {
    loop<Operation::maximum>(tile, operand, axes, n_axes);
}
BAYESKIT_SIMD void assign_cells(Pack* tile, const double* operand, const Axis* axes, int n_axes) {
    loop<Operation::assign>(tile, operand, axes, n_axes);
}
BAYESKIT_SIMD void multiply_cells(Pack* tile, const double* operand, const Axis* axes, int n_axes) {
    loop<Operation::multiply>(tile, operand, axes, n_axes);
}
BAYESKIT_SIMD void multiply_cells(Pack* tile, const Pack* operand, const Axis* axes, int n_axes) {
    loop<Operation::multiply>(tile, operand, axes, n_axes);
}
BAYESKIT_SIMD void add_cells(const Pack* tile, Pack* operand, const Axis* axes, int n_axes) {
    loop<Operation::add>(tile, operand, axes, n_axes);
}
BAYESKIT_SIMD void maximise_cells(const Pack* tile, Pack* operand, const Axis* axes, int n_axes) {
    loop<Operation::maximum>(tile, operand, axes, n_axes);
}
void assign_cells(WideDouble* tile, const double* operand, const Axis* axes, int n_axes) {
    loop<Operation::assign>(tile, operand, axes, n_axes);
}
void multiply_cells(WideDouble* tile, const double* operand, const Axis* axes, int n_axes) {
    loop<Operation::multiply>(tile, operand, axes, n_axes);
}
void multiply_cells(WideDouble* tile, const WideDouble* operand, const Axis* axes, int n_axes) {
    loop<Operation::multiply>(tile, operand, axes, n_axes);
}
void add_cells(const WideDouble* tile, WideDouble* operand, const Axis* axes, int n_axes) {
    loop<Operation::add>(tile, operand, axes, n_axes);
}
void maximise_cells(const WideDouble* tile, WideDouble* operand, const Axis* axes, int n_axes) {
    loop<Operation::maximum>(tile, operand, axes, n_axes);
}
BAYESKIT_SIMD void lane_extremes(const double* cells, int64_t n_rows, double* largest, double* smallest) {
    constexpr double none = std::numeric_limits<double>::infinity();
    double top[PACK], low[PACK];
    for (int k = 0; k < PACK; ++k) {
        top[k] = 0.0;
        low[k] = none;
    }
    for (int64_t i = 0; i < n_rows; ++i, cells += PACK)
        for (int k = 0; k < PACK; ++k) {
            const double x = cells[k], positive = x > 0.0 ? x : none;
            top[k] = top[k] < x ? x : top[k];
            low[k] = positive < low[k] ? positive : low[k];
        }
    for (int k = 0; k < PACK; ++k) {
        largest[k] = top[k];
        smallest[k] = low[k];
    }
}

}  // namespace bayeskit::network
