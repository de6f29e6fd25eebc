#include "network/engine.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace bayeskit::network {
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
std::shared_ptr<const JunctionTree> tree_for_one_question(const EliminationProblem& problem) {
    OrderSearch search(problem, 0);
    search.run(1, 0);
    search.run(64, static_cast<int64_t>(0.75 * std::min(search.tree().total.cells, 1e8)));
    return std::make_shared<JunctionTree>(search.tree());
}

std::vector<int> free_of(const std::vector<int>& vars, const std::vector<char>& hard) {
    std::vector<int> free;
    for (int v : vars)
        if (!hard[v]) free.push_back(v);
    return free;
}

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

EliminationProblem Engine::elimination(const std::vector<char>& hard, const std::vector<char>& active) const {
    const int n = network_.size();
    EliminationProblem problem{&network_.cards, {}, std::vector<int>(n, -1)};
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
    CellCount messages;
    for (const Clique& clique : tree->cliques) {
        std::vector<int> vars = free_of(clique.vars, hard);
        const CellCount entries = cells_of(vars, network_.cards);
        plan->entries += entries;
        messages += cells_of(free_of(clique.separator, hard), network_.cards);
        if (plan->largest < entries) {
            plan->largest = entries;
            plan->largest_vars = std::move(vars);
        }
    }
    plan->stored = messages.cells;
    if (all_marginals) {
        plan->stored += messages.cells;
        for (int card : network_.cards) plan->stored += card;
    }
    const bool keeps_cliques = all_marginals && plan->entries.cells <= STORED_CELLS;
    plan->stored += keeps_cliques ? plan->entries.cells : std::min(plan->largest.cells, static_cast<double>(TILE));
    if (plan->entries.cells > PLANNABLE) plan->stored = INFINITY;
    else
        plan->schedule = std::make_shared<Schedule>(network_, tree, std::move(hard), active, all_marginals);
    return plan;
}

std::shared_ptr<const CompiledTree> Engine::compile(OrderSearch& search) const {
    auto compiled = std::make_shared<CompiledTree>();
    compiled->tree = std::make_shared<JunctionTree>(search.tree());
    compiled->work = search.work();
    compiled->whole = make(Strategy::whole_tree, compiled->tree, std::vector<char>(network_.size(), 0), {}, true);
    return compiled;
}

std::shared_ptr<const CompiledTree> Engine::quick_tree() const {
    const EliminationProblem problem = elimination(std::vector<char>(network_.size(), 0), {});
    OrderSearch search(problem, 0);
    search.run(1, 0);
    return compile(search);
}

std::shared_ptr<const CompiledTree> Engine::searched_tree(const SearchBudget& budget) const {
    // Where the first tree is too large, and has already cost what a search before a refusal may cost, it is the last.
    const auto first_tree = compiled();
    if (first_tree && first_tree->tree->total.cells > PLANNABLE && first_tree->work > SEARCH_BEFORE_REFUSAL) return first_tree;
    const EliminationProblem problem = elimination(std::vector<char>(network_.size(), 0), {});
    OrderSearch search(problem, budget.seed);
    search.run(1, 0);
    const double first = search.tree().total.cells;
    const double pays = first > PLANNABLE ? SEARCH_BEFORE_REFUSAL : std::max(LEAST_SEARCH, 100.0 * first);
    search.run(budget.tries, static_cast<int64_t>(std::min(pays, static_cast<double>(budget.work))));
    auto compiled = compile(search);
    const Plan& plan = *compiled->whole;
    if (plan.schedule && plan.entries.cells <= STORED_CELLS) plan.schedule->premultiply();
    return compiled;
}

void Engine::use(std::shared_ptr<const CompiledTree> compiled) {
    const std::lock_guard<std::mutex> hold(lock_);
    compiled_ = std::move(compiled);
}

std::shared_ptr<const CompiledTree> Engine::compiled() const {
    const std::lock_guard<std::mutex> hold(lock_);
    return compiled_;
}

std::shared_ptr<const Plan> Engine::plan_marginals(const std::vector<int>& hard) const {
    const auto now = compiled();
    if (hard.empty() || now->tree->total.cells <= SMALL_TREE) return now->whole;
    const std::vector<char> observed = flags(hard);
    const double sliced = sliced_entries(*now->tree, network_.cards, observed);
    // One greedy elimination costs about 5 µs a variable, two sweeps about 3 ns a cell.
    if (3.0 * sliced > 4.0 * 5000.0 * network_.size()) {
        const EliminationProblem problem = elimination(observed, {});
        OrderSearch search(problem, 0);
        search.run(64, static_cast<int64_t>(0.75 * std::min(sliced, 1e8)));
        auto fresh = std::make_shared<JunctionTree>(search.tree());
        if (fresh->total.cells < 0.9 * sliced) return make(Strategy::shrunk_network, fresh, observed, {}, true);
    }
    return make(Strategy::sliced_tree, now->tree, observed, {}, true);
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
    EliminationProblem problem = elimination(observed, active);
    problem.scopes.push_back(targets);
    for (int v : targets) problem.stage[v] = 0;
    const auto tree = tree_for_one_question(problem);
    const auto hung = targets.empty() ? tree : std::make_shared<const JunctionTree>(hang_from(*tree, smallest_holding(*tree, targets)));
    auto plan = make(Strategy::shrunk_network, hung, observed, active, false);
    root_at(*plan, targets);
    return plan;
}

std::shared_ptr<const Plan> Engine::plan_max(const std::vector<int>& sought, const std::vector<int>& hard,
                                             const std::vector<int>& soft) const {
    const std::vector<char> observed = flags(hard), wanted = flags(sought);
    const std::vector<char> active = ancestors(sought, hard, soft);
    EliminationProblem problem = elimination(observed, active);
    // Sums come before maxima: they do not change places (constrained elimination, Park & Darwiche 2004, section 3).
    for (int v = 0; v < network_.size(); ++v)
        if (problem.stage[v] >= 0 && wanted[v]) problem.stage[v] = 1;
    const auto tree = tree_for_one_question(problem);
    auto plan = make(Strategy::shrunk_network, tree, observed, active, false);
    plan->sought = sought;
    if (plan->schedule)
        for (Step& step : plan->schedule->steps) step.maximise = wanted[tree->cliques[step.clique].vars.back()];
    return plan;
}

std::shared_ptr<const Plan> Engine::plan_rows(int target, const std::vector<int>& columns) const {
    const std::vector<char> none(network_.size(), 0), active = ancestors({target}, columns, {});
    auto tree = compiled()->tree;
    if (std::find(active.begin(), active.end(), 0) != active.end()) {
        const EliminationProblem problem = elimination(none, active);
        OrderSearch search(problem, 0);
        search.run(64, static_cast<int64_t>(LEAST_SEARCH));
        tree = std::make_shared<JunctionTree>(search.tree());
    }
    auto hung = std::make_shared<JunctionTree>(hang_from(*tree, smallest_holding(*tree, {target})));
    auto plan = make(Strategy::whole_tree, hung, none, active, false);
    if (plan->schedule && plan->entries.cells <= STORED_CELLS) plan->schedule->premultiply();
    root_at(*plan, {target});
    return plan;
}

void Engine::root_at(Plan& plan, const std::vector<int>& targets) const {
    plan.targets = targets;
    plan.stored += cells_of(targets, network_.cards).cells;
    if (!plan.schedule || targets.empty()) return;
    const auto& cliques = plan.tree->cliques;
    for (size_t c = 0; c < cliques.size() && plan.root < 0; ++c)
        if (cliques[c].parent < 0 && holds_all(cliques[c], targets)) plan.root = static_cast<int>(c);
    std::vector<int64_t> strides(targets.size(), 1);
    for (size_t i = targets.size(); i-- > 1;) strides[i - 1] = strides[i] * network_.cards[targets[i]];
    plan.root_view = plan.schedule->view_of(plan.schedule->steps[plan.root], targets, strides);
}

}  // namespace bayeskit::network
