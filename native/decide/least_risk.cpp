// The action of least risk in each row of a table of posteriors, found and checked in one pass.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cmath>
#include <optional>
#include <vector>

#include "kernels.hpp"
#include "base/parallel.hpp"
#include "base/simd.hpp"

namespace nb = nanobind;

namespace bayeskit::decide {
namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Column = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr int64_t CHUNK_ROWS = 16384;

struct Problem {
    const double* posterior;  // (n_rows, n_classes)
    const double* order;      // (n_classes, lanes): n_actions columns of the loss, then ones, so that one lane sums the row
    const double* loss;       // (n_classes, n_actions)
    int64_t n_classes, n_actions, lanes;
    double tolerance;
    int64_t* action;
    double* risk;             // null when not asked for
};

// LANES is known to the compiler, so that the sums of a row stay in registers; 0 means any number of actions.
template <int LANES>
BAYESKIT_INLINE int64_t decide_rows(const Problem& p, int64_t begin, int64_t end, double* spare) {
    const int64_t lanes = LANES ? LANES : p.lanes;
    double fixed[LANES ? LANES : 1];
    double* sum = LANES ? fixed : spare;
    int64_t bad = -1;
    for (int64_t i = begin; i < end; ++i) {
        const double* row = p.posterior + i * p.n_classes;
        for (int64_t a = 0; a < lanes; ++a) sum[a] = 0.0;
        double lowest = 0.0;
        for (int64_t c = 0; c < p.n_classes; ++c) {
            const double share = row[c];
            const double* line = p.order + c * lanes;
            lowest = share < lowest ? share : lowest;
            for (int64_t a = 0; a < lanes; ++a) sum[a] += share * line[a];
        }
        // NaN fails the comparison, so it counts as bad.
        if (!(std::fabs(sum[p.n_actions] - 1.0) <= p.tolerance && lowest >= 0.0) && bad < 0) bad = i;
        int64_t best = 0;
        double least = sum[0];
        for (int64_t a = 1; a < p.n_actions; ++a) {  // the first of equals stays
            best = sum[a] < least ? a : best;
            least = sum[a] < least ? sum[a] : least;
        }
        p.action[i] = best;
        if (p.risk == nullptr) continue;
        double risk = 0.0;
        for (int64_t c = 0; c < p.n_classes; ++c) risk += row[c] * p.loss[c * p.n_actions + best];
        p.risk[i] = risk;
    }
    return bad;
}

BAYESKIT_SIMD int64_t decide_chunk(const Problem& p, int64_t begin, int64_t end, double* spare) {
    switch (p.lanes) {
        case 4: return decide_rows<4>(p, begin, end, spare);
        case 8: return decide_rows<8>(p, begin, end, spare);
        case 12: return decide_rows<12>(p, begin, end, spare);
        case 16: return decide_rows<16>(p, begin, end, spare);
        default: return decide_rows<0>(p, begin, end, spare);
    }
}

// Returns the first row that is no distribution, or -1.
int64_t least_risk(Matrix posterior, Matrix order, Matrix loss, double tolerance, Column<int64_t> action,
                   std::optional<Column<double>> risk, int n_threads) {
    const int64_t n_rows = posterior.shape(0), n_classes = loss.shape(0), n_actions = loss.shape(1);
    const int64_t lanes = n_actions / 4 * 4 + 4;
    std::vector<double> padded(n_classes * lanes, 1.0);
    for (int64_t c = 0; c < n_classes; ++c)
        for (int64_t a = 0; a < n_actions; ++a) padded[c * lanes + a] = order.data()[c * n_actions + a];
    const Problem problem{posterior.data(), padded.data(), loss.data(),   n_classes,
                          n_actions,        lanes,         tolerance,     action.data(),
                          risk ? risk->data() : nullptr};
    const int64_t n_chunks = (n_rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
    std::vector<int64_t> bad(n_chunks, -1);
    {
        nb::gil_scoped_release release;
        parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int) {
            std::vector<double> spare(lanes);
            const int64_t end = std::min(n_rows, (chunk + 1) * CHUNK_ROWS);
            bad[chunk] = decide_chunk(problem, chunk * CHUNK_ROWS, end, spare.data());
        });
    }
    for (int64_t row : bad)
        if (row >= 0) return row;
    return -1;
}

}  // namespace

void bind_least_risk(nb::module_& m) {
    using namespace nb::literals;
    m.def("least_risk", &least_risk, "posterior"_a, "order"_a, "loss"_a, "tolerance"_a, "action"_a, "risk"_a.none(),
          "n_threads"_a);
}

}  // namespace bayeskit::decide
