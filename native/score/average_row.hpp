// One row after the other, where blocks cannot help: counts without smoothing, rows of which a fraction is left out, and
// rows whose super-parents have too few rows.
#pragma once
#include "score/average_model.hpp"

namespace bayeskit::score::average {

// Factors between two normalisations: (1e38) ** 8 and (1e-38) ** 8 are still doubles.
constexpr int FACTORS = 8;

// What a thread needs to score rows one after the other.
template <typename Count>
class RowScorer {
public:
    explicit RowScorer(const AverageModel<Count>& model)
        : m_(model), level_(model.d), up_(model.lanes), down_(model.lanes), up_exponent_(model.lanes),
          down_exponent_(model.lanes), rows_(model.n_classes), margin_(model.n_classes), sum_(model.lanes), sum_exponent_(model.lanes) {}

    // log P(x, c) by super-parents of `most` features, or fewer where those have too few rows. own: how much of the row is
    // in the counts itself, under its class `label`; 0 for a new row.
    void log_joint(int most, const uint32_t* level, int64_t stride, double row_weight, int64_t label, double* out) {
        row_weight_ = row_weight;
        label_ = label;
        for (int64_t j = 0; j < m_.d; ++j) level_[j] = level[j * stride] < m_.levels(j) ? level[j * stride] : HIDDEN;
        for (int order = most; order >= 1; --order) {
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
    const AverageModel<Count>& m_;
    std::vector<uint32_t> level_;
    std::vector<double> up_, down_;
    std::vector<int64_t> up_exponent_, down_exponent_;
    std::vector<double> rows_, margin_, sum_;
    std::vector<int64_t> sum_exponent_;
    double row_weight_ = 0.0;
    int64_t label_ = 0, n_parents_ = 0;

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
        const double row_weight = observed ? row_weight_ : 0.0;
        // P(c, parent)
        double rows = 0.0;
        if (!(m_.parent_rows(i, j, row_weight) > 0.0)) return false;  // no row knows the parent and nothing is smoothed: it has nothing to say
        m_.parent_counts(i, u, j, v, rows_.data());
        for (int64_t c = 0; c < K; ++c) {
            const double mine = c == label_ ? row_weight : 0.0, n = std::max(0.0, rows_[c] - mine);
            rows += n;
            up_[c] = m_.knows_parent(i, j, c, mine) ? n + m_.joint_pseudo(i, j) : 1.0;
            up_[c] *= m_.cell_scale(i, j, c, row_weight, mine);
            down_[c] = 1.0;
        }
        if (observed && rows < m_.min_count) return false;
        std::fill(up_exponent_.begin(), up_exponent_.end(), 0);
        std::fill(down_exponent_.begin(), down_exponent_.end(), 0);
        normalise(up_.data(), up_exponent_.data(), m_.lanes);
        normalise(down_.data(), down_exponent_.data(), m_.lanes);
        for (int64_t k = 0; k < m_.d; ++k) {
            if (k == i || k == j || level_[k] == HIDDEN) continue;
            const Count* counts = two ? m_.triple_counts(i, u, j, v, k, level_[k]) : m_.pair_counts(i, u, k, level_[k]);
            if (!m_.complete[k]) m_.parent_margin(i, u, j, v, k, margin_.data());
            const double* margin = m_.complete[k] ? rows_.data() : margin_.data();
            for (int64_t c = 0; c < K; ++c) {
                const double mine = c == label_ ? row_weight : 0.0;
                const double n = std::max(0.0, (counts ? static_cast<double>(counts[c]) : 0.0) - mine);
                const double all = std::max(0.0, margin[c] - mine) + m_.pseudo_sum(k);
                // Without rows and without smoothing nothing is known of x_k: every level is as likely.
                up_[c] *= all > 0.0 ? n + m_.pseudo[k] : 1.0;
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
        log_prior_without(m_.class_mass.data(), static_cast<int>(K), label_, row_weight_, out);
        for (int64_t c = 0; c < K; ++c) {
            const double row_weight = c == label_ ? row_weight_ : 0.0;
            for (int64_t j = 0; j < m_.d; ++j) {
                if (level_[j] == HIDDEN) continue;
                const bool seen = level_[j] < m_.sizes[j];
                const double n = seen ? std::max(0.0, m_.n_value[(m_.first_value[j] + level_[j]) * K + c] - row_weight) : 0.0;
                const double all = std::max(0.0, m_.known[j * K + c] - row_weight) + m_.pseudo_sum(j);
                out[c] += all > 0.0 ? std::log(n + m_.pseudo[j]) - std::log(all)
                                    : -std::log(static_cast<double>(m_.levels(j)));
            }
        }
    }
};

}  // namespace bayeskit::score::average
