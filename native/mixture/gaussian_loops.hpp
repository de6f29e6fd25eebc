// The inner loops of Gaussian mixtures, four rows side by side.
#pragma once
#include <cstdint>

#include "base/exponential.hpp"

namespace bayeskit::mixture {

BAYESKIT_INLINE double sum_of(const Quad& value) {
    double lane[QUAD];
    write_quad(lane, value);
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

// With `common`, all columns have the variance of the first one, and one product per row is enough.
template <int quads, bool common>
BAYESKIT_INLINE void diagonal_strip(const double* x, int64_t stride, int64_t m, const double* mean,
                                    const double* inverse, double constant, double* out) {
    Quad sum[quads];
    for (int q = 0; q < quads; ++q) sum[q] = quad_of(0.0);
    for (int64_t a = 0; a < m; ++a, x += stride) {
        const Quad mu = quad_of(mean[a]), scale = quad_of(inverse[a]);
        BAYESKIT_UNROLL
        for (int q = 0; q < quads; ++q) {
            const Quad t = read_quad(x + q * QUAD) - mu;
            sum[q] = common ? sum[q] + t * t : sum[q] + t * (t * scale);
        }
    }
    const Quad half = quad_of(common && m ? 0.5 * inverse[0] : 0.5);
    for (int q = 0; q < quads; ++q) write_quad(out + q * QUAD, quad_of(constant) - half * sum[q]);
}

template <bool common>
BAYESKIT_INLINE void diagonal_strips(const double* x, int64_t stride, int64_t m, const double* mean,
                                     const double* inverse, double constant, double* out) {
    int64_t i = 0;
    for (; i + 4 * QUAD <= stride; i += 4 * QUAD)
        diagonal_strip<4, common>(x + i, stride, m, mean, inverse, constant, out + i);
    for (; i < stride; i += QUAD) diagonal_strip<1, common>(x + i, stride, m, mean, inverse, constant, out + i);
}

// out[i] = constant - ½ Σ_a (x[a][i] - mean[a])² inverse[a]
BAYESKIT_SIMD static void diagonal_density(const double* x, int64_t stride, int64_t m, const double* mean,
                                           const double* inverse, double constant, double* out) {
    bool common = true;
    for (int64_t a = 1; a < m; ++a) common = common && inverse[a] == inverse[0];
    if (common) diagonal_strips<true>(x, stride, m, mean, inverse, constant, out);
    else diagonal_strips<false>(x, stride, m, mean, inverse, constant, out);
}

template <int quads>
BAYESKIT_INLINE void full_strip(const double* diff, int64_t stride, int64_t m, const double* whiten, double constant,
                                double* out) {
    Quad sum[quads];
    for (int q = 0; q < quads; ++q) sum[q] = quad_of(0.0);
    for (int64_t a = 0; a < m; ++a) {
        Quad z[quads];
        for (int q = 0; q < quads; ++q) z[q] = quad_of(0.0);
        const double* row = whiten + a * m;
        for (int64_t b = 0; b <= a; ++b) {
            const Quad factor = quad_of(row[b]);
            const double* at = diff + b * stride;
            BAYESKIT_UNROLL
            for (int q = 0; q < quads; ++q) z[q] = z[q] + factor * read_quad(at + q * QUAD);
        }
        for (int q = 0; q < quads; ++q) sum[q] = sum[q] + z[q] * z[q];
    }
    for (int q = 0; q < quads; ++q) write_quad(out + q * QUAD, quad_of(constant) - quad_of(0.5) * sum[q]);
}

// out[i] = constant - ½ |L⁻¹ diff[.][i]|²
BAYESKIT_SIMD static void full_density(const double* diff, int64_t stride, int64_t m, const double* whiten,
                                       double constant, double* out) {
    int64_t i = 0;
    for (; i + 4 * QUAD <= stride; i += 4 * QUAD) full_strip<4>(diff + i, stride, m, whiten, constant, out + i);
    for (; i < stride; i += QUAD) full_strip<1>(diff + i, stride, m, whiten, constant, out + i);
}

// diff[a] = x[a] - mean[a]
BAYESKIT_SIMD static void subtract_means(const double* __restrict x, int64_t stride, int64_t m,
                                         const double* __restrict mean, double* __restrict diff) {
    for (int64_t a = 0; a < m; ++a)
        for (int64_t i = 0; i < stride; ++i) diff[a * stride + i] = x[a * stride + i] - mean[a];
}

// log P(x, c) of k components, one line each, becomes the share of each component in each row, times the row's weight.
BAYESKIT_SIMD static void shares(double* __restrict lines, int64_t k, int64_t stride, const double* __restrict weight,
                                 double* __restrict peak, double* __restrict total) {
    for (int64_t i = 0; i < stride; ++i) peak[i] = lines[i];
    for (int64_t c = 1; c < k; ++c) {
        const double* line = lines + c * stride;
        for (int64_t i = 0; i < stride; ++i) peak[i] = line[i] > peak[i] ? line[i] : peak[i];
    }
    for (int64_t i = 0; i < stride; ++i) total[i] = 0.0;
    for (int64_t c = 0; c < k; ++c) {
        double* line = lines + c * stride;
        for (int64_t i = 0; i < stride; i += QUAD) {
            const Quad share = exp_or_zero(read_quad(line + i) - read_quad(peak + i));
            write_quad(line + i, share);
            write_quad(total + i, read_quad(total + i) + share);
        }
    }
    for (int64_t c = 0; c < k; ++c) {
        double* line = lines + c * stride;
        for (int64_t i = 0; i < stride; ++i) line[i] *= weight[i] / total[i];
    }
}

// The best component of each row: its log P(x, c) and its number, as a double.
BAYESKIT_SIMD static void best_of(const double* __restrict lines, int64_t k, int64_t stride, double* __restrict peak,
                                  double* __restrict label) {
    for (int64_t i = 0; i < stride; ++i) {
        peak[i] = lines[i];
        label[i] = 0.0;
    }
    for (int64_t c = 1; c < k; ++c) {
        const double* line = lines + c * stride;
        const double number = static_cast<double>(c);
        for (int64_t i = 0; i < stride; ++i) {
            label[i] = line[i] > peak[i] ? number : label[i];
            peak[i] = line[i] > peak[i] ? line[i] : peak[i];
        }
    }
}

BAYESKIT_SIMD static double sum_line(const double* line, int64_t stride) {
    Quad sum = quad_of(0.0);
    for (int64_t i = 0; i < stride; i += QUAD) sum = sum + read_quad(line + i);
    return sum_of(sum);
}

// first[a] += Σ_i share[i] t and second[a] += Σ_i share[i] t², with t = x[a][i] - mean[a]
BAYESKIT_SIMD static void add_moments(const double* x, int64_t stride, int64_t m, const double* mean,
                                      const double* share, double* first, double* second) {
    for (int64_t a = 0; a < m; ++a, x += stride) {
        const Quad mu = quad_of(mean[a]);
        Quad one = quad_of(0.0), two = quad_of(0.0);
        for (int64_t i = 0; i < stride; i += QUAD) {
            const Quad t = read_quad(x + i) - mu;
            const Quad rt = read_quad(share + i) * t;
            one = one + rt;
            two = two + rt * t;
        }
        first[a] += sum_of(one);
        second[a] += sum_of(two);
    }
}

// first[a] += Σ_i share[i] diff[a][i] and, for b <= a, second[a][b] += Σ_i share[i] diff[a][i] diff[b][i]
BAYESKIT_SIMD static void add_products(const double* diff, int64_t stride, int64_t d, const double* share,
                                       double* scaled, double* first, double* second) {
    for (int64_t a = 0; a < d; ++a) {
        Quad one = quad_of(0.0);
        for (int64_t i = 0; i < stride; i += QUAD) {
            const Quad t = read_quad(share + i) * read_quad(diff + a * stride + i);
            write_quad(scaled + i, t);
            one = one + t;
        }
        first[a] += sum_of(one);
        int64_t b = 0;
        for (; b + 4 <= a + 1; b += 4) {
            Quad sum[4] = {quad_of(0.0), quad_of(0.0), quad_of(0.0), quad_of(0.0)};
            const double* at = diff + b * stride;
            for (int64_t i = 0; i < stride; i += QUAD) {
                const Quad t = read_quad(scaled + i);
                BAYESKIT_UNROLL
                for (int q = 0; q < 4; ++q) sum[q] = sum[q] + t * read_quad(at + q * stride + i);
            }
            for (int q = 0; q < 4; ++q) second[a * d + b + q] += sum_of(sum[q]);
        }
        for (; b <= a; ++b) {
            Quad sum = quad_of(0.0);
            for (int64_t i = 0; i < stride; i += QUAD)
                sum = sum + read_quad(scaled + i) * read_quad(diff + b * stride + i);
            second[a * d + b] += sum_of(sum);
        }
    }
}

// diff[a] = Σ_b guess[a][b] known[b]: what the known cells say of the missing ones
BAYESKIT_SIMD static void regress(const double* __restrict known, int64_t stride, int64_t m,
                                  const double* __restrict guess, double* __restrict diff) {
    for (int64_t i = 0; i < stride; ++i) diff[i] = 0.0;
    for (int64_t b = 0; b < m; ++b)
        for (int64_t i = 0; i < stride; ++i) diff[i] += guess[b] * known[b * stride + i];
}

}  // namespace bayeskit::mixture
