// Runs plans: evidence in, marginals, joint tables and most probable states out.
#include <algorithm>
#include <cmath>
#include <deque>

#include "network/python_engine.hpp"

namespace bayeskit::network {
namespace {

constexpr double NEVER = -std::numeric_limits<double>::infinity();
constexpr double BEYOND = std::numeric_limits<double>::quiet_NaN();

// Evidence as a schedule takes it: observed variables it slices by state, all others as likelihoods.
struct Evidence {
    std::vector<int> state;  // read for observed variables, and written when the best states are found
    double log_scale = 0.0;  // of likelihoods that are constants
    std::vector<Likelihood<double>> soft;
    std::deque<std::vector<double>> owned;
    std::vector<Likelihood<WideDouble>> wide_soft;
    std::deque<std::vector<WideDouble>> wide_owned;

    Evidence(const Network& network, const Schedule& schedule, const std::vector<int>& hard,
             const std::vector<int>& states, const std::vector<int>& soft_vars, const std::vector<Array>& likelihoods)
        : state(network.size(), 0) {
        for (size_t i = 0; i < hard.size(); ++i) {
            const int v = hard[i];
            if (v < 0 || v >= network.size() || states[i] < 0 || states[i] >= network.cards[v])
                throw std::invalid_argument("evidence outside the network.");
            state[v] = states[i];
            if (schedule.hard[v] || schedule.home[v] < 0) continue;
            owned.emplace_back(network.cards[v], 0.0);
            owned.back()[states[i]] = 1.0;
            soft.push_back({v, owned.back().data(), {0, 1}});
        }
        for (size_t i = 0; i < soft_vars.size(); ++i) {
            const int v = soft_vars[i];
            if (v < 0 || v >= network.size() || static_cast<int>(likelihoods[i].shape(0)) != network.cards[v])
                throw std::invalid_argument("a likelihood needs one number a state.");
            owned.emplace_back(network.cards[v]);
            read_doubles_into(likelihoods[i], owned.back());
            if (schedule.home[v] < 0) {  // observed, or with one state: a constant
                log_scale += std::log(owned.back()[state[v]]);
                continue;
            }
            soft.push_back({v, owned.back().data(), range_of_cells(owned.back().data(), network.cards[v])});
        }
    }

    template <typename V> const std::vector<Likelihood<V>>& likelihoods(const std::vector<int>& cards) {
        if constexpr (std::is_same_v<V, double>) {
            return soft;
        } else {
            for (const auto& [v, values, range] : soft) {
                wide_owned.emplace_back(cards[v]);
                for (int k = 0; k < cards[v]; ++k) wide_owned.back()[k] = widen(values[k]);
                wide_soft.push_back({v, wide_owned.back().data(), range});
            }
            return wide_soft;
        }
    }

    static void read_doubles_into(const Array& array, std::vector<double>& out) {
        const Column column = column_of(array);
        if (column.type != Type::f64) throw std::invalid_argument("a likelihood must be float64.");
        for (size_t i = 0; i < out.size(); ++i)
            out[i] = *reinterpret_cast<const double*>(column.data + static_cast<int64_t>(i) * column.stride) + 0.0;  // -0 is 0
    }
};

class BorrowedWorkspace {
public:
    explicit BorrowedWorkspace(InferencePlan::Spaces& spaces) : spaces_(spaces) {
        const std::lock_guard<std::mutex> hold(spaces_.lock);
        if (!spaces_.idle.empty()) {
            space_ = std::move(spaces_.idle.back());
            spaces_.idle.pop_back();
        } else {
            space_ = std::make_unique<Workspace<double>>();
        }
    }
    ~BorrowedWorkspace() {
        // A large one goes back to the system: many plans may be kept.
        if (space_->up.capacity() + space_->cliques.capacity() > STORED_CELLS) return;
        const std::lock_guard<std::mutex> hold(spaces_.lock);
        spaces_.idle.push_back(std::move(space_));
    }
    Workspace<double>& operator*() { return *space_; }

private:
    InferencePlan::Spaces& spaces_;
    std::unique_ptr<Workspace<double>> space_;
};

const Schedule& schedule_of(const InferencePlan& handle) {
    if (!handle.plan->schedule) throw std::invalid_argument("this plan is too large to run.");
    return *handle.plan->schedule;
}

// Short work keeps the lock: giving it back and forth would cost more.
struct ReleaseIfLarge {
    std::optional<nb::gil_scoped_release> release;
    explicit ReleaseIfLarge(const Plan& plan) {
        if (plan.entries.cells > SMALL_TREE) release.emplace();
    }
};

bool less(double a, double b) { return a < b; }

// Going down, a clique's best cell is sought in the block that its separator's states leave open.
template <typename V>
void settle(const Step& step, const Clique& clique, const Schedule& schedule, Propagation<V>& run, std::vector<int>& state) {
    const std::vector<int>& cards = schedule.network.cards;
    const int64_t block = step.entries / step.up_entries;
    int64_t begin = 0;
    std::vector<int> rest;
    for (int v : clique.vars) {
        if (schedule.hard[v]) continue;
        if (std::find(clique.separator.begin(), clique.separator.end(), v) == clique.separator.end()) rest.push_back(v);
        else begin = begin * cards[v] + state[v];
    }
    begin *= block;
    int64_t best = begin;
    V best_value{};
    for (int64_t t = begin / step.tile; t * step.tile < begin + block; ++t) {
        const V* tile = run.tile_at(step, t);
        const int64_t from = std::max(begin, t * step.tile), to = std::min(begin + block, (t + 1) * step.tile);
        for (int64_t i = from; i < to; ++i)
            if (less(best_value, tile[i - t * step.tile])) {
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

// Rows that miss 1 by what a network tolerates are divided by their sum, so that leaving out what cannot matter leaves the
// answer as it is.
void divide_rows(std::vector<double>& values, int card) {
    for (size_t row = 0; row < values.size(); row += card) {
        double sum = 0.0;
        for (int k = 0; k < card; ++k) sum += values[row + k];
        for (int k = 0; k < card; ++k) values[row + k] = values[row + k] / sum + 0.0;  // -0 is 0
    }
}

// Numbers that sum to 1, as doubles.
void normalised(const std::vector<double>& cells, double* out) {
    double sum = 0.0;
    for (double x : cells) sum += x;
    for (size_t i = 0; i < cells.size(); ++i) out[i] = cells[i] / sum;
}
void normalised(const std::vector<WideDouble>& cells, double* out) {
    WideDouble sum;
    for (const WideDouble& x : cells) add(sum, x);
    for (size_t i = 0; i < cells.size(); ++i) {
        WideDouble part = cells[i];
        divide(part, sum);
        out[i] = narrow(part, 0);
    }
}
double narrowed(double x) { return x; }
double narrowed(const WideDouble& x) { return narrow(x, 0); }

// Runs a plan in numbers of type V and returns log P(evidence): NEVER when it is impossible, BEYOND when V does not do.
template <typename V, typename Ask>
double run_plan(const InferencePlan& handle, Evidence& evidence, bool store, Ask&& ask) {
    const Schedule& schedule = schedule_of(handle);
    const ReleaseIfLarge released(*handle.plan);
    const auto run_in = [&](Workspace<V>& space) {
        Propagation<V> run(schedule, space, evidence.state.data(), evidence.likelihoods<V>(schedule.network.cards), store);
        const bool good = ask(run, space);
        return run.beyond ? BEYOND : good ? run.log + evidence.log_scale : NEVER;
    };
    if constexpr (std::is_same_v<V, double>) {
        BorrowedWorkspace space(*handle.spaces);
        return run_in(*space);
    } else {
        Workspace<V> space;
        return run_in(space);
    }
}

}  // namespace

nb::tuple InferencePlan::marginals(const Ints& hard, const Ints& states, const Ints& soft,
                                const std::vector<Array>& likelihoods, bool wide) const {
    const Schedule& schedule = schedule_of(*this);
    Evidence evidence(engine->network(), schedule, hard, states, soft, likelihoods);
    Owned<double> out({static_cast<size_t>(schedule.marginal_offset.back())});
    const auto ask = [&](auto& run, const auto& space) {
        if (!run.marginals()) return false;
        for (size_t i = 0; i < space.marginals.size(); ++i) out.data[i] = narrowed(space.marginals[i]);
        for (int v = 0; v < engine->network().size(); ++v)
            if (schedule.hard[v]) out.data[schedule.marginal_offset[v] + evidence.state[v]] = 1.0;
        return true;
    };
    const bool store = plan->entries.cells <= STORED_CELLS;
    const double log = wide ? run_plan<WideDouble>(*this, evidence, store, ask) : run_plan<double>(*this, evidence, store, ask);
    if (!(log > NEVER)) return nb::make_tuple(nb::none(), log);
    return nb::make_tuple(out.to_numpy(), log);
}

nb::tuple InferencePlan::joint(const Ints& hard, const Ints& states, const Ints& soft,
                            const std::vector<Array>& likelihoods, bool wide) const {
    const Schedule& schedule = schedule_of(*this);
    Evidence evidence(engine->network(), schedule, hard, states, soft, likelihoods);
    size_t cells = 1;
    for (int v : plan->targets) cells *= engine->network().cards[v];
    Owned<double> out({cells});
    const auto ask = [&](auto& run, auto& space) {
        auto& answer = space.marginals;
        answer.assign(cells, {});
        if (!collect_targets(run, *plan, answer.data())) return false;
        if (plan->targets.empty()) out.data[0] = 1.0;
        else normalised(answer, out.data);
        return true;
    };
    const double log = wide ? run_plan<WideDouble>(*this, evidence, false, ask) : run_plan<double>(*this, evidence, false, ask);
    if (!(log > NEVER)) return nb::make_tuple(nb::none(), log);
    return nb::make_tuple(out.to_numpy(), log);
}

nb::tuple InferencePlan::maximum(const Ints& hard, const Ints& states, const Ints& soft,
                              const std::vector<Array>& likelihoods, bool wide) const {
    const Schedule& schedule = schedule_of(*this);
    Evidence evidence(engine->network(), schedule, hard, states, soft, likelihoods);
    const auto ask = [&](auto& run, auto& space) {
        auto& totals = space.marginals;
        totals.assign(schedule.steps.size(), {});
        bool good = run.collect([&](const Step& step, const auto* tile, int64_t) {
            auto& total = totals[&step - schedule.steps.data()];
            for (int64_t i = 0; i < step.tile; ++i) {
                if (step.maximise) keep_maximum(total, tile[i]);
                else add(total, tile[i]);
            }
        });
        for (size_t c = 0; good && c < totals.size(); ++c)
            if (plan->tree->cliques[c].parent < 0) good = take_log(totals[c], run.log);
        for (size_t c = 0; good && c < schedule.steps.size(); ++c)
            if (schedule.steps[c].maximise) settle(schedule.steps[c], plan->tree->cliques[c], schedule, run, evidence.state);
        return good;
    };
    const double log = wide ? run_plan<WideDouble>(*this, evidence, false, ask) : run_plan<double>(*this, evidence, false, ask);
    if (!(log > NEVER)) return nb::make_tuple(nb::none(), log);
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
        divide_rows(factor.values, network.cards[v]);
        factor.range = range_of_cells(factor.values.data(), size);
        factor.has_zero = std::any_of(factor.values.begin(), factor.values.end(), [](double p) { return p <= 0.0; });
    }
    engine_ = std::make_shared<Engine>(std::move(network));
}

void InferenceEngine::compile_quick() {
    const auto compiled = engine_->quick_tree();
    engine_->use(compiled);
    whole_ = InferencePlan{engine_, compiled->whole};
}

void InferenceEngine::compile(int64_t tries, int64_t work, uint64_t seed) {
    std::shared_ptr<const CompiledTree> compiled;
    {
        nb::gil_scoped_release release;
        compiled = engine_->searched_tree({tries, work, seed});
    }
    engine_->use(compiled);
    whole_ = InferencePlan{engine_, compiled->whole};
}

InferencePlan InferenceEngine::plan_marginals(const std::vector<int>& hard) const {
    const auto plan = engine_->plan_marginals(hard);
    return plan == whole_->plan ? *whole_ : InferencePlan{engine_, plan};
}
InferencePlan InferenceEngine::plan_joint(const std::vector<int>& targets, const std::vector<int>& hard,
                                       const std::vector<int>& soft, bool with_evidence) const {
    return {engine_, engine_->plan_joint(targets, hard, soft, with_evidence)};
}
InferencePlan InferenceEngine::plan_max(const std::vector<int>& sought, const std::vector<int>& hard,
                                     const std::vector<int>& soft) const {
    return {engine_, engine_->plan_max(sought, hard, soft)};
}

}  // namespace bayeskit::network
