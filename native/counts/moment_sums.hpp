// Sums of the numbers of one class and of their squares, with twice the digits of a double, four or eight columns at a time.
//
// A source file that includes this is compiled with -ffp-contract=off, as base/double_double.hpp asks.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "base/double_double.hpp"

namespace bayeskit::counts {

constexpr double NONE = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t RUN_ROWS = 128;   // what rounding takes off is itself added up in doubles, so many times at most
constexpr int64_t BIASED_ROWS = 8;  // fewer rows do not pay for the square root and the division of a bias
constexpr double LEAST_BIAS = 0x1p-1000, LARGEST_BIAS = 0x1p+1000;
constexpr double FIRST_BIAS = 5.0;   // times the largest square: the sum of the squares is less than a quarter of the bias
constexpr double BIAS = 16.0;        // times the mean of the squares so far: room for rows four times as large as these
constexpr double NEAR_PIVOT = 0.25, EXACT_DIFFERENCE = 0.5;  // of the pivot: how far rows are from it at first, and at most

// Sums of the differences from a pivot and of their squares, each with what rounding took off it. [class][feature], the
// features padded to whole quads.
//
// The pivot is either 0 or a value of the cell's own rows, if those lie close to it. So a cell of one value has exactly that
// mean and no scatter, and little is lost when the squares about the mean are found from the squares about the pivot.
struct Sums {
    int64_t width;
    std::vector<double> weight, weight_low, pivot, sum, sum_low, square, square_low;
    std::vector<double> bias, reach;  // of the next rows: per unit of weight; how far from the pivot they may lie
    Sums(int64_t d, int64_t n_classes) : width((d + QUAD - 1) / QUAD * QUAD) {
        for (auto* part : {&weight, &weight_low, &sum, &sum_low, &square, &square_low, &bias}) part->resize(width * n_classes);
        pivot.resize(width * n_classes, NONE);
        reach.resize(width * n_classes, std::numeric_limits<double>::infinity());
        for (int64_t c = 0; c < n_classes; ++c)
            for (int64_t j = d; j < width; ++j) pivot[c * width + j] = 0.0;
    }
};

// Rows of one class from one column on.
struct Cells {
    const double* const* rows;
    int64_t n, column;
    const double* weights;  // of the rows, or nullptr
    DoubleDouble weight;    // of all rows
    uintptr_t next;         // address of what is read after these: a line of it is fetched with each row
    BAYESKIT_INLINE Quad at(int64_t i, int k) const { return read_quad(rows[i] + column + QUAD * k); }
};

BAYESKIT_INLINE bool all_known(const Quad& x) { return all_at_most(x, x); }
BAYESKIT_INLINE bool all_finite(const Quad& x) { return all_known(x * quad_of(0.0)); }

// The least and the largest number of each column, and whether a cell is infinite.
struct Range {
    double low[2 * QUAD], high[2 * QUAD];
    bool infinite;
};

template <int quads>
BAYESKIT_INLINE Range range_of(const Cells& cells) {
    constexpr double INFINITE = std::numeric_limits<double>::infinity();
    Quad low[quads], high[quads];
    BAYESKIT_UNROLL
    for (int k = 0; k < quads; ++k) low[k] = quad_of(INFINITE), high[k] = quad_of(-INFINITE);
    for (int64_t i = 0; i < cells.n; ++i) {
        BAYESKIT_UNROLL
        for (int k = 0; k < quads; ++k) {
            low[k] = lesser(cells.at(i, k), low[k]);
            high[k] = greater(cells.at(i, k), high[k]);
        }
    }
    Range range{};
    for (int k = 0; k < quads; ++k) {
        write_quad(range.low + QUAD * k, low[k]);
        write_quad(range.high + QUAD * k, high[k]);
    }
    for (int j = 0; j < QUAD * quads; ++j)
        range.infinite = range.infinite || range.low[j] == -INFINITE || range.high[j] == INFINITE;
    return range;
}

// Chooses the pivots of columns that have none yet and in which there is a number now.
template <int quads>
inline void set_pivots(const Cells& cells, const Range& range, Sums& sums, int64_t at) {
    for (int j = 0; j < QUAD * quads; ++j) {
        double& pivot = sums.pivot[at + j];
        if (pivot == pivot || range.low[j] > range.high[j]) continue;
        int64_t i = 0;
        while (cells.rows[i][cells.column + j] != cells.rows[i][cells.column + j]) ++i;
        const double value = cells.rows[i][cells.column + j];
        pivot = range.high[j] - range.low[j] <= NEAR_PIVOT * std::abs(value) ? value : 0.0;
        const double farthest = std::max(range.high[j] - pivot, pivot - range.low[j]);
        sums.bias[at + j] = FIRST_BIAS * farthest * farthest;
        if (pivot != 0.0) sums.reach[at + j] = EXACT_DIFFERENCE * std::abs(pivot);
    }
}

// A number and what rounding took off it, for four columns.
struct Exact {
    Quad high, low;
    BAYESKIT_INLINE void add(const Quad& term, const Quad& term_low) {
        const Quad after = high + term;
        low = low + (sum_error(high, term, after) + term_low);
        high = after;
    }
};

// What is summed of four columns of one class.
struct Block {
    Quad pivot;
    Exact weight, sum, square;
    Block() = default;
    BAYESKIT_INLINE Block(const Sums& s, int64_t at)
        : pivot(read_quad(s.pivot.data() + at)),
          weight{read_quad(s.weight.data() + at), read_quad(s.weight_low.data() + at)},
          sum{read_quad(s.sum.data() + at), read_quad(s.sum_low.data() + at)},
          square{read_quad(s.square.data() + at), read_quad(s.square_low.data() + at)} {}

    // A missing cell has no difference; where all cells so far are missing, the pivot is too.
    template <bool weighted, bool missing>
    BAYESKIT_INLINE void add(const Quad& cell, const Quad& once) {
        const Quad zero = quad_of(0.0);
        Quad delta = cell - pivot, delta_low = difference_error(cell, pivot, delta);
        if (missing) {
            delta = where_known(cell, delta, zero);
            delta_low = where_known(cell, delta_low, zero);
            const Quad known = where_known(cell, once, zero);
            if (weighted)
                weight.add(known, zero);
            else
                weight.high = weight.high + known;
        }
        if (weighted) {
            const Quad part = once * delta, part_low = fused(once, delta, zero - part) + once * delta_low;
            sum.add(part, part_low);
            const Quad squared = part * delta;
            square.add(squared, fused(part, delta, zero - squared) + (part * delta_low + part_low * delta));
        } else {
            sum.add(delta, delta_low);
            const Quad squared = delta * delta;
            square.add(squared, fused(delta + delta, delta_low, fused(delta, delta, zero - squared)));
        }
    }

    // The squares of the next rows are likely as large as those so far.
    BAYESKIT_INLINE void write(Sums& s, int64_t at) const {
        write_quad(s.weight.data() + at, weight.high);
        write_quad(s.weight_low.data() + at, weight.low);
        write_quad(s.sum.data() + at, sum.high);
        write_quad(s.sum_low.data() + at, sum.low);
        write_quad(s.square.data() + at, square.high);
        write_quad(s.square_low.data() + at, square.low);
        write_quad(s.bias.data() + at, quad_of(BIAS) * square.high / weight.high);
    }
};

// Rows without a missing cell, at half the operations: what rounding takes off a + b takes two subtractions if a is the
// larger one (Dekker), so the sums begin at a bias that is larger than what is added.
//
// The sum of the weighted squares can only rise. If in the end it is at most a quarter of its bias T above that, then so were
// all on the way: w d^2 <= T / 4 in each row, and all sums of w d are at most half the root of W T, where W is the weight of
// the rows (Cauchy and Schwarz). A missing or an infinite number fails the comparison. If each number is within a factor of
// two of its pivot, or that is 0, then its difference from it is exact (Sterbenz).
//
// Where all rows so far are equal to the pivot, T is the least bias, and nothing but zeros may be added to it: of smaller
// numbers the lower digits would be lost.
//
// Returns false, and adds nothing, when that does not hold.
template <int quads, bool weighted>
BAYESKIT_INLINE bool add_biased(const Cells& cells, Sums& sums, int64_t at) {
    const Quad total = quad_of(cells.weight.hi), zero = quad_of(0.0);
    Quad pivot[quads], farthest[quads], sum_bias[quads], square_bias[quads];
    Quad sum[quads], sum_low[quads], square[quads], square_low[quads];
    bool fits = true;
    BAYESKIT_UNROLL
    for (int k = 0; k < quads; ++k) {
        pivot[k] = read_quad(sums.pivot.data() + at + QUAD * k);
        square_bias[k] = square[k] = greater(total * read_quad(sums.bias.data() + at + QUAD * k), quad_of(LEAST_BIAS));
        sum_bias[k] = sum[k] = quad_of(2.0) * square_root(total * square_bias[k]);
        farthest[k] = sum_low[k] = square_low[k] = zero;
        fits = fits && all_at_most(square_bias[k], quad_of(LARGEST_BIAS));
    }
    if (!fits) return false;
    for (int64_t i = 0; i < cells.n; ++i) {
        fetch_line(cells.next + LINE * i);
        const Quad once = quad_of(weighted ? cells.weights[i] : 1.0);
        BAYESKIT_UNROLL
        for (int k = 0; k < quads; ++k) {
            const Quad delta = cells.at(i, k) - pivot[k], part = weighted ? once * delta : delta;
            farthest[k] = greater(magnitude(delta), farthest[k]);
            const Quad next = weighted ? fused(once, delta, sum[k]) : sum[k] + delta;
            const Quad next_square = fused(part, delta, square[k]);
            Quad square_rest = fused(part, delta, square[k] - next_square);
            if (weighted) square_rest = fused(fused(once, delta, zero - part), delta, square_rest);
            sum_low[k] = sum_low[k] + (weighted ? fused(once, delta, sum[k] - next) : delta - (next - sum[k]));
            square_low[k] = square_low[k] + square_rest;
            sum[k] = next;
            square[k] = next_square;
        }
    }
    BAYESKIT_UNROLL
    for (int k = 0; k < quads; ++k) {
        sum[k] = sum[k] - sum_bias[k];
        square[k] = square[k] - square_bias[k];
        const Quad lost = where_at_most(square_bias[k], quad_of(LEAST_BIAS), sum[k] + sum_low[k], zero);
        fits = fits && all_at_most(quad_of(4.0) * square[k], square_bias[k]) && all_at_most(magnitude(lost), zero) &&
               all_at_most(farthest[k], read_quad(sums.reach.data() + at + QUAD * k));
    }
    if (!fits) return false;
    BAYESKIT_UNROLL
    for (int k = 0; k < quads; ++k) {
        Block block(sums, at + QUAD * k);
        block.weight.add(total, quad_of(cells.weight.lo));
        block.sum.add(sum[k], sum_low[k]);
        block.square.add(square[k], square_low[k]);
        block.write(sums, at + QUAD * k);
    }
    return true;
}

// Any rows; their sums stay in registers while the rows go by. Returns false, and adds nothing, when cells are missing that
// should not be.
template <int quads, bool weighted, bool missing>
BAYESKIT_INLINE bool add_any(const Cells& cells, Sums& sums, int64_t at) {
    Block blocks[quads];
    BAYESKIT_UNROLL
    for (int k = 0; k < quads; ++k) blocks[k] = Block(sums, at + QUAD * k);
    for (int64_t i = 0; i < cells.n; ++i) {
        fetch_line(cells.next + LINE * i);
        const Quad once = quad_of(weighted ? cells.weights[i] : 1.0);
        BAYESKIT_UNROLL
        for (int k = 0; k < quads; ++k) blocks[k].template add<weighted, missing>(cells.at(i, k), once);
    }
    bool finite = true;
    BAYESKIT_UNROLL
    for (int k = 0; k < quads; ++k) finite = finite && all_finite(blocks[k].sum.high);
    if (!missing && !finite) return false;
    BAYESKIT_UNROLL
    for (int k = 0; k < quads; ++k) {
        if (!missing) blocks[k].weight.add(quad_of(cells.weight.hi), quad_of(cells.weight.lo));
        blocks[k].write(sums, at + QUAD * k);
        // Rows with missing cells seldom come alone: the next are taken for such too.
        if (missing) write_quad(sums.bias.data() + at + QUAD * k, quad_of(NONE));
    }
    return finite || !range_of<quads>(cells).infinite;
}

// Adds rows of one class in four or eight columns; returns false at an infinite number.
template <int quads, bool weighted>
BAYESKIT_INLINE bool add_cells(const Cells& cells, Sums& sums, int64_t at) {
    bool has_pivots = true, complete = true;
    for (int k = 0; k < quads; ++k) {
        has_pivots = has_pivots && all_known(read_quad(sums.pivot.data() + at + QUAD * k));
        complete = complete && all_known(read_quad(sums.bias.data() + at + QUAD * k));
    }
    if (!has_pivots) set_pivots<quads>(cells, range_of<quads>(cells), sums, at);
    if (complete && cells.n >= BIASED_ROWS && add_biased<quads, weighted>(cells, sums, at)) return true;
    return (complete && add_any<quads, weighted, false>(cells, sums, at)) || add_any<quads, weighted, true>(cells, sums, at);
}

// Eight columns at a time, since the sums of four wait for each other, then four. `tail` are the same rows from the first
// column on that begins no whole quad.
template <bool weighted>
BAYESKIT_INLINE bool add_columns(Cells cells, const double* const* tail, int64_t d, Sums& sums, int64_t at) {
    const int64_t whole = d / QUAD * QUAD, end = at + d;
    bool finite = true;
    for (; finite && cells.column + 2 * QUAD <= whole; cells.column += 2 * QUAD, at += 2 * QUAD, cells.next += LINE * cells.n)
        finite = add_cells<2, weighted>(cells, sums, at);
    for (; finite && at < end; cells.column += QUAD, at += QUAD, cells.next += LINE * cells.n) {
        if (cells.column == whole) cells.rows = tail, cells.column = 0;
        finite = add_cells<1, weighted>(cells, sums, at);
    }
    return finite;
}

// Adds rows of one class while what begins at `next` is fetched; returns false at an infinite number.
BAYESKIT_SIMD static bool add_rows(const double* const* rows, const double* const* tail, const double* w, int64_t n, int64_t d,
                                   Sums& sums, int64_t at, uintptr_t next) {
    bool finite = true;
    for (int64_t begin = 0; begin < n && finite; begin += RUN_ROWS) {
        const int64_t run = std::min(RUN_ROWS, n - begin);
        const DoubleDouble none_or_run{static_cast<double>(w ? 0 : run), 0.0};
        Cells cells{rows + begin, run, 0, w ? w + begin : nullptr, none_or_run, next + sizeof(double) * d * begin};
        for (int64_t i = 0; i < run && w; ++i) cells.weight = cells.weight + DoubleDouble{cells.weights[i], 0.0};
        finite = w ? add_columns<true>(cells, tail + begin, d, sums, at) : add_columns<false>(cells, tail + begin, d, sums, at);
    }
    return finite;
}

}  // namespace bayeskit::counts
