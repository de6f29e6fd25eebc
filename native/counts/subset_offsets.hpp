// Where the tables of all pairs or all triples of columns begin, one after the other.
#pragma once
#include <cstdint>
#include <vector>

namespace bayeskit::counts {

// (tables + 1,) in the order (0, 1), (0, 2), …, (1, 2), … or (0, 1, 2), (0, 1, 3), …
inline std::vector<int64_t> subset_offsets(int order, const std::vector<int64_t>& sizes, int64_t n_classes) {
    const size_t d = sizes.size();
    std::vector<int64_t> offsets = {0};
    for (size_t i = 0; i < d; ++i)
        for (size_t j = i + 1; j < d; ++j) {
            const int64_t cells = sizes[i] * sizes[j] * n_classes;
            if (order == 2) offsets.push_back(offsets.back() + cells);
            for (size_t k = j + 1; order == 3 && k < d; ++k) offsets.push_back(offsets.back() + cells * sizes[k]);
        }
    return offsets;
}

}  // namespace bayeskit::counts
