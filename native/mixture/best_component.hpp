// The best component of each row, for k-means and the like: densities are compared in registers and never stored.
#pragma once
#include <limits>

#include "mixture/gaussian_loops.hpp"

namespace bayeskit::mixture {

BAYESKIT_INLINE Quad where_larger(const Quad& a, const Quad& b, const Quad& then, const Quad& otherwise) {
#if defined(__GNUC__)
    return a > b ? then : otherwise;
#else
    Quad chosen;
    for (int k = 0; k < QUAD; ++k) chosen.lane[k] = a.lane[k] > b.lane[k] ? then.lane[k] : otherwise.lane[k];
    return chosen;
#endif
}

// Components with diagonal spreads as the rows of one pattern see them.
struct Diagonal {
    const double *constant, *mean, *inverse;  // (k,), (k, m), (k, m)
    int64_t k, m;
};

// Compares `pair` components from c on with the best so far, for `quads` times four rows. Two components at once use each
// cell twice while it is in a register.
template <int quads, int pair, bool common>
BAYESKIT_INLINE void compare_strip(const double* x, int64_t stride, const Diagonal& components, int64_t c, Quad* peak,
                                   Quad* label) {
    Quad sum[pair][quads];
    for (int p = 0; p < pair; ++p)
        for (int q = 0; q < quads; ++q) sum[p][q] = quad_of(0.0);
    const double *mean = components.mean + c * components.m, *inverse = components.inverse + c * components.m;
    for (int64_t a = 0; a < components.m; ++a, x += stride) {
        Quad mu[pair], scale[pair];
        for (int p = 0; p < pair; ++p) {
            mu[p] = quad_of(mean[p * components.m + a]);
            scale[p] = quad_of(inverse[p * components.m + a]);
        }
        BAYESKIT_UNROLL
        for (int q = 0; q < quads; ++q) {
            const Quad cell = read_quad(x + q * QUAD);
            BAYESKIT_UNROLL
            for (int p = 0; p < pair; ++p) {
                const Quad t = cell - mu[p];
                sum[p][q] = common ? sum[p][q] + t * t : sum[p][q] + t * (t * scale[p]);
            }
        }
    }
    for (int p = 0; p < pair; ++p) {
        const Quad half = quad_of(common && components.m ? 0.5 * inverse[p * components.m] : 0.5), constant = quad_of(components.constant[c + p]),
                   number = quad_of(static_cast<double>(c + p));
        BAYESKIT_UNROLL
        for (int q = 0; q < quads; ++q) {
            const Quad log = constant - half * sum[p][q];
            label[q] = where_larger(log, peak[q], number, label[q]);
            peak[q] = where_larger(log, peak[q], log, peak[q]);
        }
    }
}

// The same strip of the next tile, which lies behind this one, begins its way to the second-level cache: comparing takes
// about as long as reading, and without this one would wait for the other.
BAYESKIT_INLINE void ask_for_next(const double* x, int64_t stride, int64_t m, int quads) {
#if defined(__GNUC__)
    for (int64_t a = m; a < 2 * m; ++a)
        for (int q = 0; q < quads; q += 2) __builtin_prefetch(x + a * stride + q * QUAD, 0, 1);
#else
    (void)x, (void)stride, (void)m, (void)quads;
#endif
}

template <int quads, bool common>
BAYESKIT_INLINE void best_strip(const double* x, int64_t stride, const Diagonal& components, double* peak, double* label) {
    Quad best[quads], number[quads];
    for (int q = 0; q < quads; ++q) {
        best[q] = quad_of(-std::numeric_limits<double>::infinity());
        number[q] = quad_of(0.0);
    }
    ask_for_next(x, stride, components.m, quads);
    int64_t c = 0;
    for (; c + 2 <= components.k; c += 2) compare_strip<quads, 2, common>(x, stride, components, c, best, number);
    if (c < components.k) compare_strip<quads, 1, common>(x, stride, components, c, best, number);
    for (int q = 0; q < quads; ++q) {
        write_quad(peak + q * QUAD, best[q]);
        write_quad(label + q * QUAD, number[q]);
    }
}

template <bool common>
BAYESKIT_INLINE void best_strips(const double* x, int64_t stride, const Diagonal& components, double* peak, double* label) {
    int64_t i = 0;
    for (; i + 4 * QUAD <= stride; i += 4 * QUAD) best_strip<4, common>(x + i, stride, components, peak + i, label + i);
    for (; i < stride; i += QUAD) best_strip<1, common>(x + i, stride, components, peak + i, label + i);
}

// Per row the largest log P(x, c) and its component, as a double; of equal ones the first.
BAYESKIT_SIMD static void best_component(const double* x, int64_t stride, const Diagonal& components, double* peak,
                                         double* label) {
    bool common = true;  // one variance for all columns of a component
    for (int64_t c = 0; c < components.k; ++c)
        for (int64_t a = 1; a < components.m; ++a) common = common && components.inverse[c * components.m + a] == components.inverse[c * components.m];
    if (common) best_strips<true>(x, stride, components, peak, label);
    else best_strips<false>(x, stride, components, peak, label);
}

// The rows of a tile are added to their component: first (k, m) and, where `scatter`, second (k, m), about the means. A
// row costs the same for any number of components.
template <bool scatter>
BAYESKIT_INLINE void add_rows_to_best(const double* x, int64_t stride, int64_t n, const Diagonal& components,
                                      const double* label, const double* weight, double* total, double* first,
                                      double* second) {
    for (int64_t i = 0; i < n; ++i) {
        const int64_t c = static_cast<int64_t>(label[i]), at = c * components.m;
        const double w = weight[i];
        const double *cell = x + i, *mean = components.mean + at;
        double *one = first + at, *two = second + at;
        total[c] += w;
        for (int64_t a = 0; a < components.m; ++a) {
            const double t = cell[a * stride] - mean[a], wt = w * t;
            one[a] += wt;
            if (scatter) two[a] += wt * t;
        }
    }
}

BAYESKIT_SIMD static void add_to_best(const double* x, int64_t stride, int64_t n, const Diagonal& components,
                                      const double* label, const double* weight, double* total, double* first,
                                      double* second, bool scatter) {
    if (scatter) add_rows_to_best<true>(x, stride, n, components, label, weight, total, first, second);
    else add_rows_to_best<false>(x, stride, n, components, label, weight, total, first, second);
}

}  // namespace bayeskit::mixture
