// Products of small matrices that stay in the cache, in blocks whose sums stay in registers.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/simd.hpp"

namespace bayeskit::estimate {

// out[r][k] += Σ_i a[i·step + r·apart] · b[i·lanes + k] for `rows` r, of which `real` are there, and `quads` quads of k.
template <int rows, int quads>
BAYESKIT_INLINE void product_block(const double* a, int64_t step, int64_t apart, const double* b, int64_t lanes, int64_t n,
                                   double* out, int64_t out_lanes, int64_t real) {
    Quad sum[rows][quads];
    const double* from[rows];
    for (int r = 0; r < rows; ++r) {
        from[r] = a + std::min<int64_t>(r, real - 1) * apart;
        for (int q = 0; q < quads; ++q) sum[r][q] = quad_of(0.0);
    }
    for (int64_t i = 0; i < n; ++i) {
        Quad z[quads];
        BAYESKIT_UNROLL for (int q = 0; q < quads; ++q) z[q] = read_quad(b + i * lanes + q * QUAD);
        BAYESKIT_UNROLL for (int r = 0; r < rows; ++r) {
            const Quad x = quad_of(from[r][i * step]);
            BAYESKIT_UNROLL for (int q = 0; q < quads; ++q) sum[r][q] = sum[r][q] + x * z[q];
        }
    }
    for (int r = 0; r < rows && r < real; ++r)
        for (int q = 0; q < quads; ++q) {
            double* to = out + r * out_lanes + q * QUAD;
            write_quad(to, read_quad(to) + sum[r][q]);
        }
}

// As many sums at once as hide how long each addition takes and still fit into sixteen registers.
template <int quads>
BAYESKIT_INLINE void product_strip(const double* a, int64_t step, int64_t apart, const double* b, int64_t lanes, int64_t n,
                                   int64_t m, double* out, int64_t out_lanes) {
    constexpr int ROWS = quads <= 3 ? 4 : 2;
    for (int64_t r = 0; r < m; r += ROWS)
        product_block<ROWS, quads>(a + r * apart, step, apart, b, lanes, n, out + r * out_lanes, out_lanes, m - r);
}

// out (m, out_lanes) += a product: out[r][k] += Σ_i a[i·step + r·apart] · b[i·lanes + k] for k < width, whole quads.
BAYESKIT_SIMD static void multiply(const double* a, int64_t step, int64_t apart, const double* b, int64_t lanes, int64_t n,
                                   int64_t m, int64_t width, double* out, int64_t out_lanes) {
    for (int64_t k = 0; k < width;) {
        const int64_t left = (width - k) / QUAD;
        const int64_t quads = left <= 5 ? left : left <= 7 ? 3 : 5;  // no strip of one quad at the end
        switch (quads) {
            case 1: product_strip<1>(a, step, apart, b + k, lanes, n, m, out + k, out_lanes); break;
            case 2: product_strip<2>(a, step, apart, b + k, lanes, n, m, out + k, out_lanes); break;
            case 3: product_strip<3>(a, step, apart, b + k, lanes, n, m, out + k, out_lanes); break;
            case 4: product_strip<4>(a, step, apart, b + k, lanes, n, m, out + k, out_lanes); break;
            default: product_strip<5>(a, step, apart, b + k, lanes, n, m, out + k, out_lanes);
        }
        k += quads * QUAD;
    }
}

}  // namespace bayeskit::estimate
