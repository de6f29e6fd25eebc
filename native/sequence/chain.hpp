// A chain of hidden states as the passes over it read it, and how its rows are cut into pieces.
#pragma once
#include <nanobind/ndarray.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/simd.hpp"

namespace bayeskit::sequence {

namespace nb = nanobind;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Places = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr double MINUS_INFINITY = -std::numeric_limits<double>::infinity();
// Where every transition is at least this probable, a share that a double cannot hold never matters again: each state is
// reached anew from the probable ones with at least this share of them.
constexpr double LEAST_STEP = 1e-100;
// Where some transitions are impossible, a state that is less probable than this may be the only one that explains a later
// row, so that its digits must not be lost; such a piece is done in logarithms.
constexpr double LEAST_SHARE = 1e-150;
// A row is left unscaled while the next one is computed, if its sum is at least this: the product of all three is a double.
constexpr double LEAST_SUM = 1e-40;

// Rows of one sequence that lie in this block.
struct Piece {
    int64_t begin, end;
    bool first;  // its first row begins the sequence
    bool last;   // its last row ends the sequence
};

// Pieces of a block of rows: `starts` are the rows that begin a sequence, in increasing order.
inline std::vector<Piece> pieces_of(const Places& starts, int64_t n_rows, bool block_ends_sequence) {
    std::vector<Piece> pieces;
    const int64_t n = static_cast<int64_t>(starts.shape(0));
    if (n == 0 || starts.data()[0] > 0) pieces.push_back({0, n ? starts.data()[0] : n_rows, false, true});
    for (int64_t s = 0; s < n; ++s) pieces.push_back({starts.data()[s], s + 1 < n ? starts.data()[s + 1] : n_rows, true, true});
    pieces.back().last = block_ends_sequence;
    return pieces;
}

// Runs of pieces with about this many cells are done by one thread; the borders do not depend on the number of threads.
constexpr int64_t CHUNK_CELLS = 1 << 18;

inline std::vector<int64_t> chunks_of(const std::vector<Piece>& pieces, int64_t n_states) {
    std::vector<int64_t> ends{0};
    int64_t cells = 0;
    for (size_t p = 0; p < pieces.size(); ++p) {
        cells += (pieces[p].end - pieces[p].begin) * n_states;
        if (cells >= CHUNK_CELLS || p + 1 == pieces.size()) {
            ends.push_back(static_cast<int64_t>(p) + 1);
            cells = 0;
        }
    }
    return ends;
}

// log Σ exp(x); minus infinity where all are.
inline double log_sum(const double* x, int64_t n) {
    double peak = MINUS_INFINITY;
    for (int64_t k = 0; k < n; ++k) peak = std::max(peak, x[k]);
    if (peak == MINUS_INFINITY) return peak;
    double sum = 0.0;
    for (int64_t k = 0; k < n; ++k) sum += std::exp(x[k] - peak);
    return peak + std::log(sum);
}

// Start and transitions, as logarithms and, padded to whole lanes with zeros, as probabilities.
struct Chain {
    int64_t k, lanes;
    const double *log_start, *log_step;        // (k,), (k, k)
    std::vector<double> step, back;            // (lanes, lanes): P(to | from) by `from`, and by `to`
    bool everywhere;                           // every transition has a probability of at least LEAST_STEP
    bool in_doubles = true;                    // no transition is possible and yet so rare that products with it may vanish

    Chain(const Vector& start, const Matrix& log_transition)
        : k(static_cast<int64_t>(start.shape(0))), lanes(quad_lanes_for(k)), log_start(start.data()),
          log_step(log_transition.data()), step(lanes * lanes, 0.0), back(lanes * lanes, 0.0) {
        double least = 1.0, least_possible = 1.0;
        for (int64_t i = 0; i < k; ++i)
            for (int64_t j = 0; j < k; ++j) {
                const double p = std::exp(log_step[i * k + j]);
                step[i * lanes + j] = back[j * lanes + i] = p;
                least = std::min(least, p);
                if (log_step[i * k + j] > MINUS_INFINITY) least_possible = std::min(least_possible, p);
            }
        everywhere = least >= LEAST_STEP;
        in_doubles = least_possible >= LEAST_STEP;
    }
};

}  // namespace bayeskit::sequence
