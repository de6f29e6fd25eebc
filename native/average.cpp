// Averaged n-dependence: the mean over super-parents u of P(c, x_u) * product of P(x_j | c, x_u), straight from the counts.
//
// No logarithm is taken on the way. A product is a mantissa and an exponent of two; the counts of a cell are read for
// all classes at once and serve every super-parent that the cell has (two of a pair, three of a triple).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "codes.hpp"
#include "kernels.hpp"
#include "posterior.hpp"

namespace bayeskit {
namespace {

constexpr int64_t CHUNK_ROWS = 256;
constexpr int LANES = 4;
// Factors between two normalisations: (1e38) ** 8 and (1e-38) ** 8 are still doubles.
constexpr int FACTORS = 8;
constexpr int64_t MOST_MARGINS = int64_t{1} << 23;
constexpr uint32_t HIDDEN = ~uint32_t{0};

// Four classes side by side, spelled out: left alone, a compiler must fear that the products overlap.
#if defined(__GNUC__)
typedef double Quad __attribute__((vector_size(32), aligned(8)));
typedef int32_t Whole __attribute__((vector_size(16), aligned(4)));
BAYESKIT_INLINE Quad read_quad(const int32_t* counts) {
    return __builtin_convertvector(*reinterpret_cast<const Whole*>(counts), Quad);
}
BAYESKIT_INLINE Quad read_quad(const double* counts) { return *reinterpret_cast<const Quad*>(counts); }
BAYESKIT_INLINE Quad quad_of(double x) { return Quad{x, x, x, x}; }
#else
struct Quad {
    double lane[LANES];
    friend Quad operator+(Quad a, const Quad& b) { for (int k = 0; k < LANES; ++k) a.lane[k] += b.lane[k]; return a; }
    friend Quad operator*(Quad a, const Quad& b) { for (int k = 0; k < LANES; ++k) a.lane[k] *= b.lane[k]; return a; }
};
template <typename Count>
BAYESKIT_INLINE Quad read_quad(const Count* counts) {
    Quad quad;
    for (int k = 0; k < LANES; ++k) quad.lane[k] = static_cast<double>(counts[k]);
    return quad;
}
BAYESKIT_INLINE Quad quad_of(double x) { return {{x, x, x, x}}; }
#endif

// A product is mantissa * 2 ** exponent; this brings the mantissa back into [1, 2).
BAYESKIT_INLINE void normalise(double* mantissa, int64_t* exponent, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
        int64_t bits;
        std::memcpy(&bits, mantissa + k, sizeof bits);
        const int64_t some = -static_cast<int64_t>(mantissa[k] > 0.0);  // all ones, or zero where the product is zero
        exponent[k] += ((bits >> 52) - 1023) & some;
        bits = ((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000) & some;
        std::memcpy(mantissa + k, &bits, sizeof bits);
    }
}

// The tables of all pairs or triples, as they were counted: (levels of each member, n_classes). Four classes are read at
// a time, also where fewer are left; only behind the last table is there nothing to read, so that one is copied.
template <typename Count>
struct Tables {
    std::vector<const Count*> first;
    std::vector<Count> last;
    void lay(const Count* counts, const std::vector<int64_t>& lengths) {
        for (int64_t length : lengths) {
            first.push_back(counts);
            counts += length;
        }
        if (lengths.empty()) return;
        last.assign(first.back(), first.back() + lengths.back());
        last.resize(last.size() + LANES);
        first.back() = last.data();
    }
};

template <typename Count>
class Averager {
public:
    int64_t d, n_classes, lanes;
    int order;
    bool smooth, complete, exact;
    double min_count;
    std::vector<int64_t> sizes, first_value;
    std::vector<double> n_class, n_value, known, value_sum;  // (K), (cells, K), (d, K), (cells)
    std::vector<double> log_prior, class_pseudo, pseudo, pseudo_sum, joint_pseudo, pair_joint_pseudo;
    Tables<Count> pairs, triples;
    std::vector<double> margins;            // (child, parent cell, K), or empty
    std::vector<double> pair_sum;           // rows with both levels, (pair cells)
    // P(c, parent) / product of the children's denominators, as mantissa and exponent, (parent cells, lanes): all of a
    // term that depends on the parent alone. `enough`: whether the cell has min_count rows.
    std::vector<double> factor;
    std::vector<int64_t> factor_exponent;
    std::vector<uint8_t> enough;
    std::vector<int64_t> parent_cell;       // first cell of each parent set

    // A column that never had a value has no level at all, not even the one for unseen values.
    int64_t levels(int64_t j) const { return sizes[j] + (smooth && sizes[j] > 0 ? 1 : 0); }
    int64_t pair(int64_t i, int64_t j) const { return i * (2 * d - i - 1) / 2 + j - i - 1; }
    // triples that begin with a smaller feature, then those with the same first and a smaller second
    int64_t triple(int64_t i, int64_t j, int64_t k) const { return triple_first[pair(i, j)] + k - j - 1; }
    std::vector<int64_t> triple_first;

    void prepare() {
        lanes = (n_classes + LANES - 1) / LANES * LANES;
        triple_first.clear();
        int64_t at = 0;
        for (int64_t i = 0; i < d; ++i)
            for (int64_t j = i + 1; j < d; ++j) {
                triple_first.push_back(at);
                at += d - 1 - j;
            }
        known.assign(d * n_classes, 0.0);
        value_sum.assign(first_value[d], 0.0);
        for (int64_t j = 0; j < d; ++j)
            for (int64_t v = first_value[j]; v < first_value[j + 1]; ++v)
                for (int64_t c = 0; c < n_classes; ++c) {
                    known[j * n_classes + c] += n_value[v * n_classes + c];
                    value_sum[v] += n_value[v * n_classes + c];
                }
        complete = true;
        for (int64_t j = 0; j < d; ++j)
            for (int64_t c = 0; c < n_classes; ++c)
                // Sums of weights in another order differ in the last bits; a missing row differs by more.
                complete = complete && std::abs(known[j * n_classes + c] - n_class[c]) <= 1e-12 * n_class[c];
        lay_margins();
        exact = false;
        for (double alpha : pseudo) exact = exact || alpha <= 0.0;
        if (!exact) lay_factors();
    }

    // With missing cells in training each child has its own margin of a parent; they are summed once where that is small.
    void lay_margins() {
        margins.clear();
        if (complete || d * first_value[d] * n_classes > MOST_MARGINS) return;
        margins.assign(d * first_value[d] * n_classes, 0.0);
        for (int64_t k = 0; k < d; ++k)
            for (int64_t i = 0; i < d; ++i)
                for (uint32_t u = 0; i != k && u < sizes[i]; ++u)
                    for (uint32_t w = 0; w < sizes[k]; ++w) {
                        const Count* counts = pair_counts(i, u, k, w);
                        double* to = margins.data() + (k * first_value[d] + first_value[i] + u) * n_classes;
                        for (int64_t c = 0; c < n_classes; ++c) to[c] += static_cast<double>(counts[c]);
                    }
    }

    // counts of the cell (a = v, b = w) of a pair in any order
    const Count* pair_counts(int64_t a, uint32_t v, int64_t b, uint32_t w) const {
        if (v >= sizes[a] || w >= sizes[b]) return nullptr;
        return a < b ? pairs.first[pair(a, b)] + (v * sizes[b] + w) * n_classes
                     : pairs.first[pair(b, a)] + (w * sizes[a] + v) * n_classes;
    }

    const Count* triple_counts(int64_t a, uint32_t u, int64_t b, uint32_t v, int64_t c, uint32_t w) const {
        if (u >= sizes[a] || v >= sizes[b] || w >= sizes[c]) return nullptr;
        if (a > b) { std::swap(a, b); std::swap(u, v); }
        if (b > c) { std::swap(b, c); std::swap(v, w); }
        if (a > b) { std::swap(a, b); std::swap(u, v); }
        return triples.first[triple(a, b, c)] + ((u * sizes[b] + v) * sizes[c] + w) * n_classes;
    }

    // Rows of each class with the parent's levels in which child k is known.
    void parent_margin(int64_t i, uint32_t u, int64_t j, uint32_t v, int64_t k, double* out) const {
        std::fill(out, out + n_classes, 0.0);
        if (complete) {
            if (j < 0) {
                if (u < sizes[i]) std::copy_n(n_value.data() + (first_value[i] + u) * n_classes, n_classes, out);
            } else if (const Count* counts = pair_counts(i, u, j, v)) {
                for (int64_t c = 0; c < n_classes; ++c) out[c] = static_cast<double>(counts[c]);
            }
            return;
        }
        if (j < 0 && !margins.empty()) {
            if (u < sizes[i])
                std::copy_n(margins.data() + (k * first_value[d] + first_value[i] + u) * n_classes, n_classes, out);
            return;
        }
        for (uint32_t w = 0; w < sizes[k]; ++w) {
            const Count* counts = j < 0 ? pair_counts(i, u, k, w) : triple_counts(i, u, j, v, k, w);
            for (int64_t c = 0; counts && c < n_classes; ++c) out[c] += static_cast<double>(counts[c]);
        }
    }

    void lay_factors() {
        parent_cell.clear();
        int64_t cells = 0;
        for (int64_t i = 0; i < d; ++i) {
            if (order == 1) {
                parent_cell.push_back(cells);
                cells += sizes[i];
            }
            for (int64_t j = i + 1; order == 2 && j < d; ++j) {
                parent_cell.push_back(cells);
                cells += sizes[i] * sizes[j];
            }
        }
        factor.assign(cells * lanes, 1.0);
        factor_exponent.assign(cells * lanes, 0);
        enough.assign(cells, 0);
        int64_t cell = 0;
        for (int64_t i = 0; i < d; ++i) {
            for (uint32_t u = 0; order == 1 && u < sizes[i]; ++u) lay_factor(cell++, i, u, -1, 0);
            for (int64_t j = i + 1; order == 2 && j < d; ++j)
                for (uint32_t u = 0; u < sizes[i]; ++u)
                    for (uint32_t v = 0; v < sizes[j]; ++v) lay_factor(cell++, i, u, j, v);
        }
    }

    void lay_factor(int64_t cell, int64_t i, uint32_t u, int64_t j, uint32_t v) {
        double* mantissa = factor.data() + cell * lanes;
        int64_t* exponent = factor_exponent.data() + cell * lanes;
        std::vector<double> margin(n_classes);
        for (int64_t k = 0; k < d; ++k) {
            if (k == i || k == j) continue;
            parent_margin(i, u, j, v, k, margin.data());
            for (int64_t c = 0; c < n_classes; ++c) mantissa[c] *= 1.0 / (margin[c] + pseudo_sum[k]);
            normalise(mantissa, exponent, lanes);
        }
        const Count* both = j < 0 ? nullptr : pair_counts(i, u, j, v);
        const double alpha = j < 0 ? joint_pseudo[i] : pair_joint_pseudo[pair(i, j)];
        const double total = parent_total(i, j) + alpha * static_cast<double>(n_classes * levels(i) * (j < 0 ? 1 : levels(j)));
        double rows = 0.0;
        for (int64_t c = 0; c < n_classes; ++c) {
            const double n = both ? static_cast<double>(both[c]) : n_value[(first_value[i] + u) * n_classes + c];
            rows += n;
            mantissa[c] *= (n + alpha) / total;
        }
        normalise(mantissa, exponent, lanes);
        enough[cell] = rows >= min_count;
    }

    // rows in which the parent is known
    double parent_total(int64_t i, int64_t j) const {
        if (j >= 0) return pair_sum[pair(i, j)];
        double total = 0.0;
        for (int64_t c = 0; c < n_classes; ++c) total += known[i * n_classes + c];
        return total;
    }
};

// Rows that are known throughout are scored in blocks, pair after pair, so that a pair's table is read from memory once
// for all of them.
constexpr int64_t BLOCK = 32;

template <int fixed, typename Count>
BAYESKIT_INLINE void multiply_pairs_lanes(const Averager<Count>& m, const uint32_t* level, const double* alpha,
                                          int64_t rows, double* product, int64_t* exponent, int64_t runtime) {
    const int64_t lanes = fixed ? fixed : runtime, d = m.d, K = m.n_classes, width = BLOCK * lanes;
    std::fill(product, product + d * width, 1.0);
    std::fill(exponent, exponent + d * width, 0);
    int64_t pair = 0;
    for (int64_t i = 0; i < d; ++i) {
        const uint32_t* x = level + i * BLOCK;
        const double* x_alpha = alpha + i * BLOCK;
        double* mine = product + i * width;
        if (i % FACTORS == 0) normalise(mine, exponent + i * width, (d - i) * width);
        for (int64_t j = i + 1; j < d; ++j, ++pair) {
            const uint32_t* y = level + j * BLOCK;
            const double* y_alpha = alpha + j * BLOCK;
            double* other = product + j * width;
            const Count* table = m.pairs.first[pair];
            const int64_t size = m.sizes[j];
            for (int64_t r = 0; r < rows; ++r) {
                const Count* counts = table + (x[r] * size + y[r]) * K;
                Quad *here = reinterpret_cast<Quad*>(mine + r * lanes), *there = reinterpret_cast<Quad*>(other + r * lanes);
                for (int64_t g = 0; g < lanes / LANES; ++g) {
                    const Quad n = read_quad(counts + g * LANES);
                    here[g] = here[g] * (n + quad_of(y_alpha[r]));
                    there[g] = there[g] * (n + quad_of(x_alpha[r]));
                }
            }
            if ((j - i) % FACTORS == 0) normalise(mine, exponent + i * width, width);
        }
        normalise(mine, exponent + i * width, width);
    }
}

// product[i, j] for i < j: three parent sets take their factor from one cell of a triple
template <int fixed, typename Count>
BAYESKIT_INLINE void multiply_triples_lanes(const Averager<Count>& m, const uint32_t* level, const double* alpha,
                                            int64_t rows, double* product, int64_t* exponent, int64_t runtime) {
    const int64_t lanes = fixed ? fixed : runtime, d = m.d, K = m.n_classes, width = BLOCK * lanes;
    const int64_t n_pairs = d * (d - 1) / 2;
    std::fill(product, product + n_pairs * width, 1.0);
    std::fill(exponent, exponent + n_pairs * width, 0);
    int64_t triple = 0;
    uint32_t cell[BLOCK];
    for (int64_t i = 0; i < d; ++i) {
        const uint32_t* x = level + i * BLOCK;
        const double* x_alpha = alpha + i * BLOCK;
        if (i % FACTORS == 0 && i + 1 < d) {
            const int64_t first = m.pair(i, i + 1) * width;
            normalise(product + first, exponent + first, n_pairs * width - first);
        }
        for (int64_t j = i + 1; j + 1 < d; ++j) {
            const uint32_t* y = level + j * BLOCK;
            const double* y_alpha = alpha + j * BLOCK;
            double *ij = product + m.pair(i, j) * width, *ik = ij + width, *jk = product + m.pair(j, j + 1) * width;
            if ((j - i) % FACTORS == 0) normalise(ij, exponent + m.pair(i, j) * width, (d - j) * width);
            for (int64_t r = 0; r < rows; ++r) cell[r] = x[r] * static_cast<uint32_t>(m.sizes[j]) + y[r];
            for (int64_t k = j + 1; k < d; ++k, ++triple, ik += width, jk += width) {
                const uint32_t* z = level + k * BLOCK;
                const double* z_alpha = alpha + k * BLOCK;
                const Count* table = m.triples.first[triple];
                const int64_t size = m.sizes[k];
                for (int64_t r = 0; r < rows; ++r) {
                    const Count* counts = table + (cell[r] * size + z[r]) * K;
                    Quad *a = reinterpret_cast<Quad*>(ij + r * lanes), *b = reinterpret_cast<Quad*>(ik + r * lanes),
                         *c = reinterpret_cast<Quad*>(jk + r * lanes);
                    for (int64_t g = 0; g < lanes / LANES; ++g) {
                        const Quad n = read_quad(counts + g * LANES);
                        a[g] = a[g] * (n + quad_of(z_alpha[r]));
                        b[g] = b[g] * (n + quad_of(y_alpha[r]));
                        c[g] = c[g] * (n + quad_of(x_alpha[r]));
                    }
                }
                if ((k - j) % FACTORS == 0) normalise(ij, exponent + m.pair(i, j) * width, width);
            }
        }
    }
    normalise(product, exponent, n_pairs * width);
}

template <int fixed, typename Count>
BAYESKIT_INLINE void multiply_lanes(const Averager<Count>& m, const uint32_t* level, const double* alpha, int64_t rows,
                                    double* product, int64_t* exponent, int64_t lanes) {
    if (m.order == 1) multiply_pairs_lanes<fixed>(m, level, alpha, rows, product, exponent, lanes);
    else multiply_triples_lanes<fixed>(m, level, alpha, rows, product, exponent, lanes);
}

// One of the two for each type of count, since a template cannot have versions for several CPUs everywhere.
BAYESKIT_SIMD void multiply(const Averager<int32_t>& m, const uint32_t* level, const double* alpha, int64_t rows,
                            double* product, int64_t* exponent) {
    if (m.lanes == LANES) multiply_lanes<LANES>(m, level, alpha, rows, product, exponent, LANES);
    else multiply_lanes<0>(m, level, alpha, rows, product, exponent, m.lanes);
}

BAYESKIT_SIMD void multiply(const Averager<double>& m, const uint32_t* level, const double* alpha, int64_t rows,
                            double* product, int64_t* exponent) {
    if (m.lanes == LANES) multiply_lanes<LANES>(m, level, alpha, rows, product, exponent, LANES);
    else multiply_lanes<0>(m, level, alpha, rows, product, exponent, m.lanes);
}

// sum[c] * 2 ** peak[c] = the sum over the parents in `cells` (or -1) of product times factor
BAYESKIT_SIMD void sum_parents(const double* factor, const int64_t* factor_exponent, const int64_t* cells,
                               int64_t n_parents, int64_t lanes, double* product, int64_t* exponent, int64_t width,
                               double* sum, int64_t* peak) {
    std::fill(sum, sum + lanes, 0.0);
    std::fill(peak, peak + lanes, INT64_MIN / 4);
    for (int64_t p = 0; p < n_parents; ++p) {
        if (cells[p] < 0) continue;
        for (int64_t c = 0; c < lanes; ++c) {
            product[p * width + c] *= factor[cells[p] * lanes + c];
            exponent[p * width + c] += factor_exponent[cells[p] * lanes + c];
            peak[c] = std::max(peak[c], exponent[p * width + c]);
        }
    }
    for (int64_t p = 0; p < n_parents; ++p) {
        if (cells[p] < 0) continue;
        for (int64_t c = 0; c < lanes; ++c) {
            const int64_t bits = (std::max<int64_t>(exponent[p * width + c] - peak[c], -1023) + 1023) << 52;
            double power;  // 2 ** (exponent - peak), or 0
            std::memcpy(&power, &bits, sizeof power);
            sum[c] += product[p * width + c] * power;
        }
    }
}

// What a thread needs to score rows one after the other.
template <typename Count>
class Worker {
public:
    explicit Worker(const Averager<Count>& model)
        : m_(model), level_(model.d), n_parents_max_(model.order == 1 ? model.d : model.d * (model.d - 1) / 2),
          up_(model.lanes), down_(model.lanes), up_exponent_(model.lanes), down_exponent_(model.lanes),
          margin_(model.n_classes), sum_(model.lanes), sum_exponent_(model.lanes) {}

    // Whether the row is known throughout and was seen: such rows may go into a block.
    bool is_plain(const uint32_t* level, int64_t stride) const {
        bool plain = !m_.exact && n_parents_max_ > 0;
        for (int64_t j = 0; j < m_.d; ++j) plain = plain && level[j * stride] < m_.sizes[j];
        return plain;
    }

    // log P(x, c) of up to BLOCK plain rows, (rows, n_classes)
    void log_joints(const uint32_t* level, int64_t stride, const int64_t* rows, int64_t n, double* out) {
        const int64_t d = m_.d, lanes = m_.lanes, width = BLOCK * lanes;
        block_level_.resize(d * BLOCK);
        block_alpha_.resize(d * BLOCK);
        product_.resize(n_parents_max_ * width);
        exponent_.resize(n_parents_max_ * width);
        cells_.resize(n_parents_max_);
        for (int64_t j = 0; j < d; ++j)
            for (int64_t r = 0; r < n; ++r) {
                const uint32_t here = level[j * stride + rows[r]];
                block_level_[j * BLOCK + r] = here;
                block_alpha_[j * BLOCK + r] = m_.pseudo[m_.first_value[j] + here];
            }
        multiply(m_, block_level_.data(), block_alpha_.data(), n, product_.data(), exponent_.data());
        for (int64_t r = 0; r < n; ++r) {
            const int64_t some = find_cells(r);
            if (!some) {  // no super-parent has enough rows
                log_joint(level + rows[r], stride, 0.0, -1, out + r * m_.n_classes);
                continue;
            }
            sum_parents(m_.factor.data(), m_.factor_exponent.data(), cells_.data(), n_parents_max_, lanes,
                        product_.data() + r * lanes, exponent_.data() + r * lanes, width, sum_.data(),
                        sum_exponent_.data());
            write_sum(some, out + r * m_.n_classes);
        }
    }

    // log P(x, c) of any row. own: how much of the row is in the counts itself, under its class `label`; 0 for a new row.
    void log_joint(const uint32_t* level, int64_t stride, double own, int64_t label, double* out) {
        own_ = own;
        label_ = label;
        for (int64_t j = 0; j < m_.d; ++j) level_[j] = level[j * stride] < m_.levels(j) ? level[j * stride] : HIDDEN;
        for (int order = m_.order; order >= 1; --order) {
            n_parents_ = 0;
            std::fill(sum_.begin(), sum_.end(), 0.0);
            std::fill(sum_exponent_.begin(), sum_exponent_.end(), 0);
            walk(order);
            if (n_parents_) {
                write_sum(n_parents_, out);
                return;
            }
        }
        naive(out);
    }

private:
    const Averager<Count>& m_;
    std::vector<uint32_t> level_;
    int64_t n_parents_max_;
    std::vector<uint32_t> block_level_;
    std::vector<double> block_alpha_, product_;
    std::vector<int64_t> exponent_, cells_;
    std::vector<double> up_, down_;
    std::vector<int64_t> up_exponent_, down_exponent_;
    std::vector<double> margin_, sum_;
    std::vector<int64_t> sum_exponent_;
    double own_ = 0.0;
    int64_t label_ = 0, n_parents_ = 0;

    // The cell of each parent set in row r of the block, or -1 where it has too few rows; how many have enough.
    int64_t find_cells(int64_t r) {
        int64_t p = 0, some = 0;
        for (int64_t i = 0; i < m_.d; ++i) {
            const int64_t x = block_level_[i * BLOCK + r];
            for (int64_t j = i + 1; j <= (m_.order == 1 ? i + 1 : m_.d - 1); ++j, ++p) {
                const int64_t cell = m_.parent_cell[p] + (m_.order == 1 ? x : x * m_.sizes[j] + block_level_[j * BLOCK + r]);
                cells_[p] = m_.enough[cell] ? cell : -1;
                some += m_.enough[cell];
            }
        }
        return some;
    }

    void write_sum(int64_t n_parents, double* out) const {
        const double log_n = std::log(static_cast<double>(n_parents));
        for (int64_t c = 0; c < m_.n_classes; ++c)
            out[c] = std::log(sum_[c]) + static_cast<double>(sum_exponent_[c]) * std::log(2.0) - log_n;
    }

    // sum += mantissa * 2 ** exponent, class by class
    void add(const double* mantissa, const int64_t* exponent) {
        for (int64_t c = 0; c < m_.n_classes; ++c) {
            if (mantissa[c] <= 0.0) continue;
            if (sum_[c] == 0.0) {
                sum_[c] = mantissa[c];
                sum_exponent_[c] = exponent[c];
                continue;
            }
            const int64_t shift = exponent[c] - sum_exponent_[c];
            if (shift <= 0) {
                if (shift > -1000) sum_[c] += mantissa[c] * power(shift);
            } else {
                sum_[c] = mantissa[c] + (shift < 1000 ? sum_[c] * power(-shift) : 0.0);
                sum_exponent_[c] = exponent[c];
            }
        }
    }

    static double power(int64_t exponent) {  // 2 ** exponent for -1000 < exponent <= 0
        const int64_t bits = (exponent + 1023) << 52;
        double value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }

    // Any row: super-parents that are not known are summed over their levels, and the row's own count is taken out of
    // the tables that it is in.
    void walk(int order) {
        const int64_t d = m_.d;
        for (int64_t i = 0; i < d; ++i) {
            bool took_part = false;
            if (order == 1) for_levels(i, [&](uint32_t u) { took_part |= walk_parent(i, u, -1, 0); });
            n_parents_ += took_part;
            for (int64_t j = i + 1; order == 2 && j < d; ++j) {
                took_part = false;
                for_levels(i, [&](uint32_t u) {
                    for_levels(j, [&](uint32_t v) { took_part |= walk_parent(i, u, j, v); });
                });
                n_parents_ += took_part;
            }
        }
    }

    template <typename Visit>
    void for_levels(int64_t i, Visit&& visit) const {
        if (level_[i] != HIDDEN) {
            visit(level_[i]);
            return;
        }
        for (uint32_t u = 0; u < m_.levels(i); ++u) visit(u);
    }

    bool walk_parent(int64_t i, uint32_t u, int64_t j, uint32_t v) {
        const int64_t K = m_.n_classes;
        const bool two = j >= 0, observed = level_[i] != HIDDEN && (!two || level_[j] != HIDDEN);
        const double own = observed ? own_ : 0.0;
        // P(c, parent)
        double rows = 0.0;
        const double total = std::max(0.0, m_.parent_total(i, j) - own);
        const double pseudo = two ? m_.pair_joint_pseudo[m_.pair(i, j)] : m_.joint_pseudo[i];
        const double cells = static_cast<double>(K * m_.levels(i) * (two ? m_.levels(j) : 1));
        const Count* both = two ? m_.pair_counts(i, u, j, v) : nullptr;
        const double* one = !two && u < m_.sizes[i] ? m_.n_value.data() + (m_.first_value[i] + u) * K : nullptr;
        for (int64_t c = 0; c < K; ++c) {
            double n = both ? static_cast<double>(both[c]) : one ? one[c] : 0.0;
            if (c == label_) n = std::max(0.0, n - own);
            rows += n;
            up_[c] = n + pseudo;
            down_[c] = total + pseudo * cells;
            if (down_[c] <= 0.0) down_[c] = 1.0;
        }
        if (observed && rows < m_.min_count) return false;
        std::fill(up_exponent_.begin(), up_exponent_.end(), 0);
        std::fill(down_exponent_.begin(), down_exponent_.end(), 0);
        normalise(up_.data(), up_exponent_.data(), m_.lanes);
        normalise(down_.data(), down_exponent_.data(), m_.lanes);
        bool margin_known = false;
        for (int64_t k = 0; k < m_.d; ++k) {
            if (k == i || k == j || level_[k] == HIDDEN) continue;
            const Count* counts = two ? m_.triple_counts(i, u, j, v, k, level_[k]) : m_.pair_counts(i, u, k, level_[k]);
            const double alpha = m_.pseudo[m_.first_value[k] + std::min<int64_t>(level_[k], m_.sizes[k] - 1)];
            if (!m_.complete || !margin_known) m_.parent_margin(i, u, j, v, k, margin_.data());
            margin_known = true;
            for (int64_t c = 0; c < K; ++c) {
                const double mine = c == label_ ? own : 0.0;
                const double n = std::max(0.0, (counts ? static_cast<double>(counts[c]) : 0.0) - mine);
                const double all = std::max(0.0, margin_[c] - mine) + m_.pseudo_sum[k];
                // Without rows and without smoothing nothing is known of x_k: every level is as likely.
                up_[c] *= all > 0.0 ? n + alpha : 1.0;
                down_[c] *= all > 0.0 ? all : static_cast<double>(m_.levels(k));
            }
            if (k % FACTORS == FACTORS - 1) {
                normalise(up_.data(), up_exponent_.data(), m_.lanes);
                normalise(down_.data(), down_exponent_.data(), m_.lanes);
            }
        }
        normalise(up_.data(), up_exponent_.data(), m_.lanes);
        normalise(down_.data(), down_exponent_.data(), m_.lanes);
        for (int64_t c = 0; c < K; ++c) {
            up_[c] /= down_[c];
            up_exponent_[c] -= down_exponent_[c];
        }
        normalise(up_.data(), up_exponent_.data(), m_.lanes);
        add(up_.data(), up_exponent_.data());
        return true;
    }

    // P(c) * product of P(x_j | c)
    void naive(double* out) const {
        const int64_t K = m_.n_classes;
        double total = -own_;
        for (int64_t c = 0; c < K; ++c) total += m_.n_class[c] + m_.class_pseudo[c];
        for (int64_t c = 0; c < K; ++c) {
            const double own = c == label_ ? own_ : 0.0;
            out[c] = std::log(std::max(0.0, m_.n_class[c] - own) + m_.class_pseudo[c]) - std::log(total);
            for (int64_t j = 0; j < m_.d; ++j) {
                if (level_[j] == HIDDEN) continue;
                const bool seen = level_[j] < m_.sizes[j];
                const int64_t value = m_.first_value[j] + std::min<int64_t>(level_[j], m_.sizes[j] - 1);
                const double n = seen ? std::max(0.0, m_.n_value[value * K + c] - own) : 0.0;
                const double all = std::max(0.0, m_.known[j * K + c] - own) + m_.pseudo_sum[j];
                out[c] += all > 0.0 ? std::log(n + m_.pseudo[value]) - std::log(all)
                                    : -std::log(static_cast<double>(m_.levels(j)));
            }
        }
    }
};

std::vector<double> doubles(const Array& array, int64_t length) {
    const Column column = column_of(array);
    if (static_cast<int64_t>(array.shape(0)) != length) throw std::invalid_argument("an array has the wrong length.");
    std::vector<double> out(length);
    read_doubles(column, 0, length, out.data(), 1);
    return out;
}

class AverageScorer {
public:
    AverageScorer(Array n_class, Array n_value, Array pairs, std::optional<Array> triples, std::vector<int64_t> sizes,
                  Array class_pseudo, Array pseudo, Array joint_pseudo, Array pair_joint_pseudo, double min_count,
                  bool smooth)
        : pairs_(pairs), triples_(triples) {
        const Type type = type_of(pairs);
        if ((type != Type::i32 && type != Type::f64) || (triples && type_of(*triples) != type))
            throw std::invalid_argument("counts must be int32 or float64, all of one type.");
        whole_ = type == Type::i32;
        auto fill = [&](auto& model) {
            model.d = static_cast<int64_t>(sizes.size());
            model.n_classes = static_cast<int64_t>(n_class.shape(0));
            model.order = triples ? 2 : 1;
            model.smooth = smooth;
            model.min_count = min_count;
            model.sizes = sizes;
            model.first_value.assign(1, 0);
            for (int64_t size : sizes) model.first_value.push_back(model.first_value.back() + size);
            const int64_t d = model.d, K = model.n_classes, n_pairs = d * (d - 1) / 2;
            model.n_class = doubles(n_class, K);
            model.n_value = doubles(n_value, model.first_value[d] * K);
            model.class_pseudo = doubles(class_pseudo, K);
            model.pseudo = doubles(pseudo, model.first_value[d]);
            model.joint_pseudo = doubles(joint_pseudo, d);
            model.pair_joint_pseudo = doubles(pair_joint_pseudo, n_pairs);
            model.pseudo_sum.assign(d, 0.0);
            for (int64_t j = 0; j < d; ++j) {
                for (int64_t v = model.first_value[j]; v < model.first_value[j + 1]; ++v)
                    model.pseudo_sum[j] += model.pseudo[v];
                if (smooth && sizes[j] > 0) model.pseudo_sum[j] += model.pseudo[model.first_value[j + 1] - 1];
            }
            double total = 0.0;
            for (int64_t c = 0; c < K; ++c) total += model.n_class[c] + model.class_pseudo[c];
            for (int64_t c = 0; c < K; ++c)
                model.log_prior.push_back(std::log(model.n_class[c] + model.class_pseudo[c]) - std::log(total));
            std::vector<int64_t> pair_lengths, triple_lengths;
            int64_t pair_cells = 0, triple_cells = 0;
            for (int64_t i = 0; i < d; ++i)
                for (int64_t j = i + 1; j < d; ++j) {
                    pair_lengths.push_back(sizes[i] * sizes[j] * K);
                    pair_cells += pair_lengths.back();
                    for (int64_t k = j + 1; triples && k < d; ++k) {
                        triple_lengths.push_back(sizes[i] * sizes[j] * sizes[k] * K);
                        triple_cells += triple_lengths.back();
                    }
                }
            check(pairs, pair_cells);
            if (triples) check(*triples, triple_cells);
            using Count = typename decltype(model.pairs.last)::value_type;
            model.pairs.lay(static_cast<const Count*>(pairs.data()), pair_lengths);
            if (triples) model.triples.lay(static_cast<const Count*>(triples->data()), triple_lengths);
            for (size_t p = 0; p < pair_lengths.size(); ++p) {
                double sum = 0.0;
                for (int64_t cell = 0; cell < pair_lengths[p]; ++cell) sum += static_cast<double>(model.pairs.first[p][cell]);
                model.pair_sum.push_back(sum);
            }
            nb::gil_scoped_release release;
            model.prepare();
        };
        if (whole_) fill(whole_model_);
        else fill(weighted_model_);
    }

    // (answer, first row that no class can give or -1)
    nb::tuple score(nb::object columns, int answer, bool fallback, int n_threads) const {
        return run(columns, std::nullopt, std::nullopt, static_cast<Answer>(answer), fallback, n_threads);
    }

    // (log posterior of each row without itself, first impossible row or -1)
    nb::tuple leave_one_out(nb::list columns, Array y, std::optional<Array> weight, bool fallback, int n_threads) const {
        return run(columns, y, weight, Answer::log_posterior, fallback, n_threads);
    }

private:
    bool whole_;
    Array pairs_;
    std::optional<Array> triples_;
    Averager<int32_t> whole_model_;
    Averager<double> weighted_model_;

    static void check(const Array& counts, int64_t cells) {
        const Column column = column_of(counts);
        if (static_cast<int64_t>(counts.shape(0)) != cells || (cells > 1 && column.stride != item_size(column.type)))
            throw std::invalid_argument("the counts do not fit the sizes.");
    }

    nb::tuple run(nb::handle columns, const std::optional<Array>& y, const std::optional<Array>& weight, Answer answer,
                  bool fallback, int n_threads) const {
        return whole_ ? run_in(whole_model_, columns, y, weight, answer, fallback, n_threads)
                      : run_in(weighted_model_, columns, y, weight, answer, fallback, n_threads);
    }

    template <typename Count>
    nb::tuple run_in(const Averager<Count>& model, nb::handle columns, const std::optional<Array>& classes,
                     const std::optional<Array>& weights, Answer answer, bool fallback, int n_threads) const {
        const Table table = table_of(columns);
        if (static_cast<int64_t>(table.columns.size()) != model.d) throw std::invalid_argument("wrong number of columns.");
        const int64_t n = table.n_rows, K = model.n_classes;
        std::vector<uint32_t> y;
        std::vector<double> weight;
        if (classes) {
            y = class_codes(*classes);
            if (static_cast<int64_t>(y.size()) != n) throw std::invalid_argument("y and the table differ in length.");
            weight.assign(n, 1.0);
            if (weights) weight = doubles(*weights, n);
        }
        const bool one = answer == Answer::best_class || answer == Answer::log_evidence;
        std::vector<size_t> shape = {static_cast<size_t>(n)};
        if (!one) shape.push_back(static_cast<size_t>(K));
        Owned<double> out(answer == Answer::best_class ? std::vector<size_t>{0} : shape);
        Owned<int64_t> best(answer == Answer::best_class ? shape : std::vector<size_t>{0});
        const int64_t n_chunks = (n + CHUNK_ROWS - 1) / CHUNK_ROWS;
        std::vector<int64_t> impossible(n_chunks, -1);
        {
            nb::gil_scoped_release release;
            parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int) {
                const int64_t begin = chunk * CHUNK_ROWS, rows = std::min(CHUNK_ROWS, n - begin);
                std::vector<uint32_t> level(model.d * CHUNK_ROWS);
                for (int64_t j = 0; j < model.d; ++j)
                    decode<true>(table.columns[j], begin, rows, 0, static_cast<uint32_t>(model.sizes[j]), level.data() + j * CHUNK_ROWS);
                Worker<Count> worker(model);
                std::vector<double> log_joint(rows * K), block(BLOCK * K);
                std::vector<int64_t> waiting;
                auto flush = [&] {
                    worker.log_joints(level.data(), CHUNK_ROWS, waiting.data(), static_cast<int64_t>(waiting.size()), block.data());
                    for (size_t k = 0; k < waiting.size(); ++k)
                        std::copy_n(block.data() + k * K, K, log_joint.data() + waiting[k] * K);
                    waiting.clear();
                };
                for (int64_t r = 0; r < rows; ++r) {
                    if (y.empty() && worker.is_plain(level.data() + r, CHUNK_ROWS)) {
                        waiting.push_back(r);
                        if (static_cast<int64_t>(waiting.size()) == BLOCK) flush();
                        continue;
                    }
                    const double own = y.empty() ? 0.0 : std::min(1.0, weight[begin + r]);
                    worker.log_joint(level.data() + r, CHUNK_ROWS, own, y.empty() ? -1 : y[begin + r], log_joint.data() + r * K);
                }
                if (!waiting.empty()) flush();
                const double* prior = fallback ? model.log_prior.data() : nullptr;
                for (int64_t r = 0; r < rows; ++r)
                    if (!write_answer(log_joint.data() + r * K, prior, static_cast<int>(K), answer, begin + r, out.data, best.data) &&
                        impossible[chunk] < 0)
                        impossible[chunk] = begin + r;
            });
        }
        int64_t first = -1;
        for (int64_t row : impossible)
            if (first < 0) first = row;
        return nb::make_tuple(answer == Answer::best_class ? best.to_numpy() : out.to_numpy(), first);
    }
};

}  // namespace

void bind_average(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<AverageScorer>(m, "AverageScorer")
        .def(nb::init<Array, Array, Array, std::optional<Array>, std::vector<int64_t>, Array, Array, Array, Array, double, bool>(),
             "n_class"_a, "n_value"_a, "pairs"_a, "triples"_a.none(), "sizes"_a, "class_pseudo"_a, "pseudo"_a,
             "joint_pseudo"_a, "pair_joint_pseudo"_a, "min_count"_a, "smooth"_a)
        .def("score", &AverageScorer::score, "columns"_a, "answer"_a, "fallback"_a, "n_threads"_a)
        .def("leave_one_out", &AverageScorer::leave_one_out, "columns"_a, "y"_a, "weight"_a.none(), "fallback"_a,
             "n_threads"_a);
}

}  // namespace bayeskit
