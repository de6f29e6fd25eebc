// A decision tree grown until every leaf is pure or nothing parts its rows: each node takes the test whose children,
// written as leaves, need the fewest bits (Quinlan & Rivest 1989). What is too much is cut afterwards, in Python.
// Where no test pays, the shortest one takes single rows off a node, and a tree of such tests is as deep as there are
// rows; after a few of them the test with the most information is taken, whose children are of like size.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/column.hpp"
#include "base/interrupt.hpp"
#include "concept/leaf_code.hpp"
#include "concept/sorted_rows.hpp"
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

enum Test : int8_t { LEAF = 0, EVERY_VALUE = 1, ONE_VALUE = 2, CUT = 3, GROUP = 4 };
// How a column of values is parted: into all values that occur, into one value and the others, or into two groups.
enum Splits { VALUES = 0, ONE = 1, GROUPS = 2 };
// A group is a number with one bit per value; wider columns are parted into one value and the others.
constexpr int64_t WIDEST_GROUP = 62;
// Each of the largest classes of a node, so many, gives an order of a column's values; with the number of classes the
// time of a node would grow as its rows times its classes, and small classes order few values anyway.
constexpr size_t MOST_ORDERS = 32;
// So many tests in a row may cost more bits than they save before the most informative test is taken instead. With 4,
// pruning left the same trees as without a limit on the 63 tables that were tried; with 2, two were longer.
constexpr int64_t MOST_IN_VAIN = 4;

struct Node {
    int64_t begin, end;  // rows, as places in the order
    int64_t parent;
    int64_t branch;      // the value that leads here from a test of every value, the values of a group, else 0 or 1
    int64_t feature = -1, value = -1, first_child = -1, n_children = 0, n_usable = 0, n_choices = 1;
    int64_t in_vain = 0;  // tests that did not pay, from here up to the first that did
    int8_t test = LEAF, missing_first = -1;
};

struct Choice {
    double bits = 0.0;         // of the children as leaves
    double information = 0.0;  // of them without the number of exceptions and the rows of each class
    int64_t feature = -1, value = -1, n_choices = 1;
    int8_t test = LEAF, missing_first = -1;
};

struct Best {
    Choice shortest, informative;
};

// The same two lengths of one child.
struct Length {
    double bits, information;
};

// One class of one value: how many rows, or their weight.
struct Entry {
    uint32_t label;
    double weight;
};

class Grower {
public:
    Grower(const uint32_t* codes, const int64_t* sizes, const int64_t* ordered, int64_t n_features, int64_t n_rows,
           const uint32_t* y, const double* weight, int64_t n_classes, Splits splits, const LeafCode& leaf)
        : codes_(codes), sizes_(sizes), ordered_(ordered), d_(n_features), n_(n_rows), y_(y), weight_(weight),
          k_(n_classes), splits_(splits), leaf_(leaf), rows_(codes, sizes, n_features, n_rows, y, n_classes, weight),
          labels_(leaf, n_classes), of_value_(n_classes, 0.0) {}

    std::vector<Node> nodes;
    std::vector<double> counts;  // (n_nodes, n_classes)

    void grow() {
        Interrupts interrupts;
        add(0, rows_.size(), -1, 0);
        std::vector<int64_t> open = {0};
        while (!open.empty()) {
            interrupts.check();
            const int64_t at = open.back();
            open.pop_back();
            find_classes(at);
            // A pure node is never split, but what it could split on is part of the code of "leaf".
            const Choice best = choose(at, classes_.size() > 1);
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
    SortedRows rows_;
    Labels labels_;
    std::vector<uint32_t> classes_;  // of the node, in rising order
    // One column of a node: the values that occur, in rising order, and where the classes of each begin.
    std::vector<uint32_t> values_;
    std::vector<size_t> first_;
    std::vector<Entry> entries_;
    std::unordered_set<int64_t> tried_;    // groups of one column: the orders of many classes have the same cuts
    std::vector<double> of_value_;         // (K,), rows of one value; 0 outside of one_value
    std::vector<Length> low_[2], high_[2];  // of both sides of each cut, without and with the missing cells

    double weight_of(int64_t row) const { return weight_ ? weight_[row] : 1.0; }
    const double* counts_of(int64_t at) const { return counts.data() + at * k_; }

    void add(int64_t begin, int64_t end, int64_t parent, int64_t branch) {
        Node node;
        node.begin = begin;
        node.end = end;
        node.parent = parent;
        node.branch = branch;
        nodes.push_back(node);
        counts.resize(counts.size() + k_, 0.0);
        double* count = counts.data() + counts.size() - k_;
        for (int64_t i = begin; i < end; ++i) count[y_[rows_.of(0)[i]]] += weight_of(rows_.of(0)[i]);
    }

    void find_classes(int64_t at) {
        classes_.clear();
        const Node& node = nodes[at];
        const double* count = counts_of(at);
        if (node.end - node.begin > k_ / 8) {
            for (int64_t c = 0; c < k_; ++c)
                if (count[c] > 0.0) classes_.push_back(static_cast<uint32_t>(c));
            return;
        }
        for (int64_t i = node.begin; i < node.end; ++i) classes_.push_back(y_[rows_.of(0)[i]]);
        std::sort(classes_.begin(), classes_.end());
        classes_.erase(std::unique(classes_.begin(), classes_.end()), classes_.end());
    }

    Choice choose(int64_t at, bool wanted) {
        Best best;
        int64_t usable = 0;
        for (int64_t j = 0; j < d_; ++j) {
            if (!splits_rows(nodes[at], j)) continue;
            ++usable;
            if (!wanted) continue;
            collect(nodes[at], j);
            ordered_[j] ? try_cuts(j, best) : try_values(at, j, best);
        }
        nodes[at].n_usable = usable;
        return best.shortest.test == LEAF ? best.shortest : chosen(at, best);
    }

    // The shortest test; below MOST_IN_VAIN tests in a row that did not pay, the most informative one.
    Choice chosen(int64_t at, const Best& best) {
        Node& node = nodes[at];
        labels_.clear();
        for (uint32_t c : classes_) labels_.add(c, counts_of(at)[c]);
        const bool pays = best.shortest.bits + 1.0 + std::log2(static_cast<double>(node.n_usable)) < labels_.bits() - TIE;
        node.in_vain = pays ? 0 : 1 + (node.parent < 0 ? 0 : nodes[node.parent].in_vain);
        return node.in_vain <= MOST_IN_VAIN ? best.shortest : best.informative;
    }

    static void offer(Best& best, const Choice& test) {
        if (best.shortest.test == LEAF || test.bits < best.shortest.bits - TIE) best.shortest = test;
        if (best.informative.test == LEAF || test.information < best.informative.information - TIE)
            best.informative = test;
    }

    static void set_lengths(Choice& test, double which, const Length& first, const Length& second) {
        test.bits = which + first.bits + second.bits;
        test.information = which + first.information + second.information;
    }

    // Whether two rows differ; a missing number is no number.
    bool splits_rows(const Node& node, int64_t j) const {
        if (node.begin == node.end) return false;
        const uint32_t *rows = rows_.of(j), *column = codes_ + j * n_;
        const uint32_t first = column[rows[node.begin]], last = column[rows[node.end - 1]];
        if (first == last || !ordered_[j] || last != static_cast<uint32_t>(sizes_[j])) return first != last;
        // The missing cells come last; the cell before them is the largest number.
        const auto known = std::partition_point(rows + node.begin, rows + node.end,
                                                [&](uint32_t row) { return column[row] != last; });
        return column[known[-1]] != first;
    }

    void collect(const Node& node, int64_t j) {
        const uint32_t *rows = rows_.of(j), *column = codes_ + j * n_;
        values_.clear();
        first_.clear();
        entries_.clear();
        uint32_t label = 0;
        for (int64_t i = node.begin; i < node.end; ++i) {
            const uint32_t row = rows[i], value = column[row];
            if (values_.empty() || values_.back() != value) {
                values_.push_back(value);
                first_.push_back(entries_.size());
            } else if (label == y_[row]) {
                entries_.back().weight += weight_of(row);
                continue;
            }
            label = y_[row];
            entries_.push_back({label, weight_of(row)});
        }
        first_.push_back(entries_.size());
    }

    void add_value(size_t place) {
        for (size_t e = first_[place]; e < first_[place + 1]; ++e) labels_.add(entries_[e].label, entries_[e].weight);
    }

    void try_values(int64_t at, int64_t j, Best& best) {
        const size_t p = values_.size();
        if (splits_ == VALUES || p == 2) {
            Choice test;
            test.feature = j;
            test.test = EVERY_VALUE;
            for (size_t place = 0; place < p; ++place) {
                labels_.clear();
                add_value(place);
                test.bits += labels_.bits();
                test.information += labels_.information();
            }
            offer(best, test);
        } else if (splits_ == GROUPS && sizes_[j] < WIDEST_GROUP) {
            try_groups(at, j, best);
        } else {
            try_one_value(at, j, best);
        }
    }

    void try_one_value(int64_t at, int64_t j, Best& best) {
        const double* whole = counts_of(at);
        Choice test;
        test.feature = j;
        test.test = ONE_VALUE;
        test.n_choices = static_cast<int64_t>(values_.size());
        // Missing cells are among the others where there are any; a node without them does not know where they belong.
        test.missing_first = static_cast<int64_t>(values_.back()) == sizes_[j] ? int8_t{0} : int8_t{-1};
        const double which = std::log2(static_cast<double>(values_.size()));
        // The largest class of the others is looked for from the largest class of all.
        std::vector<uint32_t> falling = classes_;
        std::sort(falling.begin(), falling.end(), [&](uint32_t a, uint32_t b) { return whole[a] > whole[b]; });
        double total = 0.0;
        long double log_factorials = 0.0L;
        for (uint32_t c : classes_) {
            total += whole[c];
            log_factorials += leaf_.f(whole[c]);
        }
        for (size_t place = 0; place < values_.size(); ++place) {
            labels_.clear();
            double n = total, most = 0.0;
            long double rest = log_factorials;
            for (size_t e = first_[place]; e < first_[place + 1]; ++e) {
                const auto [label, weight] = entries_[e];
                labels_.add(label, weight);
                of_value_[label] = weight;
                n -= weight;
                rest += static_cast<long double>(leaf_.f(std::max(0.0, whole[label] - weight))) - leaf_.f(whole[label]);
            }
            for (uint32_t c : falling) {
                if (whole[c] <= most) break;
                most = std::max(most, whole[c] - of_value_[c]);
            }
            for (size_t e = first_[place]; e < first_[place + 1]; ++e) of_value_[entries_[e].label] = 0.0;
            test.value = values_[place];
            test.bits = which + labels_.bits() + leaf_(std::max(n, most), most, rest);
            test.information = which + labels_.information() + leaf_.information(std::max(n, most), rest);
            offer(best, test);
        }
    }

    // The classes that give an order of values, as places among the classes of the node, rising.
    std::vector<size_t> classes_with_order(int64_t at) const {
        std::vector<size_t> chosen(k_ == 2 ? 1 : classes_.size());
        for (size_t c = 0; c < chosen.size(); ++c) chosen[c] = c;
        if (chosen.size() <= MOST_ORDERS) return chosen;
        const double* count = counts_of(at);
        std::nth_element(chosen.begin(), chosen.begin() + MOST_ORDERS, chosen.end(), [&](size_t a, size_t b) {
            const double more = count[classes_[a]] - count[classes_[b]];
            return more > 0.0 || (more == 0.0 && a < b);
        });
        chosen.resize(MOST_ORDERS);
        std::sort(chosen.begin(), chosen.end());
        return chosen;
    }

    // Two groups of values: in the order of the share of a class, cut in two (for two classes the best cut of all,
    // Breiman et al. 1984, theorem 4.5; for more, each class gives an order). The group without the last value is first.
    void try_groups(int64_t at, int64_t j, Best& best) {
        const size_t p = values_.size();
        const std::vector<size_t> chosen = classes_with_order(at);
        std::vector<double> n(p, 0.0);
        std::vector<std::vector<std::pair<size_t, double>>> shares(chosen.size());  // place, rows
        for (size_t place = 0; place < p; ++place)
            for (size_t e = first_[place]; e < first_[place + 1]; ++e) {
                n[place] += entries_[e].weight;
                const auto comes_before = [&](size_t c, uint32_t label) { return classes_[c] < label; };
                const auto match = std::lower_bound(chosen.begin(), chosen.end(), entries_[e].label, comes_before);
                if (match != chosen.end() && classes_[*match] == entries_[e].label)
                    shares[match - chosen.begin()].emplace_back(place, entries_[e].weight);
            }
        // All classes without rows give one order, that of the values; it comes where the first of them comes.
        size_t without = 0;
        while (without < classes_.size() && classes_[without] == without) ++without;
        const bool some_without = k_ > 2 && static_cast<int64_t>(classes_.size()) < k_;
        const size_t turn = std::lower_bound(chosen.begin(), chosen.end(), without) - chosen.begin();
        tried_.clear();
        std::vector<size_t> order(p);
        std::vector<std::pair<double, size_t>> by_share(p);
        for (size_t c = 0; c <= shares.size(); ++c) {
            if (some_without && c == turn) {
                for (size_t place = 0; place < p; ++place) order[place] = place;
                try_order(j, order, best);
            }
            if (c == shares.size()) break;
            for (size_t place = 0; place < p; ++place) by_share[place] = {0.0, place};
            for (const auto& [place, rows] : shares[c]) by_share[place].first = rows / n[place];
            std::sort(by_share.begin(), by_share.end());
            for (size_t place = 0; place < p; ++place) order[place] = by_share[place].second;
            try_order(j, order, best);
        }
    }

    void try_order(int64_t j, const std::vector<size_t>& order, Best& best) {
        const size_t p = order.size();
        int64_t low = 0, all = 0;
        for (uint32_t v : values_) all |= int64_t{1} << v;
        std::vector<int64_t> groups(p - 1);
        bool any = false;
        for (size_t i = 0; i + 1 < p; ++i) {
            low |= int64_t{1} << values_[order[i]];
            groups[i] = low >> values_.back() & 1 ? all & ~low : low;
            any = tried_.insert(groups[i]).second || any;
        }
        if (!any) return;
        Choice test;
        test.feature = j;
        test.test = GROUP;
        test.n_choices = (int64_t{1} << (p - 1)) - 1;
        const double which = std::log2(static_cast<double>(test.n_choices));
        sweep(p, [&](size_t i) { return order[i]; });
        for (size_t i = 0; i + 1 < p; ++i) {
            test.value = groups[i];
            set_lengths(test, which, low_[0][i], high_[0][i]);
            offer(best, test);
        }
    }

    // Bits of the first i + 1 of p values and of the others as leaves, for every i; `with` is a value that joins the
    // first ones (low_[1]) or the others (high_[1]).
    template <typename Place>
    void sweep(size_t p, Place&& place_of, int64_t with = -1) {
        for (int w = 0; w < (with < 0 ? 1 : 2); ++w) {
            low_[w].resize(p);
            high_[w].resize(p);
            labels_.clear();
            if (w) add_value(static_cast<size_t>(with));
            for (size_t i = 0; i + 1 < p; ++i) {
                add_value(place_of(i));
                low_[w][i] = {labels_.bits(), labels_.information()};
            }
            labels_.clear();
            if (w) add_value(static_cast<size_t>(with));
            for (size_t i = p - 1; i > 0; --i) {
                add_value(place_of(i));
                high_[w][i - 1] = {labels_.bits(), labels_.information()};
            }
        }
    }

    void try_cuts(int64_t j, Best& best) {
        const bool some_lost = static_cast<int64_t>(values_.back()) == sizes_[j];
        const size_t m = values_.size() - some_lost;
        Choice test;
        test.feature = j;
        test.test = CUT;
        test.n_choices = static_cast<int64_t>(m - 1) * (some_lost ? 2 : 1);
        const double which = std::log2(static_cast<double>(test.n_choices));
        sweep(m, [](size_t i) { return i; }, some_lost ? static_cast<int64_t>(m) : -1);
        for (size_t place = 0; place + 1 < m; ++place) {
            test.value = values_[place];
            for (int first = some_lost ? 1 : 0; first >= 0; --first) {
                test.missing_first = some_lost ? static_cast<int8_t>(first) : int8_t{-1};
                set_lengths(test, which, low_[first][place], high_[some_lost ? 1 - first : 0][place]);
                offer(best, test);
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
        const uint32_t* column = codes_ + test.feature * n_;
        const int64_t sides = test.test == EVERY_VALUE ? sizes_[test.feature] + 1 : 2;
        const std::vector<int64_t> start = rows_.split(nodes[at].begin, nodes[at].end, sides,
                                                       [&](uint32_t row) { return side(test, column[row]); });
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
                for (int64_t i = start[s]; i < start[s + 1]; ++i) branch |= int64_t{1} << column[rows_.of(0)[i]];
            }
            add(start[s], start[s + 1], at, branch);  // may move the nodes in memory
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
