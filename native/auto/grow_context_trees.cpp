// The structure of context trees: each from its part of the rows, each node by the best of a few random tests.
#include <queue>

#include <nanobind/stl/vector.h>

#include "auto/kernels.hpp"
#include "auto/trees.hpp"

namespace bayeskit::automatic {
namespace {

constexpr int32_t FEWEST_ROWS = 4;  // a node with fewer rows is a leaf
constexpr int32_t DEEPEST = 40;

struct Node {
    int32_t feature = -1, next = 0;
    uint8_t test = 0;
    uint32_t value = 0;
};

struct Job {
    int32_t node, begin, end, depth;
};

class Grower {
public:
    Grower(const uint8_t* codes, int64_t n_features, int64_t n_rows, const uint32_t* y, const double* weight, int64_t n_classes,
           const uint8_t* ordered, const int64_t* sizes, int64_t n_tests, int64_t most_leaves)
        : codes_(codes), n_features_(n_features), n_rows_(n_rows), y_(y), weight_(weight), n_classes_(n_classes), ordered_(ordered),
          sizes_(sizes), n_tests_(n_tests), most_leaves_(most_leaves) {}

    std::vector<Node> grow(uint64_t seed, int64_t tree, double share, int64_t n_all) {
        gather(seed, tree, share, n_all);
        Random random(seed, static_cast<uint64_t>(tree));
        std::vector<Node> nodes(1);
        std::queue<Job> queue;
        const int32_t rows = static_cast<int32_t>(own_.size());
        order_.resize(rows);
        for (int32_t r = 0; r < rows; ++r) order_[r] = r;
        queue.push({0, 0, rows, 0});
        int64_t leaves = 1;
        while (!queue.empty() && leaves < most_leaves_) {
            const Job job = queue.front();
            queue.pop();
            if (job.end - job.begin < FEWEST_ROWS || job.depth >= DEEPEST || !open_node(job)) continue;
            const Node found = best_test(job, random);
            if (found.feature < 0) continue;
            const int32_t middle = split(job, found);
            const int32_t first = static_cast<int32_t>(nodes.size());
            nodes[job.node] = found;
            nodes[job.node].next = first;
            nodes.resize(nodes.size() + 2);
            queue.push({first, job.begin, middle, job.depth + 1});
            queue.push({first + 1, middle, job.end, job.depth + 1});
            ++leaves;
        }
        return nodes;
    }

private:
    const uint8_t* codes_;
    int64_t n_features_, n_rows_;
    const uint32_t* y_;
    const double* weight_;
    int64_t n_classes_;
    const uint8_t* ordered_;
    const int64_t* sizes_;
    int64_t n_tests_, most_leaves_;
    std::vector<int64_t> own_;       // the rows of this tree
    std::vector<uint8_t> sub_;       // (n_features, rows of this tree)
    std::vector<uint32_t> y_own_;
    std::vector<double> w_own_;
    std::vector<int32_t> order_, spare_;
    // Of the open node: codes of one column, class and weight of each row; classes numbered anew, since few may be left.
    std::vector<uint8_t> cell_;
    std::vector<uint32_t> class_;
    std::vector<double> heavy_, first_, whole_;
    std::vector<int32_t> number_;
    std::vector<uint32_t> present_;

    void gather(uint64_t seed, int64_t tree, double share, int64_t n_all) {
        own_.clear();
        for (int64_t r = 0; r < n_all; ++r)
            if (in_structure(seed, tree, r, share)) own_.push_back(r);
        const size_t rows = own_.size();
        sub_.resize(n_features_ * rows);
        for (int64_t j = 0; j < n_features_; ++j)
            for (size_t r = 0; r < rows; ++r) sub_[j * rows + r] = codes_[j * n_rows_ + own_[r]];
        y_own_.resize(rows);
        w_own_.resize(rows);
        for (size_t r = 0; r < rows; ++r) {
            y_own_[r] = y_[own_[r]];
            w_own_[r] = weight_[own_[r]];
        }
        number_.assign(n_classes_, -1);
        cell_.resize(rows);
        class_.resize(rows);
        heavy_.resize(rows);
        spare_.resize(rows);
    }

    // Reads the classes of a node; false where it has only one.
    bool open_node(const Job& job) {
        present_.clear();
        for (int32_t r = job.begin; r < job.end; ++r) {
            const uint32_t c = y_own_[order_[r]];
            if (number_[c] < 0) {
                number_[c] = static_cast<int32_t>(present_.size());
                present_.push_back(c);
            }
            class_[r - job.begin] = static_cast<uint32_t>(number_[c]);
            heavy_[r - job.begin] = w_own_[order_[r]];
        }
        for (uint32_t c : present_) number_[c] = -1;
        if (present_.size() < 2) return false;
        whole_.assign(present_.size(), 0.0);
        for (int32_t r = 0; r < job.end - job.begin; ++r) whole_[class_[r]] += heavy_[r];
        return true;
    }

    Node best_test(const Job& job, Random& random) {
        Node best;
        double top = -1.0;
        const int32_t rows = job.end - job.begin;
        int64_t tried = 0;
        for (int64_t attempt = 0; tried < n_tests_ && attempt < 4 * n_tests_ + 8; ++attempt) {
            Node test;
            test.feature = static_cast<int32_t>(random.below(static_cast<uint32_t>(n_features_)));
            const uint8_t* column = sub_.data() + test.feature * static_cast<int64_t>(own_.size());
            uint8_t low = HIDDEN, high = 0;
            for (int32_t r = 0; r < rows; ++r) {
                const uint8_t level = column[order_[job.begin + r]];
                cell_[r] = level;
                low = std::min(low, level);
                high = std::max(high, level);
            }
            if (low == high) continue;
            if (ordered_[test.feature]) {
                test.test = BELOW;
                test.value = low + 1u + random.below(static_cast<uint32_t>(high - low));
            } else if (sizes_[test.feature] <= 5 || random.uniform() < 0.5) {
                test.test = EQUAL;
                test.value = cell_[random.below(static_cast<uint32_t>(rows))];
            } else {
                test.test = HALF;
                test.value = static_cast<uint32_t>(random.bits() >> 40);
            }
            const double score = purity(test, rows);
            if (score < 0.0) continue;
            ++tried;
            if (score > top) {
                top = score;
                best = test;
            }
        }
        return best;
    }

    // Σ over both children of Σ_c n_c² / n: the greater, the purer; negative where a child would be empty.
    double purity(const Node& test, int32_t rows) {
        const size_t k = whole_.size();
        first_.assign(k, 0.0);
        int32_t n = 0;
        if (test.test == BELOW && k == 2) {  // the common case, without a branch in the loop
            double one = 0.0, other = 0.0;
            for (int32_t r = 0; r < rows; ++r) {
                const bool goes = cell_[r] < test.value;
                const double w = goes ? heavy_[r] : 0.0;
                n += goes;
                one += w;
                other += class_[r] ? w : 0.0;
            }
            first_[0] = one - other;
            first_[1] = other;
        } else {
            for (int32_t r = 0; r < rows; ++r)
                if (goes_first(cell_[r], test.test, test.value)) {
                    first_[class_[r]] += heavy_[r];
                    ++n;
                }
        }
        if (n == 0 || n == rows) return -1.0;
        double left = 0.0, right = 0.0, left2 = 0.0, right2 = 0.0;
        for (size_t c = 0; c < k; ++c) {
            const double other = whole_[c] - first_[c];
            left += first_[c];
            right += other;
            left2 += first_[c] * first_[c];
            right2 += other * other;
        }
        return left2 / left + right2 / right;
    }

    int32_t split(const Job& job, const Node& test) {
        const uint8_t* column = sub_.data() + test.feature * static_cast<int64_t>(own_.size());
        int32_t middle = job.begin, aside = 0;
        for (int32_t r = job.begin; r < job.end; ++r) {
            const int32_t row = order_[r];
            if (goes_first(column[row], test.test, test.value)) order_[middle++] = row;
            else spare_[aside++] = row;
        }
        std::copy(spare_.begin(), spare_.begin() + aside, order_.begin() + middle);
        return middle;
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
    {
        nb::gil_scoped_release release;
        parallel_chunks(n_trees, n_threads, [&](int64_t tree, int) {
            Grower grower(codes.data(), n, rows, y.data(), weight.data(), n_classes, ordered.data(), sizes.data(), n_tests, most_leaves);
            trees[tree] = grower.grow(seed, first_tree + tree, share, rows);
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
