// The posterior of a variable whose Markov blanket is known: one product of table rows for each row of a block.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "base/codes.hpp"
#include "base/simd.hpp"
#include "network/engine.hpp"
#include "network/wide_double.hpp"

namespace bayeskit::network::blanket {

constexpr int64_t BLOCK_ROWS = 256;
constexpr int UNKNOWN = -1;
// Far above the smallest double, far below what a row of a few hundred cells comes to.
constexpr double SMALLEST_PRODUCT = 1e-250;

// A table with the target as innermost axis: the row is chosen by the other variables of its scope.
struct BlanketTable {
    std::vector<double> values;
    std::vector<std::pair<int, uint32_t>> others;  // position among the columns, stride
};

// A table with zeros away from the target: a row that hits a zero is impossible, whatever the target.
struct Guard {
    std::vector<uint8_t> possible;
    std::vector<std::pair<int, uint32_t>> scope;
};

static BAYESKIT_SIMD void guard_block(uint8_t* open, const uint8_t* possible, const uint32_t* place, int64_t n) {
    for (int64_t i = 0; i < n; ++i) open[i] |= static_cast<uint8_t>(!possible[place[i]]);
}

template <int K>
BAYESKIT_INLINE void multiply_rows(double* acc, const double* table, const uint32_t* place, int64_t n, int k) {
    const int width = K > 0 ? K : k;
    for (int64_t i = 0; i < n; ++i)
        for (int s = 0; s < width; ++s) acc[i * width + s] *= table[place[i] + s];
}

static BAYESKIT_SIMD void multiply_block(double* acc, const double* table, const uint32_t* place, int64_t n, int k) {
    switch (k) {
        case 2: multiply_rows<2>(acc, table, place, n, k); break;
        case 3: multiply_rows<3>(acc, table, place, n, k); break;
        case 4: multiply_rows<4>(acc, table, place, n, k); break;
        default: multiply_rows<0>(acc, table, place, n, k);
    }
}

static BAYESKIT_SIMD void add_places(uint32_t* place, const uint32_t* level, uint32_t stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i) place[i] += level[i] * stride;
}

// Levels of a block; a cell that is no state is marked in `open` and read as 0.
static BAYESKIT_SIMD void read_block(const Column& column, int64_t begin, int64_t n, uint32_t card, uint32_t* level, uint8_t* open) {
    decode<true>(column, begin, n, 0, card, level);
    for (int64_t i = 0; i < n; ++i) {
        const bool known = level[i] < card;
        open[i] |= static_cast<uint8_t>(!known);
        level[i] = known ? level[i] : 0;
    }
}

class MarkovBlanket {
public:
    struct Scratch {
        std::vector<WideDouble> product;
        std::vector<uint32_t> level;
    };

    // place: of each variable, its position among the columns, or UNKNOWN; vars: of each column, its variable.
    MarkovBlanket(const Engine& engine, int target, const std::vector<int>& place, const std::vector<int>& vars)
        : vars_(vars), width_(engine.network().cards[target]) {
        const Network& network = engine.network();
        for (int v : vars_) cards_.push_back(static_cast<uint32_t>(network.cards[v]));
        std::vector<int> tables = network.children[target];
        tables.push_back(target);
        whole_ = true;
        Range products;
        for (int f : tables) products = products + network.factors[f].range;
        small_products_ = products.low <= exponent_of(SMALLEST_PRODUCT);
        std::vector<char> used(vars_.size(), 0);
        for (int f : tables) {
            const Factor& factor = network.factors[f];
            BlanketTable table;
            uint32_t stride = static_cast<uint32_t>(network.cards[target]);
            std::vector<int64_t> from;
            int64_t target_stride = 1, rows = 1;
            for (size_t i = 0; i < factor.scope.size(); ++i) {
                const int v = factor.scope[i];
                if (v == target) {
                    target_stride = factor.stride[i];
                    continue;
                }
                if (place[v] == UNKNOWN) {
                    whole_ = false;
                    return;
                }
                used[place[v]] = 1;
                table.others.emplace_back(place[v], stride);
                from.push_back(factor.stride[i]);
                stride *= static_cast<uint32_t>(network.cards[v]);
                rows *= network.cards[v];
            }
            for (int64_t r = 0; r < rows; ++r) {
                int64_t rest = r, offset = 0;
                for (size_t i = 0; i < from.size(); ++i) {
                    const int64_t n = network.cards[vars_[table.others[i].first]];
                    offset += rest % n * from[i];
                    rest /= n;
                }
                for (int s = 0; s < network.cards[target]; ++s)
                    table.values.push_back(factor.values[offset + s * target_stride]);
            }
            tables_.push_back(std::move(table));
        }
        make_guards(engine, target, place, used);
        for (size_t j = 0; j < used.size(); ++j)
            if (used[j]) columns_.push_back(static_cast<int>(j));
    }

    // Whether the columns hold the whole blanket, and each table with zeros that could make a row impossible.
    bool is_whole() const { return whole_; }

    // Writes the posterior of rows begin .. begin + n - 1; those that have a missing cell, or hit a zero, are added to `left`.
    void multiply(const Table& table, int64_t begin, int64_t n, double* out, Scratch& s, std::vector<int64_t>& left) const {
        const int k = width_;
        s.level.resize(vars_.size() * BLOCK_ROWS);
        uint8_t open[BLOCK_ROWS] = {0};
        for (int j : columns_)
            read_block(table.columns[j], begin, n, cards_[j],
                       s.level.data() + j * BLOCK_ROWS, open);
        double* acc = out + begin * k;
        std::fill(acc, acc + n * k, 1.0);
        uint32_t place[BLOCK_ROWS];
        for (const BlanketTable& part : tables_) {
            std::fill(place, place + n, 0u);
            for (const auto& [j, stride] : part.others) add_places(place, s.level.data() + j * BLOCK_ROWS, stride, n);
            multiply_block(acc, part.values.data(), place, n, k);
        }
        for (const Guard& guard : guards_) {
            std::fill(place, place + n, 0u);
            for (const auto& [j, stride] : guard.scope) add_places(place, s.level.data() + j * BLOCK_ROWS, stride, n);
            guard_block(open, guard.possible.data(), place, n);
        }
        for (int64_t i = 0; i < n; ++i) {
            double sum = 0.0;
            for (int t = 0; t < k; ++t) sum += acc[i * k + t];
            // A row that hits a zero is left to the tree, which finds out whether it is impossible.
            if (open[i] || !(sum > 0.0) || (small_products_ && is_small(acc + i * k, k))) {
                if (open[i] || !wide_product(i, acc + i * k, s)) left.push_back(begin + i);
                continue;
            }
            const double inverse = 1.0 / sum;
            for (int t = 0; t < k; ++t) acc[i * k + t] *= inverse;
        }
    }

private:
    void make_guards(const Engine& engine, int target, const std::vector<int>& place, std::vector<char>& used) {
        const Network& network = engine.network();
        const std::vector<char> active = engine.ancestors({target}, vars_, {});
        for (int f = 0; f < network.size(); ++f) {
            const Factor& factor = network.factors[f];
            const bool of_target = std::find(factor.scope.begin(), factor.scope.end(), target) != factor.scope.end();
            if (!active[f] || !factor.has_zero || of_target) continue;
            Guard guard;
            for (double value : factor.values) guard.possible.push_back(value > 0.0);
            for (size_t i = 0; i < factor.scope.size(); ++i) {
                const int column = place[factor.scope[i]];
                if (column == UNKNOWN) {
                    whole_ = false;
                    return;
                }
                used[column] = 1;
                guard.scope.emplace_back(column, static_cast<uint32_t>(factor.stride[i]));
            }
            guards_.push_back(std::move(guard));
        }
    }

    // A product this small may have lost digits.
    static bool is_small(const double* line, int k) {
        return std::any_of(line, line + k, [](double p) { return !(p > SMALLEST_PRODUCT); });
    }

    // The same product in wide numbers, normalised; false when it is 0 for every state.
    bool wide_product(int64_t i, double* line, Scratch& s) const {
        s.product.assign(width_, widen(1.0));
        for (const BlanketTable& part : tables_) {
            uint32_t place = 0;
            for (const auto& [j, stride] : part.others) place += s.level[j * BLOCK_ROWS + i] * stride;
            for (int t = 0; t < width_; ++t) network::multiply(s.product[t], part.values[place + t]);
        }
        WideDouble sum;
        for (const WideDouble& p : s.product) add(sum, p);
        if (!(sum.mantissa > 0.0)) return false;
        for (int t = 0; t < width_; ++t) {
            divide(s.product[t], sum);
            line[t] = narrow(s.product[t], 0);
        }
        return true;
    }

    std::vector<int> vars_, columns_;
    std::vector<uint32_t> cards_;
    std::vector<BlanketTable> tables_;
    std::vector<Guard> guards_;
    int width_;
    bool whole_ = false;
    bool small_products_ = false;  // a product of the tables may be below SMALLEST_PRODUCT and yet not 0
};

}  // namespace bayeskit::network::blanket
