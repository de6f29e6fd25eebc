// A planned component solved for the known cells of a row: messages up, beliefs down, and draws of the missing cells.
#pragma once
#include <cmath>
#include <vector>

#include "network/missing_component.hpp"
#include "network/propagation.hpp"

namespace bayeskit::network::missing {

// Rows whose component has the same known neighbours in the same states.
struct Item {
    int component;
    std::vector<uint32_t> base;  // where each factor begins, given the known cells
    double weight;
    int64_t row;                 // the first that has it
};
template <typename V>
struct Space {
    std::vector<V> messages, down, cliques;
    std::vector<Range> range;  // of each node's message
    double log = 0.0;
};

// A number in [0, 1) that depends on its three arguments only.
inline double uniform(uint64_t seed, uint64_t row, uint64_t var) {
    // Not 0 for three zeros, which the mixing would leave as it is.
    uint64_t x = 0xD1B54A32D192ED03ull + seed * 0x9E3779B97F4A7C15ull + row * 0xBF58476D1CE4E5B9ull + var * 0x94D049BB133111EBull;
    for (int k = 0; k < 3; ++k) {
        x ^= x >> 30;
        x *= 0xBF58476D1CE4E5B9ull;
        x ^= x >> 27;
        x *= 0x94D049BB133111EBull;
        x ^= x >> 31;
    }
    return static_cast<double>(x >> 11) * 0x1.0p-53;
}

// Whether a product can take a factor with the bounds of `next`: always for wide numbers; doubles are moved if need be.
inline bool has_room(double* p, int64_t n, Range& range, Range next, double& moved) {
    if (!is_safe(range + next) && !make_room(p, n, range, next, moved)) return false;
    range = range + next;
    return true;
}
inline bool has_room(WideDouble*, int64_t, Range&, Range, double&) { return true; }

// Divides a clique and its message by the largest number of the message; false where the smallest would be lost.
inline bool scale(double top, double* p, int64_t n_cells, double* message, int64_t n_rows, Range& range) {
    const int high = exponent_of(top);
    if (range.low - high - 1 < LOWEST) {
        range = range_of_cells(p, n_cells);
        if (range.low - high - 1 < LOWEST) return false;
    }
    range = {range.low - high - 1, 1};
    const double inverse = 1.0 / top;
    for (int64_t r = 0; r < n_rows; ++r) message[r] *= inverse;
    for (int64_t i = 0; i < n_cells; ++i) p[i] *= inverse;
    return true;
}
inline bool scale(const WideDouble& top, WideDouble* p, int64_t n_cells, WideDouble* message, int64_t n_rows, Range&) {
    for (int64_t r = 0; r < n_rows; ++r) divide(message[r], top);
    for (int64_t i = 0; i < n_cells; ++i) divide(p[i], top);
    return true;
}

inline double narrowed(double x) { return x; }
inline double narrowed(const WideDouble& x) { return narrow(x, 0); }

// Messages up, and the logarithm of the component's part of the row's probability; false where doubles do not do.
template <typename V>
bool solve(const Component& component, const Item& item, const std::vector<double>& tables, const std::vector<Range>& ranges,
           Space<V>& space) {
    if (static_cast<int64_t>(space.messages.size()) < component.messages) space.messages.resize(component.messages);
    if (static_cast<int64_t>(space.cliques.size()) < component.cliques) space.cliques.resize(component.cliques);
    space.range.resize(component.nodes.size());
    space.log = 0.0;
    for (size_t n = 0; n < component.nodes.size(); ++n) {
        const Node& node = component.nodes[n];
        V* p = space.cliques.data() + node.clique;
        for (int64_t i = 0; i < node.cells; ++i) assign(p[i], 1.0);
        Range range;
        double moved = 0.0;
        for (size_t k = 0; k < node.factors.size(); ++k) {
            const double* table = tables.data() + item.base[node.factors[k]];
            if (!has_room(p, node.cells, range, ranges[component.families[node.factors[k]]], moved)) return false;
            const uint32_t* cell = node.factor_cell[k].data();
            for (int64_t i = 0; i < node.cells; ++i) multiply(p[i], table[cell[i]]);
        }
        for (size_t k = 0; k < node.children.size(); ++k) {
            const V* message = space.messages.data() + component.nodes[node.children[k]].message;
            if (!has_room(p, node.cells, range, space.range[node.children[k]], moved)) return false;
            const uint32_t* row = node.child_row[k].data();
            for (int64_t i = 0; i < node.cells; ++i) multiply(p[i], message[row[i]]);
        }
        V* message = space.messages.data() + node.message;
        V top{};
        for (int64_t r = 0; r < node.rows; ++r) {
            V sum{};
            for (int x = 0; x < node.card; ++x) add(sum, p[r * node.card + x]);
            message[r] = sum;
            keep_maximum(top, sum);
        }
        if (!take_log(top, space.log)) {
            space.log = -INFINITY;
            return true;
        }
        space.log -= LOG_2 * moved;
        if (!scale(top, p, node.cells, message, node.rows, range)) return false;
        space.range[n] = range;
    }
    return true;
}

// Beliefs down, added to the counts of the families.
template <typename V>
void spread(const Component& component, const Item& item, Space<V>& space, double* counts) {
    space.down.assign(component.messages, V{});
    // Scaled, the root's message is 1.
    assign(space.down[component.nodes.back().message], item.weight);
    for (size_t n = component.nodes.size(); n-- > 0;) {
        const Node& node = component.nodes[n];
        V* p = space.cliques.data() + node.clique;
        const V* down = space.down.data() + node.message;
        for (int64_t r = 0; r < node.rows; ++r)
            for (int x = 0; x < node.card; ++x) multiply(p[r * node.card + x], down[r]);
        for (size_t k = 0; k < node.factors.size(); ++k) {
            double* table = counts + item.base[node.factors[k]];
            const uint32_t* cell = node.factor_cell[k].data();
            for (int64_t i = 0; i < node.cells; ++i) table[cell[i]] += narrowed(p[i]);
        }
        for (size_t k = 0; k < node.children.size(); ++k) {
            const Node& child = component.nodes[node.children[k]];
            const V* message = space.messages.data() + child.message;
            V* below = space.down.data() + child.message;
            const uint32_t* row = node.child_row[k].data();
            for (int64_t i = 0; i < node.cells; ++i) {
                V part = p[i];
                divide(part, message[row[i]]);
                add(below[row[i]], part);
            }
        }
    }
}
// The missing cells of a row, drawn from the last node to the first: each given its context.
template <typename V>
void draw(const Component& component, const Space<V>& space, uint64_t seed, int64_t row,
                 std::vector<std::vector<uint32_t>>& states) {
    std::vector<int> state(component.nodes.size());
    std::vector<double> p;
    for (size_t i = component.nodes.size(); i-- > 0;) {
        const Node& node = component.nodes[i];
        int64_t at = 0;
        for (int c : node.context) at = at * component.nodes[c].card + state[c];
        V sum{};
        const V* cells = space.cliques.data() + node.clique + at * node.card;
        for (int x = 0; x < node.card; ++x) add(sum, cells[x]);
        p.clear();
        for (int x = 0; x < node.card; ++x) {
            V part = cells[x];
            divide(part, sum);
            p.push_back(narrowed(part));
        }
        double u = uniform(seed, static_cast<uint64_t>(row), static_cast<uint64_t>(node.var));
        int x = 0;
        while (x + 1 < node.card && (u -= p[x]) >= 0.0) ++x;
        while (x > 0 && !(p[x] > 0.0)) --x;
        state[i] = x;
        states[node.var][row] = static_cast<uint32_t>(x);
    }
}

}  // namespace bayeskit::network::missing
