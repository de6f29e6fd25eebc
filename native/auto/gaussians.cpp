// Gaussians of all numeric columns within each class, under a normal-inverse-Wishart prior: sums, and densities with the row
// itself left out by rank-one downdates.
#include <cmath>
#include <optional>

#include <nanobind/stl/optional.h>

#include "auto/kernels.hpp"
#include "auto/rows.hpp"
#include "base/logarithm.hpp"
#include "base/simd.hpp"

namespace bayeskit::automatic {
namespace {

// (n_classes, p + 1, p + 1): Σ w (1, z)(1, z)ᵀ of the rows of each class; the upper half is mirrored
nb::object gaussian_sums(Matrix<double> z, Vector<uint32_t> y, Vector<double> weight, int64_t n_classes, int n_threads) {
    const int64_t rows = static_cast<int64_t>(z.shape(0)), p = static_cast<int64_t>(z.shape(1)), width = p + 1;
    check_classes(y, rows, n_classes);
    need(static_cast<int64_t>(weight.shape(0)) == rows, "weights and the table differ in length.");
    Owned<double> out({static_cast<size_t>(n_classes), static_cast<size_t>(width), static_cast<size_t>(width)}, true);
    {
        nb::gil_scoped_release release;
        // Threads share out the lines of the matrices; each line is summed over the rows in their order.
        constexpr int64_t LINES = 8;
        parallel_chunks((width + LINES - 1) / LINES, n_threads, [&](int64_t chunk, int) {
            const int64_t first = chunk * LINES, last = std::min(width, first + LINES);
            for (int64_t r = 0; r < rows; ++r) {
                const double* row = z.data() + r * p;
                double* sums = out.data + y.data()[r] * width * width;
                for (int64_t i = first; i < last; ++i) {
                    const double left = weight.data()[r] * (i ? row[i - 1] : 1.0);
                    double* line = sums + i * width;
                    line[0] += left;
                    for (int64_t j = std::max<int64_t>(i, 1); j < width; ++j) line[j] += left * row[j - 1];
                }
            }
        });
        for (int64_t c = 0; c < n_classes; ++c)
            for (int64_t i = 0; i < width; ++i)
                for (int64_t j = 0; j < i; ++j) out.data[(c * width + i) * width + j] = out.data[(c * width + j) * width + i];
    }
    return out.to_numpy();
}

constexpr double LEAST_FACTOR = 1e-6;  // of a determinant: what is less is rounding
constexpr int64_t WIDE = 32;  // rows side by side: while one sum waits for its product, the others go on

// (z - mean)ᵀ A⁻¹ (z - mean) of WIDE rows, where A = L Lᵀ; z and d: (p, WIDE).
BAYESKIT_SIMD
static void distances(const double* z, int64_t p, const double* mean, const double* l, double* d, double* out) {
    for (int64_t r = 0; r < WIDE; ++r) out[r] = 0.0;
    for (int64_t i = 0; i < p; ++i) {
        double sum[WIDE];
        for (int64_t r = 0; r < WIDE; ++r) sum[r] = z[i * WIDE + r] - mean[i];
        for (int64_t v = 0; v < i; ++v) {
            const double factor = l[i * p + v];
            for (int64_t r = 0; r < WIDE; ++r) sum[r] -= factor * d[v * WIDE + r];
        }
        const double scale = 1.0 / l[i * p + i];
        for (int64_t r = 0; r < WIDE; ++r) {
            const double value = sum[r] * scale;
            d[i * WIDE + r] = value;
            out[r] += value * value;
        }
    }
}

BAYESKIT_SIMD
static double dot(const double* a, const double* b, int64_t n) {
    double lane[PACK] = {};
    int64_t v = 0;
    for (; v + PACK <= n; v += PACK)
        for (int w = 0; w < PACK; ++w) lane[w] += a[v + w] * b[v + w];
    for (; v < n; ++v) lane[0] += a[v] * b[v];
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

constexpr int64_t FEW = 8;  // fewer rows are not worth WIDE places

// The same of one row
double distance_of(const double* z, int64_t p, const double* mean, const double* l, double* d) {
    double total = 0.0;
    for (int64_t i = 0; i < p; ++i) {
        d[i] = (z[i] - mean[i] - dot(l + i * p, d, i)) / l[i * p + i];
        total += d[i] * d[i];
    }
    return total;
}

// constant - factor log(1 + scale q)
BAYESKIT_SIMD
static void to_densities(const double* q, double constant, double factor, double scale, double* out) {
    for (int64_t r = 0; r < WIDE; ++r) out[r] = constant - factor * log_of_positive(1.0 + scale * q[r]);
}

// Turns q = (z - mean)ᵀ A⁻¹ (z - mean) into that of A - g u uᵀ, and finds the factor of the determinant; with A = L Lᵀ,
// a = L⁻¹ (z - mean) and b = L⁻¹ u, both (p, WIDE).
BAYESKIT_SIMD
static void downdate(const double* a, const double* b, int64_t p, const double* g, double* q, double* factor) {
    double ab[WIDE] = {}, bb[WIDE] = {};
    for (int64_t i = 0; i < p; ++i)
        for (int64_t r = 0; r < WIDE; ++r) {
            ab[r] += a[i * WIDE + r] * b[i * WIDE + r];
            bb[r] += b[i * WIDE + r] * b[i * WIDE + r];
        }
    for (int64_t r = 0; r < WIDE; ++r) {
        const double rest = 1.0 - g[r] * bb[r];
        factor[r] = rest > LEAST_FACTOR ? rest : LEAST_FACTOR;
        q[r] += g[r] * ab[r] * ab[r] / factor[r];
    }
}

// (n_rows, n_classes): log densities of the posterior predictive t distributions, up to what all classes share.
//
// `lower` (n_classes, p, p) is the Cholesky factor of the scale matrix of the inverse Wishart, `kappa` and `df` (n_classes,) the weight of the mean and
// ν + n - p_all + 1. With `y`, each row is left out: `own` is how much of it. Its own class loses it as a rank-one downdate, and so
// does the covariance that all classes share, pooled[y] (z - center[y])(z - center[y])ᵀ for a whole row.
nb::object gaussian_densities(Matrix<double> z, Matrix<double> mean, Cube<double> lower, Vector<double> kappa, Vector<double> df,
                              std::optional<Vector<uint32_t>> y, std::optional<Vector<double>> row_weight, std::optional<Matrix<double>> center,
                              std::optional<Vector<double>> pooled, int n_threads) {
    const int64_t rows = static_cast<int64_t>(z.shape(0)), p = static_cast<int64_t>(z.shape(1)), k = static_cast<int64_t>(mean.shape(0));
    need(static_cast<int64_t>(mean.shape(1)) == p && static_cast<int64_t>(lower.shape(0)) == k && static_cast<int64_t>(lower.shape(1)) == p &&
             static_cast<int64_t>(lower.shape(2)) == p && static_cast<int64_t>(kappa.shape(0)) == k && static_cast<int64_t>(df.shape(0)) == k,
         "the parts of the Gaussians do not fit together.");
    need(y.has_value() == row_weight.has_value() && y.has_value() == center.has_value() && y.has_value() == pooled.has_value(),
         "rows are left out with y, own, center and pooled.");
    if (y) {
        check_classes(*y, rows, k);
        need(static_cast<int64_t>(row_weight->shape(0)) == rows, "own and the table differ in length.");
        need(static_cast<int64_t>(center->shape(0)) == k && static_cast<int64_t>(center->shape(1)) == p && static_cast<int64_t>(pooled->shape(0)) == k,
             "the parts of the Gaussians do not fit together.");
    }
    std::vector<double> log_det(k, 0.0);
    for (int64_t c = 0; c < k; ++c)
        for (int64_t i = 0; i < p; ++i) {
            const double root = lower.data()[(c * p + i) * p + i];
            need(root > 0.0, "a scale matrix is not positive definite.");
            log_det[c] += 2.0 * std::log(root);
        }
    Owned<double> out({static_cast<size_t>(rows), static_cast<size_t>(k)});
    {
        nb::gil_scoped_release release;
        const double q_all = static_cast<double>(p);
        std::vector<double> fixed(k);
        auto shape = [&](double freedom, double heavy) {
            return std::lgamma((freedom + q_all) / 2) - std::lgamma(freedom / 2) - 0.5 * q_all * std::log((heavy + 1.0) / heavy);
        };
        for (int64_t c = 0; c < k; ++c) fixed[c] = shape(df.data()[c], kappa.data()[c]) - 0.5 * log_det[c];
        if (!y && rows < FEW) {
            std::vector<double> d(p);
            for (int64_t r = 0; r < rows; ++r)
                for (int64_t c = 0; c < k; ++c) {
                    const double heavy = kappa.data()[c], q = distance_of(z.data() + r * p, p, mean.data() + c * p, lower.data() + c * p * p, d.data());
                    out.data[r * k + c] = fixed[c] - (df.data()[c] + q_all) / 2 * std::log1p(heavy / (heavy + 1.0) * q);
                }
        }
        parallel_chunks(!y && rows < FEW ? 0 : (rows + 255) / 256, n_threads, [&](int64_t chunk, int) {
            std::vector<double> block(p * WIDE), d(p * WIDE), away(y ? p * WIDE : 0), other(away.size());
            const std::vector<double> zero(p, 0.0);
            double distance[WIDE], density[WIDE], shared[WIDE], factor[WIDE];
            for (int64_t first = chunk * 256; first < std::min(rows, (chunk + 1) * 256); first += WIDE) {
                const int64_t here = std::min<int64_t>(WIDE, rows - first);
                for (int64_t i = 0; i < p; ++i)
                    for (int64_t r = 0; r < WIDE; ++r) block[i * WIDE + r] = z.data()[(first + std::min(r, here - 1)) * p + i];
                for (int64_t r = 0; y && r < WIDE; ++r) {
                    const int64_t row = first + std::min(r, here - 1), c = y->data()[row];
                    shared[r] = row_weight->data()[row] * pooled->data()[c];
                    for (int64_t i = 0; i < p; ++i) away[i * WIDE + r] = block[i * WIDE + r] - center->data()[c * p + i];
                }
                for (int64_t c = 0; c < k; ++c) {
                    distances(block.data(), p, mean.data() + c * p, lower.data() + c * p * p, d.data(), distance);
                    if (y) {
                        double ignored[WIDE];
                        distances(away.data(), p, zero.data(), lower.data() + c * p * p, other.data(), ignored);
                        downdate(d.data(), other.data(), p, shared, distance, factor);
                    }
                    const double heavy = kappa.data()[c], freedom = df.data()[c];
                    to_densities(distance, fixed[c], (freedom + q_all) / 2, heavy / (heavy + 1.0), density);
                    for (int64_t r = 0; r < here; ++r) {
                        if (y) density[r] -= 0.5 * std::log(factor[r]);
                        if (y && y->data()[first + r] == c) {
                            const double q = distance[r], part = row_weight->data()[first + r], rest = heavy - part;
                            const double down = std::max(1.0 - part * heavy / rest * q, LEAST_FACTOR);
                            const double without = heavy / rest * (heavy / rest) * q / down;
                            density[r] = shape(freedom - part, rest) - 0.5 * (log_det[c] + std::log(down * factor[r])) -
                                         (freedom - part + q_all) / 2 * std::log1p(without * rest / (rest + 1.0));
                        }
                        out.data[(first + r) * k + c] = density[r];
                    }
                }
            }
        });
    }
    return out.to_numpy();
}

}  // namespace

void bind_gaussians(nb::module_& m) {
    using namespace nb::literals;
    m.def("gaussian_sums", &gaussian_sums, "z"_a, "y"_a, "weight"_a, "n_classes"_a, "n_threads"_a);
    m.def("gaussian_densities", &gaussian_densities, "z"_a, "mean"_a, "lower"_a, "kappa"_a, "df"_a, "y"_a.none(), "own"_a.none(),
          "center"_a.none(), "pooled"_a.none(), "n_threads"_a);
}

}  // namespace bayeskit::automatic
