// Graphs with arcs and edges of unknown direction (CPDAGs), changed step by step: extension to a directed graph, and back to the
// class of all graphs that are equivalent to it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "select/families.hpp"

namespace bayeskit::select {

// marks(a, b) alone is an arc a → b, both ways an edge. Rows of bits for questions, lists for loops.
class Pattern {
public:
    explicit Pattern(int n) : n_(n), words_((n + 63) / 64), bits_(static_cast<size_t>(n) * words_), near_(n) {}

    int size() const { return n_; }
    bool mark(int a, int b) const { return bits_[static_cast<size_t>(a) * words_ + (b >> 6)] >> (b & 63) & 1; }
    bool joined(int a, int b) const { return mark(a, b) || mark(b, a); }
    bool arc(int a, int b) const { return mark(a, b) && !mark(b, a); }
    bool edge(int a, int b) const { return mark(a, b) && mark(b, a); }
    const Ints& near(int a) const { return near_[a]; }  // all that are joined to a, in increasing order

    void set(int a, int b, bool there) {
        const bool was = joined(a, b);
        uint64_t& word = bits_[static_cast<size_t>(a) * words_ + (b >> 6)];
        const uint64_t bit = uint64_t{1} << (b & 63);
        word = there ? word | bit : word & ~bit;
        if (joined(a, b) == was) return;
        for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
            Ints& list = near_[from];
            const auto at = std::lower_bound(list.begin(), list.end(), to);
            if (was) list.erase(at);
            else list.insert(at, to);
        }
    }
    Ints parents(int y) const { return those(y, [&](int x) { return arc(x, y); }); }
    Ints neighbours(int y) const { return those(y, [&](int x) { return edge(x, y); }); }

    // Whether a way from start to goal that never goes against an arc avoids the blocked nodes (and, at first, the direct step).
    bool has_way(int start, int goal, const Ints& blocked, bool direct, std::vector<uint8_t>& seen, Ints& stack) const {
        seen.assign(n_, 0);
        for (int b : blocked) seen[b] = 1;
        seen[start] = 1;
        stack.assign(1, start);
        while (!stack.empty()) {
            const int a = stack.back();
            stack.pop_back();
            for (int b : near_[a]) {
                if (!mark(a, b) || (b == goal && a == start && !direct)) continue;
                if (b == goal) return true;
                if (!seen[b]) {
                    seen[b] = 1;
                    stack.push_back(b);
                }
            }
        }
        return false;
    }

    // Directs all edges without a cycle or a new v-structure (Dor & Tarsi 1992); false where that cannot be.
    bool extend(std::vector<Ints>& parents) const {
        Pattern left(*this);
        parents.assign(n_, {});
        Ints open(n_);
        for (int v = 0; v < n_; ++v) open[v] = n_ - 1 - v;
        std::vector<uint8_t> queued(n_, 1), gone(n_, 0);
        int n_gone = 0;
        while (!open.empty()) {
            const int x = open.back();
            open.pop_back();
            queued[x] = 0;
            if (gone[x] || !left.may_be_last(x)) continue;
            const Ints around = left.near_[x];
            parents[x] = around;  // all of them: no arc leaves x
            for (int y : around) {
                left.set(x, y, false);
                left.set(y, x, false);
            }
            gone[x] = 1;
            ++n_gone;
            for (int y : around)
                if (!queued[y]) {
                    queued[y] = 1;
                    open.push_back(y);
                }
        }
        return n_gone == n_;
    }

    // Directs each edge whose other direction would make a cycle or a new v-structure (Meek 1995); rule 4 is needed only where
    // directions are known beforehand.
    void close(bool known_directions) {
        Ints open;
        std::vector<uint8_t> queued(n_, 1);
        for (int v = 0; v < n_; ++v) open.push_back(v);
        while (!open.empty()) {
            const int a = open.back();
            open.pop_back();
            queued[a] = 0;
            for (int b : neighbours(a)) {
                if (!edge(a, b)) continue;
                const bool forward = must_point(a, b, known_directions);
                if (!forward && !must_point(b, a, known_directions)) continue;
                if (forward) set(b, a, false);
                else set(a, b, false);
                for (int end : {a, b})
                    for (int v : near_[end])
                        if (!queued[v]) {
                            queued[v] = 1;
                            open.push_back(v);
                        }
                if (!queued[a]) {
                    queued[a] = 1;
                    open.push_back(a);
                }
            }
        }
    }

    // The class of a directed graph: its joined pairs, its v-structures, and what they compel.
    static Pattern of_graph(const std::vector<Ints>& parents) {
        Pattern all(static_cast<int>(parents.size()));
        for (int y = 0; y < all.n_; ++y)
            for (int x : parents[y]) {
                all.set(x, y, true);
                all.set(y, x, true);
            }
        for (int y = 0; y < all.n_; ++y)
            for (size_t i = 0; i < parents[y].size(); ++i)
                for (size_t k = i + 1; k < parents[y].size(); ++k)
                    if (!all.joined(parents[y][i], parents[y][k])) {
                        all.set(y, parents[y][i], false);
                        all.set(y, parents[y][k], false);
                    }
        return all;
    }

private:
    int n_;
    size_t words_;
    std::vector<uint64_t> bits_;
    std::vector<Ints> near_;

    template <typename Test>
    Ints those(int y, Test&& test) const {
        Ints out;
        for (int x : near_[y])
            if (test(x)) out.push_back(x);
        return out;
    }

    // No arc leaves x, and each of its undirected neighbours is joined to all that x is joined to.
    bool may_be_last(int x) const {
        for (int y : near_[x])
            if (arc(x, y)) return false;
        for (int y : near_[x]) {
            if (!edge(x, y)) continue;
            for (int z : near_[x])
                if (z != y && !joined(y, z)) return false;
        }
        return true;
    }

    bool must_point(int a, int b, bool known_directions) const {
        for (int c : near_[a]) {
            if (c == b) continue;
            if (arc(c, a) && !joined(c, b)) return true;  // rule 1: else c → a ← b
            if (arc(a, c) && arc(c, b)) return true;      // rule 2: else a cycle
        }
        for (int c : near_[b]) {
            if (c == a || !arc(c, b) || !edge(a, c)) continue;
            for (int d : near_[b])
                if (d > c && arc(d, b) && edge(a, d) && !joined(c, d)) return true;  // rule 3
        }
        if (!known_directions) return false;
        for (int c : near_[b]) {  // rule 4: a — d → c → b with d and b not joined
            if (c == a || !arc(c, b) || !joined(a, c)) continue;
            for (int d : near_[c])
                if (d != a && d != b && arc(d, c) && edge(a, d) && !joined(d, b)) return true;
        }
        return false;
    }
};

}  // namespace bayeskit::select
