// Weight, mean and scatter of each numeric column within each class, missing cells left out.
#include <algorithm>
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/codes.hpp"
#include "counts/moment_sums.hpp"
#include "counts/moments.hpp"
#include "kernels.hpp"

namespace bayeskit::counts {
namespace {

constexpr int64_t CHUNK_ROWS = 1 << 15;    // merged in order, so the sums do not depend on the number of threads
constexpr int64_t TILE_BYTES = 128 << 10;  // fetched in the order of memory while the tile before is added class by class

struct Tile {
    std::vector<double> copy, tail, weights;  // the tail: the last columns of each row, padded to a quad
    std::vector<const double*> rows, tail_rows, in_order;
    std::vector<uint32_t> classes;
    std::vector<int64_t> ends;  // of each class among the rows that are in order
    Tile(int64_t n, int64_t copied) : copy(n * copied), tail(QUAD * n), weights(n), rows(n), tail_rows(n), in_order(n), classes(n) {
        for (int64_t i = 0; i < n; ++i) tail_rows[i] = tail.data() + QUAD * i;
    }
};

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
        for (int64_t j = whole; j < d; ++j) tile.tail[QUAD * to + j - whole] = tile.rows[i][j];
    }
}

// Adds the rows of a tile while what begins at `next` is fetched; returns false at an infinite number.
bool add_tile(Tile& tile, const double* w, int64_t n, int64_t d, int64_t n_classes, uintptr_t next, Sums& sums) {
    sort_by_class(tile, w, n, d, n_classes);
    bool finite = true;
    for (int64_t c = 0; c < n_classes && finite; ++c) {
        const int64_t first = c ? tile.ends[c - 1] : 0, rows = tile.ends[c] - first;
        const double* weights = w ? tile.weights.data() + first : nullptr;
        if (!rows) continue;
        finite = add_rows(&tile.in_order[first], &tile.tail_rows[first], weights, rows, d, sums, c * sums.width, next);
        next += sizeof(double) * d * rows;
    }
    return finite;
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
        const bool contiguous = in_place && table.columns[0].stride == static_cast<int64_t>(sizeof(double)) * d;
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
                const uintptr_t next = reinterpret_cast<uintptr_t>(tile.rows[0]) + (contiguous ? sizeof(double) * d * rows : 0);
                good[chunk] = add_tile(tile, w ? w + begin : nullptr, rows, d, n_classes, next, total);
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
