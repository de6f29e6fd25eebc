#include "network/schedule.hpp"

#include <algorithm>
#include <limits>

namespace bayeskit::network {

std::vector<int> Schedule::free_vars(const Step& step) const {
    std::vector<int> vars;
    for (int v : tree->cliques[step.clique].vars)
        if (!hard[v]) vars.push_back(v);
    return vars;
}

View Schedule::view_of(const Step& step, const std::vector<int>& vars, const std::vector<int64_t>& strides) {
    int64_t n[64], stride[64];
    int k = 0;
    for (int v : tree->cliques[step.clique].vars) {
        if (hard[v]) continue;
        n[k] = network.cards[v];
        stride[k] = 0;
        for (size_t i = 0; i < vars.size(); ++i)
            if (vars[i] == v) stride[k] = strides[i];
        ++k;
    }
    View view;
    view.outer = static_cast<int>(outer_strides.size());
    outer_strides.insert(outer_strides.end(), stride, stride + step.n_outer);
    view.axes = static_cast<int>(axes.size());
    view.n_axes = merge_axes(n + step.n_outer, stride + step.n_outer, k - step.n_outer, axes);
    ++n_loops;
    return view;
}

namespace {

// Strides of a dense table over the variables of `vars` that are free.
void dense_strides(const Network& network, const std::vector<char>& hard, const std::vector<int>& vars,
                   std::vector<int>& free, std::vector<int64_t>& strides) {
    free.clear();
    for (int v : vars)
        if (!hard[v]) free.push_back(v);
    strides.assign(free.size(), 1);
    for (size_t i = free.size(); i-- > 1;) strides[i - 1] = strides[i] * network.cards[free[i]];
}

}  // namespace

Schedule::Schedule(const Network& network_, std::shared_ptr<const JunctionTree> tree_, std::vector<char> hard_,
                 const std::vector<char>& active, bool all_marginals)
    : network(network_), tree(std::move(tree_)), hard(std::move(hard_)) {
    // A variable with one state has nothing to sum over; without it no clique has more than 40 axes.
    for (int v = 0; v < network.size(); ++v)
        if (network.cards[v] == 1) hard[v] = 1;
    const int n_cliques = static_cast<int>(tree->cliques.size());
    steps.resize(n_cliques);
    for (int c = 0; c < n_cliques; ++c) {
        steps[c].clique = c;
        plan_step(steps[c]);
        if (tree->cliques[c].parent >= 0) steps[tree->cliques[c].parent].children.push_back(c);
    }
    std::vector<int> free;
    std::vector<int64_t> strides;
    for (int c = 0; c < n_cliques; ++c) {
        Step& step = steps[c];
        dense_strides(network, hard, tree->cliques[c].separator, free, strides);
        step.up_entries = free.empty() ? 1 : strides[0] * network.cards[free[0]];
        step.up = message_entries;
        message_entries += step.up_entries;
        if (tree->cliques[c].parent < 0) continue;
        step.up_view = view_of(step, free, strides);
        step.child_view = view_of(steps[tree->cliques[c].parent], free, strides);
    }
    assign_factors(active);
    const int n = network.size();
    marginal_offset.assign(n + 1, 0);
    for (int v = 0; v < n; ++v) marginal_offset[v + 1] = marginal_offset[v] + network.cards[v];
    home.assign(n, -1);
    for (int c = 0; c < n_cliques; ++c)
        for (int v : tree->cliques[c].vars)
            if (!hard[v] && (home[v] < 0 || steps[c].entries < steps[home[v]].entries)) home[v] = c;
    home_view.resize(n);
    for (int v = 0; v < n; ++v)
        if (home[v] >= 0) home_view[v] = view_of(steps[home[v]], {v}, {1});
    if (all_marginals) assign_marginals();
}

void Schedule::plan_step(Step& step) {
    const std::vector<int> vars = free_vars(step);
    for (int v : vars) step.entries *= network.cards[v];
    step.tile = step.entries;
    step.outer_shape = static_cast<int>(outer_lengths.size());
    while (step.tile > TILE) {
        outer_lengths.push_back(network.cards[vars[step.n_outer]]);
        step.tile /= outer_lengths.back();
        step.n_tiles *= outer_lengths.back();
        ++step.n_outer;
    }
    step.store = clique_entries;
    clique_entries += step.entries;
    largest = std::max(largest, step.entries);
}

void Schedule::assign_factors(const std::vector<char>& active) {
    const int n = network.size(), n_cliques = static_cast<int>(steps.size());
    // The clique nearest the root that holds the whole table: the deepest of the tops of its variables.
    std::vector<int> top(n, -1);
    for (int c = n_cliques; c-- > 0;)
        for (int v : tree->cliques[c].vars) top[v] = c;
    std::vector<std::vector<int>> at(n_cliques);
    std::vector<int> tables(n_cliques, 0), eliminated(n_cliques, 0);
    for (int f = 0; f < n; ++f) {
        if (!active.empty() && !active[f]) continue;
        int place = -1;
        for (int v : network.factors[f].scope)
            if (!hard[v]) place = std::max(place, top[v]);
        if (place < 0) {
            constants.push_back(&network.factors[f]);
            continue;
        }
        at[place].push_back(f);
        ++tables[place];
    }
    for (int v = 0; v < n; ++v)
        if (!hard[v] && top[v] >= 0) ++eliminated[top[v]];
    for (int c = n_cliques; c-- > 0;) {
        Step& step = steps[c];
        step.surplus += tables[c] - eliminated[c];
        if (tree->cliques[c].parent >= 0) steps[tree->cliques[c].parent].surplus += step.surplus;
        step.factors_begin = static_cast<int>(factors.size());
        for (int f : at[c])
            factors.push_back({&network.factors[f], view_of(step, network.factors[f].scope, network.factors[f].stride)});
        step.factors_end = static_cast<int>(factors.size());
    }
}

void Schedule::assign_marginals() {
    const int n = network.size();
    // A variable is summed from the smallest table that holds it; separators are tables too.
    std::vector<int64_t> best(n, std::numeric_limits<int64_t>::max());
    std::vector<int> from(n, -1);
    std::vector<char> separator(n, 0);
    for (size_t c = 0; c < steps.size(); ++c) {
        const auto offer = [&](int v, int64_t entries, char is_separator) {
            if (hard[v] || entries >= best[v]) return;
            best[v] = entries;
            from[v] = static_cast<int>(c);
            separator[v] = is_separator;
        };
        for (int v : tree->cliques[c].vars) offer(v, steps[c].entries, 0);
        for (int v : tree->cliques[c].separator) offer(v, steps[c].up_entries, 1);
    }
    std::vector<int> free;
    std::vector<int64_t> strides;
    for (int v = 0; v < n; ++v) {
        if (from[v] < 0) continue;
        Step& step = steps[from[v]];
        if (!separator[v]) {
            step.marginals.push_back({v, view_of(step, {v}, {1})});
            continue;
        }
        dense_strides(network, hard, tree->cliques[from[v]].separator, free, strides);
        std::vector<int64_t> n_states, stride;
        for (int u : free) {
            n_states.push_back(network.cards[u]);
            stride.push_back(u == v ? 1 : 0);
        }
        View view;
        view.axes = static_cast<int>(axes.size());
        view.n_axes = merge_axes(n_states.data(), stride.data(), static_cast<int>(free.size()), axes);
        step.separator_marginals.push_back({v, view});
        ++n_loops;
    }
}

void Schedule::premultiply() {
    std::vector<FactorUse> merged;
    for (Step& step : steps) {
        Range range;
        for (int f = step.factors_begin; f < step.factors_end; ++f) range = range + factors[f].factor->range;
        if (!is_safe(range)) {  // multiplied together they might underflow: they stay apart
            const int begin = static_cast<int>(merged.size());
            merged.insert(merged.end(), factors.begin() + step.factors_begin, factors.begin() + step.factors_end);
            step.factors_begin = begin;
            step.factors_end = static_cast<int>(merged.size());
            continue;
        }
        auto table = std::make_unique<Factor>();
        table->values.assign(step.entries, 1.0);
        std::vector<int64_t> index(step.n_outer, 0);
        for (int64_t t = 0; t < step.n_tiles; ++t) {
            for (int f = step.factors_begin; f < step.factors_end; ++f) {
                const View& view = factors[f].view;
                int64_t offset = 0;
                for (int a = 0; a < step.n_outer; ++a) offset += index[a] * outer_strides[view.outer + a];
                multiply_cells(table->values.data() + t * step.tile, factors[f].factor->values.data() + offset,
                          axes.data() + view.axes, view.n_axes);
            }
            for (int a = step.n_outer; a-- > 0;) {
                if (++index[a] < outer_lengths[step.outer_shape + a]) break;
                index[a] = 0;
            }
        }
        table->range = range_of_cells(table->values.data(), step.entries);
        std::vector<int> free;
        std::vector<int64_t> strides;
        dense_strides(network, hard, tree->cliques[step.clique].vars, free, strides);
        step.factors_begin = static_cast<int>(merged.size());
        merged.push_back({table.get(), view_of(step, free, strides)});
        step.factors_end = static_cast<int>(merged.size());
        potentials_.push_back(std::move(table));
    }
    factors = std::move(merged);
}

double Schedule::cost() const {
    // Measured: about 3 ns a clique cell for both sweeps and 25 ns a planned loop.
    return 3.0 * static_cast<double>(clique_entries) + 25.0 * n_loops;
}

}  // namespace bayeskit::network
