// Discrete networks and junction trees as the kernels of inference see them: numbers only, names stay in Python.
#pragma once
#include <cstdint>
#include <vector>

namespace bayeskit {

// A factor is a table P(v | parents) in C order; its scope is the parents and then the variable itself.
struct Factor {
    std::vector<int> scope;
    std::vector<int64_t> stride;
    std::vector<double> values;
    bool has_zero = false;
};

struct Network {
    std::vector<int> cards;
    std::vector<std::vector<int>> parents, children;
    std::vector<Factor> factors;  // factors[v] is the table of variable v
    int size() const { return static_cast<int>(cards.size()); }
};

struct Clique {
    // Outermost axis first. Variables that are eliminated early are the innermost, so a separator is a run of leading axes.
    std::vector<int> vars;
    std::vector<int> separator;  // shared with the parent, in the order of vars
    int parent = -1;
    double entries = 1.0;
};

// Parents stand before their children. A forest has several cliques without parent.
struct JunctionTree {
    std::vector<Clique> cliques;
    double total = 0.0;  // Σ entries
    int largest = -1;
};

// What to eliminate: the variables of `stage` >= 0, all of stage 0 before those of stage 1.
struct Elimination {
    const std::vector<int>* cards;
    std::vector<std::vector<int>> scopes;  // each becomes a complete subgraph
    std::vector<int> stage;
};

// How long to search, in words of bit sets looked at (a nanosecond each, more or less), so that a result
// depends on the seed and not on the machine.
struct SearchBudget {
    int64_t tries = 1;
    int64_t work = 0;
    uint64_t seed = 0;
};

// The best of several elimination orders by total table size.
std::vector<int> search_order(const Elimination& problem, const SearchBudget& budget);
// Cliques of an elimination order; cliques of different stages are never merged.
JunctionTree tree_of_order(const Elimination& problem, const std::vector<int>& order);
// The same cliques, hung from another clique of the component.
JunctionTree hang_from(const JunctionTree& tree, int root);

}  // namespace bayeskit
