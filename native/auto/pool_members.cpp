// The pool of the members of a row: log P(c | x) = Σ_d A_cd z_d + a_c - log Z, where z = Σ_m w_m F_m + b, centred.
#include <cmath>

#include <nanobind/stl/vector.h>

#include "auto/kernels.hpp"
#include "auto/rows.hpp"
#include "auto/softmax.hpp"

namespace bayeskit::automatic {
namespace {

// to[c][r] += factor from[r][c]: rows become lines, so that they lie side by side; from: (size, k), to: (k, BLOCK)
void add_turned(const double* from, int64_t k, int64_t size, double factor, double* to) {
    for (int64_t r = 0; r < size; ++r)
        for (int64_t c = 0; c < k; ++c) to[c * BLOCK + r] += factor * from[r * k + c];
}

// z -= its mean over the classes of the centre
BAYESKIT_SIMD
static void centre_rows(const std::vector<int64_t>& centre, int64_t k, int64_t size, double* z) {
    double mean[BLOCK] = {};
    for (int64_t c : centre)
        for (int64_t r = 0; r < size; ++r) mean[r] += z[c * BLOCK + r];
    for (int64_t r = 0; r < size; ++r) mean[r] /= static_cast<double>(centre.size());
    for (int64_t c = 0; c < k; ++c)
        for (int64_t r = 0; r < size; ++r) z[c * BLOCK + r] -= mean[r];
}

// to[c] = matrix[c][k] + Σ_d matrix[c][d] z[d]; matrix: (k, k + 1)
BAYESKIT_SIMD
static void multiply(const double* matrix, const double* z, int64_t k, int64_t size, double* to) {
    for (int64_t c = 0; c < k; ++c) {
        const double* line = matrix + c * (k + 1);
        double* sum = to + c * BLOCK;
        for (int64_t r = 0; r < size; ++r) sum[r] = line[k];
        for (int64_t d = 0; d < k; ++d) {
            if (line[d] == 0.0) continue;  // most matrices are the identity
            const double *from = z + d * BLOCK, factor = line[d];
            for (int64_t r = 0; r < size; ++r) sum[r] += factor * from[r];
        }
    }
}

// (n_rows, k): `members` are scores (n_rows, k), whose weights are `w` and biases `b` (k,); `matrix` is (k, k + 1)
nb::object pool_members(const std::vector<Matrix<double>>& members, Vector<double> w, Vector<double> b, Matrix<double> matrix,
                        Vector<bool> centre, int n_threads) {
    const int64_t n = static_cast<int64_t>(members.size()), k = static_cast<int64_t>(b.shape(0));
    need(n > 0 && k > 0 && static_cast<int64_t>(w.shape(0)) == n && static_cast<int64_t>(matrix.shape(0)) == k &&
             static_cast<int64_t>(matrix.shape(1)) == k + 1 && static_cast<int64_t>(centre.shape(0)) == k,
         "the parts of the pool do not fit.");
    const int64_t rows = static_cast<int64_t>(members[0].shape(0));
    for (const auto& member : members)
        need(static_cast<int64_t>(member.shape(0)) == rows && static_cast<int64_t>(member.shape(1)) == k, "the members differ in shape.");
    std::vector<int64_t> centred;
    for (int64_t c = 0; c < k; ++c)
        if (centre.data()[c]) centred.push_back(c);
    need(!centred.empty(), "no class is in the centre.");
    Owned<double> out({static_cast<size_t>(rows), static_cast<size_t>(k)});
    {
        nb::gil_scoped_release release;
        constexpr int64_t AT_ONCE = 4 * BLOCK;
        parallel_chunks((rows + AT_ONCE - 1) / AT_ONCE, n_threads, [&](int64_t chunk, int) {
            std::vector<double> z(k * BLOCK), score(k * BLOCK);
            double total[BLOCK];
            const int64_t end = std::min(rows, (chunk + 1) * AT_ONCE);
            for (int64_t first = chunk * AT_ONCE; first < end; first += BLOCK) {
                const int64_t size = std::min(BLOCK, end - first);
                for (int64_t c = 0; c < k; ++c) std::fill_n(z.data() + c * BLOCK, size, b.data()[c]);
                for (int64_t m = 0; m < n; ++m) add_turned(members[m].data() + first * k, k, size, w.data()[m], z.data());
                centre_rows(centred, k, size, z.data());
                multiply(matrix.data(), z.data(), k, size, score.data());
                take_peaks_off(k, size, score.data());
                exponentiate(score.data(), k, size, z.data(), total);
                for (int64_t r = 0; r < size; ++r) {
                    const double logarithm = std::log(total[r]);
                    for (int64_t c = 0; c < k; ++c) out.data[(first + r) * k + c] = score[c * BLOCK + r] - logarithm;
                }
            }
        });
    }
    return out.to_numpy();
}

}  // namespace

void bind_pool_members(nb::module_& m) {
    using namespace nb::literals;
    m.def("pool_members", &pool_members, "members"_a, "w"_a, "b"_a, "matrix"_a, "centre"_a, "n_threads"_a);
}

}  // namespace bayeskit::automatic
