// The missing cells of a row that share families, planned: an elimination order, and where each cell of each clique looks.
#pragma once
#include <algorithm>
#include <map>
#include <stdexcept>
#include <vector>

#include "network/junction_tree.hpp"

namespace bayeskit::network {

// One variable of a component, eliminated: its clique is the context (outer axes) and the variable itself (innermost).
struct Node {
    int var = 0, card = 1;
    int parent = -1;                  // node that gets the message
    std::vector<int> context;         // nodes
    int64_t cells = 1, rows = 1;      // of the clique, and of the message
    int64_t message = 0, clique = 0;  // places in the work space
    std::vector<int> factors;         // of the component
    std::vector<std::vector<uint32_t>> factor_cell;  // (cells,) each: offset in the family's table
    std::vector<int> children;
    std::vector<std::vector<uint32_t>> child_row;    // (cells,) each: row of the child's message
};

struct Component {
    std::vector<int> families;  // in the order of the factors
    std::vector<Node> nodes;    // children before parents; the last is the root
    int64_t messages = 0, cliques = 0;
};

struct Family {
    std::vector<int> scope;  // parents, then the variable
    std::vector<int64_t> stride;
    int64_t first = 0;       // in the flat tables
};

// The families of a network over its flat tables, and the plans of sets of variables that are missing together.
class ComponentPlanner {
public:
    using Ints = std::vector<int>;

    ComponentPlanner(Ints cards, const std::vector<Ints>& parents, double limit) : cards_(std::move(cards)), limit_(limit) {
        const int n = static_cast<int>(cards_.size());
        families_of_.resize(n);
        for (int v = 0; v < n; ++v) {
            Family family;
            family.scope = parents.at(v);
            family.scope.push_back(v);
            family.first = n_cells_;
            family.stride.resize(family.scope.size());
            int64_t stride = 1;
            for (size_t k = family.scope.size(); k-- > 0;) {
                family.stride[k] = stride;
                stride *= cards_[family.scope[k]];
            }
            n_cells_ += stride;
            for (int member : family.scope) families_of_[member].push_back(v);
            families_.push_back(std::move(family));
        }
    }

    int64_t n_cells() const { return n_cells_; }
    const Ints& cards() const { return cards_; }
    const std::vector<Family>& families() const { return families_; }
    const Ints& families_of(int v) const { return families_of_[v]; }

    // All plans together may take `limit` bytes.
    Component plan(const Ints& members) {
        Component component;
        const int n = static_cast<int>(members.size());
        std::map<int, int> place;
        for (int i = 0; i < n; ++i) place[members[i]] = i;
        std::map<int, char> touched;
        for (int v : members)
            for (int f : families_of_[v]) touched[f] = 1;
        Ints cards(n);
        for (int i = 0; i < n; ++i) cards[i] = cards_[members[i]];
        EliminationProblem problem{&cards, {}, Ints(n, 0)};
        for (const auto& [f, yes] : touched) {
            component.families.push_back(f);
            Ints scope;
            for (int v : families_[f].scope)
                if (place.count(v)) scope.push_back(place[v]);
            problem.scopes.push_back(std::move(scope));
        }
        OrderSearch search(problem, 0);
        search.run(1, 0);
        used_ += 32.0 * search.tree().total.cells;
        if (used_ > limit_) throw std::length_error("the missing cells of a row need tables over the memory limit.");
        Ints rank(n, 0);
        for (int k = 0; k < n; ++k) rank[search.order()[k]] = k;
        // A variable that is eliminated has those before it in its clique as context, the last to go outermost.
        std::vector<Ints> context(n);
        for (const Clique& clique : search.tree().cliques)
            for (size_t k = clique.separator.size(); k < clique.vars.size(); ++k)
                context[clique.vars[k]].assign(clique.vars.begin(), clique.vars.begin() + static_cast<int64_t>(k));
        lay_out(component, members, search.order(), rank, context, problem.scopes);
        return component;
    }

private:
    void lay_out(Component& component, const Ints& members, const Ints& order, const Ints& rank,
                 const std::vector<Ints>& context, const std::vector<Ints>& inside) const {
        component.nodes.resize(order.size());
        for (size_t k = 0; k < order.size(); ++k) {
            Node& node = component.nodes[k];
            node.var = members[order[k]];
            node.card = cards_[node.var];
            for (int i : context[order[k]]) node.context.push_back(rank[i]);
            if (!node.context.empty()) node.parent = node.context.back();
            node.cells = node.card;
            for (int c : node.context) node.cells *= cards_[members[order[c]]];
            node.rows = node.cells / node.card;
            node.message = component.messages;
            node.clique = component.cliques;
            component.messages += node.rows;
            component.cliques += node.cells;
        }
        for (size_t f = 0; f < inside.size(); ++f) {
            int first = rank[inside[f][0]];
            for (int i : inside[f]) first = std::min(first, rank[i]);
            Node& node = component.nodes[first];
            node.factors.push_back(static_cast<int>(f));
            const Family& family = families_[component.families[f]];
            std::vector<int64_t> stride(component.nodes.size(), 0);
            for (size_t k = 0; k < family.scope.size(); ++k)
                for (size_t i = 0; i < component.nodes.size(); ++i)
                    if (component.nodes[i].var == family.scope[k]) stride[i] = family.stride[k];
            node.factor_cell.push_back(walk(component, first, stride));
        }
        for (size_t k = 0; k < component.nodes.size(); ++k) {
            const int up = component.nodes[k].parent;
            if (up < 0) continue;
            std::vector<int64_t> stride(component.nodes.size(), 0);
            int64_t step = 1;
            const Ints& context = component.nodes[k].context;
            for (size_t i = context.size(); i-- > 0;) {
                stride[context[i]] = step;
                step *= component.nodes[context[i]].card;
            }
            component.nodes[up].children.push_back(static_cast<int>(k));
            component.nodes[up].child_row.push_back(walk(component, up, stride));
        }
    }

    // For each cell of a node's clique, the place in an operand with these strides, by node.
    static std::vector<uint32_t> walk(const Component& component, int at, const std::vector<int64_t>& stride) {
        const Node& node = component.nodes[at];
        Ints axes(node.context);
        axes.push_back(at);
        std::vector<uint32_t> cell(node.cells);
        Ints index(axes.size(), 0);
        int64_t offset = 0;
        for (int64_t i = 0; i < node.cells; ++i) {
            cell[i] = static_cast<uint32_t>(offset);
            for (size_t a = axes.size(); a-- > 0;) {
                offset += stride[axes[a]];
                if (++index[a] < component.nodes[axes[a]].card) break;
                offset -= stride[axes[a]] * index[a];
                index[a] = 0;
            }
        }
        return cell;
    }

    Ints cards_;
    double limit_, used_ = 0.0;
    std::vector<Family> families_;
    std::vector<Ints> families_of_;
    int64_t n_cells_ = 0;
};

}  // namespace bayeskit::network
