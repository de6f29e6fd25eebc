// Forward and backward passes over chains: filtered and smoothed states, the evidence of each row, expected transitions.
//
// Rows are scaled, so that products of many small numbers stay within a double. Where a state may lose all its digits and
// yet matter later (transitions that are impossible), the piece is done again in logarithms.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <memory>
#include <new>
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

// Rows whose densities are made together, before the chain, in which each row waits for the one before, runs over them.
constexpr int64_t TILE = 32;

// Lines of one number per state, padded with zeros.
struct Lines {
    std::vector<double> prior, after, now;
    std::vector<double> density, peak;  // (TILE, k) and what may be read beyond, (TILE,): see scaled_densities
    std::vector<double> density_sums;   // of the rows of a piece: Σ P(state | rows before) density, the peak taken out

    Lines(int64_t k, int64_t lanes) : prior(lanes), after(lanes), now(lanes), density(TILE * k + QUAD), peak(TILE) {}
};

// density = exp(row - peak), the peak being the greatest of each row. Rows follow each other without a gap: who reads four
// beyond the last state of a row reads those of the next row, or zeros, and multiplies them by the zeros of the padding.
template <int LANES>
BAYESKIT_INLINE void scaled_densities(const double* row, int64_t n_rows, int64_t k, double* density, double* peak) {
    const int64_t whole = LANES ? LANES / QUAD - 1 : (k - 1) / QUAD;
    for (int64_t r = 0; r < n_rows; ++r, row += k, density += k) {
        if (whole == 0) {
            double greatest_of_row = row[0];
            for (int64_t i = 1; i < k; ++i) greatest_of_row = std::max(greatest_of_row, row[i]);
            peak[r] = greatest_of_row;
            write_some(density, exp_or_zero(read_some(row, k) - quad_of(greatest_of_row)), k);
            continue;
        }
        // The last four overlap with those before them.
        Quad most = read_quad(row + k - QUAD);
        BAYESKIT_UNROLL
        for (int64_t q = 0; q < whole; ++q) most = greater(most, read_quad(row + q * QUAD));
        peak[r] = greatest(most);
        const Quad taken_out = quad_of(peak[r]);
        BAYESKIT_UNROLL
        for (int64_t q = 0; q < whole; ++q)
            write_quad(density + q * QUAD, exp_or_zero(read_quad(row + q * QUAD) - taken_out));
        write_quad(density + k - QUAD, exp_or_zero(read_quad(row + k - QUAD) - taken_out));
    }
}

// to = Σ_i weight[i] rows[i]; even and odd i apart, so that a sum waits for half as many others
template <int LANES>
BAYESKIT_INLINE void weighted_rows(const double* weight, const double* rows, int64_t k, int64_t lanes_, double* to) {
    [[maybe_unused]] const int64_t lanes = LANES ? LANES : lanes_;
    if constexpr (LANES > 0) {
        constexpr int QUADS = LANES / QUAD;
        Quad even[QUADS], odd[QUADS];
        BAYESKIT_UNROLL
        for (int q = 0; q < QUADS; ++q) even[q] = odd[q] = quad_of(0.0);
        for (int64_t i = 0; i < k; i += 2) {
            const Quad first = quad_of(weight[i]), second = quad_of(weight[i + 1]);
            BAYESKIT_UNROLL
            for (int q = 0; q < QUADS; ++q) {
                even[q] = even[q] + first * read_quad(rows + i * LANES + q * QUAD);
                odd[q] = odd[q] + second * read_quad(rows + (i + 1) * LANES + q * QUAD);
            }
        }
        BAYESKIT_UNROLL
        for (int q = 0; q < QUADS; ++q) write_quad(to + q * QUAD, even[q] + odd[q]);
    } else {
        for (int64_t j = 0; j < lanes; ++j) to[j] = 0.0;
        for (int64_t i = 0; i < k; ++i)
            for (int64_t j = 0; j < lanes; ++j) to[j] += weight[i] * rows[i * lanes + j];
    }
}

// Writes the k numbers of a padded line, times a factor.
template <int LANES>
BAYESKIT_INLINE void write_states(double* state, const double* line, double scale, int64_t k) {
    const int64_t whole = LANES ? LANES / QUAD - 1 : (k - 1) / QUAD;
    const Quad factor = quad_of(scale);
    BAYESKIT_UNROLL
    for (int64_t q = 0; q < whole; ++q) write_quad(state + q * QUAD, read_quad(line + q * QUAD) * factor);
    write_some(state + whole * QUAD, read_quad(line + whole * QUAD) * factor, k - whole * QUAD);
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
//
// A row is divided by its sum while the next one is already at work: what comes out of a row is multiplied into the
// densities of the next, so that the chain waits for sums of products only, not for the division.
template <int LANES>
BAYESKIT_INLINE Outcome forward(const Block& b, const Piece& piece, Lines& lines, int64_t& bad) {
    const Chain& chain = b.chain;
    const int64_t k = chain.k, lanes = LANES ? LANES : chain.lanes;
    double *prior = lines.prior.data(), *now = lines.now.data(), *peak = lines.peak.data();
    lines.density_sums.resize(piece.end - piece.begin);
    std::fill(now, now + lanes, 0.0);
    auto lost = [&](const double* row, const double* state) {  // a possible state of which too little is left
        for (int64_t i = 0; i < k; ++i)
            if (state[i] < LEAST_SHARE && prior[i] > 0.0 && row[i] > MINUS_INFINITY) return true;
        return false;
    };
    if (!chain.in_doubles) return Outcome::digits_lost;
    int64_t begin = piece.begin;
    if (piece.first) {
        bad = begin;
        if (first_row(b, begin, now) == Outcome::impossible) return Outcome::impossible;
        std::copy(now, now + k, b.state + begin * k);
        lines.density_sums[0] = 1.0;
        ++begin;
    } else {
        for (int64_t i = 0; i < k; ++i) {
            now[i] = std::exp(b.log_before[i]);
            if (!chain.everywhere && now[i] < LEAST_SHARE && b.log_before[i] > MINUS_INFINITY) return Outcome::digits_lost;
        }
    }
    double scale = 1.0;
    for (; begin < piece.end; begin += TILE) {
        const int64_t n = std::min(TILE, piece.end - begin);
        double* const sums = lines.density_sums.data() + (begin - piece.begin);
        scaled_densities<LANES>(b.log_density + begin * k, n, k, lines.density.data(), peak);
        for (int64_t r = 0; r < n; ++r) {
            bad = begin + r;
            if (peak[r] == MINUS_INFINITY) return Outcome::impossible;
            weighted_rows<LANES>(now, chain.step.data(), k, lanes, prior);
            const double* density = lines.density.data() + r * k;
            const Quad factor = quad_of(scale);
            Quad all = quad_of(0.0);
            BAYESKIT_UNROLL
            for (int64_t i = 0; i < lanes; i += QUAD) {
                const Quad joint = read_quad(prior + i) * (read_quad(density + i) * factor);
                write_quad(now + i, joint);
                all = all + joint;
            }
            const double sum = sum_of(all);
            // Too little of it is left; the logarithms tell whether the row is impossible.
            if (!(sum >= LEAST_SHARE)) return Outcome::digits_lost;
            scale = 1.0 / sum;
            sums[r] = sum;
            double* const state = b.state + bad * k;
            write_states<LANES>(state, now, scale, k);
            if (!chain.everywhere && lost(b.log_density + bad * k, state)) return Outcome::digits_lost;
            if (sum < LEAST_SUM) {
                for (int64_t i = 0; i < k; ++i) now[i] = state[i];
                scale = 1.0;
            }
        }
        for (int64_t r = 0; r < n; ++r) b.log_evidence[begin + r] = peak[r] + log_of_positive(sums[r]);
    }
    return Outcome::done;
}

// Turns the filtered states of a piece into smoothed ones and, where `count`, adds up starts and steps; `before` takes log
// P(this piece and what follows | state of the row before), up to a constant, where the piece continues a sequence.
template <int LANES>
BAYESKIT_INLINE void backward(const Block& b, const Piece& piece, bool count, Lines& lines, Sums& sums, double* before) {
    const Chain& chain = b.chain;
    const int64_t k = chain.k, lanes = LANES ? LANES : chain.lanes;
    double *after = lines.after.data(), *joint = lines.prior.data(), *now = lines.now.data();
    std::fill(after, after + lanes, 0.0);
    std::fill(now, now + lanes, 0.0);
    {
        double peak = MINUS_INFINITY;
        const double* share = b.state + (piece.end - 1) * k;
        if (!piece.last)
            for (int64_t i = 0; i < k; ++i)
                if (share[i] > 0.0) peak = std::max(peak, b.log_after[i]);
        for (int64_t i = 0; i < k; ++i)
            after[i] = piece.last ? 1.0 : share[i] > 0.0 ? std::exp(b.log_after[i] - peak) : 0.0;
    }
    for (int64_t end = piece.end;; end -= TILE) {
        const int64_t begin = std::max(piece.begin, end - TILE), n = end - begin;
        scaled_densities<LANES>(b.log_density + begin * k, n, k, lines.density.data(), lines.peak.data());
        const double* const density_sums = lines.density_sums.data() + (begin - piece.begin);
        for (int64_t r = n - 1; r >= 0; --r) {
            const int64_t t = begin + r;
            double* share = b.state + t * k;
            Quad all = quad_of(0.0);
            // A state that the rows so far rule out stays so, whatever follows.
            BAYESKIT_UNROLL
            for (int64_t i = 0; i < lanes; i += QUAD) {
                const Quad filtered = i + QUAD < lanes ? read_quad(share + i) : read_some(share + i, k - i);
                const Quad possible = where_at_most(filtered, quad_of(0.0), quad_of(0.0), read_quad(after + i));
                write_quad(after + i, possible);
                write_quad(joint + i, filtered * possible);
                all = all + filtered * possible;
            }
            const double scale = 1.0 / sum_of(all);
            write_states<LANES>(share, joint, scale, k);
            // The sum is 1 but for rounding, which is taken out once in a while, since the chain waits for it.
            if (r == n - 1)
                for (int64_t i = 0; i < k; ++i) after[i] *= scale;
            if (t == piece.begin && piece.first) {
                for (int64_t i = 0; i < k; ++i) sums.start[i] += share[i];
                return;
            }
            const double* density = lines.density.data() + r * k;
            const Quad inverse = quad_of(1.0 / density_sums[r]);
            BAYESKIT_UNROLL
            for (int64_t i = 0; i < lanes; i += QUAD)
                write_quad(joint + i, read_quad(after + i) * (read_quad(density + i) * inverse));
            const bool inside = t > piece.begin;
            if (count) {
                for (int64_t i = 0; i < k; ++i) now[i] = inside ? share[i - k] : std::exp(b.log_before[i]);
                add_products<LANES>(now, joint, k, lanes, sums.steps.data());
            }
            weighted_rows<LANES>(joint, chain.back.data(), k, lanes, after);
            if (!inside) {
                for (int64_t i = 0; i < k; ++i) before[i] = std::log(after[i]);
                return;
            }
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

void backward_in_logs(const Block& b, const Piece& piece, bool count, Sums& sums, double* before) {
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
                if (count) sums.log_steps[i * k + j] += std::exp(from[i] + terms[j]);
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
    bool smooth, count;
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
        if (pass.smooth) backward<LANES>(b, piece, pass.count, lines, sums, pass.before);
        return;
    }
    if (outcome == Outcome::impossible || !forward_in_logs(b, piece, bad)) {
        sums.impossible = bad;
        return;
    }
    if (ends_block) std::copy(last, last + k, pass.last);
    if (pass.smooth) {
        backward_in_logs(b, piece, pass.count, sums, pass.before);
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

// Memory that is not set to zero before it is written. Large ones are asked for in large pages, since a first look at each
// small one takes longer than a row of the chain.
Out empty_array(std::initializer_list<size_t> shape) {
    constexpr std::align_val_t PAGE{4096};
    size_t size = 1;
    for (size_t n : shape) size *= n;
    const size_t bytes = std::max<size_t>(size, 1) * sizeof(double);
    void* memory = ::operator new(bytes, PAGE);
#if defined(__linux__)
    if (bytes >= size_t{4} << 20) madvise(memory, bytes, MADV_HUGEPAGE);  // as numpy does; a refusal changes nothing
#endif
    nb::capsule owner(memory, [](void* p) noexcept { ::operator delete(p, PAGE); });
    return Out(static_cast<double*>(memory), shape, owner);
}

// states (n_rows, k), log evidence (n_rows,), last (k,), before (k,), n_start (k,), n_step (k, k) (zeros unless `count`), impossible row
// or -1
using Result = std::tuple<Out, Out, Out, Out, Out, Out, int64_t>;

Result forward_backward(Matrix log_density, Places starts, Vector log_start, Matrix log_step, std::optional<Vector> log_before,
                        std::optional<Vector> log_after, bool smooth, int n_threads, bool count) {
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
    const Pass pass{block, smooth, count, last.data(), before.data()};
    std::vector<std::unique_ptr<Sums>> sums(n_chunks);
    int64_t impossible = -1;
    {
        nb::gil_scoped_release release;
        parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int) {
            sums[chunk] = std::make_unique<Sums>(chain);
            Lines lines(chain.k, chain.lanes);
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
          "log_before"_a.none(), "log_after"_a.none(), "smooth"_a, "n_threads"_a, "count"_a = true);
}

}  // namespace bayeskit::sequence
