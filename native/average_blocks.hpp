// The products of many rows at once.
#pragma once
#include "average.hpp"

namespace bayeskit::average {

// Rows that are known throughout are scored in blocks, pair after pair, so that a pair's table is read from memory once
// for all of them.
constexpr int64_t BLOCK = 32;

template <int fixed, typename Count>
BAYESKIT_INLINE void multiply_pairs_lanes(const Averager<Count>& m, const uint32_t* level, const double* alpha,
                                          int64_t rows, double* product, int64_t* exponent, int64_t runtime) {
    const int64_t lanes = fixed ? fixed : runtime, d = m.d, K = m.n_classes, width = BLOCK * lanes;
    std::fill(product, product + d * width, 1.0);
    std::fill(exponent, exponent + d * width, 0);
    int64_t pair = 0;
    for (int64_t i = 0; i < d; ++i) {
        const uint32_t* x = level + i * BLOCK;
        const double* x_alpha = alpha + i * BLOCK;
        double* mine = product + i * width;
        if (i % FACTORS == 0) normalise(mine, exponent + i * width, (d - i) * width);
        for (int64_t j = i + 1; j < d; ++j, ++pair) {
            const uint32_t* y = level + j * BLOCK;
            const double* y_alpha = alpha + j * BLOCK;
            double* other = product + j * width;
            const Count* table = m.pairs.first[pair];
            const int64_t size = m.sizes[j];
            for (int64_t r = 0; r < rows; ++r) {
                const Count* counts = table + (x[r] * size + y[r]) * K;
                Quad *here = reinterpret_cast<Quad*>(mine + r * lanes), *there = reinterpret_cast<Quad*>(other + r * lanes);
                for (int64_t g = 0; g < lanes / LANES; ++g) {
                    const Quad n = read_quad(counts + g * LANES);
                    here[g] = here[g] * (n + quad_of(y_alpha[r]));
                    there[g] = there[g] * (n + quad_of(x_alpha[r]));
                }
            }
            if ((j - i) % FACTORS == 0) normalise(mine, exponent + i * width, width);
        }
        normalise(mine, exponent + i * width, width);
    }
}

// product[i, j] for i < j: three parent sets take their factor from one cell of a triple
template <int fixed, typename Count>
BAYESKIT_INLINE void multiply_triples_lanes(const Averager<Count>& m, const uint32_t* level, const double* alpha,
                                            int64_t rows, double* product, int64_t* exponent, int64_t runtime) {
    const int64_t lanes = fixed ? fixed : runtime, d = m.d, K = m.n_classes, width = BLOCK * lanes;
    const int64_t n_pairs = d * (d - 1) / 2;
    std::fill(product, product + n_pairs * width, 1.0);
    std::fill(exponent, exponent + n_pairs * width, 0);
    int64_t triple = 0;
    uint32_t cell[BLOCK];
    for (int64_t i = 0; i < d; ++i) {
        const uint32_t* x = level + i * BLOCK;
        const double* x_alpha = alpha + i * BLOCK;
        if (i % FACTORS == 0 && i + 1 < d) {
            const int64_t first = m.pair(i, i + 1) * width;
            normalise(product + first, exponent + first, n_pairs * width - first);
        }
        for (int64_t j = i + 1; j + 1 < d; ++j) {
            const uint32_t* y = level + j * BLOCK;
            const double* y_alpha = alpha + j * BLOCK;
            double *ij = product + m.pair(i, j) * width, *ik = ij + width, *jk = product + m.pair(j, j + 1) * width;
            if ((j - i) % FACTORS == 0) normalise(ij, exponent + m.pair(i, j) * width, (d - j) * width);
            for (int64_t r = 0; r < rows; ++r) cell[r] = x[r] * static_cast<uint32_t>(m.sizes[j]) + y[r];
            for (int64_t k = j + 1; k < d; ++k, ++triple, ik += width, jk += width) {
                const uint32_t* z = level + k * BLOCK;
                const double* z_alpha = alpha + k * BLOCK;
                const Count* table = m.triples.first[triple];
                const int64_t size = m.sizes[k];
                for (int64_t r = 0; r < rows; ++r) {
                    const Count* counts = table + (cell[r] * size + z[r]) * K;
                    Quad *a = reinterpret_cast<Quad*>(ij + r * lanes), *b = reinterpret_cast<Quad*>(ik + r * lanes),
                         *c = reinterpret_cast<Quad*>(jk + r * lanes);
                    for (int64_t g = 0; g < lanes / LANES; ++g) {
                        const Quad n = read_quad(counts + g * LANES);
                        a[g] = a[g] * (n + quad_of(z_alpha[r]));
                        b[g] = b[g] * (n + quad_of(y_alpha[r]));
                        c[g] = c[g] * (n + quad_of(x_alpha[r]));
                    }
                }
                if ((k - j) % FACTORS == 0) normalise(ij, exponent + m.pair(i, j) * width, width);
            }
        }
    }
    normalise(product, exponent, n_pairs * width);
}

template <int fixed, typename Count>
BAYESKIT_INLINE void multiply_lanes(const Averager<Count>& m, const uint32_t* level, const double* alpha, int64_t rows,
                                    double* product, int64_t* exponent, int64_t lanes) {
    if (m.order == 1) multiply_pairs_lanes<fixed>(m, level, alpha, rows, product, exponent, lanes);
    else multiply_triples_lanes<fixed>(m, level, alpha, rows, product, exponent, lanes);
}

// One of the two for each type of count, since a template cannot have versions for several CPUs everywhere.
BAYESKIT_SIMD void multiply(const Averager<int32_t>& m, const uint32_t* level, const double* alpha, int64_t rows,
                            double* product, int64_t* exponent) {
    if (m.lanes == LANES) multiply_lanes<LANES>(m, level, alpha, rows, product, exponent, LANES);
    else multiply_lanes<0>(m, level, alpha, rows, product, exponent, m.lanes);
}

BAYESKIT_SIMD void multiply(const Averager<double>& m, const uint32_t* level, const double* alpha, int64_t rows,
                            double* product, int64_t* exponent) {
    if (m.lanes == LANES) multiply_lanes<LANES>(m, level, alpha, rows, product, exponent, LANES);
    else multiply_lanes<0>(m, level, alpha, rows, product, exponent, m.lanes);
}

// sum[c] * 2 ** peak[c] = the sum over the parents in `cells` (or -1) of product times factor
BAYESKIT_SIMD void sum_parents(const double* factor, const int64_t* factor_exponent, const int64_t* cells,
                               int64_t n_parents, int64_t lanes, double* product, int64_t* exponent, int64_t width,
                               double* sum, int64_t* peak) {
    std::fill(sum, sum + lanes, 0.0);
    std::fill(peak, peak + lanes, INT64_MIN / 4);
    for (int64_t p = 0; p < n_parents; ++p) {
        if (cells[p] < 0) continue;
        for (int64_t c = 0; c < lanes; ++c) {
            product[p * width + c] *= factor[cells[p] * lanes + c];
            exponent[p * width + c] += factor_exponent[cells[p] * lanes + c];
            peak[c] = std::max(peak[c], exponent[p * width + c]);
        }
    }
    for (int64_t p = 0; p < n_parents; ++p) {
        if (cells[p] < 0) continue;
        for (int64_t c = 0; c < lanes; ++c) {
            const int64_t bits = (std::max<int64_t>(exponent[p * width + c] - peak[c], -1023) + 1023) << 52;
            double power;  // 2 ** (exponent - peak), or 0
            std::memcpy(&power, &bits, sizeof power);
            sum[c] += product[p * width + c] * power;
        }
    }
}

}  // namespace bayeskit::average
