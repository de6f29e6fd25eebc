// Scores of the classes become log-probabilities: each row less the logarithm of the sum of its exponentials.
#include <cmath>

#include "auto/kernels.hpp"
#include "auto/rows.hpp"
#include "auto/softmax.hpp"

namespace bayeskit::automatic {
namespace {

// What would be below `least` is `least`.
nb::object log_softmax(Matrix<double> scores, double least, int n_threads) {
    const int64_t rows = static_cast<int64_t>(scores.shape(0)), k = static_cast<int64_t>(scores.shape(1));
    need(k > 0, "there are no classes.");
    Owned<double> out({static_cast<size_t>(rows), static_cast<size_t>(k)});
    {
        nb::gil_scoped_release release;
        constexpr int64_t AT_ONCE = 16 * BLOCK;
        parallel_chunks((rows + AT_ONCE - 1) / AT_ONCE, n_threads, [&](int64_t chunk, int) {
            std::vector<double> score(k * BLOCK), p(k * BLOCK);  // class by class, so that rows lie side by side
            double total[BLOCK];
            const int64_t end = std::min(rows, (chunk + 1) * AT_ONCE);
            for (int64_t first = chunk * AT_ONCE; first < end; first += BLOCK) {
                const int64_t size = std::min(BLOCK, end - first);
                const double* from = scores.data() + first * k;
                for (int64_t r = 0; r < size; ++r)
                    for (int64_t c = 0; c < k; ++c) score[c * BLOCK + r] = from[r * k + c];
                take_peaks_off(k, size, score.data());
                exponentiate(score.data(), k, size, p.data(), total);
                double* to = out.data + first * k;
                for (int64_t r = 0; r < size; ++r) {
                    const double logarithm = std::log(total[r]);
                    for (int64_t c = 0; c < k; ++c) to[r * k + c] = std::max(score[c * BLOCK + r] - logarithm, least);
                }
            }
        });
    }
    return out.to_numpy();
}

}  // namespace

void bind_log_softmax(nb::module_& m) {
    using namespace nb::literals;
    m.def("log_softmax", &log_softmax, "scores"_a, "least"_a, "n_threads"_a);
}

}  // namespace bayeskit::automatic
