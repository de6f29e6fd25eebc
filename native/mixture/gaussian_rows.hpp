// The rows of a table as Gaussian mixtures read them again and again: centred, in tiles of rows that miss the same cells.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "base/codes.hpp"

namespace bayeskit::mixture {

// A tile and the shares of its rows stay in the first-level cache for usual numbers of columns and components. Whole
// strips of 16 rows; and no power of two, at which the columns of a tile would fall onto the same few cache lines.
constexpr int64_t TILE_ROWS = 112;

// Rows that miss the same cells. Known cells lie column by column, so that a loop over rows reads one run of memory.
struct Tile {
    int64_t first;    // position of the first row in the order of `rows`
    int64_t n;        // rows
    int64_t stride;   // rows with padding to whole lanes
    int64_t cells;    // where the known cells begin, (n_known, stride)
    int64_t weights;  // where the weights begin, (stride,); padding has weight 0
    int64_t pattern;
};

// Which columns the rows of a pattern have.
struct Pattern {
    std::vector<int64_t> known, missing;
};

// Work that is handed to one thread at a time; which tiles it holds depends on the table alone.
struct Chunk {
    int64_t first_tile, last_tile;
};

struct GaussianRows {
    int64_t n_rows = 0, n_columns = 0;
    std::vector<Tile> tiles;
    std::vector<Pattern> patterns;
    std::vector<int64_t> rows;  // number of each row in the table, in the order of the tiles; empty where it is the same
    LargeVector<double> cells, weights;

    int64_t row(int64_t position) const { return rows.empty() ? position : rows[position]; }

    // Chunks of about `budget` operations, where a row takes `per_row` of them and a new pattern `per_pattern`.
    std::vector<Chunk> chunks(double per_row, double per_pattern, double budget) const {
        std::vector<Chunk> parts;
        double spent = budget;
        int64_t pattern = -1;
        for (int64_t t = 0; t < static_cast<int64_t>(tiles.size()); ++t) {
            const double fresh = tiles[t].pattern != pattern ? per_pattern : 0.0;
            const double cost = per_row * tiles[t].n + fresh;
            if (spent + cost > budget) {
                parts.push_back({t, t});
                spent = per_pattern;
            }
            parts.back().last_tile = t + 1;
            spent += cost;
            pattern = tiles[t].pattern;
        }
        return parts;
    }
};

// The numbers of a C-contiguous float64 array of this size.
inline std::vector<double> parameter_array(const Array& array, int64_t size) {
    int64_t stride = 1;
    bool fits = type_of(array) == Type::f64 && static_cast<int64_t>(array.size()) == size;
    for (size_t axis = array.ndim(); fits && axis-- > 0; stride *= static_cast<int64_t>(array.shape(axis)))
        fits = size == 0 || array.shape(axis) == 1 || array.stride(axis) == stride;
    if (!fits) throw std::invalid_argument("parameters of a mixture must be C-contiguous float64 and fit the columns.");
    const double* data = static_cast<const double*>(array.data());
    return {data, data + size};
}

// The rows without missing cells come first, in the order of the table; then pattern by pattern, as they first come.
inline std::vector<int64_t> order_by_pattern(const Table& table, std::vector<Pattern>& patterns,
                                             std::vector<int64_t>& sizes) {
    const int64_t n = table.n_rows, d = static_cast<int64_t>(table.columns.size());
    const size_t words = static_cast<size_t>((d + 63) / 64);
    std::vector<uint64_t> bits(static_cast<size_t>(n) * words, 0);
    // Block by block: the columns of a row-major table lie side by side, and are read while they are in the cache.
    constexpr int64_t BLOCK = 512;
    double column[BLOCK];
    bool any = false;
    for (int64_t begin = 0; begin < n; begin += BLOCK) {
        const int64_t rows = std::min(BLOCK, n - begin);
        for (int64_t j = 0; j < d; ++j) {
            read_doubles(table.columns[j], begin, rows, column, 1);
            bool here = false;
            for (int64_t i = 0; i < rows; ++i) here |= column[i] != column[i];
            any |= here;
            for (int64_t i = 0; here && i < rows; ++i)
                if (column[i] != column[i]) bits[(begin + i) * words + j / 64] |= uint64_t{1} << (j % 64);
        }
    }
    auto pattern_of = [&](const uint64_t* row_bits) {
        Pattern pattern;
        for (int64_t j = 0; j < d; ++j) (row_bits[j / 64] >> (j % 64) & 1 ? pattern.missing : pattern.known).push_back(j);
        return pattern;
    };
    if (!any) {
        const std::vector<uint64_t> none(words, 0);
        patterns.push_back(pattern_of(none.data()));
        sizes.push_back(n);
        return {};
    }
    std::vector<int64_t> rows(n);
    std::iota(rows.begin(), rows.end(), 0);
    auto less = [&](int64_t a, int64_t b) {
        return std::lexicographical_compare(&bits[a * words], &bits[a * words] + words, &bits[b * words],
                                            &bits[b * words] + words);
    };
    std::stable_sort(rows.begin(), rows.end(), less);
    for (int64_t i = 0; i < n; ++i) {
        if (i == 0 || less(rows[i - 1], rows[i])) {
            patterns.push_back(pattern_of(&bits[rows[i] * words]));
            sizes.push_back(0);
        }
        ++sizes.back();
    }
    return rows;
}

inline GaussianRows gaussian_rows(const Table& table, const double* centre, const double* weight) {
    GaussianRows out;
    out.n_rows = table.n_rows;
    out.n_columns = static_cast<int64_t>(table.columns.size());
    std::vector<int64_t> sizes;
    out.rows = order_by_pattern(table, out.patterns, sizes);
    int64_t first = 0, cells = 0, weights = 0;
    for (size_t p = 0; p < sizes.size(); ++p)
        for (int64_t done = 0; done < sizes[p]; done += TILE_ROWS) {
            const int64_t n = std::min(TILE_ROWS, sizes[p] - done), stride = quad_lanes_for(n);
            out.tiles.push_back({first, n, stride, cells, weights, static_cast<int64_t>(p)});
            first += n;
            cells += stride * static_cast<int64_t>(out.patterns[p].known.size());
            weights += stride;
        }
    out.cells.assign(cells, 0.0);
    out.weights.assign(weights, 0.0);
    Interrupts interrupts;
    for (const Tile& tile : out.tiles) {
        const auto& known = out.patterns[tile.pattern].known;
        for (size_t a = 0; a < known.size(); ++a) {
            double* cell = out.cells.data() + tile.cells + static_cast<int64_t>(a) * tile.stride;
            const Column& column = table.columns[known[a]];
            if (out.rows.empty()) {
                read_doubles(column, tile.first, tile.n, cell, 1);
            } else {
                for (int64_t i = 0; i < tile.n; ++i) read_doubles(column, out.rows[tile.first + i], 1, cell + i, 1);
            }
            for (int64_t i = 0; i < tile.n; ++i) cell[i] -= centre[known[a]];
        }
        for (int64_t i = 0; i < tile.n; ++i)
            out.weights[tile.weights + i] = weight ? weight[out.row(tile.first + i)] : 1.0;
        interrupts.check();
    }
    return out;
}

}  // namespace bayeskit::mixture
