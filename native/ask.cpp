// Runs plans: evidence in, marginals, joint tables and most probable states out.
#include <algorithm>
#include <cmath>
#include <deque>

#include "engine_class.hpp"

namespace bayeskit {
namespace {

constexpr double NEVER = -std::numeric_limits<double>::infinity();

// Evidence as a program takes it: observed variables it slices by state, all others as likelihoods.
struct Evidence {
    std::vector<int> state;  // read for observed variables, and written when the best states are found
    double log_scale = 0.0;
    std::vector<Likelihood<double>> soft;
    std::deque<std::vector<double>> owned;

    Evidence(const Network& network, const Program& program, const std::vector<int>& hard,
             const std::vector<int>& states, const std::vector<int>& soft_vars, const std::vector<Array>& likelihoods)
        : state(network.size(), 0) {
        for (size_t i = 0; i < hard.size(); ++i) {
            const int v = hard[i];
            if (v < 0 || v >= network.size() || states[i] < 0 || states[i] >= network.cards[v])
                throw std::invalid_argument("evidence outside the network.");
            state[v] = states[i];
            if (program.hard[v] || program.home[v] < 0) continue;
            owned.emplace_back(network.cards[v], 0.0);
            owned.back()[states[i]] = 1.0;
            soft.push_back({v, owned.back().data()});
        }
        for (size_t i = 0; i < soft_vars.size(); ++i) {
            const int v = soft_vars[i];
            if (v < 0 || v >= network.size() || static_cast<int>(likelihoods[i].shape(0)) != network.cards[v])
                throw std::invalid_argument("a likelihood needs one number a state.");
            owned.emplace_back(network.cards[v]);
            read_doubles_into(likelihoods[i], owned.back());
            // Scaled to 1, small likelihoods on many variables cannot underflow.
            const double top = *std::max_element(owned.back().begin(), owned.back().end());
            for (double& value : owned.back()) value /= top;
            log_scale += std::log(top);
            if (program.home[v] >= 0) soft.push_back({v, owned.back().data()});
        }
    }

    static void read_doubles_into(const Array& array, std::vector<double>& out) {
        const Column column = column_of(array);
        if (column.type != Type::f64) throw std::invalid_argument("a likelihood must be float64.");
        for (size_t i = 0; i < out.size(); ++i)
            out[i] = *reinterpret_cast<const double*>(column.data + static_cast<int64_t>(i) * column.stride);
    }
};

class Borrowed {
public:
    explicit Borrowed(PlanHandle::Spaces& spaces) : spaces_(spaces) {
        const std::lock_guard<std::mutex> hold(spaces_.lock);
        if (!spaces_.idle.empty()) {
            space_ = std::move(spaces_.idle.back());
            spaces_.idle.pop_back();
        } else {
            space_ = std::make_unique<Workspace<double>>();
        }
    }
    ~Borrowed() {
        // A large one goes back to the system: many plans may be kept.
        if (space_->up.capacity() + space_->cliques.capacity() > STORED_CELLS) return;
        const std::lock_guard<std::mutex> hold(spaces_.lock);
        spaces_.idle.push_back(std::move(space_));
    }
    Workspace<double>& operator*() { return *space_; }

private:
    PlanHandle::Spaces& spaces_;
    std::unique_ptr<Workspace<double>> space_;
};

const Program& program_of(const PlanHandle& handle) {
    if (!handle.plan->program) throw std::invalid_argument("this plan is too large to run.");
    return *handle.plan->program;
}

// Short work keeps the lock: giving it back and forth would cost more.
struct Released {
    std::optional<nb::gil_scoped_release> release;
    explicit Released(const Plan& plan) {
        if (plan.entries > SMALL_TREE) release.emplace();
    }
};

// Going down, a clique's best cell is sought in the block that its separator's states leave open.
void settle(const Step& step, const Clique& clique, const Program& program, Propagation<double>& run,
            std::vector<int>& state) {
    const std::vector<int>& cards = program.network.cards;
    const int64_t block = step.entries / step.up_entries;
    int64_t begin = 0;
    std::vector<int> rest;
    for (int v : clique.vars) {
        if (program.hard[v]) continue;
        if (std::find(clique.separator.begin(), clique.separator.end(), v) == clique.separator.end()) rest.push_back(v);
        else begin = begin * cards[v] + state[v];
    }
    begin *= block;
    int64_t best = begin;
    double best_value = -1.0;
    for (int64_t t = begin / step.tile; t * step.tile < begin + block; ++t) {
        const double* tile = run.tile_at(step, t);
        const int64_t from = std::max(begin, t * step.tile), to = std::min(begin + block, (t + 1) * step.tile);
        for (int64_t i = from; i < to; ++i)
            if (tile[i - t * step.tile] > best_value) {
                best_value = tile[i - t * step.tile];
                best = i;
            }
    }
    int64_t cell = best - begin;
    for (size_t i = rest.size(); i-- > 0;) {
        state[rest[i]] = static_cast<int>(cell % cards[rest[i]]);
        cell /= cards[rest[i]];
    }
}

}  // namespace

nb::tuple PlanHandle::marginals(const Ints& hard, const Ints& states, const Ints& soft,
                                const std::vector<Array>& likelihoods) const {
    const Program& program = program_of(*this);
    const Evidence evidence(engine->network(), program, hard, states, soft, likelihoods);
    Owned<double> out({static_cast<size_t>(program.marginal_offset.back())});
    double log = NEVER;
    {
        const Released released(*plan);
        Borrowed space(*spaces);
        Propagation<double> run(program, *space, evidence.state.data(), evidence.soft, plan->entries <= STORED_CELLS);
        if (run.marginals()) {
            log = run.log + evidence.log_scale;
            std::copy((*space).marginals.begin(), (*space).marginals.end(), out.data);
            for (int v = 0; v < engine->network().size(); ++v)
                if (program.hard[v]) out.data[program.marginal_offset[v] + evidence.state[v]] = 1.0;
        }
    }
    if (log == NEVER) return nb::make_tuple(nb::none(), log);
    return nb::make_tuple(out.to_numpy(), log);
}

nb::tuple PlanHandle::joint(const Ints& hard, const Ints& states, const Ints& soft,
                            const std::vector<Array>& likelihoods) const {
    const Program& program = program_of(*this);
    const Evidence evidence(engine->network(), program, hard, states, soft, likelihoods);
    size_t cells = 1;
    std::vector<size_t> shape;
    for (int v : plan->targets) {
        shape.push_back(engine->network().cards[v]);
        cells *= shape.back();
    }
    Owned<double> out({cells}, true);
    double log = NEVER;
    {
        const Released released(*plan);
        Borrowed space(*spaces);
        Propagation<double> run(program, *space, evidence.state.data(), evidence.soft, false);
        if (collect_targets(run, *plan, out.data)) log = run.log + evidence.log_scale;
    }
    if (log == NEVER) return nb::make_tuple(nb::none(), log);
    double sum = 0.0;
    for (size_t i = 0; i < cells; ++i) sum += out.data[i];
    if (!plan->targets.empty())
        for (size_t i = 0; i < cells; ++i) out.data[i] /= sum;
    return nb::make_tuple(out.to_numpy(), log);
}

nb::tuple PlanHandle::maximum(const Ints& hard, const Ints& states, const Ints& soft,
                              const std::vector<Array>& likelihoods) const {
    const Program& program = program_of(*this);
    Evidence evidence(engine->network(), program, hard, states, soft, likelihoods);
    double log = NEVER;
    {
        const Released released(*plan);
        Borrowed space(*spaces);
        Propagation<double> run(program, *space, evidence.state.data(), evidence.soft, false);
        std::vector<double> totals(program.steps.size(), 0.0);
        bool good = run.collect([&](const Step& step, const double* tile, int64_t) {
            double& total = totals[&step - program.steps.data()];
            for (int64_t i = 0; i < step.tile; ++i) {
                if (step.maximise) raise(total, tile[i]);
                else total += tile[i];
            }
        });
        for (size_t c = 0; good && c < totals.size(); ++c) {
            if (plan->tree->cliques[c].parent >= 0) continue;
            good = totals[c] > 0.0;
            run.log += std::log(totals[c]);
        }
        for (size_t c = 0; good && c < program.steps.size(); ++c)
            if (program.steps[c].maximise) settle(program.steps[c], plan->tree->cliques[c], program, run, evidence.state);
        if (good) log = run.log + evidence.log_scale;
    }
    if (log == NEVER) return nb::make_tuple(nb::none(), log);
    std::vector<int> best;
    for (int v : plan->sought) best.push_back(evidence.state[v]);
    return nb::make_tuple(best, log);
}

InferenceEngine::InferenceEngine(std::vector<int> cards, std::vector<std::vector<int>> parents, nb::list tables) {
    Network network;
    const int n = static_cast<int>(cards.size());
    if (parents.size() != cards.size() || tables.size() != cards.size())
        throw std::invalid_argument("cards, parents and tables differ in length.");
    network.cards = std::move(cards);
    network.parents = std::move(parents);
    network.children.resize(n);
    network.factors.resize(n);
    for (int v = 0; v < n; ++v) {
        Factor& factor = network.factors[v];
        factor.scope = network.parents[v];
        factor.scope.push_back(v);
        factor.stride.assign(factor.scope.size(), 1);
        int64_t size = 1;
        for (size_t i = factor.scope.size(); i-- > 0;) {
            factor.stride[i] = size;
            size *= network.cards.at(factor.scope[i]);
        }
        for (int p : network.parents[v]) network.children[p].push_back(v);
        const auto table = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(tables[v]);
        if (static_cast<int64_t>(table.size()) != size) throw std::invalid_argument("a table has the wrong size.");
        factor.values.assign(table.data(), table.data() + size);
        factor.has_zero = std::any_of(factor.values.begin(), factor.values.end(), [](double p) { return p <= 0.0; });
    }
    engine_ = std::make_shared<Engine>(std::move(network));
}

void InferenceEngine::compile(int64_t tries, int64_t work, uint64_t seed) {
    nb::gil_scoped_release release;
    engine_->compile({tries, work, seed});
    whole_ = PlanHandle{engine_, engine_->whole()};
}

PlanHandle InferenceEngine::plan_marginals(const std::vector<int>& hard) const {
    const auto plan = engine_->plan_marginals(hard);
    return plan == engine_->whole() ? *whole_ : PlanHandle{engine_, plan};
}
PlanHandle InferenceEngine::plan_joint(const std::vector<int>& targets, const std::vector<int>& hard,
                                       const std::vector<int>& soft, bool with_evidence) const {
    return {engine_, engine_->plan_joint(targets, hard, soft, with_evidence)};
}
PlanHandle InferenceEngine::plan_max(const std::vector<int>& sought, const std::vector<int>& hard,
                                     const std::vector<int>& soft) const {
    return {engine_, engine_->plan_max(sought, hard, soft)};
}

}  // namespace bayeskit
