// Gaussian mixtures: one pass gives the share of each component in each row and the weighted moments that EM needs.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <limits>

#include "base/score.hpp"
#include "mixture/best_component.hpp"
#include "mixture/bind.hpp"
#include "mixture/gaussian_factors.hpp"

namespace bayeskit::mixture {
namespace {

// Operations per chunk, so that a chunk takes some milliseconds, and chunks whose sums are kept side by side.
constexpr double CHUNK_WORK = 2e7;
constexpr int64_t CHUNKS_AT_ONCE = 16;

// Expected statistics about the means of the components that the rows were shared out by.
struct Sums {
    std::vector<double> total;   // (k,)
    std::vector<double> weight;  // (k, d), diagonal: of rows that know the cell
    std::vector<double> first;   // (k, d)
    std::vector<double> second;  // (k, d), or (k, d, d) lower triangle
    double objective = 0.0;
    double worst = std::numeric_limits<double>::infinity();
    int64_t worst_row = -1;

    Sums(int64_t k, int64_t d, bool full)
        : total(k, 0.0), weight(full ? 0 : k * d, 0.0), first(k * d, 0.0), second(full ? k * d * d : k * d, 0.0) {}

    void add(const Sums& other) {
        auto sum = [](std::vector<double>& to, const std::vector<double>& from) {
            for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
        };
        sum(total, other.total);
        sum(weight, other.weight);
        sum(first, other.first);
        sum(second, other.second);
        objective += other.objective;
        if (other.worst < worst) {
            worst = other.worst;
            worst_row = other.worst_row;
        }
    }
};

// What one chunk works with: the factors of the pattern at hand, and lines of one number per row.
struct Work {
    const GaussianRows& rows;
    const Components& model;
    Factors factors;
    std::vector<double> lines, diff, peak, total, scaled, counted;
    bool second = true;  // whether the scatter is asked for

    Work(const GaussianRows& rows_, const Components& model_)
        : rows(rows_), model(model_), lines(model_.k * TILE_ROWS), diff((model_.full ? 2 * model_.d : 1) * TILE_ROWS),
          peak(TILE_ROWS), total(TILE_ROWS), scaled(TILE_ROWS) {}

    const double* cells(const Tile& tile) const { return rows.cells.data() + tile.cells; }

    // Makes the factors of the tile's pattern, unless they are there; returns how many columns the pattern knows.
    int64_t ready(const Tile& tile) {
        if (factors.pattern != tile.pattern) {
            factor(model, rows.patterns[tile.pattern], factors);
            factors.pattern = tile.pattern;
        }
        return static_cast<int64_t>(rows.patterns[tile.pattern].known.size());
    }

    Diagonal diagonal(int64_t m) const {
        return {factors.constant.data(), factors.mean.data(), factors.inverse.data(), model.k, m};
    }

    // log P(x, c), one line per component
    void densities(const Tile& tile) {
        const int64_t m = ready(tile), s = tile.stride;
        for (int64_t c = 0; c < model.k; ++c) {
            const double* mean = factors.mean.data() + c * m;
            double* line = lines.data() + c * s;
            if (model.full) {
                subtract_means(cells(tile), s, m, mean, diff.data());
                full_density(diff.data(), s, m, factors.whiten.data() + c * m * m, factors.constant[c], line);
            } else {
                diagonal_density(cells(tile), s, m, mean, factors.inverse.data() + c * m, factors.constant[c], line);
            }
        }
    }

    void add_diagonal(const Tile& tile, int64_t c, const double* share, double weight, Sums& sums) {
        const auto& known = rows.patterns[tile.pattern].known;
        const int64_t m = static_cast<int64_t>(known.size()), d = model.d;
        const double* mean = factors.mean.data() + c * m;
        if (m == d) {
            add_moments(cells(tile), tile.stride, m, mean, share, sums.first.data() + c * d, sums.second.data() + c * d);
            for (int64_t j = 0; j < d; ++j) sums.weight[c * d + j] += weight;
            return;
        }
        for (int64_t a = 0; a < m; ++a) {
            const int64_t cell = c * d + known[a];
            add_moments(cells(tile) + a * tile.stride, tile.stride, 1, mean + a, share, &sums.first[cell],
                        &sums.second[cell]);
            sums.weight[cell] += weight;
        }
    }

    void add_full(const Tile& tile, int64_t c, const double* share, double weight, Sums& sums) {
        const Pattern& pattern = rows.patterns[tile.pattern];
        const int64_t m = static_cast<int64_t>(pattern.known.size()), d = model.d, u = d - m, s = tile.stride;
        const double* mean = factors.mean.data() + c * m;
        double *first = sums.first.data() + c * d, *second = sums.second.data() + c * d * d;
        if (u == 0) {
            subtract_means(cells(tile), s, m, mean, diff.data());
            add_products(diff.data(), s, d, share, scaled.data(), first, second);
            return;
        }
        double *known = diff.data() + d * s, *all = diff.data();
        subtract_means(cells(tile), s, m, mean, known);
        for (int64_t a = 0; a < m; ++a) std::copy(known + a * s, known + (a + 1) * s, all + pattern.known[a] * s);
        for (int64_t a = 0; a < u; ++a)
            regress(known, s, m, factors.guess.data() + (c * u + a) * m, all + pattern.missing[a] * s);
        add_products(all, s, d, share, scaled.data(), first, second);
        const double* left = factors.left.data() + c * u * u;
        for (int64_t a = 0; a < u; ++a)
            for (int64_t b = 0; b <= a; ++b) second[pattern.missing[a] * d + pattern.missing[b]] += weight * left[a * u + b];
    }

    // The best component of each row goes to `total`, its log P(x, c) to `peak`.
    void best(const Tile& tile) {
        if (model.full) {
            densities(tile);
            best_of(lines.data(), model.k, tile.stride, peak.data(), total.data());
        } else {
            best_component(cells(tile), tile.stride, diagonal(ready(tile)), peak.data(), total.data());
        }
    }

    // A row counts for its best component alone. For diagonal spreads each row is added where it belongs, which costs the
    // same for any number of components.
    void add_hard(const Tile& tile, const double* weight, Sums& sums) {
        const int64_t s = tile.stride;
        best(tile);
        if (model.full) {
            for (int64_t c = 0; c < model.k; ++c) {
                double* line = lines.data() + c * s;
                for (int64_t i = 0; i < s; ++i) line[i] = total[i] == static_cast<double>(c) ? weight[i] : 0.0;
                add_component(tile, c, sums);
            }
            return;
        }
        const auto& known = rows.patterns[tile.pattern].known;
        const int64_t m = static_cast<int64_t>(known.size()), k = model.k, d = model.d;
        counted.assign(k + 2 * k * m, 0.0);  // rows of each component, then first and second moments, (k, m)
        double *first = counted.data() + k, *two = first + k * m;
        add_to_best(cells(tile), s, tile.n, diagonal(m), total.data(), weight, counted.data(), first, two, second);
        for (int64_t c = 0; c < k; ++c) {
            sums.total[c] += counted[c];
            for (int64_t a = 0; a < m; ++a) {
                const int64_t cell = c * d + known[a];
                sums.weight[cell] += counted[c];
                sums.first[cell] += first[c * m + a];
                sums.second[cell] += two[c * m + a];
            }
        }
    }

    void add_component(const Tile& tile, int64_t c, Sums& sums) {
        const double* share = lines.data() + c * tile.stride;
        const double weight = sum_line(share, tile.stride);
        if (weight == 0.0) return;
        sums.total[c] += weight;
        if (model.full) add_full(tile, c, share, weight, sums);
        else add_diagonal(tile, c, share, weight, sums);
    }

    void expect(const Tile& tile, bool hard, Sums& sums) {
        const double* weight = rows.weights.data() + tile.weights;
        if (hard) {
            add_hard(tile, weight, sums);
        } else {
            densities(tile);
            shares(lines.data(), model.k, tile.stride, weight, peak.data(), total.data());
            for (int64_t c = 0; c < model.k; ++c) add_component(tile, c, sums);
        }
        for (int64_t i = 0; i < tile.n; ++i) {
            const double log = hard ? peak[i] : peak[i] + std::log(total[i]);
            sums.objective += weight[i] * log;
            if (log < sums.worst) {
                sums.worst = log;
                sums.worst_row = rows.row(tile.first + i);
            }
        }
    }
};

// Rows that are read once and then asked again and again.
class Mixture {
public:
    Mixture(nb::object source, Array centre, std::optional<Array> weight) {
        const Table table = table_of(source);
        const std::vector<double> middle = parameter_array(centre, static_cast<int64_t>(table.columns.size()));
        std::vector<double> row_weights;
        if (weight) row_weights = parameter_array(*weight, table.n_rows);
        nb::gil_scoped_release release;
        rows_ = gaussian_rows(table, middle.data(), weight ? row_weights.data() : nullptr);
    }

    // total, weight, first, second, objective, worst row, and the component whose covariance is singular or -1. Arrays
    // are C-contiguous float64. Without `scatter`, hard shares of diagonal spreads leave it 0, as k-means needs none.
    nb::tuple expect(Array log_weight, Array mean, Array spread, bool hard, int n_threads, bool scatter) const {
        const Components model = components(log_weight, mean, spread);
        Sums sums(model.k, model.d, model.full);
        int64_t singular = -1;
        {
            nb::gil_scoped_release release;
            try {
                const std::vector<Chunk> chunks = chunks_for(model, model.full ? 2.0 : 1.0);
                for (size_t begin = 0; begin < chunks.size(); begin += CHUNKS_AT_ONCE) {
                    const int64_t n = std::min<int64_t>(CHUNKS_AT_ONCE, chunks.size() - begin);
                    std::vector<Sums> parts(n, Sums(0, 0, false));
                    parallel_chunks(n, n_threads, [&](int64_t part, int) {
                        Work work(rows_, model);
                        work.second = scatter;
                        Sums sum(model.k, model.d, model.full);
                        const Chunk& chunk = chunks[begin + part];
                        for (int64_t t = chunk.first_tile; t < chunk.last_tile; ++t) work.expect(rows_.tiles[t], hard, sum);
                        parts[part] = std::move(sum);
                    });
                    for (const Sums& part : parts) sums.add(part);
                }
            } catch (const Singular& error) {
                singular = error.component;
            }
        }
        const size_t k = model.k, d = model.d;
        for (size_t c = 0; model.full && c < k; ++c)  // the upper triangle
            for (size_t a = 0; a < d; ++a)
                for (size_t b = a + 1; b < d; ++b) sums.second[(c * d + a) * d + b] = sums.second[(c * d + b) * d + a];
        nb::object weight = model.full ? nb::none() : to_numpy(sums.weight, {k, d});
        nb::object second = model.full ? to_numpy(sums.second, {k, d, d}) : to_numpy(sums.second, {k, d});
        return nb::make_tuple(to_numpy(sums.total, {k}), weight, to_numpy(sums.first, {k, d}), second, sums.objective,
                              sums.worst_row, singular);
    }

    // The scores, the first row that no component can give, and the singular component; -1 where there is none.
    nb::tuple score(Array log_weight, Array mean, Array spread, Score wanted, int n_threads) const {
        const Components model = components(log_weight, mean, spread);
        const bool best = wanted == Score::best_class;
        Scores scores(wanted, best ? 0 : rows_.n_rows, model.k);
        Owned<int64_t> classes({static_cast<size_t>(best ? rows_.n_rows : 0)});
        int64_t singular = -1;
        std::atomic<int64_t> impossible{std::numeric_limits<int64_t>::max()};
        {
            nb::gil_scoped_release release;
            try {
                const std::vector<Chunk> chunks = chunks_for(model, 1.0);
                parallel_chunks(static_cast<int64_t>(chunks.size()), n_threads, [&](int64_t number, int) {
                    Work work(rows_, model);
                    std::vector<double> log_joint(model.k);
                    for (int64_t t = chunks[number].first_tile; t < chunks[number].last_tile; ++t) {
                        const Tile& tile = rows_.tiles[t];
                        if (best) work.best(tile);
                        else work.densities(tile);
                        for (int64_t i = 0; i < tile.n; ++i) {
                            const int64_t row = rows_.row(tile.first + i);
                            bool possible;
                            if (best) {
                                classes.data[row] = static_cast<int64_t>(work.total[i]);
                                possible = work.peak[i] > -std::numeric_limits<double>::infinity();
                            } else {
                                for (int64_t c = 0; c < model.k; ++c) log_joint[c] = work.lines[c * tile.stride + i];
                                possible = scores.write(row, log_joint.data(), nullptr);
                            }
                            if (possible) continue;
                            int64_t known = impossible.load();
                            while (row < known && !impossible.compare_exchange_weak(known, row)) {}
                        }
                    }
                });
            } catch (const Singular& error) {
                singular = error.component;
            }
        }
        const int64_t first = impossible.load() == std::numeric_limits<int64_t>::max() ? -1 : impossible.load();
        return nb::make_tuple(best ? classes.to_numpy() : scores.to_numpy(), first, singular);
    }

    int64_t n_patterns() const { return static_cast<int64_t>(rows_.patterns.size()); }

private:
    GaussianRows rows_;

    Components components(const Array& log_weight, const Array& mean, const Array& spread) const {
        Components model;
        model.k = static_cast<int64_t>(log_weight.size());
        model.d = rows_.n_columns;
        model.full = spread.ndim() == 3;
        model.log_weight = parameter_array(log_weight, model.k);
        model.mean = parameter_array(mean, model.k * model.d);
        model.spread = parameter_array(spread, model.k * model.d * (model.full ? model.d : 1));
        return model;
    }

    std::vector<Chunk> chunks_for(const Components& model, double passes) const {
        const double k = static_cast<double>(model.k), d = static_cast<double>(model.d);
        const double per_row = passes * k * (model.full ? d * d : 4 * d), per_pattern = model.full ? k * d * d * d : k * d;
        return rows_.chunks(per_row, per_pattern, std::max(CHUNK_WORK, 2 * per_pattern));
    }

    static nb::object to_numpy(const std::vector<double>& values, std::vector<size_t> shape) {
        Owned<double> out(std::move(shape));
        std::copy(values.begin(), values.end(), out.data);
        return out.to_numpy();
    }
};

}  // namespace

void bind_gaussian_mixture(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Mixture>(m, "GaussianMixtureRows")
        .def(nb::init<nb::object, Array, std::optional<Array>>(), "table"_a, "centre"_a, "weight"_a.none())
        .def("expect", &Mixture::expect, "log_weight"_a, "mean"_a, "spread"_a, "hard"_a, "n_threads"_a,
             "scatter"_a = true)
        .def("score", &Mixture::score, "log_weight"_a, "mean"_a, "spread"_a, "wanted"_a, "n_threads"_a)
        .def_prop_ro("n_patterns", &Mixture::n_patterns);
}

}  // namespace bayeskit::mixture
