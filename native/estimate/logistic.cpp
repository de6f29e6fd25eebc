// The log-likelihood of a logistic model, its gradient and its matrix of second derivatives, each in one pass over the rows.
#include <algorithm>
#include <cstring>
#include <optional>

#include <nanobind/stl/optional.h>

#include "base/codes.hpp"
#include "base/exponential.hpp"
#include "estimate/blocked_product.hpp"
#include "kernels.hpp"

namespace bayeskit::estimate {
namespace {

constexpr int64_t CHUNK_ROWS = 1 << 12;  // added in order, so that the sums do not depend on the number of threads
constexpr int64_t TILE_ROWS = 64;        // stays in the first-level cache between its uses

// One unit: score[i] = Σ_j x[i][j] w[j], over whole quads.
BAYESKIT_SIMD void scores_of_one(const double* x, int64_t lanes, const double* w, int64_t n, double* score) {
    for (int64_t i = 0; i < n; ++i) {
        Quad even = quad_of(0.0), odd = quad_of(0.0);
        const double* row = x + i * lanes;
        int64_t k = 0;
        for (; k + 2 * QUAD <= lanes; k += 2 * QUAD) {
            even = even + read_quad(row + k) * read_quad(w + k);
            odd = odd + read_quad(row + k + QUAD) * read_quad(w + k + QUAD);
        }
        if (k < lanes) even = even + read_quad(row + k) * read_quad(w + k);
        const Quad sum = even + odd;
        double lane[QUAD];
        std::memcpy(lane, &sum, sizeof lane);
        score[i] = (lane[0] + lane[1]) + (lane[2] + lane[3]);
    }
}

BAYESKIT_SIMD void gradient_of_one(const double* x, int64_t lanes, const double* residual, int64_t n,
                                   double* __restrict out) {
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const double* row = x + i * lanes;
        const Quad a = quad_of(residual[i]), b = quad_of(residual[i + 1]), c = quad_of(residual[i + 2]),
                   d = quad_of(residual[i + 3]);
        for (int64_t k = 0; k < lanes; k += QUAD) {
            const Quad sum = read_quad(out + k) + (a * read_quad(row + k) + b * read_quad(row + lanes + k)) +
                             (c * read_quad(row + 2 * lanes + k) + d * read_quad(row + 3 * lanes + k));
            std::memcpy(out + k, &sum, sizeof sum);
        }
    }
    for (; i < n; ++i)
        for (int64_t k = 0; k < lanes; ++k) out[k] += residual[i] * x[i * lanes + k];
}

// Scores of one unit become P(second class); magnitude[i] = e^−|score|, with room for whole quads.
BAYESKIT_SIMD void sigmoids(double* __restrict score, double* __restrict magnitude, int64_t n) {
    for (int64_t i = 0; i < n; ++i) magnitude[i] = -std::fabs(score[i]);
    for (int64_t i = 0; i < n; i += QUAD) write_quad(magnitude + i, exp_or_zero(read_quad(magnitude + i)));
    for (int64_t i = 0; i < n; ++i) {
        const double share = 1.0 / (1.0 + magnitude[i]);
        score[i] = score[i] > 0.0 ? share : magnitude[i] * share;
    }
}

// Scores of n rows become P(c | x); peak[i] is the largest score of a row and sum[i] = Σ e^(score − largest).
BAYESKIT_SIMD void softmax(double* score, int64_t n, int64_t n_units, int64_t lanes, double* peak, double* sum) {
    for (int64_t i = 0; i < n; ++i) {
        double* row = score + i * lanes;
        for (int64_t u = n_units; u < lanes; ++u) row[u] = -INFINITY;  // lanes without a unit have no share
        double lane[QUAD] = {row[0], row[1], row[2], row[3]};
        for (int64_t u = QUAD; u < lanes; u += QUAD)
            for (int k = 0; k < QUAD; ++k) lane[k] = row[u + k] > lane[k] ? row[u + k] : lane[k];
        const double largest = std::max(std::max(lane[0], lane[1]), std::max(lane[2], lane[3]));
        for (int64_t u = 0; u < lanes; u += QUAD) write_quad(row + u, exp_or_zero(read_quad(row + u) - quad_of(largest)));
        Quad all = read_quad(row);
        for (int64_t u = QUAD; u < lanes; u += QUAD) all = all + read_quad(row + u);
        write_quad(lane, all);
        peak[i] = largest;
        sum[i] = (lane[0] + lane[1]) + (lane[2] + lane[3]);
        const Quad share = quad_of(1.0 / sum[i]);
        for (int64_t u = 0; u < lanes; u += QUAD) write_quad(row + u, read_quad(row + u) * share);
    }
}

// Σ log of many factors ≥ 1, with one logarithm for many of them.
class LogProduct {
public:
    void times(double factor) {
        product_ *= factor;
        if (product_ > 1e250) flush();
    }
    double sum() {
        flush();
        return sum_;
    }

private:
    double product_ = 1.0, sum_ = 0.0;
    void flush() {
        sum_ += std::log(product_);
        product_ = 1.0;
    }
};

class Rows {
public:
    Rows(nb::handle source, const Array& coef, const Array& center, const std::optional<Array>& weight)
        : table_(table_of(source)), n_(table_.n_rows), d_(static_cast<int64_t>(table_.columns.size())),
          inputs_(d_ + 1), lanes_(quad_lanes_for(d_ + 1)) {
        if (coef.ndim() != 2 || type_of(coef) != Type::f64 || center.ndim() != 1 || type_of(center) != Type::f64 ||
            static_cast<int64_t>(coef.shape(1)) != inputs_ || static_cast<int64_t>(center.shape(0)) != d_ || coef.shape(0) < 1)
            throw std::invalid_argument("coefficients and centres must be float64, one for each column.");
        units_ = static_cast<int64_t>(coef.shape(0));
        unit_lanes_ = units_ == 1 ? 1 : quad_lanes_for(units_);
        const double* cells = static_cast<const double*>(coef.data());
        if (units_ == 1) {
            w_.assign(lanes_, 0.0);
            for (int64_t j = 0; j < inputs_; ++j) w_[j] = cells[j * coef.stride(1)];
        } else {
            w_.assign(inputs_ * unit_lanes_, 0.0);
            for (int64_t u = 0; u < units_; ++u)
                for (int64_t j = 0; j < inputs_; ++j)
                    w_[j * unit_lanes_ + u] = cells[u * coef.stride(0) + j * coef.stride(1)];
        }
        center_.resize(d_);
        for (int64_t j = 0; j < d_; ++j) center_[j] = static_cast<const double*>(center.data())[j * center.stride(0)];
        if (weight) {
            if (weight->ndim() != 1 || type_of(*weight) != Type::f64 || (n_ > 1 && weight->stride(0) != 1) ||
                static_cast<int64_t>(weight->shape(0)) != n_)
                throw std::invalid_argument("weights must be one contiguous float64 a row.");
            weight_ = static_cast<const double*>(weight->data());
        }
    }

    int64_t n() const { return n_; }
    int64_t n_chunks() const { return (n_ + CHUNK_ROWS - 1) / CHUNK_ROWS; }
    int64_t units() const { return units_; }
    int64_t inputs() const { return inputs_; }
    int64_t lanes() const { return lanes_; }
    int64_t unit_lanes() const { return unit_lanes_; }
    double weight(int64_t i) const { return weight_ ? weight_[i] : 1.0; }
    bool weighted() const { return weight_ != nullptr; }

    // Rows as (TILE_ROWS, lanes): deviations from the centres, then 1; a missing cell deviates by nothing.
    void read(int64_t begin, int64_t n, double* tile) const {
        const bool in_place = table_.row_major && table_.columns[0].type == Type::f64;
        for (int64_t j = 0; !in_place && j < d_; ++j) read_doubles(table_.columns[j], begin, n, tile + j, lanes_);
        for (int64_t i = 0; i < n; ++i) {
            double* row = tile + i * lanes_;
            const double* x = in_place ? reinterpret_cast<const double*>(table_.columns[0].data +
                                                                         (begin + i) * table_.columns[0].stride)
                                       : row;
            center_row(x, row);
            row[d_] = 1.0;
        }
    }

    void scores(const double* tile, int64_t n, double* out) const {
        if (units_ == 1) return scores_of_one(tile, lanes_, w_.data(), n, out);
        std::fill(out, out + n * unit_lanes_, 0.0);
        multiply(tile, 1, lanes_, w_.data(), unit_lanes_, inputs_, n, unit_lanes_, out, unit_lanes_);
    }

private:
    Table table_;
    int64_t n_, d_, inputs_, lanes_, units_ = 0, unit_lanes_ = 0;
    std::vector<double> w_, center_;
    const double* weight_ = nullptr;

    void center_row(const double* x, double* row) const {
        for (int64_t j = 0; j < d_; ++j) {
            const double deviation = x[j] - center_[j];
            row[j] = deviation == deviation ? deviation : 0.0;
        }
    }
};

// A tile's scores become residuals P(c | x) − [c = y], times the weight; −log-likelihood is added to `loss`.
void residuals(const Rows& rows, const uint32_t* y, int64_t begin, int64_t n, double* score, double* magnitude,
               double& loss, LogProduct& product) {
    if (rows.units() == 1) {
        for (int64_t i = 0; i < n; ++i) {
            const double miss = y[i] ? -score[i] : score[i];  // −log P(y | x) = log(1 + e^miss)
            if (miss > 0.0) loss += rows.weight(begin + i) * miss;
        }
        sigmoids(score, magnitude, n);
        for (int64_t i = 0; i < n; ++i) {
            const double w = rows.weight(begin + i);
            if (rows.weighted())
                loss += w * std::log1p(magnitude[i]);
            else
                product.times(1.0 + magnitude[i]);
            score[i] = w * (score[i] - (y[i] ? 1.0 : 0.0));
        }
        return;
    }
    double peak[TILE_ROWS], label_score[TILE_ROWS];
    for (int64_t i = 0; i < n; ++i) label_score[i] = score[i * rows.unit_lanes() + y[i]];
    softmax(score, n, rows.units(), rows.unit_lanes(), peak, magnitude);
    for (int64_t i = 0; i < n; ++i) {
        double* row = score + i * rows.unit_lanes();
        const double w = rows.weight(begin + i);
        loss += w * (peak[i] - label_score[i]);
        if (rows.weighted()) {
            loss += w * std::log(magnitude[i]);
            for (int64_t u = 0; u < rows.units(); ++u) row[u] *= w;
        } else {
            product.times(magnitude[i]);
        }
        row[y[i]] -= w;
    }
}

// (−log-likelihood, its gradient (n_units, n_columns + 1)); one unit is that of the second of two classes.
nb::object logistic_gradient(nb::object source, Array classes, std::optional<Array> weight, Array coef, Array center,
                             int n_threads) {
    const Rows rows(source, coef, center, weight);
    const Classes y(classes);
    y.check(rows.n(), rows.units() == 1 ? 2 : rows.units());
    const int64_t units = rows.units(), inputs = rows.inputs();
    const int64_t cells = units == 1 ? rows.lanes() : inputs * rows.unit_lanes();
    Owned<double> out({static_cast<size_t>(units), static_cast<size_t>(inputs)}, true);
    double loss = 0.0;
    {
        nb::gil_scoped_release release;
        std::vector<std::vector<double>> sums(rows.n_chunks());
        std::vector<double> losses(rows.n_chunks(), 0.0);
        parallel_chunks(rows.n_chunks(), n_threads, [&](int64_t chunk, int) {
            std::vector<double> tile(TILE_ROWS * rows.lanes(), 0.0), score(TILE_ROWS * rows.unit_lanes()),
                magnitude(TILE_ROWS), sum(cells, 0.0);
            uint32_t labels[TILE_ROWS];
            LogProduct product;
            const int64_t end = std::min(rows.n(), (chunk + 1) * CHUNK_ROWS);
            for (int64_t begin = chunk * CHUNK_ROWS; begin < end; begin += TILE_ROWS) {
                const int64_t n = std::min(TILE_ROWS, end - begin);
                rows.read(begin, n, tile.data());
                rows.scores(tile.data(), n, score.data());
                y.read(begin, begin + n, labels);
                residuals(rows, labels, begin, n, score.data(), magnitude.data(), losses[chunk], product);
                if (units == 1)
                    gradient_of_one(tile.data(), rows.lanes(), score.data(), n, sum.data());
                else
                    multiply(tile.data(), rows.lanes(), 1, score.data(), rows.unit_lanes(), n, inputs,
                             rows.unit_lanes(), sum.data(), rows.unit_lanes());
            }
            losses[chunk] += product.sum();
            sums[chunk] = std::move(sum);
        });
        for (int64_t chunk = 0; chunk < rows.n_chunks(); ++chunk) {
            loss += losses[chunk];
            for (int64_t u = 0; u < units; ++u)
                for (int64_t j = 0; j < inputs; ++j)
                    out.data[u * inputs + j] += sums[chunk][units == 1 ? j : j * rows.unit_lanes() + u];
        }
    }
    return nb::make_tuple(loss, out.to_numpy());
}

// The second derivatives of −log-likelihood, (n_units · inputs, n_units · inputs): Σ w P_u ([u = v] − P_v) x xᵀ in block (u, v).
nb::object logistic_hessian(nb::object source, std::optional<Array> weight, Array coef, Array center, int n_threads) {
    const Rows rows(source, coef, center, weight);
    const int64_t units = rows.units(), inputs = rows.inputs(), lanes = rows.lanes();
    const int64_t blocks = units * (units + 1) / 2, cells = inputs * lanes, side = units * inputs;
    Owned<double> out({static_cast<size_t>(side), static_cast<size_t>(side)}, true);
    {
        nb::gil_scoped_release release;
        // Few chunks at once: each has a matrix of its own.
        const int64_t at_once = std::max<int64_t>(1, std::min<int64_t>(rows.n_chunks(), (int64_t{64} << 20) / (8 * blocks * cells)));
        std::vector<std::vector<double>> sums(at_once);
        for (int64_t first = 0; first < rows.n_chunks(); first += at_once) {
            const int64_t many = std::min(at_once, rows.n_chunks() - first);
            parallel_chunks(many, n_threads, [&](int64_t part, int) {
                std::vector<double> tile(TILE_ROWS * lanes, 0.0), scaled(TILE_ROWS * lanes, 0.0),
                    score(TILE_ROWS * rows.unit_lanes()), magnitude(TILE_ROWS);
                sums[part].assign(blocks * cells, 0.0);
                const int64_t chunk = first + part, end = std::min(rows.n(), (chunk + 1) * CHUNK_ROWS);
                for (int64_t begin = chunk * CHUNK_ROWS; begin < end; begin += TILE_ROWS) {
                    const int64_t n = std::min(TILE_ROWS, end - begin);
                    rows.read(begin, n, tile.data());
                    rows.scores(tile.data(), n, score.data());
                    double peak[TILE_ROWS];
                    if (units == 1)
                        sigmoids(score.data(), magnitude.data(), n);
                    else
                        softmax(score.data(), n, units, rows.unit_lanes(), peak, magnitude.data());
                    int64_t block = 0;
                    for (int64_t u = 0; u < units; ++u)
                        for (int64_t v = 0; v <= u; ++v, ++block) {
                            for (int64_t i = 0; i < n; ++i) {
                                const double* p = score.data() + i * rows.unit_lanes();
                                const double share = rows.weight(begin + i) * p[u] * ((u == v ? 1.0 : 0.0) - p[v]);
                                for (int64_t k = 0; k < lanes; ++k) scaled[i * lanes + k] = share * tile[i * lanes + k];
                            }
                            // The upper triangle, in pairs of rows and whole quads.
                            for (int64_t j = 0; j < inputs; j += 8) {
                                const int64_t from = j / QUAD * QUAD, many_rows = std::min<int64_t>(8, inputs - j);
                                multiply(tile.data() + j, lanes, 1, scaled.data() + from, lanes, n, many_rows, lanes - from,
                                         sums[part].data() + block * cells + j * lanes + from, lanes);
                            }
                        }
                }
            });
            for (int64_t part = 0; part < many; ++part) {
                int64_t block = 0;
                for (int64_t u = 0; u < units; ++u)
                    for (int64_t v = 0; v <= u; ++v, ++block)
                        for (int64_t j = 0; j < inputs; ++j)
                            for (int64_t k = j; k < inputs; ++k)
                                out.data[(u * inputs + j) * side + v * inputs + k] += sums[part][block * cells + j * lanes + k];
            }
        }
        for (int64_t u = 0; u < units; ++u)
            for (int64_t v = 0; v <= u; ++v)
                for (int64_t j = 0; j < inputs; ++j)
                    for (int64_t k = j; k < inputs; ++k) {
                        const double cell = out.data[(u * inputs + j) * side + v * inputs + k];
                        out.data[(u * inputs + k) * side + v * inputs + j] = cell;
                        out.data[(v * inputs + j) * side + u * inputs + k] = cell;
                        out.data[(v * inputs + k) * side + u * inputs + j] = cell;
                    }
    }
    return out.to_numpy();
}

}  // namespace

void bind_logistic(nb::module_& m) {
    using namespace nb::literals;
    m.def("logistic_gradient", &logistic_gradient, "table"_a, "y"_a, "weight"_a.none(), "coef"_a, "center"_a, "n_threads"_a);
    m.def("logistic_hessian", &logistic_hessian, "table"_a, "weight"_a.none(), "coef"_a, "center"_a, "n_threads"_a);
}

}  // namespace bayeskit::estimate
