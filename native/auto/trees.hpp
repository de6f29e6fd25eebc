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

struct Trees {
    std::vector<int64_t> tree_at;   // (n_trees + 1,)
    std::vector<int32_t> feature;   // (n_nodes,): -1 in a leaf
    std::vector<uint8_t> test;      // (n_nodes,)
    std::vector<uint32_t> value;    // (n_nodes,)
    std::vector<int32_t> next;      // (n_nodes,): the first child, from the tree's root; in a leaf its number among all leaves

    int64_t n_trees() const { return static_cast<int64_t>(tree_at.size()) - 1; }

    template <typename Code>
    BAYESKIT_INLINE int64_t step(int64_t tree, int64_t node, Code&& code) const {
        return tree_at[tree] + next[node] + (goes_first(code(feature[node]), test[node], value[node]) ? 0 : 1);
    }
};

// Whether the structure of a tree has seen a row: trees come in pairs on complementary parts of the rows.
BAYESKIT_INLINE bool in_structure(uint64_t seed, int64_t tree, int64_t row, double share) {
    Random random(seed ^ mix64(static_cast<uint64_t>(tree / 2) + 1), static_cast<uint64_t>(row));
    const double u = random.uniform();
    return tree % 2 == 0 ? u < share : u >= 1.0 - share;
}

}  // namespace bayeskit::automatic
