// Chooses how to answer a question, and keeps what can be used again.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "network/schedule.hpp"
#include "network/propagation.hpp"

namespace bayeskit::network {

// A tree of at most this many cells is run whole: slicing it by evidence would cost more than it saves.
constexpr double SMALL_TREE = 30000.0;
// Clique products are kept between the sweeps up to this many cells, and made again above it.
constexpr int64_t STORED_CELLS = 1 << 18;
// How much work (see SearchBudget) the search for a tree is worth: a hundred times what a question costs, and not less than this.
constexpr double LEAST_SEARCH = 2e6;
// Where even the first tree is too large to plan, a better one is looked for this long.
constexpr double SEARCH_BEFORE_REFUSAL = 5e7;

enum class Strategy { whole_tree, sliced_tree, shrunk_network };

struct Plan {
    Strategy strategy = Strategy::shrunk_network;
    std::shared_ptr<const JunctionTree> tree;
    std::shared_ptr<Schedule> schedule;  // none when the tree is too large to plan
    std::vector<int> targets;          // of a joint table; the axes in the order asked for
    std::vector<int> sought;           // variables to maximise over
    int root = -1;                     // the step that holds the targets, if any
    View root_view;
    CellCount entries, largest;
    double stored = 0.0;  // cells in memory at once: messages, answers, and the cliques where they are kept;
                          // infinite when the tree is too large to plan
    std::vector<int> largest_vars;
};

// The first sweep, with the joint table of the plan's targets (not normalised) added to `answer`; false when the
// evidence is impossible or the run is beyond.
template <typename V>
bool collect_targets(Propagation<V>& run, const Plan& plan, V* answer) {
    const Schedule& schedule = *plan.schedule;
    V total{};
    bool possible = true;
    const bool swept = run.collect([&](const Step& step, const V* tile, int64_t t) {
        if (t == 0) total = V{};
        const Axis all[2] = {{1, 0}, {step.tile, 0}};
        add_cells(tile, &total, all, 2);
        if (t == step.n_tiles - 1) possible &= take_log(total, run.log);
        if (&step != schedule.steps.data() + plan.root) return;
        int64_t offset = 0;
        for (int a = step.n_outer; a-- > 0;) {
            const int64_t n = schedule.outer_lengths[step.outer_shape + a];
            offset += t % n * schedule.outer_strides[plan.root_view.outer + a];
            t /= n;
        }
        add_cells(tile, answer + offset, schedule.axes.data() + plan.root_view.axes, plan.root_view.n_axes);
    });
    return swept && possible;
}

// A junction tree for the whole network, and the plan for all marginals without evidence.
struct CompiledTree {
    std::shared_ptr<const JunctionTree> tree;
    std::shared_ptr<const Plan> whole;
    int64_t work = 0;  // that it took to find
};

class Engine {
public:
    explicit Engine(Network network) : network_(std::move(network)) {}
    const Network& network() const { return network_; }
    // The variables of the three sets and everything above them.
    std::vector<char> ancestors(const std::vector<int>& a, const std::vector<int>& b, const std::vector<int>& c) const;

    // One greedy elimination, or the best of many: the tree that questions about all variables go through from now on. What was
    // planned before stays right.
    std::shared_ptr<const CompiledTree> quick_tree() const;
    std::shared_ptr<const CompiledTree> searched_tree(const SearchBudget& budget) const;
    void use(std::shared_ptr<const CompiledTree> compiled);
    std::shared_ptr<const CompiledTree> compiled() const;

    std::shared_ptr<const Plan> plan_marginals(const std::vector<int>& hard) const;
    // With `with_evidence` the probability of the evidence comes out exact, at the price of parts that the targets do not need.
    std::shared_ptr<const Plan> plan_joint(const std::vector<int>& targets, const std::vector<int>& hard,
                                           const std::vector<int>& soft, bool with_evidence) const;
    std::shared_ptr<const Plan> plan_max(const std::vector<int>& sought, const std::vector<int>& hard,
                                         const std::vector<int>& soft) const;
    // For rows of any pattern: nothing sliced, what stands below target and columns left out, hung from the target.
    std::shared_ptr<const Plan> plan_rows(int target, const std::vector<int>& columns) const;

private:
    Network network_;
    mutable std::mutex lock_;  // of what follows: trees may be exchanged while other threads ask
    std::shared_ptr<const CompiledTree> compiled_;

    std::shared_ptr<const CompiledTree> compile(OrderSearch& search) const;
    void root_at(Plan& plan, const std::vector<int>& targets) const;
    std::vector<char> flags(const std::vector<int>& vars) const;
    EliminationProblem elimination(const std::vector<char>& hard, const std::vector<char>& active) const;
    std::shared_ptr<Plan> make(Strategy strategy, std::shared_ptr<const JunctionTree> tree, std::vector<char> hard,
                               const std::vector<char>& active, bool all_marginals) const;
    void drop_separated(std::vector<char>& active, const std::vector<char>& hard, const std::vector<int>& targets,
                        const std::vector<int>& soft) const;
};

}  // namespace bayeskit::network
