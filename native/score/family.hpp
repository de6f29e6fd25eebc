// Where the table of one family lies: its members, their strides, its first cell.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

namespace bayeskit::score {

// The table P(feature | parents, class) of one family: (levels of the parents …, levels of the feature, n_classes).
struct Family {
    std::vector<int64_t> members;  // parents, then the feature itself
    std::vector<int64_t> strides;  // in cells, one for each member
    int64_t first_cell, n_cells, n_levels;
    Family(std::vector<int64_t> of, const std::vector<int64_t>& levels, int64_t first)
        : members(std::move(of)), strides(members.size()), first_cell(first), n_cells(1), n_levels(levels.at(members.back())) {
        for (size_t m = members.size(); m-- > 0;) {
            strides[m] = n_cells;
            n_cells *= levels.at(members[m]);
        }
    }
    int64_t feature() const { return members.back(); }
    int64_t n_configs() const { return n_levels ? n_cells / n_levels : 0; }
    // Stride of a member in a table of (levels of the feature, levels of the parents …): what is summed over hidden
    // parents of a known feature then lies side by side.
    int64_t turned_stride(size_t m) const { return m + 1 == members.size() ? n_configs() : strides[m] / n_levels; }
};

}  // namespace bayeskit::score
