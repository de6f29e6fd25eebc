// Weight, mean and scatter of each numeric column within each class, missing cells left out.
#include <algorithm>
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "codes.hpp"
#include "kernels.hpp"

namespace bayeskit {
namespace {

constexpr int64_t CHUNK_ROWS = 1 << 15;    // merged in order, so the sums do not depend on the number of threads
constexpr int64_t TILE_BYTES = 128 << 10;  // read twice: first for the mean, then, from the cache, for the scatter

struct Moments {  // [class][feature]
    std::vector<double> weight, mean, scatter;
    explicit Moments(int64_t cells) : weight(cells), mean(cells), scatter(cells) {}
};

struct Tile {
    std::vector<double> class_weight, weight, mean, scatter, copy;
    std::vector<const double*> rows;
    std::vector<uint32_t> classes;
};

// Sums of differences from a pivot, one value of the column: a column of one value has exactly that mean and no scatter,
// where plain sums would leave rounding that looks like a variance.
BAYESKIT_SIMD void add_rows(const double* const* rows, const uint32_t* y, const double* w, int64_t n, int64_t d,
                            const double* pivot, double* sums) {
    for (int64_t i = 0; i < n; ++i) {
        const double* x = rows[i];
        double* sum = sums + y[i] * d;
        if (w) {
            const double wi = w[i];
            for (int64_t j = 0; j < d; ++j) sum[j] += wi * (x[j] - pivot[j]);
        } else {
            for (int64_t j = 0; j < d; ++j) sum[j] += x[j] - pivot[j];
        }
    }
}

BAYESKIT_SIMD void add_squares(const double* const* rows, const uint32_t* y, const double* w, int64_t n, int64_t d,
                               const double* means, double* scatters) {
    for (int64_t i = 0; i < n; ++i) {
        const double* x = rows[i];
        const double* mean = means + y[i] * d;
        double* scatter = scatters + y[i] * d;
        const double wi = w ? w[i] : 1.0;
        for (int64_t j = 0; j < d; ++j) {
            const double deviation = x[j] - mean[j];
            scatter[j] += wi * deviation * deviation;
        }
    }
}

// Chan, Golub and LeVeque (1979): moments of a union from the moments of its parts.
BAYESKIT_SIMD void merge(double* weight, double* mean, double* scatter, const double* weight_b, const double* mean_b,
                         const double* scatter_b, int64_t cells) {
    for (int64_t k = 0; k < cells; ++k) {
        const double total = weight[k] + weight_b[k];
        const double share = total > 0 ? weight_b[k] / total : 0.0;
        const double delta = mean_b[k] - mean[k];
        mean[k] = share == 1.0 ? mean_b[k] : mean[k] + delta * share;
        scatter[k] += scatter_b[k] + delta * delta * weight[k] * share;
        weight[k] = total;
    }
}

// A tile with missing cells: each cell has its own weight. Returns false at an infinite number.
bool careful(const Tile& tile, const uint32_t* y, const double* w, int64_t n, int64_t d, const double* pivot,
             double* weight, double* sum) {
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < d; ++j) {
            const double x = tile.rows[i][j];
            if (x != x) continue;
            if (std::isinf(x)) return false;
            weight[y[i] * d + j] += w ? w[i] : 1.0;
            sum[y[i] * d + j] += (w ? w[i] : 1.0) * (x - pivot[j]);
        }
    return true;
}

bool tile_moments(Tile& tile, const uint32_t* y, const double* w, int64_t n, int64_t d, int64_t n_classes,
                  const double* pivot, Moments& total) {
    const int64_t cells = n_classes * d;
    std::fill(tile.class_weight.begin(), tile.class_weight.end(), 0.0);
    std::fill(tile.mean.begin(), tile.mean.end(), 0.0);
    std::fill(tile.scatter.begin(), tile.scatter.end(), 0.0);
    for (int64_t i = 0; i < n; ++i) tile.class_weight[y[i]] += w ? w[i] : 1.0;
    add_rows(tile.rows.data(), y, w, n, d, pivot, tile.mean.data());
    double check = 0.0;  // a missing or infinite cell turns this into NaN
    for (int64_t k = 0; k < cells; ++k) check += tile.mean[k] * 0.0;
    if (check == 0.0) {
        for (int64_t c = 0; c < n_classes; ++c) {
            const double weight = tile.class_weight[c];
            const double inverse = weight > 0 ? 1.0 / weight : 0.0;
            for (int64_t j = 0; j < d; ++j) {
                tile.weight[c * d + j] = weight;
                tile.mean[c * d + j] = pivot[j] + tile.mean[c * d + j] * inverse;
            }
        }
        add_squares(tile.rows.data(), y, w, n, d, tile.mean.data(), tile.scatter.data());
    } else {
        std::fill(tile.weight.begin(), tile.weight.end(), 0.0);
        std::fill(tile.mean.begin(), tile.mean.end(), 0.0);
        if (!careful(tile, y, w, n, d, pivot, tile.weight.data(), tile.mean.data())) return false;
        for (int64_t k = 0; k < cells; ++k)
            if (tile.weight[k] > 0) tile.mean[k] = pivot[k % d] + tile.mean[k] / tile.weight[k];
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < d; ++j) {
                const double deviation = tile.rows[i][j] - tile.mean[y[i] * d + j];
                if (deviation == deviation)
                    tile.scatter[y[i] * d + j] += (w ? w[i] : 1.0) * deviation * deviation;
            }
    }
    merge(total.weight.data(), total.mean.data(), total.scatter.data(), tile.weight.data(), tile.mean.data(),
          tile.scatter.data(), cells);
    return true;
}

// The first value of each column; zero where every cell is missing.
std::vector<double> pivots(const Table& table) {
    std::vector<double> pivot(table.columns.size(), 0.0);
    for (size_t j = 0; j < pivot.size(); ++j)
        for (int64_t i = 0; i < table.n_rows; ++i) {
            double x;
            read_doubles(table.columns[j], i, 1, &x, 1);
            if (x == x) {
                pivot[j] = std::isinf(x) ? 0.0 : x;
                break;
            }
        }
    return pivot;
}

// (3, n_features, n_classes): weight, mean, scatter; or None when a number is infinite.
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
    Owned<double> out({3, static_cast<size_t>(d), static_cast<size_t>(n_classes)}, true);
    bool finite = true;
    {
        nb::gil_scoped_release release;
        const int64_t n_chunks = d ? (n + CHUNK_ROWS - 1) / CHUNK_ROWS : 0;
        const int64_t tile_rows = std::clamp<int64_t>(TILE_BYTES / std::max<int64_t>(1, 8 * d), 16, 1024);
        const bool in_place = table.row_major && table.columns[0].type == Type::f64;
        const std::vector<double> pivot = pivots(table);
        std::vector<Moments> parts(n_chunks, Moments(0));
        std::vector<uint8_t> good(n_chunks, 1);
        parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int) {
            Moments total(cells);
            Tile tile;
            tile.class_weight.resize(n_classes);
            tile.weight.resize(cells);
            tile.mean.resize(cells);
            tile.scatter.resize(cells);
            tile.rows.resize(tile_rows);
            tile.classes.resize(tile_rows);
            if (!in_place) tile.copy.resize(tile_rows * d);
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
                good[chunk] = tile_moments(tile, tile.classes.data(), w ? w + begin : nullptr, rows, d, n_classes,
                                           pivot.data(), total);
            }
            parts[chunk] = std::move(total);
        });
        Moments all(cells);
        for (int64_t chunk = 0; chunk < n_chunks; ++chunk) {
            finite = finite && good[chunk];
            merge(all.weight.data(), all.mean.data(), all.scatter.data(), parts[chunk].weight.data(),
                  parts[chunk].mean.data(), parts[chunk].scatter.data(), cells);
        }
        for (int64_t c = 0; c < n_classes; ++c)
            for (int64_t j = 0; j < d; ++j) {
                out.data[j * n_classes + c] = all.weight[c * d + j];
                out.data[(d + j) * n_classes + c] = all.mean[c * d + j];
                out.data[(2 * d + j) * n_classes + c] = all.scatter[c * d + j];
            }
    }
    return finite ? out.to_numpy() : nb::none();
}

}  // namespace

void bind_moments(nb::module_& m) {
    using namespace nb::literals;
    m.def("count_moments", &count_moments, "table"_a, "y"_a, "weight"_a.none(), "n_classes"_a, "n_threads"_a);
}

}  // namespace bayeskit
