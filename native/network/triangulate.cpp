// Elimination orders and junction trees: the best of several greedy searches with random tie-breaking.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "network/bit_graph.hpp"
#include "network/junction_tree.hpp"
#include "kernels.hpp"
#include "base/random.hpp"

namespace bayeskit::network {

enum class Greed { fill, weight, weighted_fill, fill_then_weight };
constexpr Greed GREEDS[] = {Greed::fill, Greed::weight, Greed::weighted_fill, Greed::fill_then_weight};

// The graph while it is eliminated, with the score of each node kept up to date.
class Eliminator {
public:
    explicit Eliminator(const EliminationProblem& problem)
        : cards_(*problem.cards), stage_(problem.stage), n_(static_cast<int>(problem.stage.size())), graph_(n_) {
        for (const auto& scope : problem.scopes)
            for (int a : scope)
                for (int b : scope)
                    if (a != b && stage_[a] >= 0 && stage_[b] >= 0) graph_.set(a, b);
        log_card_.resize(n_);
        for (int v = 0; v < n_; ++v) log_card_[v] = std::log2(static_cast<double>(cards_[v]));
        fill_.assign(n_, 0);
        weight_.assign(n_, 0.0);
        weighted_.assign(n_, 0.0);
        for (int v = 0; v < n_; ++v)
            if (stage_[v] >= 0) left_.push_back(v);
        for (int v : left_) rescore(v);
        // A simplicial node may go first in any best order, so this part is done once for all tries.
        while (total_.cells <= PLANNABLE && eliminate_simplicial()) {}
    }

    bool done() const { return left_.empty(); }
    const std::vector<int>& order() const { return order_; }
    int64_t work() const { return work_; }

    // Runs to the end. With a limit it gives up when the total passes it. Without one a total beyond PLANNABLE is only needed to be
    // told in a refusal: the graph is dense by then, and the better rules would take minutes where the degree takes a second.
    bool run(Greed greed, double noise, Random& random, const CellCount* limit) {
        greed_ = greed;
        if (greed == Greed::weighted_fill)
            for (int v : left_) rescore(v);
        while (!left_.empty()) {
            if (limit && (*limit < total_ || total_.cells > PLANNABLE)) return false;
            if (total_.cells > PLANNABLE) {
                finish_by_degree();
                return true;
            }
            if (!eliminate_simplicial()) eliminate(choose(noise, random));
        }
        return true;
    }

private:
    const std::vector<int>& cards_;
    const std::vector<int>& stage_;
    int n_;
    BitGraph graph_;
    std::vector<double> log_card_, weight_, weighted_;
    std::vector<int64_t> fill_;
    std::vector<int> left_, order_, neighbours_, touched_;
    CellCount total_;
    int64_t work_ = 0;
    Greed greed_ = Greed::fill;

    int first_stage() const {
        int stage = std::numeric_limits<int>::max();
        for (int v : left_) stage = std::min(stage, stage_[v]);
        return stage;
    }

    bool eliminate_simplicial() {
        const int stage = first_stage();
        work_ += static_cast<int64_t>(left_.size());
        for (int v : left_)
            if (fill_[v] == 0 && stage_[v] == stage) {
                eliminate(v);
                return true;
            }
        return false;
    }

    double score(int v) const {
        switch (greed_) {
            case Greed::fill: return static_cast<double>(fill_[v]) + 1e-6 * weight_[v];
            case Greed::weight: return weight_[v] + 1e-6 * static_cast<double>(fill_[v]);
            case Greed::weighted_fill: return weighted_[v] + 1e-9 * weight_[v];
            default: return std::log2(static_cast<double>(fill_[v])) + 0.5 * weight_[v];
        }
    }

    int choose(double noise, Random& random) {
        const int stage = first_stage();
        work_ += 4 * static_cast<int64_t>(left_.size());
        int best = -1, ties = 0;
        double best_score = std::numeric_limits<double>::infinity();
        for (int v : left_) {
            if (stage_[v] != stage) continue;
            double s = score(v);
            if (noise > 0.0) s *= 1.0 + noise * random.uniform();
            if (s < best_score) {
                best_score = s;
                best = v;
                ties = 1;
            } else if (s == best_score && random.below(++ties) == 0) {
                best = v;
            }
        }
        return best;
    }

    void eliminate(int v) {
        graph_.neighbours(v, neighbours_);
        CellCount entries{static_cast<double>(cards_[v]), weight_[v]};
        for (int u : neighbours_) entries.cells *= cards_[u];
        // A clique that lies in one made before is not counted: that is so when v's neighbours were complete and
        // the clique of an earlier node held them all. The bound stays a bound; the tree gives the exact total.
        entries.cells *= 1.0 - 1.0 / cards_[v];
        total_ += entries;
        touched_.clear();
        const bool filled = fill_[v] > 0;
        if (filled) {
            mark_.assign(n_, 0);
            work_ += n_ / 8 + static_cast<int64_t>(neighbours_.size() * neighbours_.size());
            for (size_t i = 0; i < neighbours_.size(); ++i)
                for (size_t j = i + 1; j < neighbours_.size(); ++j) {
                    const int a = neighbours_[i], b = neighbours_[j];
                    if (graph_.has(a, b)) continue;
                    graph_.common(a, b, [&](int u) { touch(u); });
                    graph_.set(a, b);
                    graph_.set(b, a);
                    work_ += 4 * graph_.words();
                }
            for (int u : neighbours_) touch(u);
        } else {
            touched_ = neighbours_;
        }
        graph_.isolate(v, neighbours_);
        left_.erase(std::lower_bound(left_.begin(), left_.end(), v));
        order_.push_back(v);
        for (int u : touched_)
            if (u != v) rescore(u);
    }

    // The node of fewest neighbours next: that needs no count of missing edges. It ends when all that are left are neighbours.
    void finish_by_degree() {
        std::vector<int> degree(n_, 0);
        for (int v : left_) degree[v] = graph_.degree(v);
        while (!left_.empty()) {
            const int stage = first_stage();
            int best = -1;
            for (int v : left_)
                if (stage_[v] == stage && (best < 0 || degree[v] < degree[best])) best = v;
            if (degree[best] + 1 == static_cast<int>(left_.size()) && stage_[left_.front()] == stage_[left_.back()]) break;
            graph_.neighbours(best, neighbours_);
            for (int u : neighbours_) graph_.join(u, best);
            graph_.isolate(best, neighbours_);
            for (int u : neighbours_) degree[u] = graph_.degree(u);
            work_ += static_cast<int64_t>(left_.size()) + 3 * static_cast<int64_t>(neighbours_.size()) * graph_.words();
            left_.erase(std::lower_bound(left_.begin(), left_.end(), best));
            order_.push_back(best);
        }
        std::stable_sort(left_.begin(), left_.end(), [&](int a, int b) { return stage_[a] < stage_[b]; });
        order_.insert(order_.end(), left_.begin(), left_.end());
        left_.clear();
    }

    std::vector<char> mark_;
    void touch(int u) {
        if (!mark_[u]) {
            mark_[u] = 1;
            touched_.push_back(u);
        }
    }

    void rescore(int v) {
        graph_.neighbours(v, scratch_);
        double weight = log_card_[v];
        for (int u : scratch_) weight += log_card_[u];
        const int64_t missing = graph_.missing(v, scratch_) - static_cast<int64_t>(scratch_.size());
        work_ += static_cast<int64_t>(scratch_.size() + 1) * graph_.words();
        weight_[v] = weight;
        fill_[v] = missing / 2;
        if (greed_ != Greed::weighted_fill || fill_[v] == 0) return;
        double weighted = 0.0;
        for (int u : scratch_)
            graph_.each_missing(v, u, [&](int w) {
                if (w > u) weighted += static_cast<double>(cards_[u]) * cards_[w];
            });
        work_ += static_cast<int64_t>(scratch_.size() + 1) * graph_.words() * 2 + 4 * missing;
        weighted_[v] = weighted;
    }
    std::vector<int> scratch_;
};

OrderSearch::OrderSearch(const EliminationProblem& problem, uint64_t seed)
    : problem_(problem), seed_(seed), start_(std::make_unique<Eliminator>(problem)) {}
OrderSearch::~OrderSearch() = default;

void OrderSearch::run(int64_t tries, int64_t work) {
    while (tried_ == 0 || (tried_ < tries && work_ <= work && !start_->done())) {
        const int64_t attempt = tried_++;
        Random random(seed_, static_cast<uint64_t>(attempt));
        Eliminator eliminator(*start_);
        // The four plain rules come first; later tries add noise to the scores, a little more each round.
        const double noise = attempt < 4 ? 0.0 : 0.05 * static_cast<double>(1 + (attempt / 4) % 6);
        const bool finished = eliminator.run(GREEDS[attempt % 4], noise, random, attempt > 0 ? &best_.total : nullptr);
        work_ += eliminator.work() - start_->work();
        if (!finished) continue;
        JunctionTree tree = tree_of_order(problem_, eliminator.order());
        if (attempt > 0 && !(tree.total < best_.total)) continue;
        best_ = std::move(tree);
        order_ = eliminator.order();
    }
}

CellCount cells_of(const std::vector<int>& vars, const std::vector<int>& cards) {
    CellCount count{1.0, 0.0};
    for (int v : vars) count.cells *= cards[v];
    if (std::isfinite(count.cells)) count.log2 = std::log2(count.cells);
    else
        for (int v : vars) count.log2 += std::log2(static_cast<double>(cards[v]));
    return count;
}

JunctionTree tree_of_order(const EliminationProblem& problem, const std::vector<int>& order) {
    const int n = static_cast<int>(problem.stage.size());
    std::vector<int> rank(n, -1);
    for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<int>(i);
    // later[i]: ranks of the neighbours of the variable of rank i that are eliminated after it, fill included. Sorted lists are
    // merged, since in a dense graph they are long.
    std::vector<std::vector<int>> later(order.size()), inherited(order.size());
    for (const auto& scope : problem.scopes)
        for (int a : scope)
            for (int b : scope)
                if (rank[a] >= 0 && rank[b] > rank[a]) later[rank[a]].push_back(rank[b]);
    std::vector<int> merged;
    for (size_t i = 0; i < order.size(); ++i) {
        auto& after = later[i];
        std::sort(after.begin(), after.end());
        after.erase(std::unique(after.begin(), after.end()), after.end());
        merged.clear();
        std::set_union(after.begin(), after.end(), inherited[i].begin(), inherited[i].end(), std::back_inserter(merged));
        after = merged;
        inherited[i] = {};
        if (after.size() < 2) continue;
        auto& heir = inherited[after[0]];  // the first of them to go inherits the others
        merged.clear();
        std::set_union(after.begin() + 1, after.end(), heir.begin(), heir.end(), std::back_inserter(merged));
        heir = merged;
    }
    JunctionTree tree;
    std::vector<int> home(n, -1);
    for (size_t i = order.size(); i-- > 0;) {
        const int v = order[i];
        auto& after = later[i];
        for (int& u : after) u = order[u];
        const int up = after.empty() ? -1 : home[after[0]];
        if (up >= 0 && tree.cliques[up].vars.size() == after.size() && problem.stage[after[0]] == problem.stage[v]) {
            tree.cliques[up].vars.push_back(v);
            home[v] = up;
            continue;
        }
        Clique clique;
        clique.parent = up;
        clique.separator.assign(after.rbegin(), after.rend());
        clique.vars = clique.separator;
        clique.vars.push_back(v);
        home[v] = static_cast<int>(tree.cliques.size());
        tree.cliques.push_back(std::move(clique));
    }
    for (size_t c = 0; c < tree.cliques.size(); ++c) {
        Clique& clique = tree.cliques[c];
        clique.entries = cells_of(clique.vars, *problem.cards);
        tree.total += clique.entries;
        if (tree.largest < 0 || tree.cliques[tree.largest].entries < clique.entries) tree.largest = static_cast<int>(c);
    }
    return tree;
}

JunctionTree hang_from(const JunctionTree& tree, int root) {
    std::vector<int> path;  // from the new root up to the old one: only these edges turn round
    for (int c = root; c >= 0; c = tree.cliques[c].parent) path.push_back(c);
    std::vector<int> parent(tree.cliques.size());
    std::vector<std::vector<int>> separator(tree.cliques.size());
    for (size_t c = 0; c < tree.cliques.size(); ++c) {
        parent[c] = tree.cliques[c].parent;
        separator[c] = tree.cliques[c].separator;
    }
    for (size_t i = path.size(); i-- > 1;) {
        parent[path[i]] = path[i - 1];
        separator[path[i]] = tree.cliques[path[i - 1]].separator;
    }
    parent[root] = -1;
    separator[root].clear();
    std::vector<std::vector<int>> children(tree.cliques.size());
    std::vector<int> visit;
    for (size_t c = 0; c < tree.cliques.size(); ++c)
        (parent[c] < 0 ? visit : children[parent[c]]).push_back(static_cast<int>(c));
    JunctionTree hung;
    hung.total = tree.total;
    std::vector<int> place(tree.cliques.size());
    for (size_t i = 0; i < visit.size(); ++i) {
        const int c = visit[i];
        place[c] = static_cast<int>(i);
        Clique clique = tree.cliques[c];
        clique.parent = parent[c] < 0 ? -1 : place[parent[c]];
        clique.separator = separator[c];
        hung.cliques.push_back(std::move(clique));
        visit.insert(visit.end(), children[c].begin(), children[c].end());
    }
    hung.largest = place[tree.largest];
    return hung;
}

void bind_triangulate(nanobind::module_& m) {
    using namespace nanobind::literals;
    m.def(
        "triangulate",
        [](std::vector<int> cards, std::vector<std::vector<int>> scopes, std::vector<int> stage, int64_t tries,
           int64_t work, uint64_t seed) {
            const EliminationProblem problem{&cards, std::move(scopes), std::move(stage)};
            OrderSearch search(problem, seed);
            search.run(tries, work);
            const JunctionTree& tree = search.tree();
            std::vector<std::vector<int>> cliques;
            std::vector<int> parents;
            for (const Clique& clique : tree.cliques) {
                cliques.push_back(clique.vars);
                parents.push_back(clique.parent);
            }
            return nanobind::make_tuple(search.order(), cliques, parents, tree.total.cells, tree.total.log2);
        },
        "cards"_a, "scopes"_a, "stage"_a, "tries"_a, "work"_a, "seed"_a);
}

}  // namespace bayeskit::network
