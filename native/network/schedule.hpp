// A junction tree made ready for one pattern of evidence: every loop planned, nothing computed yet.
#pragma once
#include <memory>
#include <vector>

#include "network/strided_loops.hpp"
#include "network/junction_tree.hpp"

namespace bayeskit::network {

// Cells of a clique that are worked on at once, so that all loops over them stay in the nearest cache.
constexpr int64_t TILE = 4096;

// How an operand is walked for one tile: the merged axes within it, and one stride for each axis outside it.
struct View {
    int axes = 0, n_axes = 0;  // in Schedule::axes
    int outer = 0;             // in Schedule::outer_strides
};

struct FactorUse {
    const Factor* factor;
    View view;
};

struct MarginalUse {
    int var;
    View view;
};

struct Step {
    int clique = 0;
    int64_t entries = 1, tile = 1, n_tiles = 1;
    int outer_shape = 0, n_outer = 0;  // in Schedule::outer_lengths
    int64_t up_entries = 1, up = 0;    // message to the parent: size, and place in the message store
    int64_t store = 0;                 // place in the clique store
    View up_view, child_view;          // of the message: seen from here, and seen from the parent
    int factors_begin = 0, factors_end = 0;
    std::vector<int> children;
    std::vector<MarginalUse> marginals;            // summed from the clique
    std::vector<MarginalUse> separator_marginals;  // summed from the separator
    bool maximise = false;  // the message is a max and not a sum
    int surplus = 0;  // tables minus eliminated variables below: with 0 and no evidence the message is all ones
};

class Schedule {
public:
    // Variables with `hard` are sliced away, and so are those with one state. `active` holds the factors that take part; empty means all.
    Schedule(const Network& network, std::shared_ptr<const JunctionTree> tree, std::vector<char> hard,
            const std::vector<char>& active, bool all_marginals);

    const Network& network;
    std::shared_ptr<const JunctionTree> tree;
    std::vector<char> hard;
    std::vector<Step> steps;  // parents before children
    std::vector<FactorUse> factors;
    std::vector<const Factor*> constants;  // tables whose variables are all observed
    std::vector<Axis> axes;
    std::vector<int64_t> outer_strides, outer_lengths;
    std::vector<int64_t> marginal_offset;  // (n + 1), by variable
    std::vector<int> home;                 // the smallest step that holds the variable, -1 if none does
    std::vector<View> home_view;           // of a vector over the variable's states, from its home
    int64_t message_entries = 0, clique_entries = 0, largest = 0;
    int n_loops = 0;

    // Estimated nanoseconds of a run.
    double cost() const;
    // Multiplies the tables of each clique once for all; only for a schedule without hard evidence.
    void premultiply();
    View view_of(const Step& step, const std::vector<int>& vars, const std::vector<int64_t>& strides);
    std::vector<int> free_vars(const Step& step) const;

private:
    std::vector<std::unique_ptr<Factor>> potentials_;
    void plan_step(Step& step);
    void assign_factors(const std::vector<char>& active);
    void assign_marginals();
};

}  // namespace bayeskit::network
