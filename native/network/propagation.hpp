// Two sweeps over a planned junction tree: messages up, then beliefs down (Jensen, Lauritzen & Olesen 1990).
//
// Up:   message(c → parent) = Σ_residual Π tables · Π messages from the children of c.
// Down: belief(c) = that product · belief(separator) / message up; 0 / 0 is 0, since a state that the message rules out
//       has belief 0. A message of ones (nothing observed below) is neither computed nor divided by.
//
// Numbers are doubles as long as their magnitudes allow it (see magnitude.hpp); a run that leaves the range says so and is
// worth nothing, and the same run over wide doubles gives the answer.
#pragma once
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "network/schedule.hpp"

namespace bayeskit::network {

template <typename V>
struct Likelihood {
    int var;
    const V* values;  // one a state
    Range range;      // of the values
};

template <typename V>
struct Workspace {
    std::vector<V> up, down, cliques, tile, marginals;
    std::vector<char> unit;     // the message up is all ones
    std::vector<char> covered;  // some message above is all ones, so the evidence below does not count
    std::vector<int> soft;  // likelihoods at or below each step
    std::vector<Range> product, message, belief;  // of each step: its clique, its message up, its message down
    std::vector<Log<V>> moved;                    // by what power of 2 a step's clique was moved
    std::vector<std::vector<int>> at;  // likelihoods by step
    struct Source {
        const double* table;
        const V* cells;
        const View* view;
        Range range;
    };
    struct Sink {
        V* cells;
        const View* view;
    };
    std::vector<Source> sources;
    std::vector<Sink> sinks;
};

BAYESKIT_INLINE void divide(double& a, double b) { a = b > 0.0 ? a / b : 0.0; }
BAYESKIT_INLINE void divide(Pack& a, const Pack& b) {
    for (int k = 0; k < PACK; ++k) a.lane[k] = b.lane[k] > 0.0 ? a.lane[k] / b.lane[k] : 0.0;
}

template <typename V>
class Propagation {
public:
    // `state[v]` is read for hard variables only. `store` keeps clique products between the sweeps.
    Propagation(const Schedule& schedule, Workspace<V>& space, const int* state, const std::vector<Likelihood<V>>& soft,
                bool store)
        : p_(schedule), w_(space), state_(state), soft_(soft), store_(store) {
        const size_t n = p_.steps.size();
        w_.up.resize(p_.message_entries);
        if (store_) w_.cliques.resize(p_.clique_entries);
        else w_.tile.resize(TILE + 128);
        w_.product.resize(n);
        w_.message.resize(n);
        w_.belief.resize(n);
        w_.moved.resize(n);
        w_.unit.assign(n, 0);
        w_.soft.assign(n, 0);
        if (w_.at.size() < n) w_.at.resize(n);
        for (size_t c = 0; c < n; ++c) w_.at[c].clear();
        for (size_t i = 0; i < soft.size(); ++i) {
            w_.at[p_.home[soft[i].var]].push_back(static_cast<int>(i));
            ++w_.soft[p_.home[soft[i].var]];
        }
        for (size_t c = n; c-- > 0;) {
            const int up = parent(c);
            if (up >= 0) w_.soft[up] += w_.soft[c];
            w_.unit[c] = up >= 0 && w_.soft[c] == 0 && p_.steps[c].surplus == 0 && !p_.steps[c].maximise;
        }
        w_.covered.assign(n, 0);
        for (size_t c = 0; c < n; ++c)
            if (parent(c) >= 0) w_.covered[c] = w_.unit[parent(c)] || w_.covered[parent(c)];
    }

    Log<V> log{};  // of the probability of the evidence, after a run
    bool beyond = false;  // the magnitudes are too much for doubles: nothing that was computed counts

    // The first sweep; then `at_root(step, tile, tile number)` for every tile of every root. False when the evidence is impossible,
    // or the run is beyond.
    template <typename AtRoot>
    bool collect(AtRoot&& at_root) {
        if (!messages_up(false)) return false;
        for (size_t c = 0; c < p_.steps.size(); ++c) {
            const Step& step = p_.steps[c];
            if (parent(c) >= 0) continue;
            gather(step);
            if (!sweep(step, false, [&](V* tile, int64_t t) { at_root(step, tile, t); })) return false;
            count_moved(c, log);
        }
        return true;
    }

    // Both sweeps; afterwards the workspace holds every free variable's marginal, normalised.
    bool marginals() {
        w_.marginals.assign(p_.marginal_offset.back(), V{});
        w_.down.resize(p_.message_entries);
        if (!messages_up(true)) return false;
        for (size_t c = 0; c < p_.steps.size(); ++c)
            if (!distribute(static_cast<int>(c))) return false;
        return true;
    }

    // The product over one tile of a clique, once its children's messages are there.
    const V* tile_at(const Step& step, int64_t t) {
        int64_t index[64];
        for (int a = step.n_outer; a-- > 0;) {
            const int64_t n = p_.outer_lengths[step.outer_shape + a];
            index[a] = t % n;
            t /= n;
        }
        gather(step);
        w_.tile.resize(TILE + 128);
        Range range;
        build(step, w_.tile.data(), index, false, range, &w_.moved[&step - p_.steps.data()]);
        return w_.tile.data();
    }

private:
    const Schedule& p_;
    Workspace<V>& w_;
    const int* state_;
    const std::vector<Likelihood<V>>& soft_;
    bool store_;

    int parent(size_t c) const { return p_.tree->cliques[p_.steps[c].clique].parent; }

    int64_t offset_of(const Factor& factor) const {
        int64_t offset = 0;
        for (size_t i = 0; i < factor.scope.size(); ++i)
            if (p_.hard[factor.scope[i]] && p_.network.cards[factor.scope[i]] > 1)
                offset += factor.stride[i] * state_[factor.scope[i]];
        return offset;
    }

    bool constants() {
        for (const Factor* factor : p_.constants) {
            const double value = factor->values[offset_of(*factor)];
            if (!(value > 0.0)) return false;
            for (int k = 0; k < LANES<V>; ++k) lane_of(log, k) += std::log(value);
        }
        return true;
    }

    // What a clique was moved by is no part of the evidence's probability.
    void count_moved(size_t c, Log<V>& counted) {
        for (int k = 0; k < LANES<V>; ++k) lane_of(counted, k) -= LOG_2 * lane_of(w_.moved[c], k);
    }

    // Below a message of ones a message may still differ from ones (it sums to them): the way down needs it.
    bool messages_up(bool covered_too) {
        if (!constants()) return false;
        Log<V> ignored{};
        for (size_t c = p_.steps.size(); c-- > 0;) {
            const Step& step = p_.steps[c];
            if (w_.unit[c] || parent(c) < 0 || (w_.covered[c] && !covered_too)) continue;
            gather(step);
            V* up = w_.up.data() + step.up;
            std::memset(static_cast<void*>(up), 0, step.up_entries * sizeof(V));
            w_.sinks.assign(1, {up, &step.up_view});
            const bool swept = sweep(step, false, [&](V* tile, int64_t) {
                if (step.maximise) pour<true>(step, tile);
                else pour<false>(step, tile);
            });
            if (!swept) return false;
            Log<V>& counted = w_.covered[c] ? ignored : log;
            count_moved(c, counted);
            w_.message[c] = sums_of(w_.product[c]);
            settle_magnitude(up, step.up_entries, w_.message[c], counted);
        }
        return true;
    }

    // What multiplies into the clique: tables, likelihoods and the messages of its children.
    void gather(const Step& step) {
        w_.sources.clear();
        for (int f = step.factors_begin; f < step.factors_end; ++f) {
            const FactorUse& use = p_.factors[f];
            w_.sources.push_back({use.factor->values.data() + offset_of(*use.factor), nullptr, &use.view, use.factor->range});
        }
        for (int i : w_.at[&step - p_.steps.data()])
            w_.sources.push_back({nullptr, soft_[i].values, &p_.home_view[soft_[i].var], soft_[i].range});
        for (int child : step.children)
            if (!w_.unit[child])
                w_.sources.push_back({nullptr, w_.up.data() + p_.steps[child].up, &p_.steps[child].child_view, w_.message[child]});
    }

    int64_t outer_offset(const Step& step, const View& view, const int64_t* index) const {
        int64_t offset = 0;
        for (int a = 0; a < step.n_outer; ++a) offset += index[a] * p_.outer_strides[view.outer + a];
        return offset;
    }

    // Multiplies the sources into a tile, which may hold a part of the product already (`built`, with bounds in `range`). All
    // tiles of a clique are moved by one power of 2: the first tile sets it in `moved`, the others come to `common`.
    bool build(const Step& step, V* tile, const int64_t* index, bool built, Range& range, const Log<V>* common) {
        bool empty = !built;
        if (!built) range = {};
        Log<V> moved{};
        bool is_moved = false;
        for (const auto& source : w_.sources) {
            const Axis* axes = p_.axes.data() + source.view->axes;
            const int64_t offset = outer_offset(step, *source.view, index);
            if (source.table && empty) {
                assign_cells(tile, source.table + offset, axes, source.view->n_axes);
            } else {
                if (empty) fill_with_ones(tile, step.tile);
                if constexpr (!std::is_same_v<V, WideDouble>)
                    if (!is_safe(range + source.range)) {
                        if (!make_room(tile, step.tile, range, source.range, moved)) return false;
                        is_moved = true;
                    }
                if (source.table) multiply_cells(tile, source.table + offset, axes, source.view->n_axes);
                else multiply_cells(tile, source.cells + offset, axes, source.view->n_axes);
            }
            range = range + source.range;
            empty = false;
        }
        if (empty) fill_with_ones(tile, step.tile);
        if (!common) {
            w_.moved[&step - p_.steps.data()] = moved;
            return true;
        }
        if constexpr (!std::is_same_v<V, WideDouble>)
            if (is_moved) return bring_to(*common, tile, step.tile, range, moved);
        return true;
    }

    static bool bring_to(Log<V> common, V* tile, int64_t n, Range& range, Log<V> moved) {
        int down = 0, up = 0;
        for (int k = 0; k < LANES<V>; ++k) {
            const int by = static_cast<int>(lane_of(common, k) - lane_of(moved, k));
            lane_of(common, k) = by;
            down = std::min(down, by);
            up = std::max(up, by);
        }
        if (down == 0 && up == 0) return true;
        // The bounds are those of all lanes; the cells tell more where that is not enough.
        if (range.low + down < LOWEST || range.high + up > HIGHEST) {
            range = range_of_cells(tile, n);
            if (range.low == range.high) return true;  // all cells are 0
        }
        range = {range.low + down, range.high + up};
        if (!is_safe(range)) return false;
        move_cells(tile, n, common);
        return true;
    }

    static void fill_with_ones(V* tile, int64_t n) {
        for (int64_t i = 0; i < n; ++i) assign(tile[i], 1.0);
    }

    // Calls use(tile, tile number) for each tile; `built` says that the store already holds the product of what came up.
    // False when the run is beyond.
    template <typename Use>
    bool sweep(const Step& step, bool built, Use&& use) {
        int64_t index[64] = {0};
        const size_t c = &step - p_.steps.data();
        Range all;
        for (int64_t t = 0; t < step.n_tiles; ++t) {
            V* tile = store_ ? w_.cliques.data() + step.store + t * step.tile : w_.tile.data();
            Range range = w_.product[c];
            if (!build(step, tile, index, built, range, t == 0 ? nullptr : &w_.moved[c])) {
                beyond = true;
                return false;
            }
            all = t == 0 ? range : either(all, range);
            index_ = index;
            use(tile, t);
            for (int a = step.n_outer; a-- > 0;) {
                if (++index[a] < p_.outer_lengths[step.outer_shape + a]) break;
                index[a] = 0;
            }
        }
        w_.product[c] = all;
        return true;
    }
    const int64_t* index_ = nullptr;

    template <bool maximise>
    void pour(const Step& step, const V* tile) const {
        for (const auto& sink : w_.sinks) {
            V* cells = sink.cells + outer_offset(step, *sink.view, index_);
            if constexpr (maximise) maximise_cells(tile, cells, p_.axes.data() + sink.view->axes, sink.view->n_axes);
            else add_cells(tile, cells, p_.axes.data() + sink.view->axes, sink.view->n_axes);
        }
    }

    bool distribute(int c) {
        const Step& step = p_.steps[c];
        const bool root = parent(c) < 0;
        const bool built = store_ && !root && !w_.unit[c];
        if (built) w_.sources.clear();
        else gather(step);
        if (!root) w_.sources.push_back({nullptr, w_.down.data() + step.up, &step.up_view, w_.belief[c]});
        w_.sinks.clear();
        for (int child : step.children) {
            V* cells = w_.down.data() + p_.steps[child].up;
            std::memset(static_cast<void*>(cells), 0, p_.steps[child].up_entries * sizeof(V));
            w_.sinks.push_back({cells, &p_.steps[child].child_view});
        }
        for (const MarginalUse& use : step.marginals)
            w_.sinks.push_back({w_.marginals.data() + p_.marginal_offset[use.var], &use.view});
        V total{};
        if (w_.sinks.empty() && !root) return true;
        const bool swept = sweep(step, built, [&](V* tile, int64_t) {
            if (root) {
                const Axis all[2] = {{1, 0}, {step.tile, 0}};
                add_cells(tile, &total, all, 2);
            }
            pour<false>(step, tile);
        });
        if (!swept) return false;
        if (root) {
            count_moved(c, log);
            if (!take_log(total, log)) return false;
        }
        for (int child : step.children) {
            w_.belief[child] = sums_of(w_.product[c]);
            if (!finish_separator(p_.steps[child], child)) return false;
        }
        for (const MarginalUse& use : step.marginals) normalise(use.var);
        return true;
    }

    // The belief of a separator becomes the message down: divided by the message up.
    bool finish_separator(const Step& child, int c) {
        V* down = w_.down.data() + child.up;
        Log<V> ignored{};
        settle_magnitude(down, child.up_entries, w_.belief[c], ignored);
        for (const MarginalUse& use : child.separator_marginals) {
            add_cells(down, w_.marginals.data() + p_.marginal_offset[use.var], p_.axes.data() + use.view.axes,
                     use.view.n_axes);
            normalise(use.var);
        }
        if (w_.unit[c]) return true;
        const V* up = w_.up.data() + child.up;
        if constexpr (!std::is_same_v<V, WideDouble>) {
            const Range inverse{-w_.message[c].high, -w_.message[c].low};
            if (!is_safe(w_.belief[c] + inverse) && !make_room(down, child.up_entries, w_.belief[c], inverse, ignored)) {
                beyond = true;
                return false;
            }
            w_.belief[c] = w_.belief[c] + inverse;
        }
        for (int64_t i = 0; i < child.up_entries; ++i) divide(down[i], up[i]);
        // Cells of belief and message go together, so the true bounds are much closer than those of a quotient.
        if constexpr (!std::is_same_v<V, WideDouble>)
            if (!is_easy(w_.belief[c])) w_.belief[c] = range_of_cells(down, child.up_entries);
        return true;
    }

    void normalise(int var) {
        V* cells = w_.marginals.data() + p_.marginal_offset[var];
        const int card = p_.network.cards[var];
        V sum{}, inverse;
        for (int i = 0; i < card; ++i) add(sum, cells[i]);
        assign(inverse, 1.0);
        divide(inverse, sum);
        for (int i = 0; i < card; ++i) multiply(cells[i], inverse);
    }
};

}  // namespace bayeskit::network
