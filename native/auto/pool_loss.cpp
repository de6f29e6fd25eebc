// A log-linear pool, log P(c | x) = Σ_m w_m F_m(c) + b_c - log Z: its loss and gradient, and the weights of least loss.
#include <cmath>

#include "auto/descent.hpp"
#include "auto/kernels.hpp"
#include "auto/rows.hpp"
#include "auto/softmax.hpp"

namespace bayeskit::automatic {
namespace {

// The scores of the classes less those of the best, for the rows from `first` on; scores: (n, k, n_rows), out: (k, BLOCK).
BAYESKIT_SIMD
static void pool_rows(const float* scores, int64_t n_rows, int64_t n, int64_t k, int64_t first, int64_t size, const double* w, const double* b,
                      double* out) {
    for (int64_t c = 0; c < k; ++c) {
        double* to = out + c * BLOCK;
        for (int64_t r = 0; r < size; ++r) to[r] = b[c];
        for (int64_t m = 0; m < n; ++m) {
            const float* from = scores + (m * k + c) * n_rows + first;
            const double weight = w[m];
            for (int64_t r = 0; r < size; ++r) to[r] += weight * static_cast<double>(from[r]);
        }
    }
    take_peaks_off(k, size, out);
}

// Adds Σ_c Σ_r residual F_m(c) of each member to `slope`.
BAYESKIT_SIMD
static void add_slopes(const float* scores, int64_t n_rows, int64_t n, int64_t k, int64_t first, int64_t size, const double* residual, double* slope) {
    for (int64_t m = 0; m < n; ++m) {
        double lane[PACK] = {};
        for (int64_t c = 0; c < k; ++c) {
            const float* from = scores + (m * k + c) * n_rows + first;
            const double* class_residual = residual + c * BLOCK;
            int64_t r = 0;
            for (; r + PACK <= size; r += PACK)
                for (int v = 0; v < PACK; ++v) lane[v] += class_residual[r + v] * static_cast<double>(from[r + v]);
            for (; r < size; ++r) lane[0] += class_residual[r] * static_cast<double>(from[r]);
        }
        slope[m] += ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    }
}

// Adds Σ_r weight Var_c F_m(c) of each member, and Σ_r weight p (1 - p) of each class; p: (k, BLOCK), summing to 1.
BAYESKIT_SIMD
static void add_curvature(const float* scores, int64_t n_rows, int64_t n, int64_t k, int64_t first, int64_t size, const double* p,
                          const double* weight, double* curvature) {
    double mean[BLOCK], square[BLOCK];
    for (int64_t m = 0; m < n; ++m) {
        for (int64_t r = 0; r < size; ++r) mean[r] = square[r] = 0.0;
        for (int64_t c = 0; c < k; ++c) {
            const float* from = scores + (m * k + c) * n_rows + first;
            for (int64_t r = 0; r < size; ++r) {
                const double part = p[c * BLOCK + r] * static_cast<double>(from[r]);
                mean[r] += part;
                square[r] += part * static_cast<double>(from[r]);
            }
        }
        for (int64_t r = 0; r < size; ++r) curvature[m] += weight[r] * std::max(square[r] - mean[r] * mean[r], 0.0);
    }
    for (int64_t c = 0; c < k; ++c)
        for (int64_t r = 0; r < size; ++r) curvature[n + c] += weight[r] * p[c * BLOCK + r] * (1.0 - p[c * BLOCK + r]);
}

struct Pool {
    const float* scores;  // (n, k, n_rows)
    int64_t rows, n, k;
    const uint32_t* y;
    const double* weight;
    int n_threads;

    // The sum of -weight log P(y | x); its gradient by w and b goes to `gradient` (n + k,). Blocks without weight cost nothing.
    double loss(const double* parameters, double* gradient) const {
        constexpr int64_t AT_ONCE = 4 * BLOCK;
        const int64_t chunks = (rows + AT_ONCE - 1) / AT_ONCE, width = n + k + 1;
        std::vector<double> part(chunks * width, 0.0);
        const double *w = parameters, *b = w + n;
        parallel_chunks(chunks, n_threads, [&](int64_t chunk, int) {
            std::vector<double> p(k * BLOCK);
            for (int64_t first = chunk * AT_ONCE; first < std::min(rows, (chunk + 1) * AT_ONCE); first += BLOCK)
                add_block(first, std::min(BLOCK, rows - first), w, b, p.data(), part.data() + chunk * width);
        });
        std::fill(gradient, gradient + n + k, 0.0);
        double total = 0.0;
        for (int64_t chunk = 0; chunk < chunks; ++chunk) {
            for (int64_t v = 0; v < n + k; ++v) gradient[v] += part[chunk * width + v];
            total += part[chunk * width + n + k];
        }
        return total;
    }

    // The diagonal of the second derivatives of the loss, (n + k,)
    std::vector<double> curvature(const double* parameters) const {
        constexpr int64_t AT_ONCE = 4 * BLOCK;
        const int64_t chunks = (rows + AT_ONCE - 1) / AT_ONCE, width = n + k;
        std::vector<double> part(chunks * width, 0.0), sum(width, 0.0);
        parallel_chunks(chunks, n_threads, [&](int64_t chunk, int) {
            std::vector<double> p(k * BLOCK);
            double total[BLOCK];
            for (int64_t first = chunk * AT_ONCE; first < std::min(rows, (chunk + 1) * AT_ONCE); first += BLOCK) {
                const int64_t size = std::min(BLOCK, rows - first);
                pool_rows(scores, rows, n, k, first, size, parameters, parameters + n, p.data());
                exponentiate(p.data(), k, size, p.data(), total);
                for (int64_t c = 0; c < k; ++c)
                    for (int64_t r = 0; r < size; ++r) p[c * BLOCK + r] /= total[r];
                add_curvature(scores, rows, n, k, first, size, p.data(), weight + first, part.data() + chunk * width);
            }
        });
        for (int64_t chunk = 0; chunk < chunks; ++chunk)
            for (int64_t v = 0; v < width; ++v) sum[v] += part[chunk * width + v];
        return sum;
    }

private:
    void add_block(int64_t first, int64_t size, const double* w, const double* b, double* p, double* sums) const {
        if (all_zero(weight + first, size)) return;
        pool_rows(scores, rows, n, k, first, size, w, b, p);
        to_residuals(y + first, weight + first, k, size, p, sums[n + k]);
        for (int64_t c = 0; c < k; ++c)
            for (int64_t r = 0; r < size; ++r) sums[n + c] += p[c * BLOCK + r];
        add_slopes(scores, rows, n, k, first, size, p, sums);
    }
};

Pool pool_of(const Cube<float>& scores, const Vector<uint32_t>& y, const Vector<double>& weight, int n_threads) {
    const int64_t k = static_cast<int64_t>(scores.shape(1)), rows = static_cast<int64_t>(scores.shape(2));
    check_classes(y, rows, k);
    need(static_cast<int64_t>(weight.shape(0)) == rows, "the parts of the pool do not fit.");
    return {scores.data(), rows, static_cast<int64_t>(scores.shape(0)), k, y.data(), weight.data(), n_threads};
}

// (n_rows, n_classes): log P(c | x) of the pool
nb::object pool_log_posterior(Cube<float> scores, Vector<double> w, Vector<double> b, int n_threads) {
    const int64_t n = static_cast<int64_t>(scores.shape(0)), k = static_cast<int64_t>(scores.shape(1)), rows = static_cast<int64_t>(scores.shape(2));
    need(static_cast<int64_t>(w.shape(0)) == n && static_cast<int64_t>(b.shape(0)) == k, "the parts of the pool do not fit.");
    Owned<double> out({static_cast<size_t>(rows), static_cast<size_t>(k)});
    {
        nb::gil_scoped_release release;
        parallel_chunks((rows + BLOCK - 1) / BLOCK, n_threads, [&](int64_t block, int) {
            const int64_t first = block * BLOCK, size = std::min(BLOCK, rows - first);
            std::vector<double> score(k * BLOCK), p(k * BLOCK);
            double total[BLOCK];
            pool_rows(scores.data(), rows, n, k, first, size, w.data(), b.data(), score.data());
            exponentiate(score.data(), k, size, p.data(), total);
            for (int64_t r = 0; r < size; ++r)
                for (int64_t c = 0; c < k; ++c) out.data[(first + r) * k + c] = score[c * BLOCK + r] - std::log(total[r]);
        });
    }
    return out.to_numpy();
}

nb::tuple pool_loss(Cube<float> scores, Vector<uint32_t> y, Vector<double> weight, Vector<double> parameters, int n_threads) {
    const Pool pool = pool_of(scores, y, weight, n_threads);
    need(static_cast<int64_t>(parameters.shape(0)) == pool.n + pool.k, "the parts of the pool do not fit.");
    Owned<double> gradient({static_cast<size_t>(pool.n + pool.k)});
    double loss;
    {
        nb::gil_scoped_release release;
        loss = pool.loss(parameters.data(), gradient.data);
    }
    return nb::make_tuple(loss, gradient.to_numpy());
}

// Loss + ½ penalty ‖w - around‖² + ½ ‖b‖² over w >= 0.
struct PoolProblem {
    const Pool& pool;
    const double* around;
    double penalty;

    int64_t n_bounded() const { return pool.n; }
    double first_length() const { return 1.0 / std::sqrt(static_cast<double>(pool.n)); }

    double loss(const Numbers& x, Numbers& slope) const {
        double value = pool.loss(x.data(), slope.data());
        for (int64_t v = 0; v < pool.n + pool.k; ++v) {
            const double away = x[v] - (v < pool.n ? around[v] : 0.0);
            value += 0.5 * strength(v) * away * away;
            slope[v] += strength(v) * away;
        }
        return value;
    }

    Numbers curvature(const Numbers& x) const {
        Numbers sums = pool.curvature(x.data());
        for (int64_t v = 0; v < pool.n + pool.k; ++v) sums[v] += strength(v);
        return sums;
    }

private:
    double strength(int64_t v) const { return v < pool.n ? penalty : 1.0; }
};

// (n + k,): the weights, then the biases; the search begins at `start` (n + k,) and ends where a step lowers the value by no more
// than its share `tolerance`
nb::object fit_pool(Cube<float> scores, Vector<uint32_t> y, Vector<double> weight, Vector<double> around, double penalty, Vector<double> start,
                    double tolerance, int n_threads) {
    const Pool pool = pool_of(scores, y, weight, n_threads);
    need(static_cast<int64_t>(around.shape(0)) == pool.n && static_cast<int64_t>(start.shape(0)) == pool.n + pool.k && penalty > 0.0,
         "the parts of the pool do not fit.");
    Numbers solution;
    {
        nb::gil_scoped_release release;
        solution = Descent(PoolProblem{pool, around.data(), penalty}, tolerance).run(copy_of(start));
    }
    Owned<double> out({solution.size()});
    std::copy(solution.begin(), solution.end(), out.data);
    return out.to_numpy();
}

}  // namespace

void bind_pool_loss(nb::module_& m) {
    using namespace nb::literals;
    m.def("pool_loss", &pool_loss, "scores"_a, "y"_a, "weight"_a, "parameters"_a, "n_threads"_a);
    m.def("fit_pool", &fit_pool, "scores"_a, "y"_a, "weight"_a, "around"_a, "penalty"_a, "start"_a, "tolerance"_a, "n_threads"_a);
    m.def("pool_log_posterior", &pool_log_posterior, "scores"_a, "w"_a, "b"_a, "n_threads"_a);
}

}  // namespace bayeskit::automatic
