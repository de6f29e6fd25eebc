// One row after the other: missing cells summed out, and rows left out of the counts.
#pragma once
#include "average_blocks.hpp"

namespace bayeskit::average {

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

}  // namespace bayeskit::average
