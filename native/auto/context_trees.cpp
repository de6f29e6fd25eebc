// Counts of context trees, and what they say: P(c | node) = (n_c + m P(c | parent)) / (n + m), the mean over the trees.
#include <cmath>

#include "auto/counts.hpp"
#include "auto/kernels.hpp"
#include "auto/trees.hpp"

namespace bayeskit::automatic {
namespace {

// The pseudo-count of each class at the root.
constexpr double ROOT = 0.5;
// Trees whose nodes are counted before rows are left out of them, and rows that a thread takes at once.
constexpr int64_t TREES_LEFT_OUT = 6, ROWS_LEFT_OUT = 256;

class ContextTrees {
public:
    ContextTrees(Vector<int64_t> level_at, Vector<int64_t> tree_at, Vector<int32_t> feature, Vector<uint8_t> test, Vector<uint32_t> value,
                 Vector<int32_t> next)
        : level_at_(copy_of(level_at)) {
        check_level_at(level_at_);
        const size_t total = feature.shape(0);
        need(test.shape(0) == total && value.shape(0) == total && next.shape(0) == total, "the parts of the trees do not fit together.");
        trees_.tree_at = copy_of(tree_at);
        trees_.nodes.resize(total);
        for (size_t node = 0; node < total; ++node) {
            trees_.nodes[node] = TreeNode::of(feature.data()[node], next.data()[node], value.data()[node], test.data()[node]);
            trees_.halves |= test.data()[node] == HALF;
        }
        check();
    }

    int64_t n_leaves() const { return n_leaves_; }

    // (n_leaves, n_classes)
    nb::object count(Matrix<uint8_t> codes, Vector<uint32_t> y, Vector<double> weight, int64_t n_classes, int n_threads) const {
        const int64_t rows = static_cast<int64_t>(codes.shape(1));
        check_codes(codes, level_at_);
        check_classes(y, rows, n_classes);
        need(static_cast<int64_t>(weight.shape(0)) == rows, "weights and the table differ in length.");
        Owned<double> out({static_cast<size_t>(n_leaves_), static_cast<size_t>(n_classes)});
        {
            nb::gil_scoped_release release;
            // Some trees at once, so that a block of rows is read for all of them.
            constexpr int64_t AT_ONCE = 6;
            parallel_chunks((trees_.n_trees() + AT_ONCE - 1) / AT_ONCE, n_threads, [&](int64_t part, int) {
                const int64_t last = std::min(trees_.n_trees(), (part + 1) * AT_ONCE);
                std::fill(out.data + leaf_at_[part * AT_ONCE] * n_classes, out.data + leaf_at_[last] * n_classes, 0.0);
                RowBlock block(codes.data(), static_cast<int64_t>(codes.shape(0)), rows);
                std::vector<int32_t> leaf(ROWS_AT_ONCE);
                for (int64_t b = 0; b < block.n_blocks(); ++b) {
                    block.read(b);
                    for (int64_t tree = part * AT_ONCE; tree < last; ++tree) {
                        find_leaves(tree, block, leaf.data());
                        for (int64_t r = 0; r < block.size(); ++r)
                            out.data[leaf[r] * n_classes + y.data()[block.first() + r]] += weight.data()[block.first() + r];
                    }
                }
            });
        }
        return out.to_numpy();
    }

    // (n_ends, n_m, n_rows, n_classes): the mean of P(c | leaf) without the row itself, over those of the first `ends[e]` trees
    // whose structure has not seen the row; a tree t has seen row `ids[r]` by `in_structure(seed, first_tree + t, …)`.
    nb::object leave_one_out(Matrix<double> cells, Vector<double> m, Vector<int64_t> ends, Matrix<uint8_t> codes, Vector<uint32_t> y,
                             Vector<double> row_weight, Vector<int64_t> ids, uint64_t seed, int64_t first_tree, double share, int n_threads) const {
        const int64_t n_classes = check_cells(cells), rows = static_cast<int64_t>(codes.shape(1)), n_m = static_cast<int64_t>(m.shape(0));
        check_codes(codes, level_at_);
        check_classes(y, rows, n_classes);
        need(static_cast<int64_t>(row_weight.shape(0)) == rows && static_cast<int64_t>(ids.shape(0)) == rows, "the parts differ in length.");
        const int64_t n_ends = static_cast<int64_t>(ends.shape(0)), size = n_m * rows * n_classes;
        for (int64_t e = 0; e < n_ends; ++e)
            need(ends.data()[e] >= (e ? ends.data()[e - 1] : 0) && ends.data()[e] <= trees_.n_trees(), "there are not so many trees.");
        Owned<double> out({static_cast<size_t>(n_ends), static_cast<size_t>(n_m), static_cast<size_t>(rows), static_cast<size_t>(n_classes)});
        {
            nb::gil_scoped_release release;
            const int64_t n = static_cast<int64_t>(codes.shape(0));
            std::vector<uint8_t> table(codes.size());  // row by row
            for (int64_t j = 0; j < n; ++j)
                for (int64_t r = 0; r < rows; ++r) table[r * n + j] = codes.data()[j * rows + r];
            std::vector<double> sums(size, 0.0);
            std::vector<int32_t> honest(rows, 0);
            int64_t done = 0;
            for (int64_t e = 0; e < n_ends; ++e) {
                while (done < ends.data()[e]) {
                    const int64_t here = std::min<int64_t>(TREES_LEFT_OUT, ends.data()[e] - done);
                    std::vector<std::vector<double>> counts(here);
                    parallel_chunks(here, n_threads, [&](int64_t t, int) {
                        counts[t] = node_counts(done + t, cells.data() + leaf_at_[done + t] * n_classes, n_classes);
                    });
                    parallel_chunks((rows + ROWS_LEFT_OUT - 1) / ROWS_LEFT_OUT, n_threads, [&](int64_t chunk, int) {
                        std::vector<double> p(n_m * n_classes);
                        for (int64_t t = 0; t < here; ++t)
                            for (int64_t r = chunk * ROWS_LEFT_OUT; r < std::min(rows, (chunk + 1) * ROWS_LEFT_OUT); ++r) {
                                if (in_structure(seed, first_tree + done + t, ids.data()[r], share)) continue;
                                ++honest[r];
                                leave_out_row(done + t, counts[t], n_classes, m, table.data() + r * n, y.data()[r], row_weight.data()[r], p.data());
                                for (int64_t g = 0; g < n_m; ++g)
                                    for (int64_t c = 0; c < n_classes; ++c) sums[(g * rows + r) * n_classes + c] += p[g * n_classes + c];
                            }
                    });
                    done += here;
                }
                double* to = out.data + e * size;
                for (int64_t v = 0; v < size; ++v) {
                    const int32_t trees = honest[v / n_classes % rows];
                    to[v] = trees ? sums[v] / trees : 1.0 / static_cast<double>(n_classes);
                }
            }
        }
        return out.to_numpy();
    }

    // (n_leaves, n_classes): P(c | leaf)
    nb::object leaf_tables(AnyMatrix table, double m, int n_threads) const {
        const Counts cells = counts_of(table);
        const int64_t n_classes = cells.n_classes;
        need(m > 0.0 && std::isfinite(m), "m must be above 0.");
        Owned<float> out({static_cast<size_t>(n_leaves_), static_cast<size_t>(n_classes)});
        {
            nb::gil_scoped_release release;
            parallel_chunks(trees_.n_trees(), n_threads, [&](int64_t tree, int) {
                const auto counts = node_counts(tree, cells.lines(leaf_at_[tree], leaf_at_[tree + 1]).data(), n_classes);
                const int64_t begin = trees_.tree_at[tree], size = trees_.tree_at[tree + 1] - begin;
                std::vector<double> p(size * n_classes);
                for (int64_t node = 0; node < size; ++node) {
                    const double* line = counts.data() + node * (n_classes + 1);
                    double* here = p.data() + node * n_classes;
                    if (node == 0)
                        for (int64_t c = 0; c < n_classes; ++c) here[c] = (line[c] + ROOT) / (line[n_classes] + ROOT * static_cast<double>(n_classes));
                    if (trees_.is_leaf(begin + node)) {
                        for (int64_t c = 0; c < n_classes; ++c) out.data[trees_.nodes[begin + node].next * n_classes + c] = static_cast<float>(here[c]);
                        continue;
                    }
                    for (int side = 0; side < 2; ++side) {
                        const int64_t below = trees_.nodes[begin + node].next + side;
                        const double* counts_below = counts.data() + below * (n_classes + 1);
                        for (int64_t c = 0; c < n_classes; ++c)
                            p[below * n_classes + c] = (counts_below[c] + m * here[c]) / (counts_below[n_classes] + m);
                    }
                }
            });
        }
        return out.to_numpy();
    }

    // (n_nodes,): rows of each node in all classes together, by which hidden cells are averaged
    nb::object node_weights(AnyMatrix table, int n_threads) const {
        const Counts cells = counts_of(table);
        const int64_t n_classes = cells.n_classes;
        Owned<double> out({trees_.nodes.size()});
        {
            nb::gil_scoped_release release;
            parallel_chunks(trees_.n_trees(), n_threads, [&](int64_t tree, int) {
                const auto counts = node_counts(tree, cells.lines(leaf_at_[tree], leaf_at_[tree + 1]).data(), n_classes);
                const int64_t begin = trees_.tree_at[tree], size = trees_.tree_at[tree + 1] - begin;
                for (int64_t node = 0; node < size; ++node) out.data[begin + node] = counts[node * (n_classes + 1) + n_classes];
            });
        }
        return out.to_numpy();
    }

    // (n_rows, n_classes): the mean of P(c | leaf) over the trees; where a test needs a hidden cell, both ways by `node_weight`,
    // which may be empty where no cell is hidden
    nb::object score(Matrix<float> tables, Vector<double> node_weight, Matrix<uint8_t> codes, int n_threads) const {
        need(static_cast<int64_t>(tables.shape(0)) == n_leaves_ && tables.shape(1) > 0, "the tables do not fit the trees.");
        const bool no_weights = node_weight.shape(0) == 0;
        need(no_weights || node_weight.shape(0) == trees_.nodes.size(), "the weights do not fit the trees.");
        const int64_t n_classes = static_cast<int64_t>(tables.shape(1)), rows = static_cast<int64_t>(codes.shape(1)), n = static_cast<int64_t>(codes.shape(0));
        check_codes(codes, level_at_);
        need(!no_weights || std::find(codes.data(), codes.data() + codes.size(), HIDDEN) == codes.data() + codes.size(),
             "hidden cells need the weights of the nodes.");
        Owned<double> out({static_cast<size_t>(rows), static_cast<size_t>(n_classes)}, true);
        const double share = 1.0 / static_cast<double>(std::max<int64_t>(1, trees_.n_trees()));
        {
            nb::gil_scoped_release release;
            parallel_chunks(RowBlock(codes.data(), n, rows).n_blocks(), n_threads, [&](int64_t b, int) {
                RowBlock block(codes.data(), n, rows);
                block.read(b);
                std::vector<int32_t> leaf(block.size()), hidden;
                for (int64_t r = 0; r < block.size(); ++r)
                    if (std::find(block.row(r), block.row(r) + n, HIDDEN) != block.row(r) + n) hidden.push_back(static_cast<int32_t>(r));
                double* to = out.data + block.first() * n_classes;
                for (int64_t tree = 0; tree < trees_.n_trees(); ++tree) {
                    find_leaves(tree, block, leaf.data());
                    for (int32_t r : hidden) {
                        leaf[r] = -1;
                        average(tree, trees_.tree_at[tree], share, block.row(r), tables.data(), node_weight.data(), n_classes, to + r * n_classes);
                    }
                    add_leaves(tables.data(), leaf.data(), block.size(), n_classes, share, to);
                }
            });
        }
        return out.to_numpy();
    }

private:
    std::vector<int64_t> level_at_;
    Trees trees_;
    int64_t n_leaves_ = 0;
    std::vector<int64_t> leaf_at_;  // (n_trees + 1,): leaves before those of the tree

    void check() {
        need(!trees_.tree_at.empty() && trees_.tree_at[0] == 0 && trees_.tree_at.back() == static_cast<int64_t>(trees_.nodes.size()),
             "the parts of the trees do not fit together.");
        for (int64_t tree = 0; tree < trees_.n_trees(); ++tree) {
            const int64_t begin = trees_.tree_at[tree], size = trees_.tree_at[tree + 1] - begin;
            leaf_at_.push_back(n_leaves_);
            need(size >= 1, "a tree has no node.");
            int64_t made = 1;
            for (int64_t node = 0; node < size; ++node) {
                if (trees_.is_leaf(begin + node)) {
                    need(trees_.nodes[begin + node].next == n_leaves_++, "leaves are out of order.");
                    continue;
                }
                // Each pair of children is the next one in the list, so there are no circles and no node is shared.
                const int64_t feature = trees_.nodes[begin + node].feature;
                need(feature < static_cast<int64_t>(level_at_.size()) - 1 && trees_.nodes[begin + node].test <= HALF, "a test is out of range.");
                need(trees_.nodes[begin + node].next == made && made > node && made + 2 <= size, "a node is out of range.");
                made += 2;
            }
            need(made == size, "a tree has nodes without a parent.");
        }
        leaf_at_.push_back(n_leaves_);
    }

    Counts counts_of(const AnyMatrix& table) const {
        const Counts cells(table);
        need(cells.n_lines == n_leaves_ && cells.n_classes > 0, "the counts do not fit the trees.");
        return cells;
    }

    int64_t check_cells(const Matrix<double>& cells) const {
        need(static_cast<int64_t>(cells.shape(0)) == n_leaves_ && cells.shape(1) > 0, "the counts do not fit the trees.");
        return static_cast<int64_t>(cells.shape(1));
    }

    // The leaf of each row of a block; a hidden level goes somewhere.
    void find_leaves(int64_t tree, const RowBlock& block, int32_t* leaf) const {
        const TreeNode* nodes = trees_.nodes.data() + trees_.tree_at[tree];
        if (trees_.halves) walk_rows<true>(nodes, block, leaf);
        else walk_rows<false>(nodes, block, leaf);
    }

    // Several rows side by side: while one waits for its node to come from memory, the others step. A row that has reached its
    // leaf makes room for the next.
    template <bool halves>
    static void walk_rows(const TreeNode* nodes, const RowBlock& block, int32_t* leaf) {
        int64_t number[PACK], next = 0;
        const uint8_t* row[PACK];
        const TreeNode* at[PACK];
        int lanes = 0;
        auto take = [&](int lane) {
            number[lane] = next;
            row[lane] = block.row(next++);
            at[lane] = nodes;
        };
        while (lanes < PACK && next < block.size()) take(lanes++);
        while (lanes) {
            for (int v = 0; v < lanes; ++v) {
                const TreeNode here = *at[v];
                if (here.feature < 0) {
                    leaf[number[v]] = here.next;
                    if (next < block.size()) {
                        take(v);
                    } else {
                        --lanes;
                        number[v] = number[lanes];
                        row[v] = row[lanes];
                        at[v] = at[lanes];
                    }
                    continue;
                }
                const uint8_t level = row[v][here.feature];
                uint32_t goes = static_cast<uint8_t>(level - here.base) < here.width;
                if constexpr (halves) {
                    // Both are computed, for a branch here is a coin to guess.
                    const uint32_t half = static_cast<uint32_t>(mix64((static_cast<uint64_t>(here.value) << 8) | level)) & 1u;
                    const uint32_t mask = 0u - static_cast<uint32_t>(here.test == HALF);
                    goes = (goes & ~mask) | (half & mask);
                }
                at[v] = nodes + here.next + (1u - goes);
            }
        }
    }

    // to[r] += share × the leaf's line; a row whose leaf is -1 is left out
    BAYESKIT_SIMD
    static void add_leaves(const float* tables, const int32_t* leaf, int64_t rows, int64_t n_classes, double share, double* to) {
        for (int64_t r = 0; r < rows; ++r, to += n_classes) {
            if (leaf[r] < 0) continue;
            const float* line = tables + static_cast<int64_t>(leaf[r]) * n_classes;
            for (int64_t c = 0; c < n_classes; ++c) to[c] += share * static_cast<double>(line[c]);
        }
    }

    // (nodes of the tree, n_classes + 1): the counts of each node, and their sum; `cells` are those of the tree's leaves
    std::vector<double> node_counts(int64_t tree, const double* cells, int64_t n_classes) const {
        const int64_t begin = trees_.tree_at[tree], size = trees_.tree_at[tree + 1] - begin, width = n_classes + 1;
        std::vector<double> counts(size * width, 0.0);
        for (int64_t node = size - 1; node >= 0; --node) {
            double* to = counts.data() + node * width;
            if (trees_.is_leaf(begin + node)) {
                const double* from = cells + (trees_.nodes[begin + node].next - leaf_at_[tree]) * n_classes;
                for (int64_t c = 0; c < n_classes; ++c) to[n_classes] += to[c] = from[c];
            } else {
                const double* from = counts.data() + trees_.nodes[begin + node].next * width;
                for (int64_t c = 0; c < width; ++c) to[c] = from[c] + from[width + c];
            }
        }
        return counts;
    }

    void leave_out_row(int64_t tree, const std::vector<double>& counts, int64_t n_classes, const Vector<double>& m, const uint8_t* row,
                       int64_t true_class, double row_weight, double* p) const {
        const int64_t begin = trees_.tree_at[tree], width = n_classes + 1, n_m = static_cast<int64_t>(m.shape(0));
        for (int64_t c = 0; c < n_classes; ++c) {
            const double n = std::max(counts[c] - (c == true_class ? row_weight : 0.0), 0.0);
            const double at_root = (n + ROOT) / (std::max(counts[n_classes] - row_weight, 0.0) + ROOT * static_cast<double>(n_classes));
            for (int64_t g = 0; g < n_m; ++g) p[g * n_classes + c] = at_root;
        }
        int64_t node = begin;
        while (!trees_.is_leaf(node)) {
            node = trees_.step(tree, node, row);
            const double* line = counts.data() + (node - begin) * width;
            if (line[n_classes] - row_weight <= 1e-9 * line[n_classes]) break;  // nobody else is here
            step_left_out(line, n_classes, m.data(), n_m, true_class, row_weight, p);
        }
    }

    BAYESKIT_SIMD
    static void step_left_out(const double* line, int64_t n_classes, const double* m, int64_t n_m, int64_t true_class, double row_weight, double* p) {
        for (int64_t g = 0; g < n_m; ++g) {
            const double strength = m[g], scale = 1.0 / (line[n_classes] - row_weight + strength);
            double* to = p + g * n_classes;
            const double before = to[true_class];
            for (int64_t c = 0; c < n_classes; ++c) to[c] = (line[c] + strength * to[c]) * scale;
            to[true_class] = (std::max(line[true_class] - row_weight, 0.0) + strength * before) * scale;
        }
    }

    void average(int64_t tree, int64_t node, double share, const uint8_t* row, const float* tables, const double* weight, int64_t n_classes,
                 double* to) const {
        while (!trees_.is_leaf(node) && row[trees_.nodes[node].feature] != HIDDEN)
            node = trees_.step(tree, node, row);
        if (trees_.is_leaf(node)) {
            const float* line = tables + static_cast<int64_t>(trees_.nodes[node].next) * n_classes;
            for (int64_t c = 0; c < n_classes; ++c) to[c] += share * static_cast<double>(line[c]);
            return;
        }
        const int64_t first = trees_.tree_at[tree] + trees_.nodes[node].next;
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
        .def("leave_one_out", &ContextTrees::leave_one_out, "cells"_a, "m"_a, "ends"_a, "codes"_a, "y"_a, "own"_a, "ids"_a, "seed"_a, "first_tree"_a,
             "share"_a, "n_threads"_a)
        .def("leaf_tables", &ContextTrees::leaf_tables, "cells"_a, "m"_a, "n_threads"_a)
        .def("node_weights", &ContextTrees::node_weights, "cells"_a, "n_threads"_a)
        .def("score", &ContextTrees::score, "tables"_a, "node_weight"_a, "codes"_a, "n_threads"_a);
}

}  // namespace bayeskit::automatic
