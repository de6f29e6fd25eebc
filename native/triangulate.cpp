// Elimination orders and junction trees: the best of several greedy searches with random tie-breaking.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "bits.hpp"
#include "junction.hpp"
#include "kernels.hpp"
#include "random.hpp"

namespace bayeskit {
namespace {

enum class Greed { fill, weight, weighted_fill, fill_then_weight };
constexpr Greed GREEDS[] = {Greed::fill, Greed::weight, Greed::weighted_fill, Greed::fill_then_weight};

// The graph while it is eliminated, with the score of each node kept up to date.
class Eliminator {
public:
    explicit Eliminator(const Elimination& problem)
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
        while (eliminate_simplicial()) {}
    }

    bool done() const { return left_.empty(); }
    const std::vector<int>& order() const { return order_; }
    double total() const { return total_; }
    int64_t work() const { return work_; }

    // Runs to the end, or gives up when the total passes `limit`.
    bool run(Greed greed, double noise, Random& random, double limit) {
        greed_ = greed;
        if (greed == Greed::weighted_fill)
            for (int v : left_) rescore(v);
        while (!left_.empty()) {
            if (total_ > limit) return false;
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
    double total_ = 0.0;
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
        double entries = cards_[v];
        for (int u : neighbours_) entries *= cards_[u];
        // A clique that lies in one made before is not counted: that is so when v's neighbours were complete and
        // the clique of an earlier node held them all. The bound stays a bound; the tree gives the exact total.
        total_ += entries * (1.0 - 1.0 / cards_[v]);
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
        int64_t missing = 0;
        for (int u : scratch_) {
            weight += log_card_[u];
            missing += graph_.missing(v, u) - 1;  // u is no neighbour of itself
        }
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

}  // namespace

std::vector<int> search_order(const Elimination& problem, const SearchBudget& budget) {
    const Eliminator start(problem);
    if (start.done()) return start.order();
    std::vector<int> best;
    double best_total = std::numeric_limits<double>::infinity();
    int64_t work = 0;
    for (int64_t attempt = 0; attempt < budget.tries; ++attempt) {
        if (attempt > 0 && work > budget.work) break;
        Random random(budget.seed, static_cast<uint64_t>(attempt));
        Eliminator eliminator(start);
        // The four plain rules come first; later tries add noise to the scores, a little more each round.
        const double noise = attempt < 4 ? 0.0 : 0.05 * static_cast<double>(1 + (attempt / 4) % 6);
        const bool finished = eliminator.run(GREEDS[attempt % 4], noise, random, best_total);
        work += eliminator.work() - start.work();
        if (!finished) continue;
        const double total = tree_of_order(problem, eliminator.order()).total;
        if (total < best_total) {
            best_total = total;
            best = eliminator.order();
        }
    }
    return best;
}

JunctionTree tree_of_order(const Elimination& problem, const std::vector<int>& order) {
    const int n = static_cast<int>(problem.stage.size());
    std::vector<int> rank(n, -1);
    for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<int>(i);
    // later[v]: neighbours of v that are eliminated after it, in elimination order, fill included.
    std::vector<std::vector<int>> later(n);
    for (const auto& scope : problem.scopes)
        for (int a : scope)
            for (int b : scope)
                if (rank[a] >= 0 && rank[b] > rank[a]) later[a].push_back(b);
    const auto by_rank = [&](int a, int b) { return rank[a] < rank[b]; };
    for (int v : order) {
        auto& after = later[v];
        std::sort(after.begin(), after.end(), by_rank);
        after.erase(std::unique(after.begin(), after.end()), after.end());
        // The first of them to go inherits the others.
        if (after.size() > 1) later[after[0]].insert(later[after[0]].end(), after.begin() + 1, after.end());
    }
    JunctionTree tree;
    std::vector<int> home(n, -1);
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
        const int v = *it;
        const auto& after = later[v];
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
        for (int v : clique.vars) clique.entries *= (*problem.cards)[v];
        tree.total += clique.entries;
        if (tree.largest < 0 || clique.entries > tree.cliques[tree.largest].entries) tree.largest = static_cast<int>(c);
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
            const Elimination problem{&cards, std::move(scopes), std::move(stage)};
            const std::vector<int> order = search_order(problem, {tries, work, seed});
            const JunctionTree tree = tree_of_order(problem, order);
            std::vector<std::vector<int>> cliques;
            std::vector<int> parents;
            for (const Clique& clique : tree.cliques) {
                cliques.push_back(clique.vars);
                parents.push_back(clique.parent);
            }
            return nanobind::make_tuple(order, cliques, parents, tree.total);
        },
        "cards"_a, "scopes"_a, "stage"_a, "tries"_a, "work"_a, "seed"_a);
}

}  // namespace bayeskit
