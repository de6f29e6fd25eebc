// Latent classes: categorical and Gaussian columns that are independent within a hidden class; missing cells are skipped.
#include "mixture/bind.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>

#include "base/codes.hpp"
#include "base/exponential.hpp"
#include "base/score.hpp"
#include "mixture/gaussian_rows.hpp"

namespace bayeskit::mixture {
namespace {

constexpr int64_t CHUNK_ROWS = 8192;
constexpr int64_t CHUNKS_AT_ONCE = 16;

// log π_c, log P(v | c) of each value and the densities of the numbers; all with the classes padded to whole lanes.
struct Parameters {
    int64_t k, lanes;
    std::vector<double> log_weight;  // (lanes,), padding -inf
    std::vector<double> tables;      // (n_cells + 1, lanes), the last row, of an unknown cell, is 0
    std::vector<double> mean;        // (n_numeric, lanes), about the centre
    std::vector<double> half;        // (n_numeric, lanes): 1 / 2σ², padding 0
    std::vector<double> norm;        // (n_numeric, lanes): -½ log 2πσ², padding 0
};

struct Sums {
    std::vector<double> total, cells, weight, first, second;
    double objective = 0.0;
    int64_t impossible = -1;

    Sums(int64_t lanes, int64_t n_cells, int64_t n_numeric)
        : total(lanes, 0.0), cells((n_cells + 1) * lanes, 0.0), weight(n_numeric * lanes, 0.0),
          first(n_numeric * lanes, 0.0), second(n_numeric * lanes, 0.0) {}

    void add(const Sums& other) {
        auto sum = [](std::vector<double>& to, const std::vector<double>& from) {
            for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
        };
        sum(total, other.total);
        sum(cells, other.cells);
        sum(weight, other.weight);
        sum(first, other.first);
        sum(second, other.second);
        objective += other.objective;
        if (other.impossible >= 0 && (impossible < 0 || other.impossible < impossible)) impossible = other.impossible;
    }
};

BAYESKIT_SIMD void add_densities(double* __restrict acc, const double* __restrict x, int64_t n, int64_t lanes,
                                 const double* __restrict mean, const double* __restrict half,
                                 const double* __restrict norm) {
    for (int64_t i = 0; i < n; ++i) {
        if (x[i] != x[i]) continue;
        double* row = acc + i * lanes;
        for (int64_t c = 0; c < lanes; ++c) {
            const double t = x[i] - mean[c];
            row[c] += norm[c] - t * t * half[c];
        }
    }
}

BAYESKIT_SIMD void add_moments(const double* __restrict share, const double* __restrict x, int64_t n, int64_t lanes,
                               const double* __restrict mean, double* __restrict weight, double* __restrict first,
                               double* __restrict second) {
    for (int64_t i = 0; i < n; ++i) {
        if (x[i] != x[i]) continue;
        const double* row = share + i * lanes;
        for (int64_t c = 0; c < lanes; ++c) {
            const double t = x[i] - mean[c], rt = row[c] * t;
            weight[c] += row[c];
            first[c] += rt;
            second[c] += rt * t;
        }
    }
}

// log P(x, c) becomes shares times the row's weight; returns log P(x).
BAYESKIT_SIMD double share_row(double* __restrict row, int64_t lanes, double weight) {
    double peak = row[0];
    for (int64_t c = 1; c < lanes; ++c) peak = row[c] > peak ? row[c] : peak;
    if (!(peak > -INFINITY)) return -INFINITY;
    double total = 0.0;
    for (int64_t c = 0; c < lanes; c += QUAD) write_quad(row + c, exp_or_zero(read_quad(row + c) - quad_of(peak)));
    for (int64_t c = 0; c < lanes; ++c) total += row[c];
    const double scale = weight / total;
    for (int64_t c = 0; c < lanes; ++c) row[c] *= scale;
    return peak + std::log(total);
}

class LatentRows {
public:
    LatentRows(nb::list coded, std::vector<int64_t> sizes, nb::list numeric, Array centre, std::optional<Array> weight)
        : coded_(table_of(coded)), numeric_(table_of(numeric)), sizes_(std::move(sizes)),
          centre_(doubles(centre, static_cast<int64_t>(numeric_.columns.size()))) {
        n_rows_ = coded_.columns.empty() ? numeric_.n_rows : coded_.n_rows;
        if (!coded_.columns.empty() && !numeric_.columns.empty() && coded_.n_rows != numeric_.n_rows)
            throw std::invalid_argument("columns differ in length.");
        if (sizes_.size() != coded_.columns.size()) throw std::invalid_argument("one size per coded column is needed.");
        if (weight) weight_ = doubles(*weight, n_rows_);
        for (int64_t size : sizes_) {
            offsets_.push_back(n_cells_);
            n_cells_ += size;
        }
    }

    // total (k,), cells (n_cells, k), weight, first, second (n_numeric, k), objective, first impossible row or -1
    nb::tuple expect(Array log_weight, Array tables, Array mean, Array variance, int n_threads) const {
        const Parameters model = parameters(log_weight, tables, mean, variance);
        const int64_t n_numeric = static_cast<int64_t>(numeric_.columns.size());
        Sums sums(model.lanes, n_cells_, n_numeric);
        {
            nb::gil_scoped_release release;
            const int64_t n_chunks = (n_rows_ + CHUNK_ROWS - 1) / CHUNK_ROWS;
            for (int64_t begin = 0; begin < n_chunks; begin += CHUNKS_AT_ONCE) {
                const int64_t n = std::min(CHUNKS_AT_ONCE, n_chunks - begin);
                std::vector<Sums> parts(n, Sums(0, 0, 0));
                parallel_chunks(n, n_threads, [&](int64_t part, int) {
                    Sums sum(model.lanes, n_cells_, n_numeric);
                    tiles(model, (begin + part) * CHUNK_ROWS, [&](int64_t first, int64_t rows, Tile& tile) {
                        add(model, first, rows, tile, sum);
                    });
                    parts[part] = std::move(sum);
                });
                for (const Sums& part : parts) sums.add(part);
            }
        }
        const size_t k = model.k, numbers = n_numeric;
        return nb::make_tuple(unpadded(sums.total, model, 1).attr("reshape")(k), unpadded(sums.cells, model, n_cells_),
                              unpadded(sums.weight, model, numbers), unpadded(sums.first, model, numbers),
                              unpadded(sums.second, model, numbers), sums.objective, sums.impossible);
    }

    nb::tuple score(Array log_weight, Array tables, Array mean, Array variance, Score wanted, int n_threads) const {
        const Parameters model = parameters(log_weight, tables, mean, variance);
        Scores scores(wanted, n_rows_, model.k);
        const int64_t n_chunks = (n_rows_ + CHUNK_ROWS - 1) / CHUNK_ROWS;
        std::vector<int64_t> bad(n_chunks, -1);
        {
            nb::gil_scoped_release release;
            parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int) {
                tiles(model, chunk * CHUNK_ROWS, [&](int64_t first, int64_t rows, Tile& tile) {
                    for (int64_t i = 0; i < rows; ++i)
                        if (!scores.write(first + i, tile.lines.data() + i * model.lanes, nullptr) && bad[chunk] < 0)
                            bad[chunk] = first + i;
                });
            });
        }
        int64_t impossible = -1;
        for (int64_t row : bad)
            if (row >= 0 && impossible < 0) impossible = row;
        return nb::make_tuple(scores.to_numpy(), impossible);
    }

private:
    struct Tile {
        std::vector<double> lines;    // (TILE_ROWS, lanes)
        std::vector<int64_t> cell;    // (n_coded, TILE_ROWS): row of the tables
        std::vector<double> numbers;  // (n_numeric, TILE_ROWS)
    };

    Table coded_, numeric_;
    std::vector<int64_t> sizes_, offsets_;
    std::vector<double> centre_, weight_;
    int64_t n_rows_ = 0, n_cells_ = 0;

    Parameters parameters(const Array& log_weight, const Array& tables, const Array& mean, const Array& variance) const {
        Parameters model;
        model.k = static_cast<int64_t>(log_weight.size());
        model.lanes = quad_lanes_for(model.k);
        const int64_t n_numeric = static_cast<int64_t>(numeric_.columns.size());
        model.log_weight = padded(log_weight, model, 1, -INFINITY);
        model.tables = padded(tables, model, n_cells_, 0.0);
        model.tables.resize((n_cells_ + 1) * model.lanes, 0.0);
        model.mean = padded(mean, model, n_numeric, 0.0);
        model.half = padded(variance, model, n_numeric, 0.0);
        model.norm.assign(model.half.size(), 0.0);
        for (int64_t j = 0; j < n_numeric; ++j)
            for (int64_t c = 0; c < model.k; ++c) {
                double& v = model.half[j * model.lanes + c];
                model.norm[j * model.lanes + c] = -0.5 * (1.8378770664093454836 + std::log(v));
                v = 0.5 / v;
            }
        return model;
    }

    static std::vector<double> padded(const Array& array, const Parameters& model, int64_t rows, double fill) {
        const std::vector<double> plain = parameter_array(array, rows * model.k);
        std::vector<double> out(rows * model.lanes, fill);
        for (int64_t r = 0; r < rows; ++r)
            std::copy(plain.begin() + r * model.k, plain.begin() + (r + 1) * model.k, out.begin() + r * model.lanes);
        return out;
    }

    static nb::object unpadded(const std::vector<double>& values, const Parameters& model, int64_t rows) {
        Owned<double> out({static_cast<size_t>(rows), static_cast<size_t>(model.k)});
        for (int64_t r = 0; r < rows; ++r)
            std::copy(values.begin() + r * model.lanes, values.begin() + r * model.lanes + model.k, out.data + r * model.k);
        return out.to_numpy();
    }

    // Calls work(first row, rows, tile) with log P(x, c) in tile.lines, for each tile of the chunk that begins here.
    template <typename Work>
    void tiles(const Parameters& model, int64_t begin, Work&& work) const {
        const int64_t n_coded = static_cast<int64_t>(coded_.columns.size()), lanes = model.lanes;
        const int64_t n_numeric = static_cast<int64_t>(numeric_.columns.size());
        Tile tile;
        tile.lines.resize(TILE_ROWS * lanes);
        tile.cell.resize(n_coded * TILE_ROWS);
        tile.numbers.resize(n_numeric * TILE_ROWS);
        uint32_t levels[TILE_ROWS];
        for (int64_t first = begin, end = std::min(n_rows_, begin + CHUNK_ROWS); first < end; first += TILE_ROWS) {
            const int64_t rows = std::min(TILE_ROWS, end - first);
            for (int64_t i = 0; i < rows; ++i)
                std::copy(model.log_weight.begin(), model.log_weight.end(), &tile.lines[i * lanes]);
            for (int64_t j = 0; j < n_coded; ++j) {
                int64_t* cell = &tile.cell[j * TILE_ROWS];
                const uint32_t size = static_cast<uint32_t>(sizes_[j]);
                decode<true>(coded_.columns[j], first, rows, 0, size, levels);
                for (int64_t i = 0; i < rows; ++i) cell[i] = levels[i] < size ? offsets_[j] + levels[i] : n_cells_;
                add_rows(tile.lines.data(), model.tables.data(), cell, rows, lanes);
            }
            for (int64_t j = 0; j < n_numeric; ++j) {
                double* x = &tile.numbers[j * TILE_ROWS];
                read_doubles(numeric_.columns[j], first, rows, x, 1);
                for (int64_t i = 0; i < rows; ++i) x[i] -= centre_[j];
                add_densities(tile.lines.data(), x, rows, lanes, &model.mean[j * lanes], &model.half[j * lanes],
                              &model.norm[j * lanes]);
            }
            work(first, rows, tile);
        }
    }

    void add(const Parameters& model, int64_t first, int64_t rows, Tile& tile, Sums& sums) const {
        const int64_t n_coded = static_cast<int64_t>(coded_.columns.size()), lanes = model.lanes;
        const int64_t n_numeric = static_cast<int64_t>(numeric_.columns.size());
        for (int64_t i = 0; i < rows; ++i) {
            double* row = &tile.lines[i * lanes];
            const double weight = weight_.empty() ? 1.0 : weight_[first + i], log = share_row(row, lanes, weight);
            if (!(log > -INFINITY)) {
                if (sums.impossible < 0) sums.impossible = first + i;
                std::fill(row, row + lanes, 0.0);
                continue;
            }
            sums.objective += weight * log;
            for (int64_t c = 0; c < lanes; ++c) sums.total[c] += row[c];
        }
        for (int64_t j = 0; j < n_coded; ++j) {
            const int64_t* cell = &tile.cell[j * TILE_ROWS];
            for (int64_t i = 0; i < rows; ++i) {
                double* to = &sums.cells[cell[i] * lanes];
                const double* row = &tile.lines[i * lanes];
                for (int64_t c = 0; c < lanes; ++c) to[c] += row[c];
            }
        }
        for (int64_t j = 0; j < n_numeric; ++j)
            add_moments(tile.lines.data(), &tile.numbers[j * TILE_ROWS], rows, lanes, &model.mean[j * lanes],
                        &sums.weight[j * lanes], &sums.first[j * lanes], &sums.second[j * lanes]);
    }
};

}  // namespace

void bind_latent_class(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<LatentRows>(m, "LatentClassRows")
        .def(nb::init<nb::list, std::vector<int64_t>, nb::list, Array, std::optional<Array>>(), "coded"_a, "sizes"_a,
             "numeric"_a, "centre"_a, "weight"_a.none())
        .def("expect", &LatentRows::expect, "log_weight"_a, "tables"_a, "mean"_a, "variance"_a, "n_threads"_a)
        .def("score", &LatentRows::score, "log_weight"_a, "tables"_a, "mean"_a, "variance"_a, "wanted"_a, "n_threads"_a);
}

}  // namespace bayeskit::mixture
