// Averaged n-dependence: the mean over super-parents u of P(c, x_u) * product of P(x_j | c, x_u), straight from the counts.
//
// No logarithm is taken on the way. A product is a mantissa and an exponent of two; the counts of a cell are read for
// all classes at once.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "base/codes.hpp"
#include "base/score.hpp"
#include "base/simd.hpp"

namespace bayeskit::score::average {

constexpr int64_t CHUNK_ROWS = 256;
// A product may grow or shrink by so many powers of two before it is normalised; a double has 1022 of them.
constexpr double MOST_BITS = 900.0;
constexpr int64_t MOST_MARGINS = int64_t{1} << 23;
constexpr uint32_t HIDDEN = ~uint32_t{0};

// P(c) of a SPODE: that of its smoothed joint P(c, super-parent), the shares of the rows that know the super-parent, or given.
enum class ClassPrior { joint, rows, given };

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
// a time, also where fewer are left; behind the last tables there may be nothing to read, so those are copied.
template <typename Count>
struct Tables {
    std::vector<const Count*> first;
    std::vector<Count> last;
    void lay(const Count* counts, const std::vector<int64_t>& lengths) {
        for (int64_t length : lengths) {
            first.push_back(counts);
            counts += length;
        }
        size_t copied = lengths.size();
        while (copied > 0 && first[copied - 1] + lengths[copied - 1] + QUAD > counts) --copied;
        if (copied == lengths.size()) return;
        const Count* begin = first[copied];
        last.assign(begin, counts);
        last.resize(last.size() + QUAD);
        for (size_t t = copied; t < lengths.size(); ++t) first[t] = last.data() + (first[t] - begin);
    }
};

// Of each parent cell and class, (parent cells, lanes): (n + pseudo-count) / product of the children's denominators, which is
// all of P(c, parent) * product of P(x_k | c, parent) that depends on the parent alone, but for the number of rows.
struct Factors {
    std::vector<double> mantissa;
    std::vector<int64_t> exponent;
};

template <typename Count>
class AverageModel {
public:
    int64_t d, n_classes, lanes;
    int order;
    bool smooth, exact;
    double min_count;
    ClassPrior class_prior = ClassPrior::joint;
    std::vector<double> prior;          // (K) where it is given
    std::vector<double> pseudo;         // (d) of each value of a child
    std::vector<double> parent_pseudo;  // (d) of each cell of the joint of class and super-parent
    std::vector<double> pair_pseudo;    // (pairs) the same where two features are the super-parent
    std::vector<uint8_t> complete;  // (d): whether every row knows the column
    int64_t factors;                // that may be multiplied between two normalisations
    std::vector<int64_t> sizes, first_value;
    std::vector<double> n_class, n_value, known, value_sum;  // (K), (cells, K), (d, K), (cells)
    std::vector<double> log_prior, class_mass;  // (K)
    Tables<Count> pairs, triples;
    std::vector<double> margins;            // (child, parent cell, K), or empty
    std::vector<double> pair_sum;           // rows that know both columns, (pairs)
    std::vector<double> pair_known;         // the same of each class, (pairs, K)
    std::vector<int64_t> parent_cell;       // first cell of each parent set, whose cells are its levels
    std::vector<double> cell_rows;          // (parent cells)
    Factors whole;

    // A column that never had a value has no level at all, not even the one for unseen values.
    int64_t levels(int64_t j) const { return sizes[j] + (smooth && sizes[j] > 0 ? 1 : 0); }
    double pseudo_sum(int64_t j) const { return pseudo[j] * static_cast<double>(levels(j)); }
    double joint_pseudo(int64_t i, int64_t j) const { return j < 0 ? parent_pseudo[i] : pair_pseudo[pair(i, j)]; }
    int64_t pair(int64_t i, int64_t j) const { return i * (2 * d - i - 1) / 2 + j - i - 1; }
    // triples that begin with a smaller feature, then those with the same first and a smaller second
    int64_t triple(int64_t i, int64_t j, int64_t k) const { return triple_first[pair(i, j)] + k - j - 1; }
    std::vector<int64_t> triple_first;

    void prepare() {
        lanes = quad_lanes_for(n_classes);
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
        for (int64_t j = 0; j < d; ++j) {
            bool all = true;
            for (int64_t c = 0; c < n_classes; ++c)
                // Sums of weights in another order differ in the last bits; a missing row differs by more.
                all = all && std::abs(known[j * n_classes + c] - n_class[c]) <= 1e-12 * n_class[c];
            complete.push_back(all);
        }
        lay_margins();
        double least = INFINITY, most = 0.0;  // no factor is smaller or larger
        for (const auto& counts : {pseudo, parent_pseudo, pair_pseudo})
            for (double count : counts) {
                least = std::min(least, count);
                most = std::max(most, count);
            }
        exact = least <= 0.0;
        if (exact) return;
        for (int64_t j = 0; j < d; ++j) most = std::max(most, pseudo_sum(j));
        for (double n : n_class) most += n;
        const double bits = std::max({1.0, -std::log2(least), std::log2(most)});
        factors = std::max<int64_t>(1, static_cast<int64_t>(MOST_BITS / bits));
        lay_cells();
        whole = lay_factors(0.0);
    }

    // With missing cells in training each child has its own margin of a parent; they are summed once where that is small.
    void lay_margins() {
        margins.clear();
        if (std::count(complete.begin(), complete.end(), 1) == d || d * first_value[d] * n_classes > MOST_MARGINS) return;
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
        if (complete[k]) return parent_counts(i, u, j, v, out);
        std::fill(out, out + n_classes, 0.0);
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

    // visit(i, u, j, v) for each parent cell in order; j is -1 where the parent is one feature
    template <typename Visit>
    void for_cells(Visit&& visit) const {
        for (int64_t i = 0; i < d; ++i) {
            for (uint32_t u = 0; order == 1 && u < levels(i); ++u) visit(i, u, int64_t{-1}, 0u);
            for (int64_t j = i + 1; order == 2 && j < d; ++j)
                for (uint32_t u = 0; u < levels(i); ++u)
                    for (uint32_t v = 0; v < levels(j); ++v) visit(i, u, j, v);
        }
    }

    void lay_cells() {
        std::vector<double> n(n_classes);
        int64_t at = 0;
        for (int64_t i = 0; i < d; ++i)
            for (int64_t j = i + 1; j < (order == 1 ? i + 2 : d); ++j) {
                parent_cell.push_back(at);
                at += levels(i) * (order == 1 ? 1 : levels(j));
            }
        for_cells([&](int64_t i, uint32_t u, int64_t j, uint32_t v) {
            parent_counts(i, u, j, v, n.data());
            double rows = 0.0;
            for (double here : n) rows += here;
            cell_rows.push_back(rows);
        });
    }

    // own: how much of each count is taken away, as where a row of the cell is left out
    Factors lay_factors(double row_weight) const {
        Factors result;
        result.mantissa.assign(cell_rows.size() * lanes, 1.0);
        result.exponent.assign(cell_rows.size() * lanes, 0);
        double* up = result.mantissa.data();
        int64_t* exponent = result.exponent.data();
        std::vector<double> rows(lanes), margin(lanes), down(lanes);
        std::vector<int64_t> down_exponent(lanes);
        for_cells([&](int64_t i, uint32_t u, int64_t j, uint32_t v) {
            parent_counts(i, u, j, v, rows.data());
            std::fill(down.begin(), down.end(), 1.0);
            std::fill(down_exponent.begin(), down_exponent.end(), 0);
            int64_t since = 0;
            for (int64_t k = 0; k < d; ++k) {
                if (k == i || k == j || !sizes[k]) continue;
                if (!complete[k]) parent_margin(i, u, j, v, k, margin.data());
                const double* n = complete[k] ? rows.data() : margin.data();
                for (int64_t c = 0; c < lanes; ++c) down[c] *= std::max(0.0, n[c] - row_weight) + pseudo_sum(k);
                if (++since % factors == 0) normalise(down.data(), down_exponent.data(), lanes);
            }
            normalise(down.data(), down_exponent.data(), lanes);
            for (int64_t c = 0; c < lanes; ++c) {
                up[c] = (std::max(0.0, rows[c] - row_weight) + joint_pseudo(i, j)) / down[c];
                exponent[c] = -down_exponent[c];
            }
            normalise(up, exponent, lanes);
            up += lanes;
            exponent += lanes;
        });
        return result;
    }

    // rows of each class in the parent's cell
    void parent_counts(int64_t i, uint32_t u, int64_t j, uint32_t v, double* out) const {
        std::fill(out, out + n_classes, 0.0);
        if (j < 0) {
            if (u < sizes[i]) std::copy_n(n_value.data() + (first_value[i] + u) * n_classes, n_classes, out);
        } else if (const Count* counts = pair_counts(i, u, j, v)) {
            for (int64_t c = 0; c < n_classes; ++c) out[c] = static_cast<double>(counts[c]);
        }
    }

    // The denominator of P(c, parent), of which `own` rows are left out.
    double parent_rows(int64_t i, int64_t j, double row_weight) const {
        const double cells = static_cast<double>(n_classes * levels(i) * (j < 0 ? 1 : levels(j)));
        return std::max(0.0, parent_total(i, j) - row_weight) + joint_pseudo(i, j) * cells;
    }

    // What turns n + pseudo-count of a cell of the parent into P(c, parent): P(c) over the rows of class c that know the
    // parent, of which `own` rows are left out, `mine` of them of this class.
    double cell_scale(int64_t i, int64_t j, int64_t c, double row_weight, double mine) const {
        if (class_prior == ClassPrior::joint) return 1.0 / parent_rows(i, j, row_weight);
        const double cells = static_cast<double>(levels(i) * (j < 0 ? 1 : levels(j)));
        const double known_rows = j < 0 ? known[i * n_classes + c] : pair_known[pair(i, j) * n_classes + c];
        const double rows = std::max(0.0, known_rows - mine), total = std::max(0.0, parent_total(i, j) - row_weight);
        const double share = class_prior == ClassPrior::given ? prior[c] : total > 0.0 ? rows / total : 1.0 / n_classes;
        const double all = rows + joint_pseudo(i, j) * cells;
        return share / (all > 0.0 ? all : cells);  // without rows and without smoothing each cell is as likely
    }

    // Whether class c has rows that know the parent, or smoothing stands for them.
    bool knows_parent(int64_t i, int64_t j, int64_t c, double mine) const {
        if (class_prior == ClassPrior::joint || joint_pseudo(i, j) > 0.0) return true;
        return (j < 0 ? known[i * n_classes + c] : pair_known[pair(i, j) * n_classes + c]) - mine > 0.0;
    }

    // rows in which the parent is known
    double parent_total(int64_t i, int64_t j) const {
        if (j >= 0) return pair_sum[pair(i, j)];
        double total = 0.0;
        for (int64_t c = 0; c < n_classes; ++c) total += known[i * n_classes + c];
        return total;
    }
};

}  // namespace bayeskit::score::average
