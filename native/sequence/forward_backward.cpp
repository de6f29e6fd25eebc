// Forward and backward passes over chains: filtered and smoothed states, the evidence of each row, expected transitions.
//
// Rows are scaled, so that products of many small numbers stay within a double. Where a state may lose all its digits and
// yet matter later (transitions that are impossible), the piece is done again in logarithms.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>

#include "base/exponential.hpp"
#include "base/logarithm.hpp"
#include "base/parallel.hpp"
#include "sequence/bind.hpp"
#include "sequence/chain.hpp"

namespace bayeskit::sequence {
namespace {

using Out = nb::ndarray<double, nb::numpy, nb::c_contig, nb::device::cpu>;

// What a pass over a block of rows is given, and where its results go.
struct Block {
    const Chain& chain;
    const double* log_density;    // (n_rows, k): log P(x | state)
    const double* log_before;     // (k,): log of the states in the row before the block, or null
    const double* log_after;      // (k,): log P(later rows | state of the last row), or null
    double* state;                // (n_rows, k): P(state | rows so far), then P(state | all rows)
    double* log_evidence;         // (n_rows,): log P(row | rows before)
};

// Sums over the pieces of a chunk.
struct Sums {
    std::vector<double> start, steps;  // (k,), (k, lanes): products of states and what follows, without P(to | from)
    std::vector<double> log_steps;     // (k, k): whole, from pieces that were done in logarithms
    int64_t impossible = -1;           // the first row that no state can give

    explicit Sums(const Chain& chain)
        : start(chain.k, 0.0), steps(chain.k * chain.lanes, 0.0), log_steps(chain.k * chain.k, 0.0) {}
};

// Lines of one number per state, padded with zeros.
struct Lines {
    std::vector<double> prior, density, after, now;
    std::vector<double> density_sums;  // of the rows of a piece: Σ P(state | rows before) density, the peak taken out

    explicit Lines(int64_t lanes) : prior(lanes), density(lanes), after(lanes), now(lanes) {}
};

// density = exp(row - peak); returns the peak
template <int LANES>
BAYESKIT_INLINE double scaled_density(const double* row, int64_t k, int64_t lanes_, double* density) {
    const int64_t lanes = LANES ? LANES : lanes_;
    double peak = MINUS_INFINITY;
    for (int64_t i = 0; i < k; ++i) peak = row[i] > peak ? row[i] : peak;
    if (peak == MINUS_INFINITY) return peak;
    for (int64_t i = 0; i < k; ++i) density[i] = row[i] - peak;
    for (int64_t i = k; i < lanes; ++i) density[i] = MINUS_INFINITY;
    for (int64_t i = 0; i < lanes; i += QUAD) write_quad(density + i, exp_or_zero(read_quad(density + i)));
    return peak;
}

// to += Σ_i weight[i] rows[i]
template <int LANES>
BAYESKIT_INLINE void weighted_rows(const double* weight, const double* rows, int64_t k, int64_t lanes_, double* to) {
    [[maybe_unused]] const int64_t lanes = LANES ? LANES : lanes_;
    if constexpr (LANES > 0) {
        constexpr int QUADS = LANES / QUAD;
        Quad sum[QUADS];
        BAYESKIT_UNROLL
        for (int q = 0; q < QUADS; ++q) sum[q] = quad_of(0.0);
        for (int64_t i = 0; i < k; ++i) {
            const Quad weight_i = quad_of(weight[i]);
            BAYESKIT_UNROLL
            for (int q = 0; q < QUADS; ++q) sum[q] = sum[q] + weight_i * read_quad(rows + i * LANES + q * QUAD);
        }
        BAYESKIT_UNROLL
        for (int q = 0; q < QUADS; ++q) write_quad(to + q * QUAD, sum[q]);
    } else {
        for (int64_t j = 0; j < lanes; ++j) to[j] = 0.0;
        for (int64_t i = 0; i < k; ++i)
            for (int64_t j = 0; j < lanes; ++j) to[j] += weight[i] * rows[i * lanes + j];
    }
}

// to[i] += weight[i] row
template <int LANES>
BAYESKIT_INLINE void add_products(const double* weight, const double* row, int64_t k, int64_t lanes_, double* to) {
    [[maybe_unused]] const int64_t lanes = LANES ? LANES : lanes_;
    if constexpr (LANES > 0) {
        constexpr int QUADS = LANES / QUAD;
        Quad row_quads[QUADS];
        BAYESKIT_UNROLL
        for (int q = 0; q < QUADS; ++q) row_quads[q] = read_quad(row + q * QUAD);
        for (int64_t i = 0; i < k; ++i) {
            const Quad times = quad_of(weight[i]);
            BAYESKIT_UNROLL
            for (int q = 0; q < QUADS; ++q) {
                double* cell = to + i * LANES + q * QUAD;
                write_quad(cell, read_quad(cell) + times * row_quads[q]);
            }
        }
    } else {
        for (int64_t i = 0; i < k; ++i)
            for (int64_t j = 0; j < lanes; ++j) to[i * lanes + j] += weight[i] * row[j];
    }
}

enum class Outcome { done, impossible, digits_lost };

// The first row of a sequence: softmax(log_start + log_density), in logarithms since a start may be impossible.
BAYESKIT_INLINE Outcome first_row(const Block& b, int64_t t, double* state) {
    const int64_t k = b.chain.k;
    const double* row = b.log_density + t * k;
    for (int64_t i = 0; i < k; ++i) state[i] = b.chain.log_start[i] + row[i];
    const double total = log_sum(state, k);
    if (total == MINUS_INFINITY) return Outcome::impossible;
    for (int64_t i = 0; i < k; ++i) state[i] = std::exp(state[i] - total);
    b.log_evidence[t] = total;
    return Outcome::done;
}

// Filters a piece. `bad` is the row where it ended, if it did.
template <int LANES>
BAYESKIT_INLINE Outcome forward(const Block& b, const Piece& piece, Lines& lines, int64_t& bad) {
    const Chain& chain = b.chain;
    const int64_t k = chain.k, lanes = LANES ? LANES : chain.lanes;
    double *prior = lines.prior.data(), *density = lines.density.data(), *now = lines.now.data();
    lines.density_sums.resize(piece.end - piece.begin);
    std::fill(now, now + lanes, 0.0);
    int64_t t = piece.begin;
    auto lost = [&](const double* row) {  // a possible state of which too little is left
        if (chain.everywhere) return false;
        for (int64_t i = 0; i < k; ++i)
            if (now[i] < LEAST_SHARE && prior[i] > 0.0 && row[i] > MINUS_INFINITY) return true;
        return false;
    };
    if (!chain.in_doubles) return Outcome::digits_lost;
    if (piece.first) {
        bad = t;
        if (first_row(b, t, now) == Outcome::impossible) return Outcome::impossible;
        for (int64_t i = 0; i < k; ++i) prior[i] = chain.log_start[i] > MINUS_INFINITY ? 1.0 : 0.0;
        if (lost(b.log_density + t * k)) return Outcome::digits_lost;
        for (int64_t i = 0; i < k; ++i) b.state[t * k + i] = now[i];
        lines.density_sums[0] = 1.0;
        ++t;
    } else {
        for (int64_t i = 0; i < k; ++i) {
            now[i] = std::exp(b.log_before[i]);
            if (!chain.everywhere && now[i] < LEAST_SHARE && b.log_before[i] > MINUS_INFINITY) return Outcome::digits_lost;
        }
    }
    for (; t < piece.end; ++t) {
        bad = t;
        const double* row = b.log_density + t * k;
        const double peak = scaled_density<LANES>(row, k, lanes, density);
        if (peak == MINUS_INFINITY) return Outcome::impossible;
        weighted_rows<LANES>(now, chain.step.data(), k, lanes, prior);
        double sum = 0.0;
        for (int64_t i = 0; i < lanes; ++i) now[i] = prior[i] * density[i];
        for (int64_t i = 0; i < lanes; ++i) sum += now[i];
        // Too little of it is left; the logarithms tell whether the row is impossible.
        if (!(sum >= LEAST_SHARE)) return Outcome::digits_lost;
        const double scale = 1.0 / sum;
        for (int64_t i = 0; i < lanes; ++i) now[i] *= scale;
        if (lost(row)) return Outcome::digits_lost;
        for (int64_t i = 0; i < k; ++i) b.state[t * k + i] = now[i];
        lines.density_sums[t - piece.begin] = sum;
        b.log_evidence[t] = peak + log_of_positive(sum);
    }
    return Outcome::done;
}

// Turns the filtered states of a piece into smoothed ones and adds up starts and steps; `before` takes log P(this piece and
// what follows | state of the row before), up to a constant, where the piece continues a sequence.
template <int LANES>
BAYESKIT_INLINE void backward(const Block& b, const Piece& piece, Lines& lines, Sums& sums, double* before) {
    const Chain& chain = b.chain;
    const int64_t k = chain.k, lanes = LANES ? LANES : chain.lanes;
    double *after = lines.after.data(), *density = lines.density.data(), *now = lines.now.data();
    std::fill(after, after + lanes, 0.0);
    std::fill(now, now + lanes, 0.0);
    int64_t t = piece.end - 1;
    {
        double peak = MINUS_INFINITY;
        const double* share = b.state + t * k;
        if (!piece.last)
            for (int64_t i = 0; i < k; ++i)
                if (share[i] > 0.0) peak = std::max(peak, b.log_after[i]);
        for (int64_t i = 0; i < k; ++i)
            after[i] = piece.last ? 1.0 : share[i] > 0.0 ? std::exp(b.log_after[i] - peak) : 0.0;
    }
    for (;; --t) {
        double* share = b.state + t * k;
        double sum = 0.0;
        // A state that the rows so far rule out stays so, whatever follows.
        for (int64_t i = 0; i < k; ++i) {
            after[i] = share[i] > 0.0 ? after[i] : 0.0;
            sum += share[i] * after[i];
        }
        const double scale = 1.0 / sum;
        for (int64_t i = 0; i < k; ++i) {
            after[i] *= scale;
            share[i] *= after[i];
        }
        if (t == piece.begin && piece.first) {
            for (int64_t i = 0; i < k; ++i) sums.start[i] += share[i];
            return;
        }
        scaled_density<LANES>(b.log_density + t * k, k, lanes, density);
        const double inverse = 1.0 / lines.density_sums[t - piece.begin];
        for (int64_t i = 0; i < lanes; ++i) density[i] *= after[i] * inverse;
        const bool inside = t > piece.begin;
        for (int64_t i = 0; i < k; ++i) now[i] = inside ? b.state[(t - 1) * k + i] : std::exp(b.log_before[i]);
        add_products<LANES>(now, density, k, lanes, sums.steps.data());
        weighted_rows<LANES>(density, chain.back.data(), k, lanes, after);
        if (!inside) {
            for (int64_t i = 0; i < k; ++i) before[i] = std::log(after[i]);
            return;
        }
    }
}

// The same in logarithms. `state` holds logarithms until the backward pass, or the end, turns them into probabilities.
bool forward_in_logs(const Block& b, const Piece& piece, int64_t& bad) {
    const Chain& chain = b.chain;
    const int64_t k = chain.k;
    std::vector<double> terms(k);
    for (int64_t t = piece.begin; t < piece.end; ++t) {
        double* now = b.state + t * k;
        const double* from = t > piece.begin ? now - k : b.log_before;
        for (int64_t j = 0; j < k; ++j) {
            double log_prior;
            if (t == piece.begin && piece.first) {
                log_prior = chain.log_start[j];
            } else {
                for (int64_t i = 0; i < k; ++i) terms[i] = from[i] + chain.log_step[i * k + j];
                log_prior = log_sum(terms.data(), k);
            }
            now[j] = log_prior + b.log_density[t * k + j];
        }
        const double total = log_sum(now, k);
        bad = t;
        if (total == MINUS_INFINITY) return false;
        for (int64_t j = 0; j < k; ++j) now[j] -= total;
        b.log_evidence[t] = total;
    }
    return true;
}

void backward_in_logs(const Block& b, const Piece& piece, Sums& sums, double* before) {
    const Chain& chain = b.chain;
    const int64_t k = chain.k;
    std::vector<double> after(k, 0.0), terms(k), joint(k);
    if (!piece.last) std::copy(b.log_after, b.log_after + k, after.begin());
    for (int64_t t = piece.end - 1;; --t) {
        double* now = b.state + t * k;
        for (int64_t i = 0; i < k; ++i) {
            if (now[i] == MINUS_INFINITY) after[i] = MINUS_INFINITY;
            joint[i] = now[i] + after[i];
        }
        const double total = log_sum(joint.data(), k);
        for (int64_t i = 0; i < k; ++i) {
            after[i] -= total;
            now[i] = std::exp(joint[i] - total);
        }
        if (t == piece.begin && piece.first) {
            for (int64_t i = 0; i < k; ++i) sums.start[i] += now[i];
            return;
        }
        const double* from = t > piece.begin ? now - k : b.log_before;
        std::vector<double> earlier(k);
        for (int64_t i = 0; i < k; ++i) {
            for (int64_t j = 0; j < k; ++j) {
                terms[j] = chain.log_step[i * k + j] + b.log_density[t * k + j] + after[j] - b.log_evidence[t];
                sums.log_steps[i * k + j] += std::exp(from[i] + terms[j]);
            }
            earlier[i] = log_sum(terms.data(), k);
        }
        after = earlier;
        if (t == piece.begin) {
            std::copy(after.begin(), after.end(), before);
            return;
        }
    }
}

struct Pass {
    const Block& block;
    bool smooth;
    double* last;    // (k,): log of the filtered states of the last row, for the block that follows
    double* before;  // (k,): for the block that comes before
};

template <int LANES>
BAYESKIT_INLINE void run_piece(const Pass& pass, const Piece& piece, bool ends_block, Lines& lines, Sums& sums) {
    const Block& b = pass.block;
    const int64_t k = b.chain.k;
    int64_t bad = -1;
    Outcome outcome = forward<LANES>(b, piece, lines, bad);
    const double* last = b.state + (piece.end - 1) * k;
    if (outcome == Outcome::done) {
        if (ends_block)
            for (int64_t i = 0; i < k; ++i) pass.last[i] = std::log(last[i]);
        if (pass.smooth) backward<LANES>(b, piece, lines, sums, pass.before);
        return;
    }
    if (outcome == Outcome::impossible || !forward_in_logs(b, piece, bad)) {
        sums.impossible = bad;
        return;
    }
    if (ends_block) std::copy(last, last + k, pass.last);
    if (pass.smooth) {
        backward_in_logs(b, piece, sums, pass.before);
    } else {
        for (int64_t i = piece.begin * k; i < piece.end * k; ++i) b.state[i] = std::exp(b.state[i]);
    }
}

BAYESKIT_SIMD void run_pieces(const Pass& pass, const Piece* first, const Piece* end, const Piece* last_of_block,
                              Lines& lines, Sums& sums) {
    for (const Piece* piece = first; piece < end && sums.impossible < 0; ++piece) {
        const bool ends_block = piece == last_of_block;
        switch (pass.block.chain.lanes) {
            case 4: run_piece<4>(pass, *piece, ends_block, lines, sums); break;
            case 8: run_piece<8>(pass, *piece, ends_block, lines, sums); break;
            case 12: run_piece<12>(pass, *piece, ends_block, lines, sums); break;
            case 16: run_piece<16>(pass, *piece, ends_block, lines, sums); break;
            default: run_piece<0>(pass, *piece, ends_block, lines, sums);
        }
    }
}

Out array_of(std::vector<double>&& values, std::initializer_list<size_t> shape) {
    auto* kept = new std::vector<double>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return Out(kept->data(), shape, owner);
}

// Memory that is not set to zero before it is written.
Out empty_array(std::initializer_list<size_t> shape) {
    size_t size = 1;
    for (size_t n : shape) size *= n;
    auto* memory = new double[std::max<size_t>(size, 1)];
    nb::capsule owner(memory, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return Out(memory, shape, owner);
}

// states (n_rows, k), log evidence (n_rows,), last (k,), before (k,), n_start (k,), n_step (k, k), impossible row or -1
using Result = std::tuple<Out, Out, Out, Out, Out, Out, int64_t>;

Result forward_backward(Matrix log_density, Places starts, Vector log_start, Matrix log_step, std::optional<Vector> log_before,
                        std::optional<Vector> log_after, bool smooth, int n_threads) {
    const Chain chain(log_start, log_step);
    const int64_t n_rows = log_density.shape(0), k = chain.k;
    const size_t n = n_rows, states = k;
    Out state = empty_array({n, states}), log_evidence = empty_array({n});
    const Block block{chain,
                      log_density.data(),
                      log_before ? log_before->data() : nullptr,
                      log_after ? log_after->data() : nullptr,
                      state.data(),
                      log_evidence.data()};
    const std::vector<Piece> pieces = pieces_of(starts, n_rows, !log_after);
    const std::vector<int64_t> ends = chunks_of(pieces, k);
    const int64_t n_chunks = static_cast<int64_t>(ends.size()) - 1;
    std::vector<double> last(k, 0.0), before(k, 0.0), start(k, 0.0), steps(k * k, 0.0);
    const Pass pass{block, smooth, last.data(), before.data()};
    std::vector<std::unique_ptr<Sums>> sums(n_chunks);
    int64_t impossible = -1;
    {
        nb::gil_scoped_release release;
        parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int) {
            sums[chunk] = std::make_unique<Sums>(chain);
            Lines lines(chain.lanes);
            run_pieces(pass, pieces.data() + ends[chunk], pieces.data() + ends[chunk + 1], &pieces.back(), lines,
                       *sums[chunk]);
        });
        for (const auto& each : sums) {
            if (each->impossible >= 0 && impossible < 0) impossible = each->impossible;
            for (int64_t i = 0; i < k; ++i) {
                start[i] += each->start[i];
                for (int64_t j = 0; j < k; ++j)
                    steps[i * k + j] +=
                        each->steps[i * chain.lanes + j] * chain.step[i * chain.lanes + j] + each->log_steps[i * k + j];
            }
        }
    }
    return {state,
            log_evidence,
            array_of(std::move(last), {states}),
            array_of(std::move(before), {states}),
            array_of(std::move(start), {states}),
            array_of(std::move(steps), {states, states}),
            impossible};
}

}  // namespace

void bind_forward_backward(nb::module_& m) {
    using namespace nb::literals;
    m.def("forward_backward", &forward_backward, "log_density"_a, "starts"_a, "log_start"_a, "log_step"_a,
          "log_before"_a.none(), "log_after"_a.none(), "smooth"_a, "n_threads"_a);
}

}  // namespace bayeskit::sequence
