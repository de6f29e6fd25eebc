// Discrete networks and junction trees as the kernels of inference see them: numbers only, names stay in Python.
#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "network/magnitude.hpp"

namespace bayeskit::network {

// A factor is a table P(v | parents) in C order; its scope is the parents and then the variable itself.
struct Factor {
    std::vector<int> scope;
    std::vector<int64_t> stride;
    std::vector<double> values;
    Range range;  // of the values
    bool has_zero = false;
};

// Cells above which nothing is planned in detail: 2^40 cells take an hour.
constexpr double PLANNABLE = 1099511627776.0;

// A number of cells that may be larger than any double: 500 variables of 20 states have 10^650 cells.
struct CellCount {
    double cells = 0.0;  // infinite where it is no double
    double log2 = -INFINITY;

    static CellCount of_log2(double log2) { return {log2 < 1023.0 ? std::exp2(log2) : INFINITY, log2}; }
    void operator+=(const CellCount& other) {
        cells += other.cells;
        const double high = std::max(log2, other.log2), low = std::min(log2, other.log2);
        if (std::isfinite(cells)) log2 = std::log2(cells);
        else log2 = low == -INFINITY ? high : high + std::log2(1.0 + std::exp2(low - high));
    }
    // Equal counts compare as equal as long as they are doubles: then no rounding of a logarithm breaks a tie.
    bool operator<(const CellCount& other) const {
        return std::isfinite(cells) || std::isfinite(other.cells) ? cells < other.cells : log2 < other.log2;
    }
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
    CellCount entries{1.0, 0.0};
};

// Parents stand before their children. A forest has several cliques without parent.
struct JunctionTree {
    std::vector<Clique> cliques;
    CellCount total;  // Σ entries
    int largest = -1;
};

// What to eliminate: the variables of `stage` >= 0, all of stage 0 before those of stage 1.
struct EliminationProblem {
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

// Product of numbers of states.
CellCount cells_of(const std::vector<int>& vars, const std::vector<int>& cards);
// Cliques of an elimination order; cliques of different stages are never merged.
JunctionTree tree_of_order(const EliminationProblem& problem, const std::vector<int>& order);
class Eliminator;
// The best of several elimination orders by total table size. The search may be interrupted to look at what it found.
class OrderSearch {
public:
    OrderSearch(const EliminationProblem& problem, uint64_t seed);
    ~OrderSearch();
    // Goes on until `tries` or `work` are used up, counted from the beginning; the first try is always made.
    void run(int64_t tries, int64_t work);
    const JunctionTree& tree() const { return best_; }
    const std::vector<int>& order() const { return order_; }
    int64_t work() const { return work_; }

private:
    const EliminationProblem& problem_;
    uint64_t seed_;
    std::unique_ptr<Eliminator> start_;
    JunctionTree best_;
    std::vector<int> order_;
    int64_t tried_ = 0, work_ = 0;
};
// The same cliques, hung from another clique of the component.
JunctionTree hang_from(const JunctionTree& tree, int root);

}  // namespace bayeskit::network
