// Chooses how to answer a question, and keeps what can be used again.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "program.hpp"
#include "propagate.hpp"

namespace bayeskit {

// Cells above which nothing is planned in detail: 2^40 doubles are 8 TiB.
constexpr double PLANNABLE = 1099511627776.0;
// A tree of at most this many cells is run whole: slicing it by evidence would cost more than it saves.
constexpr double SMALL_TREE = 30000.0;
// Clique products are kept between the sweeps up to this many cells, and made again above it.
constexpr int64_t STORED_CELLS = 1 << 18;

enum class Strategy { whole_tree, sliced_tree, shrunk_network };

struct Plan {
    Strategy strategy = Strategy::shrunk_network;
    std::shared_ptr<const JunctionTree> tree;
    std::shared_ptr<Program> program;  // none when the tree is too large to plan
    std::vector<int> targets;          // of a joint table; the axes in the order asked for
    std::vector<int> sought;           // variables to maximise over
    int root = -1;                     // the step that holds the targets, if any
    View root_view;
    double entries = 0.0, largest = 0.0, messages = 0.0;
    std::vector<int> largest_vars;

};

// The first sweep, with the joint table of the plan's targets (not normalised) added to `answer`; false when the
// evidence is impossible.
template <typename V>
bool collect_targets(Propagation<V>& run, const Plan& plan, V* answer) {
    const Program& program = *plan.program;
    V total{};
    bool possible = true;
    const bool swept = run.collect([&](const Step& step, const V* tile, int64_t t) {
        if (t == 0) total = V{};
        const Axis all[2] = {{1, 0}, {step.tile, 0}};
        box_plus(tile, &total, all, 2);
        if (t == step.n_tiles - 1) possible &= rescale(&total, 1, run.log);
        if (&step != program.steps.data() + plan.root) return;
        int64_t offset = 0;
        for (int a = step.n_outer; a-- > 0;) {
            const int64_t n = program.outer_lengths[step.outer_shape + a];
            offset += t % n * program.outer_strides[plan.root_view.outer + a];
            t /= n;
        }
        box_plus(tile, answer + offset, program.axes.data() + plan.root_view.axes, plan.root_view.n_axes);
    });
    return swept && possible;
}

class Engine {
public:
    explicit Engine(Network network) : network_(std::move(network)) {}
    const Network& network() const { return network_; }
    // The variables of the three sets and everything above them.
    std::vector<char> ancestors(const std::vector<int>& a, const std::vector<int>& b, const std::vector<int>& c) const;

    void compile(const SearchBudget& budget);
    bool compiled() const { return whole_ != nullptr; }
    const JunctionTree& tree() const { return *tree_; }
    std::shared_ptr<const Plan> whole() const { return whole_; }

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
    std::shared_ptr<const JunctionTree> tree_;
    std::shared_ptr<const Plan> whole_;

    void root_at(Plan& plan, const std::vector<int>& targets) const;
    std::vector<char> flags(const std::vector<int>& vars) const;
    Elimination elimination(const std::vector<char>& hard, const std::vector<char>& active) const;
    std::shared_ptr<Plan> make(Strategy strategy, std::shared_ptr<const JunctionTree> tree, std::vector<char> hard,
                               const std::vector<char>& active, bool all_marginals) const;
    void drop_separated(std::vector<char>& active, const std::vector<char>& hard, const std::vector<int>& targets,
                        const std::vector<int>& soft) const;
};

}  // namespace bayeskit
