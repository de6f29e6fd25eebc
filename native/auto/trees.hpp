// Context trees on byte codes. A tree's nodes are numbered breadth first; children of a node follow each other.
#pragma once
#include "auto/rows.hpp"
#include "base/random.hpp"

namespace bayeskit::automatic {

// How a node sends a level to its first child: below a threshold, equal to one level, or in a random half of the levels.
enum Test : uint8_t { BELOW = 0, EQUAL = 1, HALF = 2 };

BAYESKIT_INLINE bool goes_first(uint8_t level, uint8_t test, uint32_t value) {
    if (test == BELOW) return level < value;
    if (test == EQUAL) return level == value;
    return (mix64((static_cast<uint64_t>(value) << 8) | level) & 1) != 0;
}

// A node as it is walked: what a step needs lies together.
struct TreeNode {
    int32_t feature;  // -1 in a leaf
    int32_t next;     // the first child, from the tree's root; in a leaf its number among all leaves
    uint32_t value;
    uint8_t test;
    uint8_t base, width;  // levels from base on that go to the first child, where it is no random half

    static TreeNode of(int32_t feature, int32_t next, uint32_t value, uint8_t test) {
        const uint8_t level = static_cast<uint8_t>(std::min<uint32_t>(value, HIDDEN));
        return {feature, next, value, test, test == EQUAL ? level : uint8_t{0}, test == EQUAL ? uint8_t{1} : level};
    }
};

struct Trees {
    std::vector<int64_t> tree_at;  // (n_trees + 1,)
    std::vector<TreeNode> nodes;
    bool halves = false;           // whether any test sends a random half of the levels

    int64_t n_trees() const { return static_cast<int64_t>(tree_at.size()) - 1; }
    bool is_leaf(int64_t node) const { return nodes[node].feature < 0; }
    BAYESKIT_INLINE int64_t step(int64_t tree, int64_t node, const uint8_t* row) const {
        const TreeNode& here = nodes[node];
        return tree_at[tree] + here.next + (goes_first(row[here.feature], here.test, here.value) ? 0 : 1);
    }
};

// A part of the table row by row, so that a walk stays within a few lines of the cache.
class RowBlock {
public:
    RowBlock(const uint8_t* codes, int64_t n_features, int64_t n_rows)
        : codes_(codes), n_(n_features), n_rows_(n_rows), most_(std::clamp<int64_t>((int64_t{1} << 18) / n_features, 64, ROWS_AT_ONCE)) {}

    int64_t n_blocks() const { return (n_rows_ + most_ - 1) / most_; }
    void read(int64_t block) {
        first_ = block * most_;
        size_ = std::min(most_, n_rows_ - first_);
        levels_.resize(size_ * n_);
        for (int64_t j = 0; j < n_; ++j) {
            const uint8_t* column = codes_ + j * n_rows_ + first_;
            for (int64_t r = 0; r < size_; ++r) levels_[r * n_ + j] = column[r];
        }
    }
    int64_t first() const { return first_; }
    int64_t size() const { return size_; }
    const uint8_t* row(int64_t r) const { return levels_.data() + r * n_; }

private:
    const uint8_t* codes_;
    int64_t n_, n_rows_, most_, first_ = 0, size_ = 0;
    std::vector<uint8_t> levels_;
};

// Whether the structure of a tree has seen a row: trees come in pairs on complementary parts of the rows.
BAYESKIT_INLINE bool in_structure(uint64_t seed, int64_t tree, int64_t row, double share) {
    Random random(seed ^ mix64(static_cast<uint64_t>(tree / 2) + 1), static_cast<uint64_t>(row));
    const double u = random.uniform();
    return tree % 2 == 0 ? u < share : u >= 1.0 - share;
}

}  // namespace bayeskit::automatic
