// Weight, mean and scatter of each numeric column within each class, missing cells left out.
#include <algorithm>
#include <limits>
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/codes.hpp"
#include "counts/moments.hpp"
#include "kernels.hpp"

namespace bayeskit::counts {
namespace {

constexpr int64_t CHUNK_ROWS = 1 << 15;    // merged in order, so the sums do not depend on the number of threads
constexpr int64_t TILE_BYTES = 128 << 10;  // read twice: first to look for missing cells, then, from the cache, to be added
constexpr double NONE = std::numeric_limits<double>::quiet_NaN();

// Sums of the differences from a pivot and of their squares, each with what rounding took off it. [class][feature], the
// features padded to whole quads.
//
// The pivot is a value of the cell's own rows. So a cell of one value has exactly that mean and no scatter, and the squares
// about the pivot are at most n + 1 times the squares about the mean: few of the digits are lost when that is subtracted.
struct Sums {
    int64_t width;
    std::vector<double> weight, weight_low, pivot, sum, sum_low, square, square_low;
    std::vector<uint8_t> has_pivots;  // of each class
    Sums(int64_t d, int64_t n_classes) : width((d + QUAD - 1) / QUAD * QUAD), has_pivots(n_classes) {
        for (auto* part : {&weight, &weight_low, &sum, &sum_low, &square, &square_low}) part->resize(width * n_classes);
        pivot.resize(width * n_classes, NONE);
    }
};

struct Tile {
    std::vector<double> copy, tail, weights;  // the tail: the last columns of each row, padded to a quad
    std::vector<const double*> rows, tail_rows, in_order;
    std::vector<uint32_t> classes;
    std::vector<int64_t> ends;  // of each class among the rows that are in order
    Tile(int64_t n, int64_t copied) : copy(n * copied), tail(QUAD * n), weights(n), rows(n), tail_rows(n), in_order(n), classes(n) {
        for (int64_t i = 0; i < n; ++i) tail_rows[i] = tail.data() + QUAD * i;
    }
};

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
    Quad opposite;  // of the pivot
    Exact weight, sum, square;
    BAYESKIT_INLINE Block(const Sums& s, int64_t at)
        : opposite(quad_of(0.0) - read_quad(s.pivot.data() + at)),
          weight{read_quad(s.weight.data() + at), read_quad(s.weight_low.data() + at)},
          sum{read_quad(s.sum.data() + at), read_quad(s.sum_low.data() + at)},
          square{read_quad(s.square.data() + at), read_quad(s.square_low.data() + at)} {}

    // A missing cell has no difference; where all cells so far are missing, the pivot is too.
    template <bool weighted, bool missing>
    BAYESKIT_INLINE void add(const Quad& cell, const Quad& once) {
        const Quad zero = quad_of(0.0);
        Quad delta = cell + opposite, delta_low = sum_error(cell, opposite, delta);
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

    BAYESKIT_INLINE void write(Sums& s, int64_t at, bool missing) const {
        if (missing) {
            write_quad(s.weight.data() + at, weight.high);
            write_quad(s.weight_low.data() + at, weight.low);
        }
        write_quad(s.sum.data() + at, sum.high);
        write_quad(s.sum_low.data() + at, sum.low);
        write_quad(s.square.data() + at, square.high);
        write_quad(s.square_low.data() + at, square.low);
    }
};

// Columns of the rows of one class, whose sums stay in registers while the rows go by: eight at a time, since the sums of
// four wait for each other, then four. `tail` are the same rows from the first column on that begins no whole quad.
template <bool weighted, bool missing>
BAYESKIT_INLINE void add_columns(const double* const* rows, const double* const* tail, const double* w, int64_t n, int64_t d,
                                 Sums& sums, int64_t at) {
    const int64_t whole = d / QUAD * QUAD;
    int64_t j = 0;
    for (; j + 2 * QUAD <= whole; j += 2 * QUAD) {
        Block first(sums, at + j), second(sums, at + j + QUAD);
        for (int64_t i = 0; i < n; ++i) {
            const Quad once = quad_of(weighted ? w[i] : 1.0);
            first.add<weighted, missing>(read_quad(rows[i] + j), once);
            second.add<weighted, missing>(read_quad(rows[i] + j + QUAD), once);
        }
        first.write(sums, at + j, missing);
        second.write(sums, at + j + QUAD, missing);
    }
    for (; j < d; j += QUAD) {
        const double* const* from = j < whole ? rows : tail;
        Block block(sums, at + j);
        for (int64_t i = 0; i < n; ++i)
            block.add<weighted, missing>(read_quad(from[i] + (j < whole ? j : 0)), quad_of(weighted ? w[i] : 1.0));
        block.write(sums, at + j, missing);
    }
}

BAYESKIT_SIMD void add_rows(const double* const* rows, const double* const* tail, const double* w, int64_t n, int64_t d,
                            Sums& sums, int64_t at, bool missing) {
    if (w)
        missing ? add_columns<true, true>(rows, tail, w, n, d, sums, at)
                : add_columns<true, false>(rows, tail, w, n, d, sums, at);
    else
        missing ? add_columns<false, true>(rows, tail, w, n, d, sums, at)
                : add_columns<false, false>(rows, tail, w, n, d, sums, at);
}

// Zero where every cell is a finite number, NaN where one is missing or infinite.
BAYESKIT_SIMD double find_special(const double* const* rows, int64_t n, int64_t d) {
    Quad found = quad_of(0.0);
    double rest = 0.0;
    for (int64_t i = 0; i < n; ++i) {
        int64_t j = 0;
        for (; j + QUAD <= d; j += QUAD) found = found + read_quad(rows[i] + j) * quad_of(0.0);
        for (; j < d; ++j) rest += rows[i][j] * 0.0;
    }
    double lanes[QUAD];
    write_quad(lanes, found);
    return rest + lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

// Gives each cell the first number of its class as its pivot. Returns false when there are cells without a pivot still.
bool set_pivots(const double* x, int64_t d, double* pivot) {
    bool all = true;
    for (int64_t j = 0; j < d; ++j) {
        if (pivot[j] != pivot[j]) pivot[j] = x[j];
        all = all && pivot[j] == pivot[j];
    }
    return all;
}

// Puts the rows of each class together, in their order, with their weights and the tails of their columns.
void sort_by_class(Tile& tile, const double* w, int64_t n, int64_t d, int64_t n_classes) {
    tile.ends.assign(n_classes + 1, 0);
    for (int64_t i = 0; i < n; ++i) ++tile.ends[tile.classes[i] + 1];
    for (int64_t c = 0; c < n_classes; ++c) tile.ends[c + 1] += tile.ends[c];
    const int64_t whole = d / QUAD * QUAD;
    for (int64_t i = 0; i < n; ++i) {
        const int64_t to = tile.ends[tile.classes[i]]++;  // what begins a class ends it when all of its rows are in
        tile.in_order[to] = tile.rows[i];
        if (w) tile.weights[to] = w[i];
        if (whole < d) std::copy(tile.rows[i] + whole, tile.rows[i] + d, tile.tail.data() + QUAD * to);
    }
}

// Adds the rows of a tile; returns false at an infinite number.
bool add_tile(Tile& tile, const double* w, int64_t n, int64_t d, Sums& sums) {
    const int64_t n_classes = static_cast<int64_t>(sums.has_pivots.size());
    const bool whole = find_special(tile.rows.data(), n, d) == 0.0;
    for (int64_t i = 0; i < n && !whole; ++i)
        for (int64_t j = 0; j < d; ++j)
            if (std::isinf(tile.rows[i][j])) return false;
    sort_by_class(tile, w, n, d, n_classes);
    for (int64_t c = 0; c < n_classes; ++c) {
        const int64_t first = c ? tile.ends[c - 1] : 0, rows = tile.ends[c] - first, at = c * sums.width;
        for (int64_t i = 0; i < rows && !sums.has_pivots[c]; ++i)
            sums.has_pivots[c] = set_pivots(tile.in_order[first + i], d, sums.pivot.data() + at);
        const double* weights = w ? tile.weights.data() + first : nullptr;
        if (rows) add_rows(&tile.in_order[first], &tile.tail_rows[first], weights, rows, d, sums, at, !whole);
        if (!whole || !rows) continue;  // missing cells are weighed one by one
        DoubleDouble total{static_cast<double>(w ? 0 : rows), 0.0};
        for (int64_t i = 0; i < rows && w; ++i) total = total + DoubleDouble{weights[i], 0.0};
        for (int64_t k = at; k < at + d; ++k) {
            const DoubleDouble sum = DoubleDouble{sums.weight[k], sums.weight_low[k]} + total;
            sums.weight[k] = sum.hi;
            sums.weight_low[k] = sum.lo;
        }
    }
    return true;
}

Moment finished(const Sums& sums, int64_t k) {
    const DoubleDouble weight = two_sum(sums.weight[k], sums.weight_low[k]);
    if (!(weight.hi > 0)) return {};
    const DoubleDouble sum = two_sum(sums.sum[k], sums.sum_low[k]), square = two_sum(sums.square[k], sums.square_low[k]);
    const DoubleDouble shift = sum / weight, scatter = square - sum * shift;
    const DoubleDouble mean = DoubleDouble{sums.pivot[k], 0.0} + shift;
    return {weight, mean, scatter.hi <= 0 ? DoubleDouble{} : scatter};
}

// (6, n_features, n_classes): weight, mean, scatter and what each of them lacks; or None when a number is infinite.
nb::object count_moments(nb::object source, Array classes, std::optional<Array> weight, int64_t n_classes,
                         int n_threads) {
    const Table table = table_of(source);
    const Classes y(classes);
    const int64_t d = static_cast<int64_t>(table.columns.size()), n = table.n_rows, cells = n_classes * d;
    y.check(d ? n : y.n, n_classes);
    const double* w = nullptr;
    if (weight) {
        if (weight->ndim() != 1 || type_of(*weight) != Type::f64 || (n > 1 && weight->stride(0) != 1) ||
            static_cast<int64_t>(weight->shape(0)) != y.n)
            throw std::invalid_argument("weights must be one contiguous float64 a row.");
        w = static_cast<const double*>(weight->data());
    }
    Owned<double> out({MOMENT_PARTS, static_cast<size_t>(d), static_cast<size_t>(n_classes)}, true);
    bool finite = true;
    {
        nb::gil_scoped_release release;
        const int64_t n_chunks = d ? (n + CHUNK_ROWS - 1) / CHUNK_ROWS : 0;
        const int64_t tile_rows = std::clamp<int64_t>(TILE_BYTES / std::max<int64_t>(1, 8 * d), 16, 1024);
        const bool in_place = table.row_major && table.columns[0].type == Type::f64;
        std::vector<Sums> parts(n_chunks, Sums(0, 0));
        std::vector<uint8_t> good(n_chunks, 1);
        parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int) {
            Sums total(d, n_classes);
            Tile tile(tile_rows, in_place ? 0 : d);
            const int64_t end = std::min(n, (chunk + 1) * CHUNK_ROWS);
            for (int64_t begin = chunk * CHUNK_ROWS; begin < end && good[chunk]; begin += tile_rows) {
                const int64_t rows = std::min(tile_rows, end - begin);
                if (in_place) {
                    for (int64_t i = 0; i < rows; ++i)
                        tile.rows[i] = reinterpret_cast<const double*>(table.columns[0].data +
                                                                       (begin + i) * table.columns[0].stride);
                } else {
                    for (int64_t j = 0; j < d; ++j) read_doubles(table.columns[j], begin, rows, tile.copy.data() + j, d);
                    for (int64_t i = 0; i < rows; ++i) tile.rows[i] = tile.copy.data() + i * d;
                }
                y.read(begin, begin + rows, tile.classes.data());
                good[chunk] = add_tile(tile, w ? w + begin : nullptr, rows, d, total);
            }
            parts[chunk] = std::move(total);
        });
        for (int64_t chunk = 0; chunk < n_chunks; ++chunk) finite = finite && good[chunk];
        for (int64_t c = 0; c < n_classes && finite; ++c)
            for (int64_t j = 0; j < d; ++j) {
                Moment all;
                for (const Sums& part : parts) all = merged(all, finished(part, c * part.width + j));
                put_moment(out.data, cells, j * n_classes + c, all);
            }
    }
    return finite ? out.to_numpy() : nb::none();
}

// Moments of the same shape, each contiguous (6, n_features, n_classes).
using Parts = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

int64_t cells_of(const Parts& a, const Parts& b) {
    for (int axis = 0; axis < 3; ++axis)
        if (a.shape(axis) != b.shape(axis)) throw std::invalid_argument("moments must have one shape.");
    if (a.shape(0) != MOMENT_PARTS) throw std::invalid_argument("moments have six parts.");
    return static_cast<int64_t>(a.shape(1) * a.shape(2));
}

nb::object add_moments(Parts a, Parts b) {
    const int64_t cells = cells_of(a, b);
    Owned<double> out({MOMENT_PARTS, a.shape(1), a.shape(2)});
    for (int64_t k = 0; k < cells; ++k)
        put_moment(out.data, cells, k, merged(moment_at(a.data(), cells, k), moment_at(b.data(), cells, k)));
    return out.to_numpy();
}

// The moments that are left; or None and what would fall below zero: 1 a weight, 2 a scatter.
nb::tuple subtract_moments(Parts a, Parts b) {
    const int64_t cells = cells_of(a, b);
    Owned<double> out({MOMENT_PARTS, a.shape(1), a.shape(2)});
    for (int64_t k = 0; k < cells; ++k) {
        Moment rest;
        const Rest state = without(moment_at(a.data(), cells, k), moment_at(b.data(), cells, k), rest);
        if (state != Rest::fits) return nb::make_tuple(nb::none(), static_cast<int>(state));
        put_moment(out.data, cells, k, rest);
    }
    return nb::make_tuple(out.to_numpy(), 0);
}

}  // namespace

void bind_count_moments(nb::module_& m) {
    using namespace nb::literals;
    m.def("count_moments", &count_moments, "table"_a, "y"_a, "weight"_a.none(), "n_classes"_a, "n_threads"_a);
    m.def("add_moments", &add_moments, "a"_a, "b"_a);
    m.def("subtract_moments", &subtract_moments, "a"_a, "b"_a);
}

}  // namespace bayeskit::counts
