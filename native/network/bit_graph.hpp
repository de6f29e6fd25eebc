// An undirected graph as rows of bits: neighbours of two nodes are compared 64 at a time.
#pragma once
#include <cstdint>
#include <vector>

#include "base/bits.hpp"
#include "base/simd.hpp"

namespace bayeskit::network {

int count_bits(const uint64_t* row, int words);
// Σ over others u of the bits that row v has and row u lacks.
int64_t count_missing(const uint64_t* rows, int words, int v, const int* others, size_t n_others);

class BitGraph {
public:
    explicit BitGraph(int n) : words_((n + 63) / 64), rows_(static_cast<size_t>(n) * words_, 0) {}

    int words() const { return words_; }
    void set(int a, int b) { row(a)[b >> 6] |= uint64_t{1} << (b & 63); }
    bool has(int a, int b) const { return row(a)[b >> 6] >> (b & 63) & 1; }

    void neighbours(int v, std::vector<int>& out) const {
        out.clear();
        const uint64_t* bits = row(v);
        for (int w = 0; w < words_; ++w) each_bit(bits[w], w, [&](int u) { out.push_back(u); });
    }
    int degree(int v) const { return count_bits(row(v), words_); }
    // All neighbours of v become neighbours of u; each row is changed by itself.
    void join(int u, int v) {
        uint64_t* line = row(u);
        const uint64_t* other = row(v);
        for (int w = 0; w < words_; ++w) line[w] |= other[w];
        line[u >> 6] &= ~(uint64_t{1} << (u & 63));
    }
    // How many pairs (u, w) of neighbours of v have no edge u - w; u = w is such a pair.
    int64_t missing(int v, const std::vector<int>& neighbours) const {
        return count_missing(rows_.data(), words_, v, neighbours.data(), neighbours.size());
    }
    template <typename F> void each_missing(int v, int u, F&& f) const {
        const uint64_t *a = row(v), *b = row(u);
        for (int w = 0; w < words_; ++w) each_bit(a[w] & ~b[w], w, f);
    }
    template <typename F> void common(int a, int b, F&& f) const {
        const uint64_t *x = row(a), *y = row(b);
        for (int w = 0; w < words_; ++w) each_bit(x[w] & y[w], w, f);
    }
    void isolate(int v, const std::vector<int>& neighbours) {
        for (int u : neighbours) row(u)[v >> 6] &= ~(uint64_t{1} << (v & 63));
        for (int w = 0; w < words_; ++w) row(v)[w] = 0;
    }

private:
    int words_;
    std::vector<uint64_t> rows_;
    uint64_t* row(int v) { return rows_.data() + static_cast<size_t>(v) * words_; }
    const uint64_t* row(int v) const { return rows_.data() + static_cast<size_t>(v) * words_; }
    template <typename F> static void each_bit(uint64_t word, int w, F&& f) {
        for (; word; word &= word - 1) f(w * 64 + lowest_bit(word));
    }
};

}  // namespace bayeskit::network
