// The parents that grow and shrink finds for a variable, for any set of variables that stand before it in an order.
//
// Grow adds the candidate that gains most while one gains; shrink removes the parent whose loss gains most while one does.
// All that was scored is kept in a tree: a node is a set of parents, its branches are the candidates that gain there, the best
// first. To find the parents for another order is then a walk from the root, which at each node takes the first branch whose
// candidate stands before the variable (grow-shrink trees; Andrews, Ramsey, Sanchez-Romero, Camchong & Kummerfeld 2023).
//
// The candidate that gains most alone may hide a pair that gains more together. So each parent that was found is left out in
// turn, and the walk is made again without it; what scores better is kept, and its parents are left out in turn.
//
// Two parents that say nothing alone may say much together. Such pairs are not sought here, but those that are given are tried as
// branches too, each with two variables at once.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "select/families.hpp"

namespace bayeskit::select {

// Below this a gain is rounding: with it a search could go round in circles.
constexpr double LEAST_GAIN = 1e-8;

class ParentTrees {
public:
    ParentTrees(nb::object scores, std::vector<Ints> candidates, std::vector<Ints> required, int max_parents,
                std::vector<std::vector<Ints>> pairs)
        : candidates_(std::move(candidates)), required_(std::move(required)), pairs_(std::move(pairs)),
          max_parents_(max_parents), families_(std::move(scores)), trees_(candidates_.size()) {
        if (required_.size() != candidates_.size()) throw std::invalid_argument("one list of required parents a variable.");
        pairs_.resize(candidates_.size());
        for (size_t v = 0; v < pairs_.size(); ++v)
            for (const Ints& pair : pairs_[v])
                for (int x : pair)
                    if (pair.size() != 2 || std::find(candidates_[v].begin(), candidates_[v].end(), x) == candidates_[v].end())
                        throw std::invalid_argument("a pair is two candidates.");
        for (Ints& parents : required_) std::sort(parents.begin(), parents.end());
    }

    int size() const { return static_cast<int>(candidates_.size()); }
    const Ints& candidates(int v) const { return candidates_[v]; }
    const Ints& required(int v) const { return required_[v]; }

    // The node of the best parents found among the variables that `before` is true of.
    template <typename Before>
    int best(int v, Before&& before) {
        int node = walk(v, before);
        Ints without;
        while (true) {
            const Ints parents = trees_[v][node].best_parents;
            int better = -1, left_out = -1;
            double score = trees_[v][node].best_score + LEAST_GAIN;
            for (int p : parents) {
                if (std::binary_search(required_[v].begin(), required_[v].end(), p)) continue;
                const int other = walk(v, [&](int c) {
                    return c != p && before(c) && std::find(without.begin(), without.end(), c) == without.end();
                });
                if (trees_[v][other].best_score > score) {
                    score = trees_[v][other].best_score;
                    better = other;
                    left_out = p;
                }
            }
            if (better < 0) return node;
            node = better;
            without.push_back(left_out);
        }
    }
    double score(int v, int node) const { return trees_[v][node].best_score; }
    const Ints& parents(int v, int node) const { return trees_[v][node].best_parents; }

private:
    // The node where growing ends.
    template <typename Before>
    int walk(int v, Before&& before) {
        std::vector<Node>& tree = trees_[v];
        if (tree.empty()) {
            tree.emplace_back();
            tree[0].parents = required_[v];
            tree[0].score = families_->local(v, required_[v]);
        }
        int at = 0;
        while (true) {
            if (!tree[at].grown) grow(v, at);
            const std::vector<Branch>& branches = tree[at].branches;
            size_t k = 0;
            while (k < branches.size() && !(before(branches[k].variable) &&
                                            (branches[k].second < 0 || before(branches[k].second))))
                ++k;
            if (k == branches.size()) break;
            at = follow(v, at, k);
        }
        if (!tree[at].shrunk) shrink(v, at);
        return at;
    }

    struct Branch {
        int variable, second;  // the second of a pair, or -1
        double score;
        int node;  // -1 until it is walked
    };
    struct Node {
        Ints parents, best_parents;  // as grown, and after shrinking
        double score = 0.0, best_score = 0.0;
        std::vector<Branch> branches;
        bool grown = false, shrunk = false;
    };
    std::vector<Ints> candidates_, required_;
    std::vector<std::vector<Ints>> pairs_;
    int max_parents_;
    HeldFamilies families_;
    std::vector<std::vector<Node>> trees_;

    // Scores all candidates, those that stand after the variable too: one by one, as orders ask, each would cost a pass more.
    void grow(int v, int at) {
        Node& node = trees_[v][at];
        node.grown = true;
        if (static_cast<int>(node.parents.size()) >= max_parents_) return;
        Ints open;
        for (int c : candidates_[v])
            if (!std::binary_search(node.parents.begin(), node.parents.end(), c)) open.push_back(c);
        std::vector<double> scores(open.size());
        families_->with_each(v, node.parents, node.score, open, scores.data());
        for (size_t k = 0; k < open.size(); ++k)
            if (scores[k] > node.score + LEAST_GAIN) node.branches.push_back({open[k], -1, scores[k], -1});
        for (const Ints& pair : pairs_[v]) grow_by_pair(v, node, pair, open, scores);
        std::stable_sort(node.branches.begin(), node.branches.end(),
                         [](const Branch& a, const Branch& b) { return a.score > b.score; });
    }

    // A branch with both of a pair, where they gain more than either of them.
    void grow_by_pair(int v, Node& node, const Ints& pair, const Ints& open, const std::vector<double>& scores) {
        if (static_cast<int>(node.parents.size()) + 2 > max_parents_) return;
        double least = node.score;
        Ints with(node.parents);
        for (int x : pair) {
            const auto at = std::find(open.begin(), open.end(), x);
            if (at == open.end()) return;
            least = std::max(least, scores[at - open.begin()]);
            with.insert(std::lower_bound(with.begin(), with.end(), x), x);
        }
        const double score = families_->local(v, std::move(with));
        if (score > least + LEAST_GAIN) node.branches.push_back({pair[0], pair[1], score, -1});
    }

    int follow(int v, int at, size_t k) {
        std::vector<Node>& tree = trees_[v];
        if (tree[at].branches[k].node < 0) {
            Node next;
            next.parents = tree[at].parents;
            for (int x : {tree[at].branches[k].variable, tree[at].branches[k].second})
                if (x >= 0) next.parents.insert(std::lower_bound(next.parents.begin(), next.parents.end(), x), x);
            next.score = tree[at].branches[k].score;
            tree[at].branches[k].node = static_cast<int>(tree.size());
            tree.push_back(std::move(next));
        }
        return tree[at].branches[k].node;
    }

    void shrink(int v, int at) {
        Ints parents = trees_[v][at].parents;
        double score = trees_[v][at].score;
        while (parents.size() > required_[v].size()) {
            double best = score + LEAST_GAIN;
            int worst = -1;
            for (int p : parents) {
                if (std::binary_search(required_[v].begin(), required_[v].end(), p)) continue;
                Ints fewer(parents);
                fewer.erase(std::lower_bound(fewer.begin(), fewer.end(), p));
                const double without = families_->local(v, std::move(fewer));
                if (without > best) {
                    best = without;
                    worst = p;
                }
            }
            if (worst < 0) break;
            parents.erase(std::lower_bound(parents.begin(), parents.end(), worst));
            score = best;
        }
        Node& node = trees_[v][at];
        node.best_parents = std::move(parents);
        node.best_score = score;
        node.shrunk = true;
    }
};

}  // namespace bayeskit::select
