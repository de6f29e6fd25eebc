// The structure of context trees: each from its part of the rows, each node by the best of a few random tests.
#include <numeric>
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

// How many of n levels lie in base .. base + width - 1.
BAYESKIT_SIMD
static int32_t count_between(const uint8_t* levels, int32_t n, uint8_t base, uint8_t width) {
    constexpr int32_t LANES = 32, TURNS = 255;  // a lane of one byte counts so many rows
    int32_t total = 0, r = 0;
    while (r + LANES <= n) {
        uint8_t lane[LANES] = {};
        for (int32_t turn = 0; turn < TURNS && r + LANES <= n; ++turn, r += LANES)
            for (int32_t v = 0; v < LANES; ++v) lane[v] += static_cast<uint8_t>(levels[r + v] - base) < width;
        for (int32_t v = 0; v < LANES; ++v) total += lane[v];
    }
    for (; r < n; ++r) total += static_cast<uint8_t>(levels[r] - base) < width;
    return total;
}

// Their weight; the order of the sum does not depend on the machine.
BAYESKIT_SIMD
static double weigh_between(const uint8_t* levels, const double* weight, int32_t n, uint8_t base, uint8_t width) {
    double lane[QUAD] = {};
    int32_t r = 0;
    for (; r + QUAD <= n; r += QUAD)
        for (int v = 0; v < QUAD; ++v) lane[v] += static_cast<uint8_t>(levels[r + v] - base) < width ? weight[r + v] : 0.0;
    for (; r < n; ++r) lane[0] += static_cast<uint8_t>(levels[r] - base) < width ? weight[r] : 0.0;
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

// The table that all trees are grown on.
struct Sight {
    const uint8_t* codes;
    int64_t n_features, n_rows;
    const uint32_t* y;
    const double* weight;
    int64_t n_classes;
    const uint8_t* ordered;
    const int64_t* sizes;
};

// Rows of a tree are numbered class by class, those that weigh 1 behind the others, and rows of a node stand in the order of
// their numbers: so the rows of one class follow each other in every node, and are counted without asking each row.
class Grower {
public:
    Grower(const Sight& table, int64_t n_tests, int64_t most_leaves)
        : table_(table), n_tests_(n_tests), most_leaves_(most_leaves), read_by_(table.n_features), low_(table.n_features), high_(table.n_features) {}

    std::vector<Node> grow(uint64_t seed, int64_t tree, double share) {
        gather(seed, tree, share);
        Random random(seed, static_cast<uint64_t>(tree));
        std::vector<Node> nodes(1);
        std::queue<Job> queue;
        order_.resize(rows_);
        std::iota(order_.begin(), order_.end(), 0);
        std::fill(read_by_.begin(), read_by_.end(), -1);
        queue.push({0, 0, rows_, 0});
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
    struct Segment {
        int32_t begin, end;  // from the first row of the node on
        int32_t part;        // 2 × class, and 1 more where every row weighs 1
        double weight;
    };

    Sight table_;
    int64_t n_tests_, most_leaves_;
    int32_t rows_ = 0;               // of this tree
    std::vector<int64_t> own_;       // the rows of this tree, part by part
    std::vector<int32_t> part_end_;  // (2 × n_classes,)
    std::vector<uint8_t> sub_;       // (n_features, rows of this tree)
    std::vector<int32_t> part_of_;   // (rows of this tree,)
    std::vector<double> w_own_;
    std::vector<int32_t> order_, spare_;
    // Of the open node: its classes, the weights of its rows, and the columns that were read, each once.
    std::vector<Segment> segments_;
    std::vector<double> heavy_;
    std::vector<uint8_t> cells_, half_;
    std::vector<int32_t> read_by_;  // (n_features,): the last node that has read the column
    std::vector<uint8_t> low_, high_;

    void gather(uint64_t seed, int64_t tree, double share) {
        std::vector<int64_t> drawn;
        part_end_.assign(2 * table_.n_classes, 0);
        for (int64_t r = 0; r < table_.n_rows; ++r)
            if (in_structure(seed, tree, r, share)) {
                drawn.push_back(r);
                ++part_end_[part(r)];
            }
        rows_ = static_cast<int32_t>(drawn.size());
        int32_t before = 0;
        for (int32_t& end : part_end_) {
            const int32_t n = end;
            end = before;
            before += n;
        }
        own_.resize(rows_);
        for (int64_t r : drawn) own_[part_end_[part(r)]++] = r;
        const size_t rows = own_.size();
        sub_.resize(table_.n_features * rows);
        cells_.resize(sub_.size());
        for (int64_t j = 0; j < table_.n_features; ++j)
            for (size_t r = 0; r < rows; ++r) sub_[j * rows + r] = table_.codes[j * table_.n_rows + own_[r]];
        part_of_.resize(rows);
        w_own_.resize(rows);
        for (size_t r = 0; r < rows; ++r) {
            part_of_[r] = part(own_[r]);
            w_own_[r] = table_.weight[own_[r]];
        }
        heavy_.resize(rows);
        half_.resize(rows);
        spare_.resize(rows);
    }

    int32_t part(int64_t row) const { return static_cast<int32_t>(2 * table_.y[row]) + (table_.weight[row] == 1.0); }

    // Finds the classes of a node; false where it has only one.
    bool open_node(const Job& job) {
        segments_.clear();
        const int32_t *begin = order_.data() + job.begin, *end = order_.data() + job.end;
        for (const int32_t* at = begin; at < end;) {
            const int32_t here = part_of_[*at];
            const int32_t* next = std::lower_bound(at, end, part_end_[here]);
            const int32_t from = static_cast<int32_t>(at - begin), to = static_cast<int32_t>(next - begin);
            double weight = to - from;
            if (here % 2 == 0) {
                weight = 0.0;
                for (int32_t r = from; r < to; ++r) weight += heavy_[r] = w_own_[begin[r]];
            }
            segments_.push_back({from, to, here, weight});
            at = next;
        }
        return segments_.front().part / 2 != segments_.back().part / 2;
    }

    // The levels of a column in the rows of the node.
    const uint8_t* read(const Job& job, int32_t feature) {
        uint8_t* cells = cells_.data() + feature * static_cast<int64_t>(rows_);
        if (read_by_[feature] == job.node) return cells;
        read_by_[feature] = job.node;
        const uint8_t* column = sub_.data() + feature * static_cast<int64_t>(rows_);
        const int32_t* order = order_.data() + job.begin;
        const int32_t n = job.end - job.begin;
        for (int32_t r = 0; r < n; ++r) cells[r] = column[order[r]];
        uint8_t low = HIDDEN, high = 0;
        for (int32_t r = 0; r < n; ++r) {
            low = std::min(low, cells[r]);
            high = std::max(high, cells[r]);
        }
        low_[feature] = low;
        high_[feature] = high;
        return cells;
    }

    Node best_test(const Job& job, Random& random) {
        Node best;
        double top = -1.0;
        const int32_t rows = job.end - job.begin;
        int64_t tried = 0;
        for (int64_t attempt = 0; tried < n_tests_ && attempt < 4 * n_tests_ + 8; ++attempt) {
            Node test;
            test.feature = static_cast<int32_t>(random.below(static_cast<uint32_t>(table_.n_features)));
            const uint8_t* cells = read(job, test.feature);
            const uint8_t low = low_[test.feature], high = high_[test.feature];
            if (low == high) continue;
            if (table_.ordered[test.feature]) {
                test.test = BELOW;
                test.value = low + 1u + random.below(static_cast<uint32_t>(high - low));
            } else if (table_.sizes[test.feature] <= 5 || random.uniform() < 0.5) {
                test.test = EQUAL;
                test.value = cells[random.below(static_cast<uint32_t>(rows))];
            } else {
                test.test = HALF;
                test.value = static_cast<uint32_t>(random.bits() >> 40);
            }
            const double score = purity(test, cells, rows);
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
    double purity(const Node& test, const uint8_t* cells, int32_t rows) {
        uint8_t base = 0, width = static_cast<uint8_t>(test.value);
        if (test.test == EQUAL) {
            base = width;
            width = 1;
        } else if (test.test == HALF) {
            for (int32_t r = 0; r < rows; ++r) half_[r] = goes_first(cells[r], HALF, test.value) ? 0 : 1;
            cells = half_.data();
            width = 1;
        }
        double left = 0.0, right = 0.0, left2 = 0.0, right2 = 0.0;
        double in = 0.0, all = 0.0;
        for (size_t s = 0; s < segments_.size(); ++s) {
            const Segment& each = segments_[s];
            const int32_t n = each.end - each.begin;
            const uint8_t* own = cells + each.begin;
            if (each.part % 2 == 0) {
                in += weigh_between(own, heavy_.data() + each.begin, n, base, width);
            } else if (n >= 32) {
                in += count_between(own, n, base, width);
            } else {
                int32_t few = 0;
                for (int32_t r = 0; r < n; ++r) few += static_cast<uint8_t>(own[r] - base) < width;
                in += few;
            }
            all += each.weight;
            if (s + 1 < segments_.size() && segments_[s + 1].part / 2 == each.part / 2) continue;
            const double out = all - in;
            left += in;
            right += out;
            left2 += in * in;
            right2 += out * out;
            in = all = 0.0;
        }
        return left > 0.0 && right > 0.0 ? left2 / left + right2 / right : -1.0;
    }

    int32_t split(const Job& job, const Node& test) {
        const uint8_t* cells = read(job, test.feature);
        int32_t middle = job.begin, aside = 0;
        for (int32_t r = job.begin; r < job.end; ++r) {
            const int32_t row = order_[r];
            const bool first = goes_first(cells[r - job.begin], test.test, test.value);
            // Both are written, and one is kept: no branch to guess.
            order_[middle] = row;
            spare_[aside] = row;
            middle += first;
            aside += !first;
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
