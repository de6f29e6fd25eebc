#include "engine.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace bayeskit {
namespace {

bool holds_all(const Clique& clique, const std::vector<int>& vars) {
    return std::all_of(vars.begin(), vars.end(), [&](int v) {
        return std::find(clique.vars.begin(), clique.vars.end(), v) != clique.vars.end();
    });
}

int smallest_holding(const JunctionTree& tree, const std::vector<int>& vars) {
    int best = -1;
    for (size_t c = 0; c < tree.cliques.size(); ++c)
        if (holds_all(tree.cliques[c], vars) && (best < 0 || tree.cliques[c].entries < tree.cliques[best].entries))
            best = static_cast<int>(c);
    return best;
}

// Cells of a tree once observed variables are sliced away.
double sliced_entries(const JunctionTree& tree, const std::vector<int>& cards, const std::vector<char>& hard) {
    double total = 0.0;
    for (const Clique& clique : tree.cliques) {
        double entries = 1.0;
        for (int v : clique.vars)
            if (!hard[v]) entries *= cards[v];
        total += entries;
    }
    return total;
}

// A search for one question may cost about a quarter of what the answer is expected to cost.
SearchBudget quick_search(double entries) { return {64, static_cast<int64_t>(0.75 * std::min(entries, 1e8)), 0}; }

}  // namespace

std::vector<char> Engine::flags(const std::vector<int>& vars) const {
    std::vector<char> flag(network_.size(), 0);
    for (int v : vars) flag[v] = 1;
    return flag;
}

std::vector<char> Engine::ancestors(const std::vector<int>& a, const std::vector<int>& b,
                                    const std::vector<int>& c) const {
    std::vector<char> seen(network_.size(), 0);
    std::vector<int> visit;
    for (const auto* set : {&a, &b, &c}) visit.insert(visit.end(), set->begin(), set->end());
    while (!visit.empty()) {
        const int v = visit.back();
        visit.pop_back();
        if (seen[v]) continue;
        seen[v] = 1;
        visit.insert(visit.end(), network_.parents[v].begin(), network_.parents[v].end());
    }
    return seen;
}

Elimination Engine::elimination(const std::vector<char>& hard, const std::vector<char>& active) const {
    const int n = network_.size();
    Elimination problem{&network_.cards, {}, std::vector<int>(n, -1)};
    for (int f = 0; f < n; ++f) {
        if (!active.empty() && !active[f]) continue;
        std::vector<int> scope;
        for (int v : network_.factors[f].scope)
            if (!hard[v]) {
                scope.push_back(v);
                problem.stage[v] = 0;
            }
        problem.scopes.push_back(std::move(scope));
    }
    return problem;
}

std::shared_ptr<Plan> Engine::make(Strategy strategy, std::shared_ptr<const JunctionTree> tree, std::vector<char> hard,
                                   const std::vector<char>& active, bool all_marginals) const {
    auto plan = std::make_shared<Plan>();
    plan->strategy = strategy;
    plan->tree = tree;
    for (const Clique& clique : tree->cliques) {
        double entries = 1.0, separator = 1.0;
        for (int v : clique.vars)
            if (!hard[v]) entries *= network_.cards[v];
        for (int v : clique.separator)
            if (!hard[v]) separator *= network_.cards[v];
        plan->entries += entries;
        plan->messages += separator;
        if (entries > plan->largest) {
            plan->largest = entries;
            plan->largest_vars.clear();
            for (int v : clique.vars)
                if (!hard[v]) plan->largest_vars.push_back(v);
        }
    }
    if (plan->entries <= PLANNABLE)
        plan->program = std::make_shared<Program>(network_, tree, std::move(hard), active, all_marginals);
    return plan;
}

void Engine::compile(const SearchBudget& budget) {
    const std::vector<char> none(network_.size(), 0);
    const Elimination problem = elimination(none, {});
    // A first look tells how large the tree is, hence how long a search pays; the budget is the upper limit.
    const double first = tree_of_order(problem, search_order(problem, {4, 0, budget.seed})).total;
    const double pays = first > PLANNABLE ? 5e7 : std::max(2e6, 100.0 * first);
    const SearchBudget search{budget.tries, static_cast<int64_t>(std::min(pays, static_cast<double>(budget.work))), budget.seed};
    tree_ = std::make_shared<JunctionTree>(tree_of_order(problem, search_order(problem, search)));
    auto plan = make(Strategy::whole_tree, tree_, none, {}, true);
    if (plan->program && plan->entries <= STORED_CELLS) plan->program->premultiply();
    whole_ = plan;
}

std::shared_ptr<const Plan> Engine::plan_marginals(const std::vector<int>& hard) const {
    if (hard.empty() || tree_->total <= SMALL_TREE) return whole_;
    const std::vector<char> observed = flags(hard);
    const double sliced = sliced_entries(*tree_, network_.cards, observed);
    // One greedy elimination costs about 5 µs a variable, two sweeps about 3 ns a cell.
    if (3.0 * sliced > 4.0 * 5000.0 * network_.size()) {
        const Elimination problem = elimination(observed, {});
        auto fresh = std::make_shared<JunctionTree>(tree_of_order(problem, search_order(problem, quick_search(sliced))));
        if (fresh->total < 0.9 * sliced) return make(Strategy::shrunk_network, fresh, observed, {}, true);
    }
    return make(Strategy::sliced_tree, tree_, observed, {}, true);
}

void Engine::drop_separated(std::vector<char>& active, const std::vector<char>& hard, const std::vector<int>& targets,
                            const std::vector<int>& soft) const {
    const int n = network_.size();
    std::vector<int> leader(n);
    std::iota(leader.begin(), leader.end(), 0);
    const std::function<int(int)> find = [&](int v) {
        while (leader[v] != v) v = leader[v] = leader[leader[v]];
        return v;
    };
    for (int f = 0; f < n; ++f) {
        if (!active[f]) continue;
        int first = -1;
        for (int v : network_.factors[f].scope) {
            if (hard[v]) continue;
            if (first < 0) first = v;
            else leader[find(v)] = find(first);
        }
    }
    // A part without target only scales the answer; where it might be 0 it is kept, to find impossible evidence.
    std::vector<char> keep(n, 0);
    for (int v : targets) keep[find(v)] = 1;
    for (int v : soft) keep[find(v)] = 1;
    for (int f = 0; f < n; ++f)
        if (active[f] && network_.factors[f].has_zero)
            for (int v : network_.factors[f].scope)
                if (!hard[v]) keep[find(v)] = 1;
    for (int f = 0; f < n; ++f) {
        if (!active[f]) continue;
        for (int v : network_.factors[f].scope)
            if (!hard[v] && !keep[find(v)]) {
                active[f] = 0;
                break;
            }
    }
}

std::shared_ptr<const Plan> Engine::plan_joint(const std::vector<int>& targets, const std::vector<int>& hard,
                                               const std::vector<int>& soft, bool with_evidence) const {
    const std::vector<char> observed = flags(hard);
    std::vector<char> active = ancestors(targets, hard, soft);  // what stands below is barren
    if (!with_evidence) drop_separated(active, observed, targets, soft);
    Elimination problem = elimination(observed, active);
    problem.scopes.push_back(targets);
    for (int v : targets) problem.stage[v] = 0;
    const double guess = tree_of_order(problem, search_order(problem, {1, 0, 0})).total;
    auto tree = std::make_shared<JunctionTree>(tree_of_order(problem, search_order(problem, quick_search(guess))));
    auto hung = targets.empty() ? tree : std::make_shared<JunctionTree>(hang_from(*tree, smallest_holding(*tree, targets)));
    auto plan = make(Strategy::shrunk_network, hung, observed, active, false);
    root_at(*plan, targets);
    return plan;
}

std::shared_ptr<const Plan> Engine::plan_max(const std::vector<int>& sought, const std::vector<int>& hard,
                                             const std::vector<int>& soft) const {
    const std::vector<char> observed = flags(hard), wanted = flags(sought);
    const std::vector<char> active = ancestors(sought, hard, soft);
    Elimination problem = elimination(observed, active);
    // Sums come before maxima: they do not change places (constrained elimination, Park & Darwiche 2004, section 3).
    for (int v = 0; v < network_.size(); ++v)
        if (problem.stage[v] >= 0 && wanted[v]) problem.stage[v] = 1;
    const double guess = tree_of_order(problem, search_order(problem, {1, 0, 0})).total;
    auto tree = std::make_shared<JunctionTree>(tree_of_order(problem, search_order(problem, quick_search(guess))));
    auto plan = make(Strategy::shrunk_network, tree, observed, active, false);
    plan->sought = sought;
    if (plan->program)
        for (Step& step : plan->program->steps) step.maximise = wanted[tree->cliques[step.clique].vars.back()];
    return plan;
}

std::shared_ptr<const Plan> Engine::plan_rows(int target, const std::vector<int>& columns) const {
    const std::vector<char> none(network_.size(), 0), active = ancestors({target}, columns, {});
    auto tree = tree_;
    if (!tree || std::find(active.begin(), active.end(), 0) != active.end()) {
        const Elimination problem = elimination(none, active);
        tree = std::make_shared<JunctionTree>(tree_of_order(problem, search_order(problem, {64, 2000000, 0})));
    }
    auto hung = std::make_shared<JunctionTree>(hang_from(*tree, smallest_holding(*tree, {target})));
    auto plan = make(Strategy::whole_tree, hung, none, active, false);
    if (plan->program && plan->entries <= STORED_CELLS) plan->program->premultiply();
    root_at(*plan, {target});
    return plan;
}

void Engine::root_at(Plan& plan, const std::vector<int>& targets) const {
    plan.targets = targets;
    if (!plan.program || targets.empty()) return;
    const auto& cliques = plan.tree->cliques;
    for (size_t c = 0; c < cliques.size() && plan.root < 0; ++c)
        if (cliques[c].parent < 0 && holds_all(cliques[c], targets)) plan.root = static_cast<int>(c);
    std::vector<int64_t> strides(targets.size(), 1);
    for (size_t i = targets.size(); i-- > 1;) strides[i - 1] = strides[i] * network_.cards[targets[i]];
    plan.root_view = plan.program->view_of(plan.program->steps[plan.root], targets, strides);
}

}  // namespace bayeskit
