// The products of many rows at once, parent after parent.
#pragma once
#include "score/average_model.hpp"

namespace bayeskit::score::average {

// A child x_k of the parent at hand: row r reads its counts at cell[r] = a * u[r] + b * v[r] + c * level[r] of the table,
// where u and v are the parent's levels.
template <typename Count>
struct Child {
    const Count* table;
    uint32_t a, b, c;
    const uint32_t* level;
    uint32_t* cell;
    double pseudo;
};

// The rows of a block: the parent's levels, and what is to be taken from each count, (n, lanes), or null.
struct Rows {
    int64_t n, lanes;
    const uint32_t *u, *v;
    const double* mine;
};

// product *= (count + pseudo-count) of each child, for `tile` rows from `row` on and `quads` quads of classes from lane `at`
// on. All of them stay in registers while the children pass by.
template <int quads, int tile, bool less, typename Count>
BAYESKIT_INLINE void multiply_tile(const Child<Count>* child, const Child<Count>* last, const Rows& rows, int64_t row,
                                   int64_t at, double* product) {
    const int64_t lanes = rows.lanes;
    const double* mine = less ? rows.mine + row * lanes + at : nullptr;
    product += row * lanes + at;
    Quad acc[tile][quads];
    for (int t = 0; t < tile; ++t)
        for (int q = 0; q < quads; ++q) acc[t][q] = read_quad(product + t * lanes + q * QUAD);
    for (; child != last; ++child) {
        const Quad alpha = quad_of(child->pseudo);
        BAYESKIT_UNROLL
        for (int t = 0; t < tile; ++t) {
            const Count* counts = child->table + child->cell[row + t] + at;
            for (int q = 0; q < quads; ++q) {
                Quad n = read_quad(counts + q * QUAD);
                if (less) n = positive(n - read_quad(mine + t * lanes + q * QUAD));
                acc[t][q] = acc[t][q] * (n + alpha);
            }
        }
    }
    for (int t = 0; t < tile; ++t)
        for (int q = 0; q < quads; ++q) *reinterpret_cast<Quad*>(product + t * lanes + q * QUAD) = acc[t][q];
}

template <int quads, bool less, typename Count>
BAYESKIT_INLINE void multiply_quads(const Child<Count>* child, const Child<Count>* last, const Rows& rows, int64_t at,
                                    double* product) {
    constexpr int TILE = 8 / quads;
    int64_t row = 0;
    for (; row + TILE <= rows.n; row += TILE) multiply_tile<quads, TILE, less>(child, last, rows, row, at, product);
    for (; row < rows.n; ++row) multiply_tile<quads, 1, less>(child, last, rows, row, at, product);
}

template <bool less, typename Count>
BAYESKIT_INLINE void multiply_lanes(const std::vector<Child<Count>>& children, const Rows& rows,
                                    int64_t factors, double* product, int64_t* exponent) {
    std::fill(product, product + rows.n * rows.lanes, 1.0);
    std::fill(exponent, exponent + rows.n * rows.lanes, 0);
    for (const Child<Count>& child : children)
        for (int64_t r = 0; r < rows.n; ++r)
            child.cell[r] = child.a * rows.u[r] + child.b * rows.v[r] + child.c * child.level[r];
    const Child<Count>*child = children.data(), *end = child + children.size();
    while (child != end) {
        const Child<Count>* last = child + std::min<int64_t>(factors, end - child);
        int64_t at = 0;
        for (; at + 4 * QUAD <= rows.lanes; at += 4 * QUAD) multiply_quads<4, less>(child, last, rows, at, product);
        for (; at + 2 * QUAD <= rows.lanes; at += 2 * QUAD) multiply_quads<2, less>(child, last, rows, at, product);
        if (at < rows.lanes) multiply_quads<1, less>(child, last, rows, at, product);
        normalise(product, exponent, rows.n * rows.lanes);
        child = last;
    }
}

// One of the two for each type of count, since a template cannot have versions for several CPUs everywhere.
static BAYESKIT_SIMD void multiply(const std::vector<Child<int32_t>>& children, const Rows& rows,
                            int64_t factors, double* product, int64_t* exponent) {
    if (rows.mine) multiply_lanes<true>(children, rows, factors, product, exponent);
    else multiply_lanes<false>(children, rows, factors, product, exponent);
}

static BAYESKIT_SIMD void multiply(const std::vector<Child<double>>& children, const Rows& rows,
                            int64_t factors, double* product, int64_t* exponent) {
    if (rows.mine) multiply_lanes<true>(children, rows, factors, product, exponent);
    else multiply_lanes<false>(children, rows, factors, product, exponent);
}

BAYESKIT_INLINE double power_of_two(int64_t exponent) {  // 2 ** exponent, or 0 where that is below the doubles
    const int64_t bits = (std::max<int64_t>(exponent, -1023) + 1023) << 52;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// sum[r, c] * 2 ** peak[r, c] += product * the factor of the row's parent cell (none where that is -1) * scale[c]. Classes
// of which something is taken away have the factors `less` and the scale `less_scale`.
static BAYESKIT_SIMD void add_terms(const Rows& rows, const int64_t* cells, const Factors& whole, const Factors* less,
                             const double* scale, const double* less_scale, double* product, int64_t* exponent,
                             double* sum, int64_t* peak) {
    const int64_t lanes = rows.lanes;
    for (int64_t r = 0; r < rows.n; ++r) {
        if (cells[r] < 0) continue;
        const int64_t row = r * lanes, cell = cells[r] * lanes;
        for (int64_t c = 0; c < lanes; ++c) {
            product[row + c] *= whole.mantissa[cell + c];
            exponent[row + c] += whole.exponent[cell + c];
        }
        for (int64_t c = 0; less && c < lanes; ++c) {
            if (rows.mine[row + c] == 0.0) continue;
            product[row + c] *= less->mantissa[cell + c] / whole.mantissa[cell + c];
            exponent[row + c] += less->exponent[cell + c] - whole.exponent[cell + c];
        }
        for (int64_t c = 0; c < lanes; ++c)
            product[row + c] *= less && rows.mine[row + c] != 0.0 ? less_scale[c] : scale[c];
        normalise(product + row, exponent + row, lanes);
        for (int64_t c = 0; c < lanes; ++c) {
            const int64_t top = std::max(peak[row + c], exponent[row + c]);
            sum[row + c] = sum[row + c] * power_of_two(peak[row + c] - top) +
                           product[row + c] * power_of_two(exponent[row + c] - top);
            peak[row + c] = top;
        }
    }
}

}  // namespace bayeskit::score::average
