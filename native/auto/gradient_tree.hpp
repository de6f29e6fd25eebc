// One tree of a boosted ensemble: grown from slopes and curvatures of a loss, the best leaf first.
#pragma once
#include <limits>

#include "auto/trees.hpp"

namespace bayeskit::automatic {

// How trees are grown.
struct BoostSettings {
    double rate;         // the share of each step that is taken
    int64_t most_leaves;
    double ridge;        // is added to the curvature of a leaf
    double least_curve;  // both sides of a test have at least so much curvature
    double row_share;    // of the rows each tree sees a random share,
    int64_t n_columns;   // and so many random columns
};

// The slopes g and curvatures h of the loss by each output: (n_rows, 2 × outputs), all g of a row before its h.
struct Slopes {
    int64_t outputs = 0;
    std::vector<float> of_rows;
    const float* row(int64_t r) const { return of_rows.data() + r * 2 * outputs; }
};

// A tree whose nodes are numbered as `ContextTrees` needs them, with the step of each leaf (n_leaves, outputs).
struct GradientTree {
    std::vector<TreeNode> nodes;
    std::vector<double> steps;
};

// Adds the slopes of some rows to the sums of the levels that they have in each of the drawn columns.
struct RowsToAdd {
    const uint8_t* table;
    int64_t n_features;
    const int32_t *begin, *end;
    const float* slopes;
    const int32_t* columns;
    const int64_t* at;
    int64_t n_columns;
};

BAYESKIT_SIMD
static void add_wide_rows(const RowsToAdd& rows, int64_t w, double* sums) {
    for (const int32_t* r = rows.begin; r < rows.end; ++r) {
        const uint8_t* levels = rows.table + *r * rows.n_features;
        const float* from = rows.slopes + *r * w;
        for (int64_t d = 0; d < rows.n_columns; ++d) {
            double* to = sums + (rows.at[d] + levels[rows.columns[d]]) * w;
            for (int64_t o = 0; o < w; ++o) to[o] += static_cast<double>(from[o]);
        }
    }
}

// The same for two numbers a row.
BAYESKIT_SIMD
static void add_pairs(const RowsToAdd& rows, double* sums) {
    for (const int32_t* r = rows.begin; r < rows.end; ++r) {
        const uint8_t* levels = rows.table + *r * rows.n_features;
        const double g = rows.slopes[2 * static_cast<int64_t>(*r)], h = rows.slopes[2 * static_cast<int64_t>(*r) + 1];
        for (int64_t d = 0; d < rows.n_columns; ++d) {
            double* to = sums + 2 * (rows.at[d] + levels[rows.columns[d]]);
            to[0] += g;
            to[1] += h;
        }
    }
}

class GradientGrower {
public:
    // `table` holds the codes row by row.
    GradientGrower(const std::vector<uint8_t>& table, const std::vector<int64_t>& level_at, const std::vector<uint8_t>& ordered,
                   const BoostSettings& settings)
        : table_(table), level_at_(level_at), ordered_(ordered), settings_(settings), n_(static_cast<int64_t>(ordered.size())) {}

    GradientTree grow(const Slopes& slopes, std::vector<int32_t> rows, Random& random) {
        slopes_ = &slopes;
        rows_ = std::move(rows);
        draw_columns(random);
        grown_.assign(1, Grown{0, static_cast<int32_t>(rows_.size())});
        sums_of_rows(grown_[0]);
        find_test(grown_[0]);
        for (int64_t leaves = 1; leaves < settings_.most_leaves; ++leaves) {
            int64_t best = -1;
            for (size_t v = 0; v < grown_.size(); ++v)
                if (grown_[v].first < 0 && grown_[v].feature >= 0 && (best < 0 || grown_[v].gain > grown_[best].gain)) best = static_cast<int64_t>(v);
            if (best < 0) break;
            split(best);
        }
        return numbered();
    }

private:
    struct Grown {
        int32_t begin, end;          // its rows
        int32_t first = -1;          // the first child
        int32_t feature = -1;        // of its best test; -1 where there is none
        uint8_t test = 0;
        uint32_t value = 0;
        double gain = 0.0;
        std::vector<double> sums{};  // of g and h by each level of the columns: (n_drawn_levels, 2 × outputs)
    };

    const std::vector<uint8_t>& table_;
    const std::vector<int64_t>& level_at_;
    const std::vector<uint8_t>& ordered_;
    BoostSettings settings_;
    int64_t n_;
    const Slopes* slopes_ = nullptr;
    std::vector<int32_t> rows_, columns_, beside_;
    std::vector<int64_t> drawn_at_;  // where the levels of each drawn column begin
    std::vector<Grown> grown_;
    std::vector<double> left_, whole_;

    int64_t width() const { return 2 * slopes_->outputs; }

    // The first of a random order of the columns, in the order of the table.
    void draw_columns(Random& random) {
        columns_.resize(n_);
        for (int64_t j = 0; j < n_; ++j) columns_[j] = static_cast<int32_t>(j);
        const int64_t some = std::min(n_, settings_.n_columns);
        for (int64_t j = 0; j < some && some < n_; ++j)
            std::swap(columns_[j], columns_[j + random.below(static_cast<uint32_t>(n_ - j))]);
        columns_.resize(some);
        std::sort(columns_.begin(), columns_.end());
        drawn_at_.assign(1, 0);
        for (int32_t j : columns_) drawn_at_.push_back(drawn_at_.back() + level_at_[j + 1] - level_at_[j]);
    }

    void sums_of_rows(Grown& node) {
        node.sums.assign(drawn_at_.back() * width(), 0.0);
        const RowsToAdd rows{table_.data(),    n_, rows_.data() + node.begin, rows_.data() + node.end, slopes_->of_rows.data(),
                             columns_.data(), drawn_at_.data(), static_cast<int64_t>(columns_.size())};
        if (width() == 2) add_pairs(rows, node.sums.data());
        else add_wide_rows(rows, width(), node.sums.data());
    }

    // Σ g² / (h + ridge): twice what a step to the least value of the loss gains
    double worth(const double* sums) const {
        double total = 0.0;
        for (int64_t o = 0; o < slopes_->outputs; ++o)
            total += sums[o] * sums[o] / (std::max(sums[slopes_->outputs + o], 0.0) + settings_.ridge);
        return total;
    }
    double curve(const double* sums) const {
        double total = 0.0;
        for (int64_t o = slopes_->outputs; o < width(); ++o) total += sums[o];
        return total;
    }

    void find_test(Grown& node) {
        const int64_t w = width();
        whole_.assign(w, 0.0);
        for (int64_t level = 0; level < drawn_at_[1]; ++level)
            for (int64_t o = 0; o < w; ++o) whole_[o] += node.sums[level * w + o];
        if (curve(whole_.data()) < 2.0 * settings_.least_curve) return;
        const double before = worth(whole_.data());
        for (size_t d = 0; d < columns_.size(); ++d) {
            const bool ordered = ordered_[columns_[d]] != 0;
            const int64_t levels = drawn_at_[d + 1] - drawn_at_[d];
            left_.assign(w, 0.0);
            for (int64_t level = 0; level < levels; ++level) {
                const double* here = node.sums.data() + (drawn_at_[d] + level) * w;
                if (curve(here) <= 0.0) continue;  // nobody is here, so that the test before says the same
                if (ordered) {
                    for (int64_t o = 0; o < w; ++o) left_[o] += here[o];
                    consider(node, before, left_.data(), columns_[d], BELOW, static_cast<uint32_t>(level + 1));
                } else {
                    consider(node, before, here, columns_[d], EQUAL, static_cast<uint32_t>(level));
                }
            }
        }
    }

    void consider(Grown& node, double before, const double* first, int32_t feature, uint8_t test, uint32_t value) {
        const int64_t w = width(), outputs = slopes_->outputs;
        const double all = curve(whole_.data()), one = curve(first);
        if (one < settings_.least_curve || all - one < settings_.least_curve) return;
        double second = 0.0;
        for (int64_t o = 0; o < outputs; ++o) {
            const double g = whole_[o] - first[o], h = whole_[outputs + o] - first[outputs + o];
            second += g * g / (std::max(h, 0.0) + settings_.ridge);
        }
        const double gain = worth(first) + second - before;
        // What differs by rounding alone is a tie, and the first stands.
        if (gain <= std::max(node.gain * (1.0 + 1e-9), 1e-9 * w)) return;
        node.gain = gain;
        node.feature = feature;
        node.test = test;
        node.value = value;
    }

    void split(int64_t place) {
        const int32_t next = static_cast<int32_t>(grown_.size());
        grown_.resize(grown_.size() + 2);
        Grown& node = grown_[place];
        node.first = next;
        // Rows stay in their order, so that sums do not depend on how the tree came about.
        beside_.clear();
        int32_t middle = node.begin;
        for (int32_t p = node.begin; p < node.end; ++p) {
            const int32_t row = rows_[p];
            if (goes_first(table_[static_cast<int64_t>(row) * n_ + node.feature], node.test, node.value)) rows_[middle++] = row;
            else beside_.push_back(row);
        }
        std::copy(beside_.begin(), beside_.end(), rows_.begin() + middle);
        Grown &one = grown_[next], &other = grown_[next + 1];
        one = Grown{node.begin, middle};
        other = Grown{middle, node.end};
        // The sums of the larger child are what those of the smaller one leave.
        Grown &small = middle - node.begin <= node.end - middle ? one : other, &large = &small == &one ? other : one;
        sums_of_rows(small);
        large.sums = std::move(node.sums);
        for (size_t v = 0; v < large.sums.size(); ++v) large.sums[v] -= small.sums[v];
        find_test(one);
        find_test(other);
    }

    // Nodes breadth first, and the step of each leaf: -rate g / (h + ridge)
    GradientTree numbered() {
        GradientTree tree;
        std::vector<int32_t> order{0};
        int32_t leaves = 0;
        const int64_t outputs = slopes_->outputs;
        for (size_t v = 0; v < order.size(); ++v) {
            const Grown& node = grown_[order[v]];
            if (node.first >= 0) {
                tree.nodes.push_back(TreeNode::of(node.feature, static_cast<int32_t>(order.size()), node.value, node.test));
                order.push_back(node.first);
                order.push_back(node.first + 1);
                continue;
            }
            tree.nodes.push_back(TreeNode::of(-1, leaves++, 0, 0));
            whole_.assign(width(), 0.0);
            for (int32_t p = node.begin; p < node.end; ++p)
                for (int64_t o = 0; o < width(); ++o) whole_[o] += static_cast<double>(slopes_->row(rows_[p])[o]);
            for (int64_t o = 0; o < outputs; ++o)
                tree.steps.push_back(-settings_.rate * whole_[o] / (whole_[outputs + o] + settings_.ridge));
        }
        return tree;
    }
};

}  // namespace bayeskit::automatic
