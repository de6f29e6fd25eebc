// Boosted trees that begin where another model ends: each round lowers the log-loss of scores that rows have already.
//
// Rows are dealt into parts, and there is an ensemble for each part, which learns from the rows of the others: so every
// row is left out of one of them.
#include <cmath>

#include "auto/gradient_tree.hpp"
#include "auto/kernels.hpp"

namespace bayeskit::automatic {
namespace {

class Ensemble {
public:
    Ensemble(const std::vector<uint8_t>& table, const std::vector<int64_t>& level_at, const std::vector<uint8_t>& ordered,
             const std::vector<uint32_t>& y, const std::vector<double>& weight, const std::vector<uint8_t>& part, uint8_t left_out,
             std::vector<double> scores, int64_t n_classes, const BoostSettings& settings, uint64_t seed)
        : table_(table), y_(y), weight_(weight), part_(part), left_out_(left_out), scores_(std::move(scores)), k_(n_classes),
          settings_(settings), seed_(mix64(seed) + left_out), grower_(table, level_at, ordered, settings) {
        slopes_.outputs = k_ == 2 ? 1 : k_;
        slopes_.of_rows.resize(y.size() * 2 * slopes_.outputs);
        n_ = static_cast<int64_t>(ordered.size());
    }

    // Grows one tree; returns the log-loss of the rows left out after it, times their weights.
    double grow() {
        find_slopes();
        Random random(seed_, trees_.size());
        std::vector<int32_t> rows;
        for (size_t r = 0; r < y_.size(); ++r) {
            const bool drawn = settings_.row_share >= 1.0 || random.uniform() < settings_.row_share;
            if (drawn && part_[r] != left_out_) rows.push_back(static_cast<int32_t>(r));
        }
        GradientTree tree = grower_.grow(slopes_, std::move(rows), random);
        double loss = 0.0;
        for (size_t r = 0; r < y_.size(); ++r) {
            double* score = scores_.data() + r * k_;
            add_step(tree, r, score);
            if (part_[r] == left_out_) loss += weight_[r] * loss_of(score, y_[r]);
        }
        trees_.push_back(std::move(tree));
        return loss;
    }

    // Adds the steps of the first trees to the scores of the row.
    void add_steps(int64_t n_trees, size_t row, double* score) const {
        for (int64_t t = 0; t < n_trees; ++t) add_step(trees_[t], row, score);
    }
    const GradientTree& tree(int64_t t) const { return trees_[t]; }
    int64_t leaf_of(const GradientTree& tree, size_t row) const {
        const uint8_t* levels = table_.data() + row * n_;
        int32_t node = 0;
        while (tree.nodes[node].feature >= 0) {
            const TreeNode& here = tree.nodes[node];
            node = here.next + (goes_first(levels[here.feature], here.test, here.value) ? 0 : 1);
        }
        return tree.nodes[node].next;
    }
    // What a leaf adds to the scores of the classes: of two classes the log-odds is the only output.
    double step_of(const GradientTree& tree, int64_t leaf, int64_t c) const {
        if (k_ == 2) return (c == 1 ? 0.5 : -0.5) * tree.steps[leaf];
        return tree.steps[leaf * k_ + c];
    }

private:
    const std::vector<uint8_t>& table_;
    const std::vector<uint32_t>& y_;
    const std::vector<double>& weight_;
    const std::vector<uint8_t>& part_;
    uint8_t left_out_;
    std::vector<double> scores_;
    int64_t k_, n_ = 0;
    BoostSettings settings_;
    uint64_t seed_;
    Slopes slopes_;
    GradientGrower grower_;
    std::vector<GradientTree> trees_;

    void add_step(const GradientTree& tree, size_t row, double* score) const {
        const int64_t leaf = leaf_of(tree, row);
        for (int64_t c = 0; c < k_; ++c) score[c] += step_of(tree, leaf, c);
    }

    double loss_of(const double* score, uint32_t truth) const {
        const double peak = *std::max_element(score, score + k_);
        double total = 0.0;
        for (int64_t c = 0; c < k_; ++c) total += std::exp(score[c] - peak);
        return peak + std::log(total) - score[truth];
    }

    // g = w (P - [y = c]) and h = w P (1 - P), of more classes k / (k - 1) times: all their scores may rise together
    void find_slopes() {
        const double factor = k_ == 2 ? 1.0 : static_cast<double>(k_) / static_cast<double>(k_ - 1);
        std::vector<double> p(k_);
        for (size_t r = 0; r < y_.size(); ++r) {
            if (part_[r] == left_out_) continue;
            const double *score = scores_.data() + r * k_, peak = *std::max_element(score, score + k_);
            double total = 0.0;
            for (int64_t c = 0; c < k_; ++c) total += p[c] = std::exp(score[c] - peak);
            float* to = slopes_.of_rows.data() + r * 2 * slopes_.outputs;
            for (int64_t o = 0; o < slopes_.outputs; ++o) {
                const int64_t c = k_ == 2 ? 1 : o;
                const double share = p[c] / total, rest = k_ == 2 ? p[0] / total : 1.0 - share;
                to[o] = static_cast<float>(weight_[r] * (share - (y_[r] == c ? 1.0 : 0.0)));
                to[slopes_.outputs + o] = static_cast<float>(factor * weight_[r] * std::max(share * rest, 1e-12));
            }
        }
    }
};

class BoostedTrees {
public:
    BoostedTrees(Matrix<uint8_t> codes, Vector<uint32_t> y, Vector<double> weight, Matrix<double> scores, Vector<uint8_t> part,
                 int64_t n_parts, Vector<int64_t> level_at, Vector<uint8_t> ordered, uint64_t seed, double rate, int64_t most_leaves,
                 double ridge, double least_curve, double row_share, int64_t n_columns)
        : level_at_(copy_of(level_at)), ordered_(copy_of(ordered)), y_(copy_of(y)), weight_(copy_of(weight)), part_(copy_of(part)),
          k_(static_cast<int64_t>(scores.shape(1))) {
        const int64_t n = static_cast<int64_t>(codes.shape(0)), rows = static_cast<int64_t>(codes.shape(1));
        check_level_at(level_at_);
        check_codes(codes, level_at_);
        check_classes(y, rows, k_);
        need(n > 0 && rows < (int64_t{1} << 31) && static_cast<int64_t>(scores.shape(0)) == rows && static_cast<int64_t>(weight_.size()) == rows &&
                 static_cast<int64_t>(part_.size()) == rows && static_cast<int64_t>(ordered_.size()) == n,
             "the parts differ in length.");
        need(k_ >= 2 && n_parts >= 1 && n_parts < 255 && most_leaves >= 1 && n_columns >= 1 && ridge > 0.0 && least_curve > 0.0 && rate > 0.0,
             "a number is out of range.");
        for (int64_t j = 0; j < n; ++j)
            need(std::find(codes.data() + j * rows, codes.data() + (j + 1) * rows, HIDDEN) == codes.data() + (j + 1) * rows,
                 "no cell of these rows may be hidden.");
        table_.resize(codes.size());  // row by row
        for (int64_t j = 0; j < n; ++j)
            for (int64_t r = 0; r < rows; ++r) table_[r * n + j] = codes.data()[j * rows + r];
        const BoostSettings settings{rate, most_leaves, ridge, least_curve, row_share, n_columns};
        scores_.assign(scores.data(), scores.data() + scores.size());
        for (int64_t p = 0; p < n_parts; ++p)
            ensembles_.emplace_back(table_, level_at_, ordered_, y_, weight_, part_, static_cast<uint8_t>(p), scores_, k_, settings, seed);
    }

    // (n_rounds,): the log-loss of all rows after each round, each by the ensemble that it is left out of, times the weights
    nb::object grow(int64_t n_rounds, int n_threads) {
        need(n_rounds >= 0, "the number of rounds is negative.");
        const int64_t n_parts = static_cast<int64_t>(ensembles_.size());
        std::vector<double> losses(n_parts * n_rounds);
        {
            nb::gil_scoped_release release;
            parallel_chunks(n_parts, n_threads, [&](int64_t p, int) {
                for (int64_t round = 0; round < n_rounds; ++round) losses[p * n_rounds + round] = ensembles_[p].grow();
            });
        }
        rounds_ += n_rounds;
        Owned<double> out({static_cast<size_t>(n_rounds)}, true);
        for (int64_t v = 0; v < n_parts * n_rounds; ++v) out.data[v % n_rounds] += losses[v];
        return out.to_numpy();
    }

    // (n_rows, n_classes): what the first rounds add to the scores of each row, by the ensemble that it is left out of
    nb::object left_out(int64_t n_rounds, int n_threads) const {
        need(n_rounds >= 0 && n_rounds <= rounds_, "there are not so many rounds.");
        const int64_t rows = static_cast<int64_t>(y_.size());
        Owned<double> out({y_.size(), static_cast<size_t>(k_)}, true);
        {
            nb::gil_scoped_release release;
            parallel_chunks(n_chunks_of(rows), n_threads, [&](int64_t chunk, int) {
                for (int64_t r = chunk * ROWS_AT_ONCE; r < std::min(rows, (chunk + 1) * ROWS_AT_ONCE); ++r)
                    if (part_[r] < ensembles_.size()) ensembles_[part_[r]].add_steps(n_rounds, r, out.data + r * k_);
            });
        }
        return out.to_numpy();
    }

    // The first trees of all ensembles, one ensemble after the other, as `ContextTrees` takes them; then the step of each leaf
    // (n_leaves, n_classes), and the weight of all rows in it (n_leaves,).
    nb::tuple trees(int64_t n_rounds, int n_threads) const {
        need(n_rounds >= 0 && n_rounds <= rounds_, "there are not so many rounds.");
        const int64_t n_parts = static_cast<int64_t>(ensembles_.size()), n_trees = n_parts * n_rounds;
        auto tree_of = [&](int64_t t) -> const GradientTree& { return ensembles_[t / n_rounds].tree(t % n_rounds); };
        Owned<int64_t> tree_at({static_cast<size_t>(n_trees + 1)});
        std::vector<int64_t> leaf_at(n_trees + 1, 0);
        tree_at.data[0] = 0;
        for (int64_t t = 0; t < n_trees; ++t) {
            const int64_t size = static_cast<int64_t>(tree_of(t).nodes.size());
            tree_at.data[t + 1] = tree_at.data[t] + size;
            leaf_at[t + 1] = leaf_at[t] + (size + 1) / 2;
        }
        const size_t total = static_cast<size_t>(tree_at.data[n_trees]), leaves = static_cast<size_t>(leaf_at[n_trees]);
        Owned<int32_t> feature({total}), next({total});
        Owned<uint8_t> test({total});
        Owned<uint32_t> value({total});
        Owned<float> steps({leaves, static_cast<size_t>(k_)});
        Owned<double> weight({leaves}, true);
        {
            nb::gil_scoped_release release;
            parallel_chunks(n_trees, n_threads, [&](int64_t t, int) {
                const GradientTree& tree = tree_of(t);
                const Ensemble& ensemble = ensembles_[t / n_rounds];
                int64_t at = tree_at.data[t];
                for (const TreeNode& node : tree.nodes) {
                    feature.data[at] = node.feature;
                    test.data[at] = node.test;
                    value.data[at] = node.value;
                    next.data[at++] = node.next + (node.feature < 0 ? static_cast<int32_t>(leaf_at[t]) : 0);
                }
                for (int64_t leaf = 0; leaf < leaf_at[t + 1] - leaf_at[t]; ++leaf)
                    for (int64_t c = 0; c < k_; ++c)
                        steps.data[(leaf_at[t] + leaf) * k_ + c] = static_cast<float>(ensemble.step_of(tree, leaf, c));
                for (size_t r = 0; r < y_.size(); ++r) weight.data[leaf_at[t] + ensemble.leaf_of(tree, r)] += weight_[r];
            });
        }
        return nb::make_tuple(tree_at.to_numpy(), feature.to_numpy(), test.to_numpy(), value.to_numpy(), next.to_numpy(), steps.to_numpy(),
                              weight.to_numpy());
    }

private:
    std::vector<int64_t> level_at_;
    std::vector<uint8_t> ordered_;
    std::vector<uint32_t> y_;
    std::vector<double> weight_;
    std::vector<uint8_t> part_, table_;
    std::vector<double> scores_;
    int64_t k_, rounds_ = 0;
    std::vector<Ensemble> ensembles_;
};

}  // namespace

void bind_boosted_trees(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<BoostedTrees>(m, "BoostedTrees")
        .def(nb::init<Matrix<uint8_t>, Vector<uint32_t>, Vector<double>, Matrix<double>, Vector<uint8_t>, int64_t, Vector<int64_t>, Vector<uint8_t>,
                      uint64_t, double, int64_t, double, double, double, int64_t>(),
             "codes"_a, "y"_a, "weight"_a, "scores"_a, "part"_a, "n_parts"_a, "level_at"_a, "ordered"_a, "seed"_a, "rate"_a, "most_leaves"_a,
             "ridge"_a, "least_curve"_a, "row_share"_a, "n_columns"_a)
        .def("grow", &BoostedTrees::grow, "n_rounds"_a, "n_threads"_a)
        .def("left_out", &BoostedTrees::left_out, "n_rounds"_a, "n_threads"_a)
        .def("trees", &BoostedTrees::trees, "n_rounds"_a, "n_threads"_a);
}

}  // namespace bayeskit::automatic
