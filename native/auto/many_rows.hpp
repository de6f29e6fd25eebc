// A node of many rows: the columns that its tests ask for are copied once, in the order of the node's rows.
#pragma once
#include "auto/tree_rows.hpp"

namespace bayeskit::automatic {

// How many of n levels lie in base .. base + width - 1.
BAYESKIT_SIMD
static int32_t count_between(const uint8_t* levels, int32_t n, uint8_t base, uint8_t width) {
    constexpr int32_t LANES = 32, TURNS = 255;  // a lane of one byte counts so many rows
    int32_t total = 0, r = 0;
    while (r + LANES <= n) {
        uint8_t lane[LANES] = {};
        for (int32_t turn = 0; turn < TURNS && r + LANES <= n; ++turn, r += LANES)
            for (int32_t v = 0; v < LANES; ++v) lane[v] += static_cast<uint8_t>(levels[r + v] - base) < width;
        for (int32_t v = 0; v < LANES; ++v) total += lane[v];
    }
    for (; r < n; ++r) total += static_cast<uint8_t>(levels[r] - base) < width;
    return total;
}

// Their weight; the order of the sum does not depend on the machine.
BAYESKIT_SIMD
static double weigh_between(const uint8_t* levels, const double* weight, int32_t n, uint8_t base, uint8_t width) {
    double lane[QUAD] = {};
    int32_t r = 0;
    for (; r + QUAD <= n; r += QUAD)
        for (int v = 0; v < QUAD; ++v) lane[v] += static_cast<uint8_t>(levels[r + v] - base) < width ? weight[r + v] : 0.0;
    for (; r < n; ++r) lane[0] += static_cast<uint8_t>(levels[r] - base) < width ? weight[r] : 0.0;
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

constexpr int32_t ENOUGH = 512;  // rows on which tests are compared

class ManyRows {
public:
    ManyRows(int64_t n_features, TreeRows& tree) : tree_(tree), read_by_(n_features), low_(n_features), high_(n_features) {}

    void start() {
        std::fill(read_by_.begin(), read_by_.end(), -1);
        cells_.resize(tree_.levels.size());
        half_.resize(tree_.rows);
        heavy_.resize(tree_.rows);
        spare_.resize(tree_.rows);
    }

    // Finds the classes of a node; false where it has only one.
    bool open(const Job& job) {
        job_ = job;
        weight_ = 0.0;
        segments_.clear();
        look_at(tree_.order.data() + job.begin, job.end - job.begin);
        const int32_t *begin = seen_, *end = seen_ + size_;
        for (const int32_t* at = begin; at < end;) {
            const int32_t here = tree_.part_of[*at];
            const int32_t* next = std::lower_bound(at, end, tree_.part_end[here]);
            const int32_t from = static_cast<int32_t>(at - begin), to = static_cast<int32_t>(next - begin);
            double weight = to - from;
            if (here % 2 == 0) {
                weight = 0.0;
                for (int32_t r = from; r < to; ++r) weight += heavy_[r] = tree_.weight[begin[r]];
            }
            segments_.push_back({from, to, here, weight});
            weight_ += weight;
            at = next;
        }
        return segments_.front().part / 2 != segments_.back().part / 2;
    }

    int32_t size() const { return size_; }
    double weight() const { return weight_; }
    uint8_t low(int32_t feature) const { return low_[feature]; }
    uint8_t high(int32_t feature) const { return high_[feature]; }
    uint8_t level(int32_t feature, uint32_t place) const { return cells(feature)[place]; }

    // Reads a column, if it has not been read yet; false where all rows have one level.
    bool read(int32_t feature) {
        if (read_by_[feature] != job_.node) {
            read_by_[feature] = job_.node;
            const uint8_t* column = tree_.column(feature);
            uint8_t *to = cells(feature), low = HIDDEN, high = 0;
            for (int32_t r = 0; r < size_; ++r) to[r] = column[seen_[r]];
            for (int32_t r = 0; r < size_; ++r) {
                low = std::min(low, to[r]);
                high = std::max(high, to[r]);
            }
            low_[feature] = low;
            high_[feature] = high;
        }
        return low_[feature] != high_[feature];
    }

    // Σ over both children of Σ_c n_c² / n: the greater, the purer; negative where a child would be empty.
    double purity(const Node& test) {
        const TreeNode asked = TreeNode::of(test.feature, 0, test.value, test.test);
        const uint8_t *levels = cells(test.feature), base = test.test == HALF ? uint8_t{0} : asked.base, width = test.test == HALF ? uint8_t{1} : asked.width;
        if (test.test == HALF) {
            read_half(test);
            levels = half_.data();
        }
        Purity purity;
        double in = 0.0, all = 0.0;
        for (size_t s = 0; s < segments_.size(); ++s) {
            const Segment& each = segments_[s];
            const int32_t n = each.end - each.begin;
            const uint8_t* row_levels = levels + each.begin;
            if (each.part % 2 == 0) in += weigh_between(row_levels, heavy_.data() + each.begin, n, base, width);
            else in += count_between(row_levels, n, base, width);
            all += each.weight;
            if (s + 1 < segments_.size() && segments_[s + 1].part / 2 == each.part / 2) continue;
            purity.add(in, all - in);
            in = all = 0.0;
        }
        return purity.value();
    }

    void split(const Node& test, Job& first, Job& second) {
        const uint8_t* levels = tree_.column(test.feature);
        uint8_t goes[256];
        for (int32_t level = 0; level < 256; ++level) goes[level] = goes_first(static_cast<uint8_t>(level), test.test, test.value);
        int32_t* order = tree_.order.data();
        int32_t middle = job_.begin, aside = 0;
        for (int32_t r = job_.begin; r < job_.end; ++r) {
            const int32_t row = order[r];
            const int32_t is_first = goes[levels[row]];
            // Both are written, and one is kept: no branch to guess.
            order[middle] = row;
            spare_[aside] = row;
            middle += is_first;
            aside += 1 - is_first;
        }
        std::copy(spare_.begin(), spare_.begin() + aside, order + middle);
        first.begin = job_.begin;
        first.end = second.begin = middle;
        second.end = job_.end;
    }

private:
    struct Segment {
        int32_t begin, end;  // from the first row of the node on
        int32_t part;        // 2 × class, and 1 more where every row weighs 1
        double weight;
    };

    TreeRows& tree_;
    Job job_{};
    const int32_t* seen_ = nullptr;  // the rows on which tests are compared
    int32_t size_ = 0;               // how many
    double weight_ = 0.0;
    int32_t sample_[ENOUGH];
    // Of the open node: its classes, the weights of its rows, and the columns that were read, each once.
    std::vector<Segment> segments_;
    std::vector<double> heavy_;
    std::vector<uint8_t> cells_, half_;
    std::vector<int32_t> read_by_;  // (n_features,): the last node that has read the column
    std::vector<uint8_t> low_, high_;
    std::vector<int32_t> spare_;

    uint8_t* cells(int32_t feature) { return cells_.data() + feature * static_cast<int64_t>(tree_.rows); }
    const uint8_t* cells(int32_t feature) const { return cells_.data() + feature * static_cast<int64_t>(tree_.rows); }

    // Of very many rows every so manieth is enough to tell good tests from bad ones. Rows stand class by class, so each class
    // keeps its share.
    void look_at(const int32_t* rows, int32_t n) {
        seen_ = rows;
        size_ = std::min(n, ENOUGH);
        if (n <= ENOUGH) return;
        for (int32_t r = 0; r < ENOUGH; ++r) sample_[r] = rows[(2 * int64_t{r} + 1) * n / (2 * ENOUGH)];
        seen_ = sample_;
    }

    // 0 for the levels of a random half, 1 for the others
    void read_half(const Node& test) {
        uint8_t other[256];
        for (int32_t level = low_[test.feature]; level <= high_[test.feature]; ++level)
            other[level] = goes_first(static_cast<uint8_t>(level), HALF, test.value) ? 0 : 1;
        const uint8_t* levels = cells(test.feature);
        for (int32_t r = 0; r < size_; ++r) half_[r] = other[levels[r]];
    }
};

}  // namespace bayeskit::automatic
