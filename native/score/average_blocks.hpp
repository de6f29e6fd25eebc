// Rows with the same missing cells, scored together.
#pragma once
#include <string>

#include "score/average_products.hpp"

namespace bayeskit::score::average {

// Rows of a block: so many read a table while it is in the cache.
constexpr int64_t BLOCK = 128;
// What a cell is: a level that was counted, the level of unseen values, or unknown and to be summed out.
constexpr char SEEN = 0, NEW = 1, UNKNOWN = 2;

template <typename Count>
class BlockScorer {
public:
    // less: the factors of a cell from which one row is left out, or null where new rows are scored
    BlockScorer(const AverageModel<Count>& model, const Factors* less)
        : m_(model), less_(less), nothing_(model.lanes), level_(model.d * BLOCK), cell_(model.d * BLOCK),
          fixed_(2 * BLOCK), mine_(BLOCK * model.lanes), product_(BLOCK * model.lanes), sum_(BLOCK * model.lanes),
          margin_(model.n_classes), scale_(model.lanes), less_scale_(model.lanes), exponent_(BLOCK * model.lanes), peak_(BLOCK * model.lanes), cells_(BLOCK),
          n_parents_(BLOCK) {}

    // What each cell of a row is; rows of which this is the same may share a block.
    std::string state_of(const uint32_t* level, int64_t stride) const {
        std::string state(m_.d, SEEN);
        for (int64_t j = 0; j < m_.d; ++j) {
            const int64_t here = level[j * stride];
            if (here >= m_.sizes[j]) state[j] = here < m_.levels(j) ? NEW : UNKNOWN;
        }
        return state;
    }

    // Sums the terms of up to BLOCK rows of one state. label: the class of each row, where rows are left out.
    void sum(const std::string& state, const uint32_t* level, int64_t stride, const int64_t* rows, int64_t n,
             const uint32_t* label) {
        read(state, level, stride, rows, n, label);
        for (int64_t i = 0, p = 0; i < m_.d; ++i)
            for (int64_t j = i + 1; j < (m_.order == 1 ? i + 2 : m_.d); ++j, ++p)
                add_parent(i, m_.order == 1 ? -1 : j, m_.parent_cell[p]);
    }

    // log P(x, c) of row r; false where no super-parent has enough rows
    bool write(int64_t r, double* out) const {
        if (!n_parents_[r]) return false;
        const double log_n = std::log(static_cast<double>(n_parents_[r]));
        for (int64_t c = 0; c < m_.n_classes; ++c)
            out[c] = std::log(sum_[r * m_.lanes + c]) + static_cast<double>(peak_[r * m_.lanes + c]) * std::log(2.0) - log_n;
        return true;
    }

private:
    const AverageModel<Count>& m_;
    const Factors* less_;
    std::vector<Count> nothing_;  // a cell without rows
    std::vector<uint32_t> level_, cell_;
    std::vector<uint32_t> fixed_;  // levels of a parent that is summed out
    std::vector<double> mine_, product_, sum_, margin_;
    std::vector<double> scale_, less_scale_;  // (lanes) of the parent at hand, and where the row is of that class
    std::vector<int64_t> exponent_, peak_, cells_, empty_, n_parents_, known_, unknown_;
    std::vector<Child<Count>> children_;
    std::string state_;
    int64_t n_ = 0;

    void read(const std::string& state, const uint32_t* level, int64_t stride, const int64_t* rows, int64_t n,
              const uint32_t* label) {
        state_ = state;
        n_ = n;
        known_.clear();
        unknown_.clear();
        for (int64_t j = 0; j < m_.d; ++j) {
            if (state[j] == UNKNOWN) {
                if (m_.sizes[j]) unknown_.push_back(j);
                continue;
            }
            known_.push_back(j);
            for (int64_t r = 0; r < n; ++r) level_[j * BLOCK + r] = level[j * stride + rows[r]];
        }
        std::fill(sum_.begin(), sum_.end(), 0.0);
        std::fill(peak_.begin(), peak_.end(), INT64_MIN / 4);
        std::fill(n_parents_.begin(), n_parents_.end(), 0);
        std::fill(mine_.begin(), mine_.end(), 0.0);
        for (int64_t r = 0; label && r < n; ++r) mine_[r * m_.lanes + label[rows[r]]] = 1.0;
    }

    // The term of one parent set, summed over its levels where they are not known.
    void add_parent(int64_t i, int64_t j, int64_t first) {
        const bool i_known = state_[i] != UNKNOWN, j_known = j < 0 || state_[j] != UNKNOWN;
        // A parent that no row knows, where nothing is smoothed, has nothing to say.
        if (!(m_.parent_rows(i, j, less_ && i_known && j_known ? 1.0 : 0.0) > 0.0)) return;
        const uint32_t* u = i_known ? level_.data() + i * BLOCK : fixed_.data();
        const uint32_t* v = j < 0 ? u : j_known ? level_.data() + j * BLOCK : fixed_.data() + BLOCK;
        if (i_known && j_known) {
            const double row_weight = less_ ? 1.0 : 0.0;
            find_parents(j, first, u, v);
            for (int64_t r = 0; r < n_; ++r) {
                if (std::max(0.0, m_.cell_rows[cells_[r]] - row_weight) < m_.min_count) cells_[r] = -1;
                n_parents_[r] += cells_[r] >= 0;
            }
            find_children(i, j, state_[i] == NEW || (j >= 0 && state_[j] == NEW));
            add_cells(i, u, j, v, less_, 1.0);
            return;
        }
        const int64_t j_levels = j_known ? 1 : m_.levels(j), n_levels = (i_known ? 1 : m_.levels(i)) * j_levels;
        if (!n_levels) return;
        // A cell without rows gives the same term whatever its levels are, so that all of them are added at once.
        int64_t n_empty = 0;
        find_children(i, j, false);
        for (int64_t s = 0; s < n_levels; ++s) {
            std::fill_n(fixed_.data(), n_, static_cast<uint32_t>(s / j_levels));
            std::fill_n(fixed_.data() + BLOCK, n_, static_cast<uint32_t>(s % j_levels));
            find_parents(j, first, u, v);
            double rows = 0.0;
            for (int64_t r = 0; r < n_; ++r) rows += m_.cell_rows[cells_[r]];
            if (rows > 0.0) add_cells(i, u, j, v, nullptr, 1.0);
            else if (n_empty++ == 0) empty_ = cells_;
        }
        if (n_empty) {
            cells_ = empty_;
            find_children(i, j, true);
            add_cells(i, nullptr, j, nullptr, nullptr, static_cast<double>(n_empty));
        }
        for (int64_t r = 0; r < n_; ++r) ++n_parents_[r];
    }

    void find_parents(int64_t j, int64_t first, const uint32_t* u, const uint32_t* v) {
        const int64_t width = j < 0 ? 1 : m_.levels(j);
        for (int64_t r = 0; r < n_; ++r) cells_[r] = first + u[r] * width + (j < 0 ? 0 : v[r]);
    }

    // The known columns beside the parent, with their tables. empty: no row of the fit has the parent's levels.
    void find_children(int64_t i, int64_t j, bool empty) {
        const int64_t K = m_.n_classes, x = m_.sizes[i], y = j < 0 ? 1 : m_.sizes[j];
        children_.resize(m_.d);
        Child<Count>* child = children_.data();
        for (int64_t k : known_) {
            if (k == i || k == j) continue;
            const bool read = !empty && state_[k] == SEEN;
            const int64_t z = m_.sizes[k];
            child->table = !read ? nothing_.data() : j < 0 ? m_.pair_counts(i, 0, k, 0) : m_.triple_counts(i, 0, j, 0, k, 0);
            child->a = static_cast<uint32_t>(!read ? 0 : k < i ? y * K : y * z * K);
            child->b = static_cast<uint32_t>(!read || j < 0 ? 0 : k < j ? K : z * K);
            child->c = static_cast<uint32_t>(!read ? 0 : k < i ? x * y * K : k < j ? y * K : K);
            child->pseudo = m_.pseudo[k];
            child->level = level_.data() + k * BLOCK;
            child->cell = cell_.data() + k * BLOCK;
            ++child;
        }
        children_.resize(child - children_.data());
    }

    // Adds the terms of the parent's cells; u is null where none of them has rows.
    void add_cells(int64_t i, const uint32_t* u, int64_t j, const uint32_t* v, const Factors* less, double scale) {
        const Rows rows{n_, m_.lanes, u ? u : fixed_.data(), u ? v : fixed_.data(), less ? mine_.data() : nullptr};
        multiply(children_, rows, m_.factors, product_.data(), exponent_.data());
        for (int64_t k : unknown_)
            for (int64_t r = 0; k != i && k != j && r < n_; ++r)
                if (cells_[r] >= 0) take_back(i, u ? u[r] : HIDDEN, j, u ? v[r] : HIDDEN, k, r, less != nullptr);
        for (int64_t c = 0; c < m_.n_classes; ++c) {
            scale_[c] = scale * m_.cell_scale(i, j, c, less ? 1.0 : 0.0, 0.0);
            less_scale_[c] = less ? scale * m_.cell_scale(i, j, c, 1.0, 1.0) : 0.0;
        }
        add_terms(rows, cells_.data(), m_.whole, less, scale_.data(), less_scale_.data(), product_.data(),
                  exponent_.data(), sum_.data(), peak_.data());
    }

    // The factor of a cell holds the denominators of all children; those that the row does not know are multiplied back.
    void take_back(int64_t i, uint32_t u, int64_t j, uint32_t v, int64_t k, int64_t r, bool less) {
        const int64_t row = r * m_.lanes;
        m_.parent_margin(i, u, j, v, k, margin_.data());
        for (int64_t c = 0; c < m_.n_classes; ++c)
            product_[row + c] *= std::max(0.0, margin_[c] - (less ? mine_[row + c] : 0.0)) + m_.pseudo_sum(k);
        normalise(product_.data() + row, exponent_.data() + row, m_.lanes);
    }
};

}  // namespace bayeskit::score::average
