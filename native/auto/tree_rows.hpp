// The rows that one tree is grown on.
#pragma once
#include <numeric>

#include "auto/trees.hpp"

namespace bayeskit::automatic {

// The table that all trees are grown on.
struct Sight {
    const uint8_t* codes;
    int64_t n_features, n_rows;
    const uint32_t* y;
    const double* weight;
    int64_t n_classes;
    const uint8_t* ordered;
    const int64_t* sizes;
};

// How pure a test leaves its two sides: the sum over both of Σ_c n_c² / n, or -1 where one side has no rows.
class Purity {
public:
    void add(double left, double right) {  // the weight of one class on each side
        left_ += left;
        right_ += right;
        left2_ += left * left;
        right2_ += right * right;
    }
    double value() const { return left_ > 0.0 && right_ > 0.0 ? left2_ / left_ + right2_ / right_ : -1.0; }

private:
    double left_ = 0.0, right_ = 0.0, left2_ = 0.0, right2_ = 0.0;
};

// A node as it is found: a test, and its first child.
struct Node {
    int32_t feature = -1, next = 0;
    uint8_t test = 0;
    uint32_t value = 0;
};

// The rows of a node: places begin .. end - 1 of the order, or where there are few the bits `few` of a block of rows.
struct Job {
    int32_t node, begin, end, depth;
    int32_t block = -1;
    uint64_t few = 0;
};

// Rows of a tree are numbered class by class, those that weigh 1 behind the others, and rows of a node stand in the order of
// their numbers: so the rows of one class follow each other in every node, and are counted without asking each row.
struct TreeRows {
    int32_t rows = 0;
    std::vector<int32_t> part_end;  // (2 × n_classes,)
    std::vector<uint8_t> levels;    // (n_features, rows)
    std::vector<int32_t> part_of;   // (rows,): 2 × class, and 1 more where the row weighs 1
    std::vector<double> weight;     // (rows,)
    std::vector<int32_t> order;     // (rows,): rows of a node follow each other

    void gather(const Sight& table, uint64_t seed, int64_t tree, double share) {
        // Half of the copies of a row belong to each tree of a pair: a row of weight 2 is in both, once.
        auto drawn_weight = [&](int64_t row) {
            const double half = 0.5 * table.weight[row];
            if (share == 0.5 && half >= 1.0) return half;
            return in_structure(seed, tree, row, share) ? table.weight[row] : 0.0;
        };
        auto part = [&](int64_t row, double weight) { return static_cast<int32_t>(2 * table.y[row]) + (weight == 1.0); };
        std::vector<int32_t> drawn;
        std::vector<double> drawn_weights;
        part_end.assign(2 * table.n_classes, 0);
        for (int64_t r = 0; r < table.n_rows; ++r)
            if (const double row_weight = drawn_weight(r); row_weight > 0.0) {
                drawn.push_back(static_cast<int32_t>(r));
                drawn_weights.push_back(row_weight);
                ++part_end[part(r, row_weight)];
            }
        rows = static_cast<int32_t>(drawn.size());
        int32_t before = 0;
        for (int32_t& end : part_end) {
            const int32_t n = end;
            end = before;
            before += n;
        }
        std::vector<int32_t> drawn_rows(rows);
        part_of.resize(rows);
        weight.resize(rows);
        for (int32_t d = 0; d < rows; ++d) {
            const int32_t to = part(drawn[d], drawn_weights[d]), place = part_end[to]++;
            drawn_rows[place] = drawn[d];
            part_of[place] = to;
            weight[place] = drawn_weights[d];
        }
        const size_t size = drawn_rows.size();
        levels.resize(table.n_features * size);
        for (int64_t j = 0; j < table.n_features; ++j) {
            const uint8_t* column = table.codes + j * table.n_rows;
            uint8_t* to = levels.data() + j * size;
            for (size_t r = 0; r < size; ++r) to[r] = column[drawn_rows[r]];
        }
        order.resize(size);
        std::iota(order.begin(), order.end(), 0);
    }

    const uint8_t* column(int32_t feature) const { return levels.data() + feature * static_cast<int64_t>(rows); }
};

}  // namespace bayeskit::automatic
