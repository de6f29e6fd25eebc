// Loops over boxes: a dense table (the tile) against an operand that has some of its axes.
//
// A tile is contiguous, outermost axis first. An operand has one stride an axis, 0 where it lacks the axis. Axes that
// walk together are merged when the loop is planned, so most loops have one or two axes left. A cell is one double,
// or a pack of doubles: one lane a row when many rows go through the same tree.
#pragma once
#include <cstdint>
#include <vector>

#include "parallel.hpp"

namespace bayeskit {

constexpr int LANES = 8;

struct Pack {
    double lane[LANES];
};

BAYESKIT_INLINE void put(double& a, double b) { a = b; }
BAYESKIT_INLINE void times(double& a, double b) { a *= b; }
BAYESKIT_INLINE void plus(double& a, double b) { a += b; }
BAYESKIT_INLINE void raise(double& a, double b) { a = a < b ? b : a; }
BAYESKIT_INLINE void put(Pack& a, double b) {
    for (int k = 0; k < LANES; ++k) a.lane[k] = b;
}
BAYESKIT_INLINE void put(Pack& a, const Pack& b) { a = b; }
BAYESKIT_INLINE void times(Pack& a, double b) {
    for (int k = 0; k < LANES; ++k) a.lane[k] *= b;
}
BAYESKIT_INLINE void times(Pack& a, const Pack& b) {
    for (int k = 0; k < LANES; ++k) a.lane[k] *= b.lane[k];
}
BAYESKIT_INLINE void plus(Pack& a, const Pack& b) {
    for (int k = 0; k < LANES; ++k) a.lane[k] += b.lane[k];
}
BAYESKIT_INLINE void raise(Pack& a, const Pack& b) {
    for (int k = 0; k < LANES; ++k) a.lane[k] = a.lane[k] < b.lane[k] ? b.lane[k] : a.lane[k];
}

struct Axis {
    int64_t n;
    int64_t stride;  // of the operand
};

enum class Do { put, times, plus, raise };

// Two innermost axes; N0 > 0 is the length of the inner one, known when compiled.
template <Do what, int N0, typename V, typename F>
BAYESKIT_INLINE void inner(V* __restrict tile, F* __restrict operand, Axis outer, Axis axis) {
    const int64_t n0 = N0 > 0 ? N0 : axis.n;
    if constexpr (what == Do::plus && N0 > 0) {
        // The same few cells take every block: kept in registers meanwhile.
        if (axis.stride == 1 && outer.stride == 0) {
            F sum[N0];
            for (int i = 0; i < N0; ++i) sum[i] = operand[i];
            for (int64_t j = 0; j < outer.n; ++j, tile += N0)
                for (int i = 0; i < N0; ++i) plus(sum[i], tile[i]);
            for (int i = 0; i < N0; ++i) operand[i] = sum[i];
            return;
        }
    }
    for (int64_t j = 0; j < outer.n; ++j, tile += n0, operand += outer.stride) {
        if (axis.stride == 0) {
            if constexpr (what == Do::put || what == Do::times) {
                const F x = *operand;
                for (int64_t i = 0; i < n0; ++i) {
                    if constexpr (what == Do::put) put(tile[i], x);
                    else times(tile[i], x);
                }
            } else {
                F x = *operand;
                for (int64_t i = 0; i < n0; ++i) {
                    if constexpr (what == Do::plus) plus(x, tile[i]);
                    else raise(x, tile[i]);
                }
                *operand = x;
            }
        } else if (axis.stride == 1) {
            for (int64_t i = 0; i < n0; ++i) {
                if constexpr (what == Do::put) put(tile[i], operand[i]);
                else if constexpr (what == Do::times) times(tile[i], operand[i]);
                else if constexpr (what == Do::plus) plus(operand[i], tile[i]);
                else raise(operand[i], tile[i]);
            }
        } else {
            for (int64_t i = 0; i < n0; ++i) {
                if constexpr (what == Do::put) put(tile[i], operand[i * axis.stride]);
                else if constexpr (what == Do::times) times(tile[i], operand[i * axis.stride]);
                else if constexpr (what == Do::plus) plus(operand[i * axis.stride], tile[i]);
                else raise(operand[i * axis.stride], tile[i]);
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

template <Do what, typename V, typename F>
BAYESKIT_INLINE void box(V* tile, F* operand, const Axis* axes, int n_axes) {
    // Axes are padded to at least two, so the odometer runs over the others.
    const int outer = n_axes - 2;
    const Axis second = axes[outer], first = axes[outer + 1];
    const int64_t block = second.n * first.n;
    int64_t steps = 1;
    for (int a = 0; a < outer; ++a) steps *= axes[a].n;
    int64_t index[64] = {0};
    for (int64_t step = 0;; tile += block) {
        bool summed = false;
        if constexpr (what == Do::plus && sizeof(V) == sizeof(double)) {
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

void box_put(double* tile, const double* operand, const Axis* axes, int n_axes);
void box_times(double* tile, const double* operand, const Axis* axes, int n_axes);
void box_plus(const double* tile, double* operand, const Axis* axes, int n_axes);
void box_raise(const double* tile, double* operand, const Axis* axes, int n_axes);
void box_put(Pack* tile, const double* operand, const Axis* axes, int n_axes);
void box_times(Pack* tile, const double* operand, const Axis* axes, int n_axes);
void box_times(Pack* tile, const Pack* operand, const Axis* axes, int n_axes);
void box_plus(const Pack* tile, Pack* operand, const Axis* axes, int n_axes);
void box_raise(const Pack* tile, Pack* operand, const Axis* axes, int n_axes);

// Merges axes that walk together and pads to two: appends to `axes` and returns how many.
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

}  // namespace bayeskit
