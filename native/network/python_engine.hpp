// The classes that Python holds: an engine for a network, and plans that remember how to answer.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>

#include "base/column.hpp"
#include "network/engine.hpp"

namespace bayeskit::network {

// Plans keep the engine alive, since their schedules point into its tables.
struct InferencePlan {
    std::shared_ptr<const Engine> engine;
    std::shared_ptr<const Plan> plan;
    // Work spaces are taken and given back under the lock, so that a plan may run in several threads at once.
    struct Spaces {
        std::mutex lock;
        std::vector<std::unique_ptr<Workspace<double>>> idle;
    };
    std::shared_ptr<Spaces> spaces = std::make_shared<Spaces>();

    std::string strategy() const {
        switch (plan->strategy) {
            case Strategy::whole_tree: return "whole tree";
            case Strategy::sliced_tree: return "sliced tree";
            default: return "shrunk network";
        }
    }

    // An answer and log P(evidence). No answer and -inf is impossible evidence; no answer and NaN says that doubles do not hold the
    // magnitudes, and that the question should be asked in wide numbers, which take twice the memory.
    using Ints = std::vector<int>;
    nb::tuple marginals(const Ints& hard, const Ints& states, const Ints& soft, const std::vector<Array>& likelihoods, bool wide) const;
    nb::tuple joint(const Ints& hard, const Ints& states, const Ints& soft, const std::vector<Array>& likelihoods, bool wide) const;
    nb::tuple maximum(const Ints& hard, const Ints& states, const Ints& soft, const std::vector<Array>& likelihoods, bool wide) const;
};

class InferenceEngine {
public:
    InferenceEngine(std::vector<int> cards, std::vector<std::vector<int>> parents, nb::list tables);
    void compile_quick();
    void compile(int64_t tries, int64_t work, uint64_t seed);
    double entries() const {
        const auto compiled = engine_->compiled();
        return compiled ? compiled->tree->total.cells : std::numeric_limits<double>::quiet_NaN();
    }
    InferencePlan plan_marginals(const std::vector<int>& hard) const;
    InferencePlan plan_joint(const std::vector<int>& targets, const std::vector<int>& hard, const std::vector<int>& soft,
                          bool with_evidence) const;
    InferencePlan plan_max(const std::vector<int>& sought, const std::vector<int>& hard, const std::vector<int>& soft) const;
    const std::shared_ptr<Engine>& engine() const { return engine_; }

private:
    std::shared_ptr<Engine> engine_;
    std::optional<InferencePlan> whole_;
};

}  // namespace bayeskit::network
