// Evidence networks: for each column of each network a chain of at most three parents, and a node for every context (values
// of the first d parents) that enough rows have. A node holds one count for each value of the column and each class.
//
// A unit is one column in one network. Its nodes are numbered from the root (0) on, depth by depth. The children of the nodes
// of one depth lie one after the other, a line of one number per value of the next parent each: the child's number, or 0.
#pragma once
#include "auto/rows.hpp"

namespace bayeskit::automatic {

constexpr int DEPTHS = 3;

// Networks with an even and with an odd number choose on different halves of the rows: parity 0 or 1 takes one sort, -1 all.
inline bool takes(int parity, int64_t network) { return parity < 0 || network % 2 == parity; }

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

// The nodes that a block of rows has in one unit, depth by depth: first the root, then one step for each call of `deeper`.
class UnitRows {
public:
    UnitRows(const Layout& layout, int64_t unit, const uint8_t* codes, int64_t n_rows)
        : layout_(layout), unit_(unit), codes_(codes), n_rows_(n_rows) {
        read_bins(unit % layout.n_features, own_bin_);
    }

    void start(int64_t first_row, int64_t size) {
        first_row_ = first_row;
        size_ = size;
        depth_ = 0;
        first_node_ = 0;
        child_ = layout_.child.data() + layout_.child_at[unit_];
        std::fill(node, node + size, 0);
        std::fill(deepest, deepest + size, 0);
        const uint8_t* column = codes_ + unit_ % layout_.n_features * n_rows_ + first_row;
        for (int64_t r = 0; r < size; ++r) bin[r] = own_bin_[column[r]];
    }

    // Goes one step deeper; false where no row can.
    bool deeper() {
        if (depth_ == DEPTHS) return false;
        const int32_t parent = layout_.parents[unit_ * DEPTHS + depth_];
        const int32_t here = layout_.n_nodes[unit_ * (DEPTHS + 1) + depth_], below = layout_.n_nodes[unit_ * (DEPTHS + 1) + depth_ + 1];
        if (parent < 0 || !below) return false;
        const int32_t size = layout_.size_of(unit_, parent), first = first_node_;
        const int32_t* child = child_;
        uint8_t bins[256];
        read_bins(parent, bins);
        const uint8_t* column = codes_ + parent * n_rows_ + first_row_;
        for (int64_t r = 0; r < size_; ++r) {
            const uint8_t b = bins[column[r]];
            const bool stays = node[r] >= 0 && b != HIDDEN;
            const int32_t next = child[stays ? (node[r] - first) * size + b : 0];
            const bool goes = stays && next != 0;
            node[r] = goes ? next : -1;
            deepest[r] = goes ? next : deepest[r];
        }
        child_ += static_cast<int64_t>(here) * size;
        first_node_ += here;
        ++depth_;
        return true;
    }

    int32_t node[ROWS_AT_ONCE];     // the node at this depth, -1 once the row has left the tree
    int32_t deepest[ROWS_AT_ONCE];  // the last node that it had
    uint8_t bin[ROWS_AT_ONCE];      // the bin of the unit's own column, or HIDDEN

private:
    const Layout& layout_;
    int64_t unit_;
    const uint8_t* codes_;
    int64_t n_rows_, first_row_ = 0, size_ = 0;
    int depth_ = 0;
    int32_t first_node_ = 0;
    const int32_t* child_ = nullptr;
    uint8_t own_bin_[256];

    void read_bins(int64_t feature, uint8_t* bins) const {
        const int64_t n = layout_.level_at[feature + 1] - layout_.level_at[feature];
        const uint8_t* from = layout_.bins_of(unit_, feature);
        std::fill(std::copy(from, from + n, bins), bins + 256, HIDDEN);
    }
};

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
