// The most probable path of states: sums of logarithms and their maxima, which lose no digits however long the chain is,
// since the best score of each row is taken out.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <optional>
#include <tuple>

#include "base/parallel.hpp"
#include "sequence/bind.hpp"
#include "sequence/chain.hpp"

namespace bayeskit::sequence {
namespace {

using Path = nb::ndarray<int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Scores = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct Problem {
    int64_t k, lanes;
    const double* log_density;  // (n_rows, k)
    const double* log_start;    // (k,)
    const double* log_step;     // (k, lanes), padded with minus infinity
    const double* before;       // (k,): scores of the row before the block, or null
    int32_t* path;              // (n_rows,), or null where only the scores are asked for
    int64_t end_state;          // the state of the block's last row, or -1: the best
    double* last;               // (k,): scores of the block's last row, the best of which is 0
    double* log_probability;    // (n_pieces,)
    int64_t* from;              // the state of the row before the block
};

// A running sum of which the rounding is kept.
struct Total {
    double sum = 0.0, rest = 0.0;
    BAYESKIT_INLINE void add(double x) {
        const double now = sum + x;
        rest += std::fabs(sum) >= std::fabs(x) ? (sum - now) + x : (x - now) + sum;
        sum = now;
    }
};

// For each state the best one before it, with the numbers of all lanes in registers.
template <int LANES>
BAYESKIT_INLINE void best_before(const double* score, const double* log_step, int64_t k, double* best, double* from) {
    constexpr int QUADS = LANES / QUAD;
    Quad b[QUADS], f[QUADS];
    BAYESKIT_UNROLL
    for (int q = 0; q < QUADS; ++q) {
        b[q] = quad_of(score[0]) + read_quad(log_step + q * QUAD);
        f[q] = quad_of(0.0);
    }
    for (int64_t i = 1; i < k; ++i) {
        const Quad score_i = quad_of(score[i]), number = quad_of(static_cast<double>(i));
        const double* step = log_step + i * LANES;
        BAYESKIT_UNROLL
        for (int q = 0; q < QUADS; ++q) {
            const Quad candidate = score_i + read_quad(step + q * QUAD);
            f[q] = where_at_most(candidate, b[q], f[q], number);
            b[q] = greater(candidate, b[q]);
        }
    }
    BAYESKIT_UNROLL
    for (int q = 0; q < QUADS; ++q) {
        write_quad(best + q * QUAD, b[q]);
        write_quad(from + q * QUAD, f[q]);
    }
}

// Returns the first row that no path can give, or -1. Of equal scores the first state is taken.
template <int LANES, typename Code>
BAYESKIT_INLINE int64_t best_path(const Problem& p, const Piece& piece, bool ends_block, double& log_probability) {
    const int64_t k = p.k, lanes = LANES ? LANES : p.lanes, n = piece.end - piece.begin;
    std::vector<double> score(lanes, MINUS_INFINITY), best(lanes), from(lanes);
    std::vector<Code> back(p.path ? n * k : 0);
    if (!piece.first) std::copy(p.before, p.before + k, score.begin());
    Total total;
    for (int64_t t = 0; t < n; ++t) {
        const double* row = p.log_density + (piece.begin + t) * k;
        if (t == 0 && piece.first) {
            for (int64_t j = 0; j < k; ++j) best[j] = p.log_start[j];
            for (int64_t j = 0; j < lanes; ++j) from[j] = 0.0;
        } else if constexpr (LANES > 0) {
            best_before<LANES>(score.data(), p.log_step, k, best.data(), from.data());
        } else {
            double* const b = best.data();
            double* const f = from.data();
            for (int64_t j = 0; j < lanes; ++j) {
                b[j] = score[0] + p.log_step[j];
                f[j] = 0.0;
            }
            for (int64_t i = 1; i < k; ++i) {
                const double score_i = score[i], number = static_cast<double>(i);
                const double* step = p.log_step + i * lanes;
                for (int64_t j = 0; j < lanes; ++j) {
                    const double candidate = score_i + step[j];
                    f[j] = candidate > b[j] ? number : f[j];
                    b[j] = candidate > b[j] ? candidate : b[j];
                }
            }
        }
        double peak = MINUS_INFINITY;
        for (int64_t j = 0; j < k; ++j) {
            best[j] += row[j];
            peak = best[j] > peak ? best[j] : peak;
        }
        if (peak == MINUS_INFINITY) return piece.begin + t;
        for (int64_t j = 0; j < k; ++j) score[j] = best[j] - peak;
        total.add(peak);
        if (p.path)
            for (int64_t j = 0; j < k; ++j) back[t * k + j] = static_cast<Code>(from[j]);
    }
    log_probability = total.sum + total.rest;
    if (ends_block) std::copy(score.begin(), score.begin() + k, p.last);
    if (!p.path) return -1;
    int64_t state = 0;
    if (ends_block && p.end_state >= 0) {
        state = p.end_state;
    } else {
        for (int64_t j = 1; j < k; ++j)
            if (score[j] > score[state]) state = j;
    }
    for (int64_t t = n - 1; t >= 0; --t) {
        p.path[piece.begin + t] = static_cast<int32_t>(state);
        state = static_cast<int64_t>(back[t * k + state]);
    }
    if (!piece.first) *p.from = state;
    return -1;
}

template <typename Code>
BAYESKIT_INLINE int64_t one_path(const Problem& p, const Piece& piece, bool ends_block, double& log_probability) {
    switch (p.lanes) {
        case 4: return best_path<4, Code>(p, piece, ends_block, log_probability);
        case 8: return best_path<8, Code>(p, piece, ends_block, log_probability);
        case 12: return best_path<12, Code>(p, piece, ends_block, log_probability);
        case 16: return best_path<16, Code>(p, piece, ends_block, log_probability);
        default: return best_path<0, Code>(p, piece, ends_block, log_probability);
    }
}

BAYESKIT_SIMD int64_t run_pieces(const Problem& p, const std::vector<Piece>& pieces, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
        const bool ends_block = i + 1 == static_cast<int64_t>(pieces.size());
        const int64_t bad = p.k <= 256 ? one_path<uint8_t>(p, pieces[i], ends_block, p.log_probability[i])
                                       : one_path<uint32_t>(p, pieces[i], ends_block, p.log_probability[i]);
        if (bad >= 0) return bad;
    }
    return -1;
}

// Fills `path`, `last` and `log_probability` (one number per piece of a sequence); returns the state of the row before the
// block, and the first row that no path can give, or -1.
std::tuple<int64_t, int64_t> viterbi(Matrix log_density, Places starts, Vector log_start, Matrix log_step,
                                     std::optional<Vector> before, std::optional<Path> path, int64_t end_state, Scores last,
                                     Scores log_probability, int n_threads) {
    const int64_t n_rows = log_density.shape(0), k = log_start.shape(0), lanes = quad_lanes_for(k);
    std::vector<double> step(k * lanes, MINUS_INFINITY);
    for (int64_t i = 0; i < k; ++i) std::copy_n(log_step.data() + i * k, k, step.data() + i * lanes);
    int64_t from = -1, impossible = -1;
    const Problem problem{k,           lanes,         log_density.data(),
                          log_start.data(), step.data(),   before ? before->data() : nullptr,
                          path ? path->data() : nullptr, end_state, last.data(), log_probability.data(), &from};
    const std::vector<Piece> pieces = pieces_of(starts, n_rows, true);
    const std::vector<int64_t> ends = chunks_of(pieces, k);
    const int64_t n_chunks = static_cast<int64_t>(ends.size()) - 1;
    std::vector<int64_t> bad(n_chunks, -1);
    {
        nb::gil_scoped_release release;
        parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int) {
            bad[chunk] = run_pieces(problem, pieces, ends[chunk], ends[chunk + 1]);
        });
    }
    for (int64_t row : bad)
        if (row >= 0 && impossible < 0) impossible = row;
    return {from, impossible};
}

}  // namespace

void bind_viterbi(nb::module_& m) {
    using namespace nb::literals;
    m.def("viterbi", &viterbi, "log_density"_a, "starts"_a, "log_start"_a, "log_step"_a, "before"_a.none(), "path"_a.none(),
          "end_state"_a, "last"_a, "log_probability"_a, "n_threads"_a);
}

}  // namespace bayeskit::sequence
