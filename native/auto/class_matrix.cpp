// A matrix of classes, log P(c | x) = Σ_d A_cd z_d + a_c - log Z: how much each class's score says about each class.
#include <cmath>

#include "auto/descent.hpp"
#include "auto/kernels.hpp"
#include "auto/rows.hpp"
#include "auto/softmax.hpp"

namespace bayeskit::automatic {
namespace {

// out[c] += Σ_d matrix[c][d] z[d]; z: (k, n_rows), out: (k, BLOCK)
BAYESKIT_SIMD
static void add_products(const double* z, int64_t n_rows, int64_t k, int64_t first, int64_t size, const double* matrix, double* out) {
    for (int64_t c = 0; c < k; ++c)
        for (int64_t d = 0; d < k; ++d) {
            const double factor = matrix[c * k + d], *from = z + d * n_rows + first;
            double* to = out + c * BLOCK;
            for (int64_t r = 0; r < size; ++r) to[r] += factor * from[r];
        }
}

// slope[c][d] += Σ_r residual[c] z[d]
BAYESKIT_SIMD
static void add_slopes(const double* z, int64_t n_rows, int64_t k, int64_t first, int64_t size, const double* residual, double* slope) {
    for (int64_t c = 0; c < k; ++c)
        for (int64_t d = 0; d < k; ++d) {
            const double *class_residual = residual + c * BLOCK, *from = z + d * n_rows + first;
            double lane[PACK] = {};
            int64_t r = 0;
            for (; r + PACK <= size; r += PACK)
                for (int v = 0; v < PACK; ++v) lane[v] += class_residual[r + v] * from[r + v];
            for (; r < size; ++r) lane[0] += class_residual[r] * from[r];
            slope[c * k + d] += ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
        }
}

// Σ -weight log P(y | x) + ½ penalty ‖A - I‖² + ½ ‖a‖²; the numbers are A, line by line, then a.
struct MatrixProblem {
    const double* z;  // (k, n_rows)
    int64_t rows, k;
    const uint32_t* y;
    const double* weight;
    double penalty;
    int n_threads;

    int64_t n_bounded() const { return 0; }
    double first_length() const { return 1.0 / static_cast<double>(k); }

    double loss(const Numbers& x, Numbers& slope) const {
        const int64_t width = k * k + k + 1;
        const Numbers sums = over_blocks(width, [&](int64_t first, int64_t size, double* score, double* to) {
            score_rows(x, first, size, score);
            to_residuals(y + first, weight + first, k, size, score, to[width - 1]);
            add_slopes(z, rows, k, first, size, score, to);
            for (int64_t c = 0; c < k; ++c)
                for (int64_t r = 0; r < size; ++r) to[k * k + c] += score[c * BLOCK + r];
        });
        double value = sums[width - 1];
        for (int64_t v = 0; v < width - 1; ++v) {
            const double away = x[v] - (v < k * k && v % (k + 1) == 0 ? 1.0 : 0.0);
            value += 0.5 * strength(v) * away * away;
            slope[v] = sums[v] + strength(v) * away;
        }
        return value;
    }

    Numbers curvature(const Numbers& x) const {
        Numbers sums = over_blocks(k * k + k, [&](int64_t first, int64_t size, double* score, double* to) {
            double total[BLOCK];
            score_rows(x, first, size, score);
            exponentiate(score, k, size, score, total);
            for (int64_t c = 0; c < k; ++c)
                for (int64_t r = 0; r < size; ++r) {
                    const double p = score[c * BLOCK + r] / total[r], bend = weight[first + r] * p * (1.0 - p);
                    to[k * k + c] += bend;
                    for (int64_t d = 0; d < k; ++d) to[c * k + d] += bend * z[d * rows + first + r] * z[d * rows + first + r];
                }
        });
        for (int64_t v = 0; v < k * k + k; ++v) sums[v] += strength(v);
        return sums;
    }

private:
    double strength(int64_t v) const { return v < k * k ? penalty : 1.0; }

    void score_rows(const Numbers& x, int64_t first, int64_t size, double* score) const {
        for (int64_t c = 0; c < k; ++c) std::fill(score + c * BLOCK, score + c * BLOCK + size, x[k * k + c]);
        add_products(z, rows, k, first, size, x.data(), score);
        take_peaks_off(k, size, score);
    }

    // The sums of work(first row, rows, room for scores, sums) over all blocks, added up in their order.
    template <typename Work>
    Numbers over_blocks(int64_t width, Work&& work) const {
        constexpr int64_t AT_ONCE = 4 * BLOCK;
        const int64_t chunks = (rows + AT_ONCE - 1) / AT_ONCE;
        Numbers parts(chunks * width, 0.0), sums(width, 0.0);
        parallel_chunks(chunks, n_threads, [&](int64_t chunk, int) {
            Numbers score(k * BLOCK);
            for (int64_t first = chunk * AT_ONCE; first < std::min(rows, (chunk + 1) * AT_ONCE); first += BLOCK)
                work(first, std::min(BLOCK, rows - first), score.data(), parts.data() + chunk * width);
        });
        for (int64_t chunk = 0; chunk < chunks; ++chunk)
            for (int64_t v = 0; v < width; ++v) sums[v] += parts[chunk * width + v];
        return sums;
    }
};

// (k, k + 1): A, and a as the last column
nb::object fit_class_matrix(Matrix<double> z, Vector<uint32_t> y, Vector<double> weight, double penalty, double tolerance, int n_threads) {
    const int64_t k = static_cast<int64_t>(z.shape(0)), rows = static_cast<int64_t>(z.shape(1));
    check_classes(y, rows, k);
    need(static_cast<int64_t>(weight.shape(0)) == rows && penalty > 0.0, "the parts of the matrix do not fit.");
    Numbers solution(k * k + k, 0.0);
    for (int64_t c = 0; c < k; ++c) solution[c * k + c] = 1.0;
    {
        nb::gil_scoped_release release;
        solution = Descent(MatrixProblem{z.data(), rows, k, y.data(), weight.data(), penalty, n_threads}, tolerance).run(solution);
    }
    Owned<double> out({static_cast<size_t>(k), static_cast<size_t>(k + 1)});
    for (int64_t c = 0; c < k; ++c) {
        std::copy_n(solution.data() + c * k, k, out.data + c * (k + 1));
        out.data[c * (k + 1) + k] = solution[k * k + c];
    }
    return out.to_numpy();
}

}  // namespace

void bind_class_matrix(nb::module_& m) {
    using namespace nb::literals;
    m.def("fit_class_matrix", &fit_class_matrix, "z"_a, "y"_a, "weight"_a, "penalty"_a, "tolerance"_a, "n_threads"_a);
}

}  // namespace bayeskit::automatic
