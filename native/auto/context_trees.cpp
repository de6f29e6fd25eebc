// Counts of context trees, and what they say: P(c | node) = (n_c + m P(c | parent)) / (n + m), the mean over the trees.
#include <cmath>

#include "auto/kernels.hpp"
#include "auto/trees.hpp"

namespace bayeskit::automatic {
namespace {

// The pseudo-count of each class at the root.
constexpr double ROOT = 0.5;

class ContextTrees {
public:
    ContextTrees(Vector<int64_t> level_at, Vector<int64_t> tree_at, Vector<int32_t> feature, Vector<uint8_t> test, Vector<uint32_t> value,
                 Vector<int32_t> next)
        : level_at_(copy_of(level_at)) {
        check_level_at(level_at_);
        trees_.tree_at = copy_of(tree_at);
        trees_.feature = copy_of(feature);
        trees_.test = copy_of(test);
        trees_.value = copy_of(value);
        trees_.next = copy_of(next);
        check();
    }

    int64_t n_leaves() const { return n_leaves_; }

    // (n_leaves, n_classes)
    nb::object count(Matrix<uint8_t> codes, Vector<uint32_t> y, Vector<double> weight, int64_t n_classes, int n_threads) const {
        const int64_t rows = static_cast<int64_t>(codes.shape(1));
        check_codes(codes, level_at_);
        check_classes(y, rows, n_classes);
        need(static_cast<int64_t>(weight.shape(0)) == rows, "weights and the table differ in length.");
        Owned<double> out({static_cast<size_t>(n_leaves_), static_cast<size_t>(n_classes)}, true);
        {
            nb::gil_scoped_release release;
            parallel_chunks(trees_.n_trees(), n_threads, [&](int64_t tree, int) {
                for (int64_t r = 0; r < rows; ++r)
                    out.data[leaf_of(tree, codes.data(), rows, r) * n_classes + y.data()[r]] += weight.data()[r];
            });
        }
        return out.to_numpy();
    }

    // (n_m, n_rows, n_classes): the mean of P(c | leaf) without the row itself, over the trees whose structure has not seen
    // the row; a tree t has seen row `ids[r]` by `in_structure(seed, first_tree + t, …)`.
    nb::object leave_one_out(Matrix<double> cells, Vector<double> m, Matrix<uint8_t> codes, Vector<uint32_t> y, Vector<double> own,
                             Vector<int64_t> ids, uint64_t seed, int64_t first_tree, double share, int n_threads) const {
        const int64_t n_classes = check_cells(cells), rows = static_cast<int64_t>(codes.shape(1)), n_m = static_cast<int64_t>(m.shape(0));
        check_codes(codes, level_at_);
        check_classes(y, rows, n_classes);
        need(static_cast<int64_t>(own.shape(0)) == rows && static_cast<int64_t>(ids.shape(0)) == rows, "the parts differ in length.");
        Owned<double> out({static_cast<size_t>(n_m), static_cast<size_t>(rows), static_cast<size_t>(n_classes)}, true);
        std::vector<int32_t> honest(rows, 0);
        {
            nb::gil_scoped_release release;
            for (int64_t tree = 0; tree < trees_.n_trees(); ++tree) {
                const auto counts = node_counts(tree, cells.data(), n_classes);
                parallel_chunks(n_chunks_of(rows), n_threads, [&](int64_t chunk, int) {
                    std::vector<double> p(n_m * n_classes);
                    for (int64_t r = chunk * ROWS_AT_ONCE; r < std::min(rows, (chunk + 1) * ROWS_AT_ONCE); ++r) {
                        if (in_structure(seed, first_tree + tree, ids.data()[r], share)) continue;
                        ++honest[r];
                        leave_out_row(tree, counts, n_classes, m, codes.data(), rows, r, y.data()[r], own.data()[r], p.data());
                        for (int64_t g = 0; g < n_m; ++g)
                            for (int64_t c = 0; c < n_classes; ++c) out.data[(g * rows + r) * n_classes + c] += p[g * n_classes + c];
                    }
                });
            }
            for (int64_t g = 0; g < n_m; ++g)
                for (int64_t r = 0; r < rows; ++r)
                    for (int64_t c = 0; c < n_classes; ++c)
                        out.data[(g * rows + r) * n_classes + c] =
                            honest[r] ? out.data[(g * rows + r) * n_classes + c] / honest[r] : 1.0 / static_cast<double>(n_classes);
        }
        return out.to_numpy();
    }

    // (n_leaves, n_classes): P(c | leaf)
    nb::object leaf_tables(Matrix<double> cells, double m, int n_threads) const {
        const int64_t n_classes = check_cells(cells);
        need(m > 0.0 && std::isfinite(m), "m must be above 0.");
        Owned<float> out({static_cast<size_t>(n_leaves_), static_cast<size_t>(n_classes)});
        {
            nb::gil_scoped_release release;
            parallel_chunks(trees_.n_trees(), n_threads, [&](int64_t tree, int) {
                const auto counts = node_counts(tree, cells.data(), n_classes);
                const int64_t begin = trees_.tree_at[tree], size = trees_.tree_at[tree + 1] - begin;
                std::vector<double> p(size * n_classes);
                for (int64_t node = 0; node < size; ++node) {
                    const double* line = counts.data() + node * (n_classes + 1);
                    double* here = p.data() + node * n_classes;
                    if (node == 0)
                        for (int64_t c = 0; c < n_classes; ++c) here[c] = (line[c] + ROOT) / (line[n_classes] + ROOT * static_cast<double>(n_classes));
                    if (trees_.feature[begin + node] < 0) {
                        for (int64_t c = 0; c < n_classes; ++c) out.data[trees_.next[begin + node] * n_classes + c] = static_cast<float>(here[c]);
                        continue;
                    }
                    for (int side = 0; side < 2; ++side) {
                        const int64_t below = trees_.next[begin + node] + side;
                        const double* own = counts.data() + below * (n_classes + 1);
                        for (int64_t c = 0; c < n_classes; ++c)
                            p[below * n_classes + c] = (own[c] + m * here[c]) / (own[n_classes] + m);
                    }
                }
            });
        }
        return out.to_numpy();
    }

    // (n_nodes,): rows of each node in all classes together, by which hidden cells are averaged
    nb::object node_weights(Matrix<double> cells, int n_threads) const {
        const int64_t n_classes = check_cells(cells);
        Owned<double> out({trees_.feature.size()});
        {
            nb::gil_scoped_release release;
            parallel_chunks(trees_.n_trees(), n_threads, [&](int64_t tree, int) {
                const int64_t begin = trees_.tree_at[tree], end = trees_.tree_at[tree + 1];
                for (int64_t node = end - 1; node >= begin; --node) {
                    double sum = 0.0;
                    if (trees_.feature[node] < 0)
                        for (int64_t c = 0; c < n_classes; ++c) sum += cells.data()[trees_.next[node] * n_classes + c];
                    else
                        sum = out.data[begin + trees_.next[node]] + out.data[begin + trees_.next[node] + 1];
                    out.data[node] = sum;
                }
            });
        }
        return out.to_numpy();
    }

    // (n_rows, n_classes): the mean of P(c | leaf) over the trees; where a test needs a hidden cell, both ways by their rows
    nb::object score(Matrix<float> tables, Vector<double> node_weight, Matrix<uint8_t> codes, int n_threads) const {
        need(static_cast<int64_t>(tables.shape(0)) == n_leaves_ && tables.shape(1) > 0 && node_weight.shape(0) == trees_.feature.size(),
             "the tables do not fit the trees.");
        const int64_t n_classes = static_cast<int64_t>(tables.shape(1)), rows = static_cast<int64_t>(codes.shape(1)), n = static_cast<int64_t>(codes.shape(0));
        check_codes(codes, level_at_);
        Owned<double> out({static_cast<size_t>(rows), static_cast<size_t>(n_classes)}, true);
        const double share = 1.0 / static_cast<double>(std::max<int64_t>(1, trees_.n_trees()));
        {
            nb::gil_scoped_release release;
            parallel_chunks(n_chunks_of(rows), n_threads, [&](int64_t chunk, int) {
                const int64_t begin = chunk * ROWS_AT_ONCE, end = std::min(rows, begin + ROWS_AT_ONCE);
                // Row by row, so that a walk stays within a few lines of the cache.
                std::vector<uint8_t> block((end - begin) * n), hidden(end - begin, 0);
                for (int64_t j = 0; j < n; ++j)
                    for (int64_t r = begin; r < end; ++r) {
                        const uint8_t level = codes.data()[j * rows + r];
                        block[(r - begin) * n + j] = level;
                        hidden[r - begin] |= level == HIDDEN;
                    }
                std::vector<float> sum(n_classes);
                for (int64_t tree = 0; tree < trees_.n_trees(); ++tree)
                    for (int64_t r = begin; r < end; ++r) {
                        const uint8_t* row = block.data() + (r - begin) * n;
                        double* to = out.data + r * n_classes;
                        if (hidden[r - begin]) {
                            average(tree, trees_.tree_at[tree], share, row, tables.data(), node_weight.data(), n_classes, to);
                            continue;
                        }
                        int64_t node = trees_.tree_at[tree];
                        while (trees_.feature[node] >= 0) node = trees_.step(tree, node, [&](int32_t j) { return row[j]; });
                        const float* line = tables.data() + static_cast<int64_t>(trees_.next[node]) * n_classes;
                        for (int64_t c = 0; c < n_classes; ++c) to[c] += share * static_cast<double>(line[c]);
                    }
            });
        }
        return out.to_numpy();
    }

private:
    std::vector<int64_t> level_at_;
    Trees trees_;
    int64_t n_leaves_ = 0;

    void check() {
        const size_t total = trees_.feature.size();
        need(!trees_.tree_at.empty() && trees_.tree_at[0] == 0 && trees_.tree_at.back() == static_cast<int64_t>(total) &&
                 trees_.test.size() == total && trees_.value.size() == total && trees_.next.size() == total,
             "the parts of the trees do not fit together.");
        for (int64_t tree = 0; tree < trees_.n_trees(); ++tree) {
            const int64_t begin = trees_.tree_at[tree], size = trees_.tree_at[tree + 1] - begin;
            need(size >= 1, "a tree has no node.");
            int64_t made = 1;
            for (int64_t node = 0; node < size; ++node) {
                if (trees_.feature[begin + node] < 0) {
                    need(trees_.next[begin + node] == n_leaves_++, "leaves are out of order.");
                    continue;
                }
                // Each pair of children is the next one in the list, so there are no circles and no node is shared.
                const int64_t feature = trees_.feature[begin + node];
                need(feature < static_cast<int64_t>(level_at_.size()) - 1 && trees_.test[begin + node] <= HALF, "a test is out of range.");
                need(trees_.next[begin + node] == made && made > node && made + 2 <= size, "a node is out of range.");
                made += 2;
            }
            need(made == size, "a tree has nodes without a parent.");
        }
    }

    int64_t check_cells(const Matrix<double>& cells) const {
        need(static_cast<int64_t>(cells.shape(0)) == n_leaves_ && cells.shape(1) > 0, "the counts do not fit the trees.");
        return static_cast<int64_t>(cells.shape(1));
    }

    BAYESKIT_INLINE int64_t leaf_of(int64_t tree, const uint8_t* codes, int64_t rows, int64_t r) const {
        int64_t node = trees_.tree_at[tree];
        while (trees_.feature[node] >= 0) node = trees_.step(tree, node, [&](int32_t j) { return codes[j * rows + r]; });
        return trees_.next[node];
    }

    // (nodes of the tree, n_classes + 1): the counts of each node, and their sum
    std::vector<double> node_counts(int64_t tree, const double* cells, int64_t n_classes) const {
        const int64_t begin = trees_.tree_at[tree], size = trees_.tree_at[tree + 1] - begin, width = n_classes + 1;
        std::vector<double> counts(size * width, 0.0);
        for (int64_t node = size - 1; node >= 0; --node) {
            double* to = counts.data() + node * width;
            if (trees_.feature[begin + node] < 0) {
                const double* from = cells + trees_.next[begin + node] * n_classes;
                for (int64_t c = 0; c < n_classes; ++c) to[n_classes] += to[c] = from[c];
            } else {
                const double* from = counts.data() + trees_.next[begin + node] * width;
                for (int64_t c = 0; c < width; ++c) to[c] = from[c] + from[width + c];
            }
        }
        return counts;
    }

    void leave_out_row(int64_t tree, const std::vector<double>& counts, int64_t n_classes, const Vector<double>& m, const uint8_t* codes,
                       int64_t rows, int64_t r, int64_t true_class, double own, double* p) const {
        const int64_t begin = trees_.tree_at[tree], width = n_classes + 1, n_m = static_cast<int64_t>(m.shape(0));
        for (int64_t c = 0; c < n_classes; ++c) {
            const double n = std::max(counts[c] - (c == true_class ? own : 0.0), 0.0);
            const double at_root = (n + ROOT) / (std::max(counts[n_classes] - own, 0.0) + ROOT * static_cast<double>(n_classes));
            for (int64_t g = 0; g < n_m; ++g) p[g * n_classes + c] = at_root;
        }
        int64_t node = begin;
        while (trees_.feature[node] >= 0) {
            node = trees_.step(tree, node, [&](int32_t j) { return codes[j * rows + r]; });
            const double* line = counts.data() + (node - begin) * width;
            const double rest = line[n_classes] - own;
            if (rest <= 1e-9 * line[n_classes]) break;  // nobody else is here
            for (int64_t g = 0; g < n_m; ++g) {
                const double strength = m.data()[g], scale = 1.0 / (rest + strength);
                double* to = p + g * n_classes;
                const double before = to[true_class];
                for (int64_t c = 0; c < n_classes; ++c) to[c] = (line[c] + strength * to[c]) * scale;
                to[true_class] = (std::max(line[true_class] - own, 0.0) + strength * before) * scale;
            }
        }
    }

    void average(int64_t tree, int64_t node, double share, const uint8_t* row, const float* tables, const double* weight, int64_t n_classes,
                 double* to) const {
        while (trees_.feature[node] >= 0 && row[trees_.feature[node]] != HIDDEN)
            node = trees_.step(tree, node, [&](int32_t j) { return row[j]; });
        if (trees_.feature[node] < 0) {
            const float* line = tables + static_cast<int64_t>(trees_.next[node]) * n_classes;
            for (int64_t c = 0; c < n_classes; ++c) to[c] += share * static_cast<double>(line[c]);
            return;
        }
        const int64_t first = trees_.tree_at[tree] + trees_.next[node];
        const double whole = weight[first] + weight[first + 1];
        const double left = whole > 0.0 ? weight[first] / whole : 0.5;
        average(tree, first, share * left, row, tables, weight, n_classes, to);
        average(tree, first + 1, share * (1.0 - left), row, tables, weight, n_classes, to);
    }
};

}  // namespace

void bind_context_trees(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<ContextTrees>(m, "ContextTrees")
        .def(nb::init<Vector<int64_t>, Vector<int64_t>, Vector<int32_t>, Vector<uint8_t>, Vector<uint32_t>, Vector<int32_t>>(), "level_at"_a,
             "tree_at"_a, "feature"_a, "test"_a, "value"_a, "next"_a)
        .def_prop_ro("n_leaves", &ContextTrees::n_leaves)
        .def("count", &ContextTrees::count, "codes"_a, "y"_a, "weight"_a, "n_classes"_a, "n_threads"_a)
        .def("leave_one_out", &ContextTrees::leave_one_out, "cells"_a, "m"_a, "codes"_a, "y"_a, "own"_a, "ids"_a, "seed"_a, "first_tree"_a,
             "share"_a, "n_threads"_a)
        .def("leaf_tables", &ContextTrees::leaf_tables, "cells"_a, "m"_a, "n_threads"_a)
        .def("node_weights", &ContextTrees::node_weights, "cells"_a, "n_threads"_a)
        .def("score", &ContextTrees::score, "tables"_a, "node_weight"_a, "codes"_a, "n_threads"_a);
}

}  // namespace bayeskit::automatic
