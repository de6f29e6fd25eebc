// A decision tree grown until every leaf is pure or nothing parts its rows: each node takes the test whose children,
// written as leaves, need the fewest bits (Quinlan & Rivest 1989). What is too much is cut afterwards, in Python.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/column.hpp"
#include "base/interrupt.hpp"
#include "concept/leaf_code.hpp"
#include "kernels.hpp"

namespace bayeskit::concept_learning {
namespace {

namespace nb = nanobind;
using Codes = nb::ndarray<const uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sizes = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Classes = nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Two tests whose lengths differ by less than this many bits are a tie; the first column and the lowest cut win.
constexpr double TIE = 1e-9;
// Ranks are counted in a table where that is at most so many times larger than the rows; otherwise rows are sorted.
constexpr int64_t WIDEST_TABLE = 4;

enum Test : int8_t { LEAF = 0, EVERY_VALUE = 1, ONE_VALUE = 2, CUT = 3, GROUP = 4 };
// How a column of values is parted: into all values that occur, into one value and the others, or into two groups.
enum Splits { VALUES = 0, ONE = 1, GROUPS = 2 };
// A group is a number with one bit per value; wider columns are parted into one value and the others.
constexpr int64_t WIDEST_GROUP = 62;

struct Node {
    int64_t begin, end;  // rows, as places in the order
    int64_t parent;
    int64_t branch;      // the value that leads here from a test of every value, the values of a group, else 0 or 1
    int64_t feature = -1, value = -1, first_child = -1, n_children = 0, n_usable = 0, n_choices = 1;
    int8_t test = LEAF, missing_first = -1;
};

struct Choice {
    double bits = 0.0;
    int64_t feature = -1, value = -1, n_choices = 1;
    int8_t test = LEAF, missing_first = -1;
};

class Grower {
public:
    Grower(const uint32_t* codes, const int64_t* sizes, const int64_t* ordered, int64_t n_features, int64_t n_rows,
           const uint32_t* y, const double* weight, int64_t n_classes, Splits splits, const LeafCode& leaf)
        : codes_(codes), sizes_(sizes), ordered_(ordered), d_(n_features), n_(n_rows), y_(y), weight_(weight),
          k_(n_classes), splits_(splits), leaf_(leaf), order_(n_rows), left_(n_classes), right_(n_classes),
          known_(n_classes), lost_(n_classes) {
        for (int64_t i = 0; i < n_; ++i) order_[i] = i;
    }

    std::vector<Node> nodes;
    std::vector<double> counts;  // (n_nodes, n_classes)

    void grow() {
        Interrupts interrupts;
        add(0, n_, -1, 0);
        std::vector<int64_t> open = {0};
        while (!open.empty()) {
            interrupts.check();
            const int64_t at = open.back();
            open.pop_back();
            int present = 0;
            for (int64_t c = 0; c < k_; ++c) present += counts[at * k_ + c] > 0.0;
            // A pure node is never split, but what it could split on is part of the code of "leaf".
            const Choice best = choose(at, present > 1);
            if (best.test == LEAF) continue;
            split(at, best);
            for (int64_t child = 0; child < nodes[at].n_children; ++child) open.push_back(nodes[at].first_child + child);
        }
    }

private:
    const uint32_t* codes_;  // (n_features, n_rows): a value, or sizes[j] where the cell is missing
    const int64_t *sizes_, *ordered_;
    int64_t d_, n_;
    const uint32_t* y_;
    const double* weight_;
    int64_t k_;
    Splits splits_;
    const LeafCode& leaf_;
    std::vector<int64_t> order_, spare_;
    std::vector<double> left_, right_, known_, lost_, table_;
    std::vector<uint32_t> present_;
    std::vector<uint64_t> sorted_;

    double weight_of(int64_t row) const { return weight_ ? weight_[row] : 1.0; }

    void add(int64_t begin, int64_t end, int64_t parent, int64_t branch) {
        Node node;
        node.begin = begin;
        node.end = end;
        node.parent = parent;
        node.branch = branch;
        nodes.push_back(node);
        counts.resize(counts.size() + k_, 0.0);
        double* count = counts.data() + counts.size() - k_;
        for (int64_t i = begin; i < end; ++i) count[y_[order_[i]]] += weight_of(order_[i]);
    }

    Choice choose(int64_t at, bool wanted) {
        Choice best;
        int64_t usable = 0;
        for (int64_t j = 0; j < d_; ++j) usable += ordered_[j] ? try_cuts(at, j, wanted, best) : try_values(at, j, wanted, best);
        nodes[at].n_usable = usable;
        return wanted ? best : Choice{};
    }

    static void offer(Choice& best, const Choice& found) {
        if (best.test == LEAF || found.bits < best.bits - TIE) best = found;
    }

    // Counts per value and class; present_ holds the values that occur, in rising order.
    bool count_values(const Node& node, int64_t j, bool wanted) {
        const uint32_t* column = codes_ + j * n_;
        const int64_t size = sizes_[j] + 1;
        if (!wanted) {
            for (int64_t i = node.begin + 1; i < node.end; ++i)
                if (column[order_[i]] != column[order_[node.begin]]) return true;
            return false;
        }
        table_.assign(size * k_, 0.0);
        present_.clear();
        for (int64_t i = node.begin; i < node.end; ++i) {
            const int64_t row = order_[i];
            table_[column[row] * k_ + y_[row]] += weight_of(row);
        }
        for (int64_t v = 0; v < size; ++v) {
            double n = 0.0;
            for (int64_t c = 0; c < k_; ++c) n += table_[v * k_ + c];
            if (n > 0.0) present_.push_back(static_cast<uint32_t>(v));
        }
        return present_.size() > 1;
    }

    bool try_values(int64_t at, int64_t j, bool wanted, Choice& best) {
        const Node& node = nodes[at];
        if (!count_values(node, j, wanted)) return false;
        if (!wanted) return true;
        const int64_t p = static_cast<int64_t>(present_.size());
        Choice found;
        found.feature = j;
        if (splits_ == VALUES || p == 2) {
            found.test = EVERY_VALUE;
            for (uint32_t v : present_) found.bits += leaf_(table_.data() + v * k_);
            offer(best, found);
            return true;
        }
        if (splits_ == GROUPS && sizes_[j] < WIDEST_GROUP) {
            try_groups(at, j, best);
            return true;
        }
        found.test = ONE_VALUE;
        found.n_choices = p;
        // Missing cells are among the others where there are any; a node without them does not know where they belong.
        found.missing_first = static_cast<int64_t>(present_.back()) == sizes_[j] ? int8_t{0} : int8_t{-1};
        const double which = std::log2(static_cast<double>(p));
        const double* whole = counts.data() + at * k_;
        for (uint32_t v : present_) {
            for (int64_t c = 0; c < k_; ++c) right_[c] = std::max(0.0, whole[c] - table_[v * k_ + c]);
            found.value = v;
            found.bits = which + leaf_(table_.data() + v * k_) + leaf_(right_.data());
            offer(best, found);
        }
        return true;
    }

    // Two groups of values: in the order of the share of a class, cut in two (for two classes the best cut of all,
    // Breiman et al. 1984, theorem 4.5; for more, each class gives an order). The group without the last value is first.
    void try_groups(int64_t at, int64_t j, Choice& best) {
        const size_t p = present_.size();
        const double* whole = counts.data() + at * k_;
        Choice found;
        found.feature = j;
        found.test = GROUP;
        found.n_choices = (int64_t{1} << (p - 1)) - 1;
        const double which = std::log2(static_cast<double>(found.n_choices));
        const uint32_t last = present_.back();
        std::vector<std::pair<double, uint32_t>> order(p);
        for (int64_t c = 0; c < (k_ == 2 ? 1 : k_); ++c) {
            for (size_t i = 0; i < p; ++i) {
                const double* line = table_.data() + static_cast<int64_t>(present_[i]) * k_;
                double n = 0.0;
                for (int64_t other = 0; other < k_; ++other) n += line[other];
                order[i] = {line[c] / n, present_[i]};
            }
            std::sort(order.begin(), order.end());
            std::fill(left_.begin(), left_.end(), 0.0);
            int64_t low = 0, all = 0;
            for (uint32_t v : present_) all |= int64_t{1} << v;
            for (size_t i = 0; i + 1 < p; ++i) {
                const double* line = table_.data() + static_cast<int64_t>(order[i].second) * k_;
                for (int64_t other = 0; other < k_; ++other) {
                    left_[other] += line[other];
                    right_[other] = std::max(0.0, whole[other] - left_[other]);
                }
                low |= int64_t{1} << order[i].second;
                found.value = low >> last & 1 ? all & ~low : low;
                found.bits = which + leaf_(left_.data()) + leaf_(right_.data());
                offer(best, found);
            }
        }
    }

    bool try_cuts(int64_t at, int64_t j, bool wanted, Choice& best) {
        const Node& node = nodes[at];
        const uint32_t* column = codes_ + j * n_;
        const uint32_t missing = static_cast<uint32_t>(sizes_[j]);
        if (!wanted) {
            uint32_t first = missing;
            for (int64_t i = node.begin; i < node.end; ++i) {
                const uint32_t rank = column[order_[i]];
                if (rank == missing || rank == first) continue;
                if (first != missing) return true;
                first = rank;
            }
            return false;
        }
        std::fill(lost_.begin(), lost_.end(), 0.0);
        bool some_lost = false;
        const int64_t rows = node.end - node.begin;
        const bool by_table = sizes_[j] * k_ <= WIDEST_TABLE * rows;
        if (by_table) table_.assign(sizes_[j] * k_, 0.0);
        sorted_.clear();
        for (int64_t i = node.begin; i < node.end; ++i) {
            const int64_t row = order_[i];
            const uint32_t rank = column[row];
            if (rank == missing) {
                lost_[y_[row]] += weight_of(row);
                some_lost = true;
            } else if (by_table) {
                table_[static_cast<int64_t>(rank) * k_ + y_[row]] += weight_of(row);
            } else {
                sorted_.push_back(static_cast<uint64_t>(rank) << 32 | static_cast<uint32_t>(row));
            }
        }
        if (!by_table) {
            std::sort(sorted_.begin(), sorted_.end());
            gather();
        } else {
            present_.clear();
            for (int64_t rank = 0; rank < sizes_[j]; ++rank) {
                double n = 0.0;
                for (int64_t c = 0; c < k_; ++c) n += table_[rank * k_ + c];
                if (n > 0.0) present_.push_back(static_cast<uint32_t>(rank));
            }
        }
        const int64_t m = static_cast<int64_t>(present_.size());
        if (m < 2) return false;
        scan(at, j, m, by_table, some_lost, best);
        return true;
    }

    // Sorted rows → one line of counts for each rank that occurs, one after the other.
    void gather() {
        present_.clear();
        table_.clear();
        for (uint64_t cell : sorted_) {
            const uint32_t rank = static_cast<uint32_t>(cell >> 32);
            if (present_.empty() || present_.back() != rank) {
                present_.push_back(rank);
                table_.resize(table_.size() + k_, 0.0);
            }
            const int64_t row = static_cast<int64_t>(cell & 0xffffffffu);
            table_[(present_.size() - 1) * k_ + y_[row]] += weight_of(row);
        }
    }

    void scan(int64_t at, int64_t j, int64_t m, bool by_table, bool some_lost, Choice& best) {
        const double* whole = counts.data() + at * k_;
        Choice found;
        found.feature = j;
        found.test = CUT;
        found.n_choices = (m - 1) * (some_lost ? 2 : 1);
        const double which = std::log2(static_cast<double>(found.n_choices));
        std::fill(known_.begin(), known_.end(), 0.0);
        for (int64_t place = 0; place + 1 < m; ++place) {
            const double* line = table_.data() + (by_table ? static_cast<int64_t>(present_[place]) : place) * k_;
            for (int64_t c = 0; c < k_; ++c) known_[c] += line[c];
            found.value = present_[place];
            for (int first = some_lost ? 1 : 0; first >= 0; --first) {
                for (int64_t c = 0; c < k_; ++c) {
                    left_[c] = known_[c] + (first ? lost_[c] : 0.0);
                    right_[c] = std::max(0.0, whole[c] - left_[c]);
                }
                found.missing_first = some_lost ? static_cast<int8_t>(first) : int8_t{-1};
                found.bits = which + leaf_(left_.data()) + leaf_(right_.data());
                offer(best, found);
            }
        }
    }

    int64_t side(const Choice& test, uint32_t code) const {
        if (test.test == EVERY_VALUE) return code;
        if (test.test == ONE_VALUE) return code == test.value ? 0 : 1;
        if (test.test == GROUP) return test.value >> code & 1 ? 0 : 1;
        if (code == static_cast<uint32_t>(sizes_[test.feature])) return test.missing_first == 1 ? 0 : 1;
        return code <= test.value ? 0 : 1;
    }

    void split(int64_t at, const Choice& test) {
        const int64_t begin = nodes[at].begin, end = nodes[at].end;
        const uint32_t* column = codes_ + test.feature * n_;
        const int64_t sides = test.test == EVERY_VALUE ? sizes_[test.feature] + 1 : 2;
        std::vector<int64_t> start(sides + 1, 0);
        for (int64_t i = begin; i < end; ++i) ++start[side(test, column[order_[i]]) + 1];
        for (int64_t s = 0; s < sides; ++s) start[s + 1] += start[s];
        spare_.assign(order_.begin() + begin, order_.begin() + end);
        std::vector<int64_t> place(start.begin(), start.end() - 1);
        for (int64_t row : spare_) order_[begin + place[side(test, column[row])]++] = row;
        Node& node = nodes[at];
        node.feature = test.feature;
        node.value = test.value;
        node.test = test.test;
        node.missing_first = test.missing_first;
        node.n_choices = test.n_choices;
        node.first_child = static_cast<int64_t>(nodes.size());
        int64_t children = 0;
        for (int64_t s = 0; s < sides; ++s) {
            if (start[s] == start[s + 1]) continue;
            int64_t branch = s;
            if (test.test == GROUP) {
                branch = 0;
                for (int64_t i = begin + start[s]; i < begin + start[s + 1]; ++i) branch |= int64_t{1} << column[order_[i]];
            }
            add(begin + start[s], begin + start[s + 1], at, branch);  // may move the nodes in memory
            ++children;
        }
        nodes[at].n_children = children;
    }
};

template <typename T, typename Get>
nb::object column_of_nodes(const std::vector<Node>& nodes, Get&& get) {
    Owned<T> array({nodes.size()});
    for (size_t i = 0; i < nodes.size(); ++i) array.data[i] = static_cast<T>(get(nodes[i]));
    return array.to_numpy();
}

nb::dict grow_tree(Codes codes, Sizes sizes, Sizes ordered, Classes y, std::optional<Weights> weights, int64_t n_classes,
                   int splits) {
    const int64_t d = static_cast<int64_t>(codes.shape(0)), n = static_cast<int64_t>(codes.shape(1));
    if (static_cast<int64_t>(y.shape(0)) != n || (weights && static_cast<int64_t>(weights->shape(0)) != n))
        throw std::invalid_argument("y, weights and the table differ in length.");
    if (static_cast<int64_t>(sizes.shape(0)) != d || static_cast<int64_t>(ordered.shape(0)) != d)
        throw std::invalid_argument("sizes and ordered need one number a column.");
    if (splits < VALUES || splits > GROUPS) throw std::invalid_argument("splits must be 0, 1 or 2.");
    for (int64_t i = 0; i < n; ++i)
        if (y.data()[i] >= n_classes) throw std::invalid_argument("a class code is out of range.");
    for (int64_t j = 0; j < d; ++j)
        for (int64_t i = 0; i < n; ++i)
            if (codes.data()[j * n + i] > sizes.data()[j]) throw std::invalid_argument("a code is out of range.");
    const double* weight = weights ? weights->data() : nullptr;
    double total = 0.0;
    bool whole = true;
    for (int64_t i = 0; i < n; ++i) {
        const double w = weight ? weight[i] : 1.0;
        total += w;
        whole = whole && w == std::floor(w);
    }
    const LogFactorial factorial(total, n_classes, whole);
    const LeafCode leaf(factorial, n_classes, whole);
    Grower grower(codes.data(), sizes.data(), ordered.data(), d, n, y.data(), weight, n_classes,
                  static_cast<Splits>(splits), leaf);
    {
        nb::gil_scoped_release release;
        grower.grow();
    }
    Owned<double> counts({grower.nodes.size(), static_cast<size_t>(n_classes)});
    std::copy(grower.counts.begin(), grower.counts.end(), counts.data);
    nb::dict out;
    const auto& nodes = grower.nodes;
    out["test"] = column_of_nodes<int8_t>(nodes, [](const Node& node) { return node.test; });
    out["feature"] = column_of_nodes<int64_t>(nodes, [](const Node& node) { return node.feature; });
    out["value"] = column_of_nodes<int64_t>(nodes, [](const Node& node) { return node.value; });
    out["missing_first"] = column_of_nodes<int8_t>(nodes, [](const Node& node) { return node.missing_first; });
    out["first_child"] = column_of_nodes<int64_t>(nodes, [](const Node& node) { return node.first_child; });
    out["n_children"] = column_of_nodes<int64_t>(nodes, [](const Node& node) { return node.n_children; });
    out["branch"] = column_of_nodes<int64_t>(nodes, [](const Node& node) { return node.branch; });
    out["n_usable"] = column_of_nodes<int64_t>(nodes, [](const Node& node) { return node.n_usable; });
    out["n_choices"] = column_of_nodes<int64_t>(nodes, [](const Node& node) { return node.n_choices; });
    out["counts"] = counts.to_numpy();
    return out;
}

}  // namespace

void bind_grow_tree(nb::module_& m) {
    using namespace nb::literals;
    m.def("grow_tree", &grow_tree, "codes"_a, "sizes"_a, "ordered"_a, "y"_a, "weight"_a.none(), "n_classes"_a, "splits"_a);
}

}  // namespace bayeskit::concept_learning
