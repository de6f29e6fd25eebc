// Evidence networks: for each column of each network a chain of at most three parents, and a node for every context (values
// of the first d parents) that enough rows have. A node holds one count for each value of the column and each class.
//
// A unit is one column in one network. Its nodes are numbered from the root (0) on, depth by depth. The children of the nodes
// of one depth lie one after the other, a line of one number per value of the next parent each: the child's number, or 0.
#pragma once
#include "auto/rows.hpp"

namespace bayeskit::automatic {

constexpr int DEPTHS = 3;

struct Layout {
    int64_t n_networks = 0, n_features = 0;
    std::vector<int64_t> level_at;  // (n_features + 1,): where the levels of each column begin
    std::vector<uint8_t> bins;      // (n_networks, n_levels): the bin of each level
    std::vector<int32_t> sizes;     // (n_networks, n_features): how many bins
    std::vector<int32_t> parents;   // (n_networks, n_features, DEPTHS): -1 after the last
    std::vector<int32_t> n_nodes;   // (n_networks, n_features, DEPTHS + 1)
    std::vector<int32_t> child;
    std::vector<int64_t> child_at;  // (n_units + 1,)
    std::vector<int64_t> node_at;   // (n_units + 1,): nodes before those of the unit
    std::vector<int64_t> value_at;  // (n_units + 1,): values of nodes before; times the classes, the unit's first cell

    int64_t n_units() const { return n_networks * n_features; }
    const uint8_t* bins_of(int64_t unit, int64_t feature) const {
        return bins.data() + unit / n_features * level_at.back() + level_at[feature];
    }
    int32_t size_of(int64_t unit, int64_t feature) const { return sizes[unit / n_features * n_features + feature]; }

    void number_nodes() {
        node_at.assign(1, 0);
        value_at.assign(1, 0);
        for (int64_t u = 0; u < n_units(); ++u) {
            int64_t n = 0;
            for (int d = 0; d <= DEPTHS; ++d) n += n_nodes[u * (DEPTHS + 1) + d];
            node_at.push_back(node_at.back() + n);
            value_at.push_back(value_at.back() + n * sizes[u]);
        }
    }
};

// The nodes of a row in one unit, root first; returns how deep it goes. `code` gives the level of a column, or HIDDEN.
template <typename Code>
BAYESKIT_INLINE int walk(const Layout& layout, int64_t unit, Code&& code, int32_t* nodes) {
    const int32_t* child = layout.child.data() + layout.child_at[unit];
    const int32_t* counts = layout.n_nodes.data() + unit * (DEPTHS + 1);
    nodes[0] = 0;
    int32_t first = 0;
    for (int d = 0; d < DEPTHS; ++d) {
        const int32_t parent = layout.parents[unit * DEPTHS + d];
        if (parent < 0) return d;
        const uint8_t level = code(parent);
        if (level == HIDDEN) return d;
        const int32_t size = layout.size_of(unit, parent);
        const int32_t next = child[(nodes[d] - first) * static_cast<int64_t>(size) + layout.bins_of(unit, parent)[level]];
        if (!next) return d;
        nodes[d + 1] = next;
        child += static_cast<int64_t>(counts[d]) * size;
        first += counts[d];
    }
    return DEPTHS;
}

// Calls work(parent node, child node) for every arc between depth d - 1 and d of a unit.
template <typename Work>
void for_arcs(const Layout& layout, int64_t unit, int d, Work&& work) {
    const int32_t* child = layout.child.data() + layout.child_at[unit];
    const int32_t* counts = layout.n_nodes.data() + unit * (DEPTHS + 1);
    int32_t first = 0;
    for (int above = 0; above + 1 < d; ++above) {
        child += static_cast<int64_t>(counts[above]) * layout.size_of(unit, layout.parents[unit * DEPTHS + above]);
        first += counts[above];
    }
    const int32_t size = layout.size_of(unit, layout.parents[unit * DEPTHS + d - 1]);
    for (int32_t node = 0; node < counts[d - 1]; ++node)
        for (int32_t v = 0; v < size; ++v)
            if (const int32_t next = child[node * static_cast<int64_t>(size) + v]) work(first + node, next);
}

}  // namespace bayeskit::automatic
