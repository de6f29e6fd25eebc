// The structure of context trees: each from its part of the rows, each node by the best of a few random tests.
#include <queue>

#include <nanobind/stl/vector.h>

#include "auto/few_rows.hpp"
#include "auto/kernels.hpp"
#include "auto/many_rows.hpp"

namespace bayeskit::automatic {
namespace {

constexpr int32_t FEWEST_ROWS = 2;  // a node with fewer rows is a leaf
constexpr int32_t DEEPEST = 40;

class Grower {
public:
    Grower(const Sight& table, int64_t n_tests, int64_t most_leaves)
        : table_(table), n_tests_(n_tests), most_leaves_(most_leaves), many_(table.n_features, tree_), few_(table.n_features, tree_) {}

    std::vector<Node> grow(uint64_t seed, int64_t tree, double share) {
        tree_.gather(table_, seed, tree, share);
        many_.start();
        few_.start();
        Random random(seed, static_cast<uint64_t>(tree));
        std::vector<Node> nodes(1);
        std::queue<Job> queue;
        queue.push({0, 0, tree_.rows, 0});
        int64_t leaves = 1;
        while (!queue.empty() && leaves < most_leaves_) {
            Job job = queue.front();
            queue.pop();
            const int32_t rows = job.block < 0 ? job.end - job.begin : popcount(job.few);
            if (rows < FEWEST_ROWS || job.depth >= DEEPEST) continue;
            if (job.block < 0 && rows <= FEW) few_.take(job);
            const int32_t next = static_cast<int32_t>(nodes.size());
            Job first{next, 0, 0, job.depth + 1}, second{next + 1, 0, 0, job.depth + 1};
            const Node test_node = job.block < 0 ? part(many_, job, random, first, second) : part(few_, job, random, first, second);
            if (test_node.feature < 0) continue;
            nodes[job.node] = test_node;
            nodes[job.node].next = next;
            nodes.resize(nodes.size() + 2);
            queue.push(first);
            queue.push(second);
            ++leaves;
        }
        return nodes;
    }

private:
    Sight table_;
    int64_t n_tests_, most_leaves_;
    TreeRows tree_;
    ManyRows many_;
    FewRows few_;

    // Parts the rows of a node by the best of some tests; the feature is -1 where there is none.
    template <typename Rows>
    Node part(Rows& rows, const Job& job, Random& random, Job& first, Job& second) {
        if (!rows.open(job)) return {};
        const Node test_node = best_test(rows, random);
        if (test_node.feature >= 0) rows.split(test_node, first, second);
        return test_node;
    }

    template <typename Rows>
    Node best_test(Rows& rows, Random& random) {
        Node best;
        double top = -1.0;
        int64_t tried = 0;
        for (int64_t attempt = 0; tried < n_tests_ && attempt < 4 * n_tests_ + 8; ++attempt) {
            Node test;
            test.feature = static_cast<int32_t>(random.below(static_cast<uint32_t>(table_.n_features)));
            if (!rows.read(test.feature)) continue;
            if (table_.ordered[test.feature]) {
                const uint8_t low = rows.low(test.feature);
                test.test = BELOW;
                test.value = low + 1u + random.below(static_cast<uint32_t>(rows.high(test.feature) - low));
            } else if (table_.sizes[test.feature] <= 5 || random.uniform() < 0.5) {
                test.test = EQUAL;
                test.value = rows.level(test.feature, random.below(static_cast<uint32_t>(rows.size())));
            } else {
                test.test = HALF;
                test.value = static_cast<uint32_t>(random.bits() >> 40);
            }
            const double score = rows.purity(test);
            if (score < 0.0) continue;
            ++tried;
            if (score > top) {
                top = score;
                best = test;
                if (top >= rows.weight()) break;  // both children have one class each: no test does better
            }
        }
        return best;
    }
};

nb::tuple grow_context_trees(Matrix<uint8_t> codes, Vector<uint32_t> y, Vector<double> weight, int64_t n_classes, Vector<int64_t> level_at_,
                             Vector<uint8_t> ordered, uint64_t seed, int64_t first_tree, int64_t n_trees, double share, int64_t n_tests,
                             int64_t most_leaves, int n_threads) {
    const int64_t n = static_cast<int64_t>(codes.shape(0)), rows = static_cast<int64_t>(codes.shape(1));
    const auto level_at = copy_of(level_at_);
    check_level_at(level_at);
    check_codes(codes, level_at);
    check_classes(y, rows, n_classes);
    need(static_cast<int64_t>(weight.shape(0)) == rows && static_cast<int64_t>(ordered.shape(0)) == n && n > 0, "the parts differ in length.");
    need(rows < (int64_t{1} << 31) && n_tests > 0 && most_leaves > 0 && n_trees >= 0, "a number is out of range.");
    std::vector<int64_t> sizes(n);
    for (int64_t j = 0; j < n; ++j) sizes[j] = level_at[j + 1] - level_at[j];
    std::vector<std::vector<Node>> trees(n_trees);
    const Sight table{codes.data(), n, rows, y.data(), weight.data(), n_classes, ordered.data(), sizes.data()};
    {
        nb::gil_scoped_release release;
        parallel_chunks(n_trees, n_threads, [&](int64_t tree, int) {
            trees[tree] = Grower(table, n_tests, most_leaves).grow(seed, first_tree + tree, share);
        });
    }
    Owned<int64_t> tree_at({static_cast<size_t>(n_trees + 1)});
    tree_at.data[0] = 0;
    for (int64_t t = 0; t < n_trees; ++t) tree_at.data[t + 1] = tree_at.data[t] + static_cast<int64_t>(trees[t].size());
    const size_t total = static_cast<size_t>(tree_at.data[n_trees]);
    Owned<int32_t> feature({total}), next({total});
    Owned<uint8_t> test({total});
    Owned<uint32_t> value({total});
    int64_t at = 0;
    int32_t leaf = 0;
    for (const auto& tree : trees)
        for (const Node& node : tree) {
            feature.data[at] = node.feature;
            test.data[at] = node.test;
            value.data[at] = node.value;
            next.data[at++] = node.feature < 0 ? leaf++ : node.next;
        }
    return nb::make_tuple(tree_at.to_numpy(), feature.to_numpy(), test.to_numpy(), value.to_numpy(), next.to_numpy());
}

}  // namespace

void bind_grow_context_trees(nb::module_& m) {
    using namespace nb::literals;
    m.def("grow_context_trees", &grow_context_trees, "codes"_a, "y"_a, "weight"_a, "n_classes"_a, "level_at"_a, "ordered"_a, "seed"_a,
          "first_tree"_a, "n_trees"_a, "share"_a, "n_tests"_a, "most_leaves"_a, "n_threads"_a);
}

}  // namespace bayeskit::automatic
