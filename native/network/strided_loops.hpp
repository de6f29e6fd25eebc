// Loops over a dense table (the tile) against an operand that has some of its axes.
//
// A tile is contiguous, outermost axis first. An operand has one stride per axis, 0 where it lacks the axis. Axes whose cells
// follow each other without a gap are merged when the loop is planned, so most loops have one or two axes left. A cell is one double,
// a wide double, or a pack of doubles: one lane per row when many rows go through the same tree.
#pragma once
#include <cstdint>
#include <vector>

#include "base/simd.hpp"
#include "network/wide_double.hpp"

namespace bayeskit::network {

BAYESKIT_INLINE void assign(double& a, double b) { a = b; }
BAYESKIT_INLINE void multiply(double& a, double b) { a *= b; }
BAYESKIT_INLINE void add(double& a, double b) { a += b; }
BAYESKIT_INLINE void keep_maximum(double& a, double b) { a = a < b ? b : a; }
BAYESKIT_INLINE void assign(Pack& a, double b) {
    for (int k = 0; k < PACK; ++k) a.lane[k] = b;
}
BAYESKIT_INLINE void assign(Pack& a, const Pack& b) { a = b; }
BAYESKIT_INLINE void multiply(Pack& a, double b) {
    for (int k = 0; k < PACK; ++k) a.lane[k] *= b;
}
BAYESKIT_INLINE void multiply(Pack& a, const Pack& b) {
    for (int k = 0; k < PACK; ++k) a.lane[k] *= b.lane[k];
}
BAYESKIT_INLINE void add(Pack& a, const Pack& b) {
    for (int k = 0; k < PACK; ++k) a.lane[k] += b.lane[k];
}
BAYESKIT_INLINE void keep_maximum(Pack& a, const Pack& b) {
    for (int k = 0; k < PACK; ++k) a.lane[k] = a.lane[k] < b.lane[k] ? b.lane[k] : a.lane[k];
}

struct Axis {
    int64_t n;
    int64_t stride;  // of the operand
};

enum class Operation { assign, multiply, add, maximum };

// Two innermost axes; N0 > 0 is the length of the inner one, known when compiled.
template <Operation what, int N0, typename V, typename F>
BAYESKIT_INLINE void inner(V* __restrict tile, F* __restrict operand, Axis outer, Axis axis) {
    const int64_t n0 = N0 > 0 ? N0 : axis.n;
    if constexpr (what == Operation::add && N0 > 0) {
        // The same few cells take every block: kept in registers meanwhile.
        if (axis.stride == 1 && outer.stride == 0) {
            F sum[N0];
            for (int i = 0; i < N0; ++i) sum[i] = operand[i];
            for (int64_t j = 0; j < outer.n; ++j, tile += N0)
                for (int i = 0; i < N0; ++i) add(sum[i], tile[i]);
            for (int i = 0; i < N0; ++i) operand[i] = sum[i];
            return;
        }
    }
    for (int64_t j = 0; j < outer.n; ++j, tile += n0, operand += outer.stride) {
        if (axis.stride == 0) {
            if constexpr (what == Operation::assign || what == Operation::multiply) {
                const F x = *operand;
                for (int64_t i = 0; i < n0; ++i) {
                    if constexpr (what == Operation::assign) assign(tile[i], x);
                    else multiply(tile[i], x);
                }
            } else {
                F x = *operand;
                for (int64_t i = 0; i < n0; ++i) {
                    if constexpr (what == Operation::add) add(x, tile[i]);
                    else keep_maximum(x, tile[i]);
                }
                *operand = x;
            }
        } else if (axis.stride == 1) {
            for (int64_t i = 0; i < n0; ++i) {
                if constexpr (what == Operation::assign) assign(tile[i], operand[i]);
                else if constexpr (what == Operation::multiply) multiply(tile[i], operand[i]);
                else if constexpr (what == Operation::add) add(operand[i], tile[i]);
                else keep_maximum(operand[i], tile[i]);
            }
        } else {
            for (int64_t i = 0; i < n0; ++i) {
                if constexpr (what == Operation::assign) assign(tile[i], operand[i * axis.stride]);
                else if constexpr (what == Operation::multiply) multiply(tile[i], operand[i * axis.stride]);
                else if constexpr (what == Operation::add) add(operand[i * axis.stride], tile[i]);
                else keep_maximum(operand[i * axis.stride], tile[i]);
            }
        }
    }
}

// A long run that is summed into one cell: four partial sums, so that additions do not wait for each other.
BAYESKIT_INLINE void sum_run(const double* tile, int64_t n, double* cell) {
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a += tile[i];
        b += tile[i + 1];
        c += tile[i + 2];
        d += tile[i + 3];
    }
    for (; i < n; ++i) a += tile[i];
    *cell += (a + b) + (c + d);
}

template <Operation what, typename V, typename F>
BAYESKIT_INLINE void loop(V* tile, F* operand, const Axis* axes, int n_axes) {
    // Axes are padded to at least two, so the odometer runs over the others.
    const int outer = n_axes - 2;
    const Axis second = axes[outer], first = axes[outer + 1];
    const int64_t block = second.n * first.n;
    int64_t steps = 1;
    for (int a = 0; a < outer; ++a) steps *= axes[a].n;
    int64_t index[64] = {0};
    for (int64_t step = 0;; tile += block) {
        bool summed = false;
        if constexpr (what == Operation::add && sizeof(V) == sizeof(double)) {
            if (first.stride == 0 && first.n >= 8) {
                for (int64_t j = 0; j < second.n; ++j) sum_run(tile + j * first.n, first.n, operand + j * second.stride);
                summed = true;
            }
        }
        if (!summed) switch (first.n) {
            case 2: inner<what, 2>(tile, operand, second, first); break;
            case 3: inner<what, 3>(tile, operand, second, first); break;
            case 4: inner<what, 4>(tile, operand, second, first); break;
            default: inner<what, 0>(tile, operand, second, first);
        }
        if (++step == steps) return;
        for (int a = outer - 1;; --a) {
            operand += axes[a].stride;
            if (++index[a] < axes[a].n) break;
            operand -= axes[a].n * axes[a].stride;
            index[a] = 0;
        }
    }
}

void assign_cells(double* tile, const double* operand, const Axis* axes, int n_axes);
void multiply_cells(double* tile, const double* operand, const Axis* axes, int n_axes);
void add_cells(const double* tile, double* operand, const Axis* axes, int n_axes);
void maximise_cells(const double* tile, double* operand, const Axis* axes, int n_axes);
void assign_cells(Pack* tile, const double* operand, const Axis* axes, int n_axes);
void multiply_cells(Pack* tile, const double* operand, const Axis* axes, int n_axes);
void multiply_cells(Pack* tile, const Pack* operand, const Axis* axes, int n_axes);
void add_cells(const Pack* tile, Pack* operand, const Axis* axes, int n_axes);
void maximise_cells(const Pack* tile, Pack* operand, const Axis* axes, int n_axes);
void assign_cells(WideDouble* tile, const double* operand, const Axis* axes, int n_axes);
void multiply_cells(WideDouble* tile, const double* operand, const Axis* axes, int n_axes);
void multiply_cells(WideDouble* tile, const WideDouble* operand, const Axis* axes, int n_axes);
void add_cells(const WideDouble* tile, WideDouble* operand, const Axis* axes, int n_axes);
void maximise_cells(const WideDouble* tile, WideDouble* operand, const Axis* axes, int n_axes);
// The largest cell, and the smallest above 0, of each of the PACK columns of a table of n_rows lines.
void lane_extremes(const double* cells, int64_t n_rows, double* largest, double* smallest);

// Merges axes whose cells follow each other without a gap and pads to two: appends to `axes` and returns how many.
inline int merge_axes(const int64_t* n, const int64_t* stride, int n_axes, std::vector<Axis>& axes) {
    const size_t begin = axes.size();
    for (int a = 0; a < n_axes; ++a) {
        if (n[a] == 1) continue;
        if (axes.size() > begin && axes.back().stride == stride[a] * n[a]) axes.back() = {axes.back().n * n[a], stride[a]};
        else axes.push_back({n[a], stride[a]});
    }
    while (axes.size() < begin + 2) axes.insert(axes.begin() + static_cast<int64_t>(begin), Axis{1, 0});
    return static_cast<int>(axes.size() - begin);
}

}  // namespace bayeskit::network
