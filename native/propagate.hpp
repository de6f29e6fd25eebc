// Two sweeps over a planned junction tree: messages up, then beliefs down (Jensen, Lauritzen & Olesen 1990).
//
// Up:   message(c → parent) = Σ_residual Π tables · Π messages from the children of c.
// Down: belief(c) = that product · belief(separator) / message up; 0 / 0 is 0, since a state that the message rules out
//       has belief 0. A message of ones (nothing observed below) is neither computed nor divided by.
#pragma once
#include <cmath>
#include <cstring>
#include <vector>

#include "program.hpp"

namespace bayeskit {

template <typename V>
struct Likelihood {
    int var;
    const V* values;  // one a state
};

template <typename V>
struct Workspace {
    std::vector<V> up, down, cliques, tile, marginals;
    std::vector<char> unit;     // the message up is all ones
    std::vector<char> covered;  // some message above is all ones, so the evidence below does not count
    std::vector<int> soft;  // likelihoods at or below each step
    std::vector<std::vector<int>> at;  // likelihoods by step
    struct Source {
        const double* table;
        const V* cells;
        const View* view;
    };
    struct Sink {
        V* cells;
        const View* view;
    };
    std::vector<Source> sources;
    std::vector<Sink> sinks;
};

BAYESKIT_INLINE double largest_of(const double* cells, int64_t n) {
    double top = 0.0;
    for (int64_t i = 0; i < n; ++i) raise(top, cells[i]);
    return top;
}
BAYESKIT_INLINE Pack largest_of(const Pack* cells, int64_t n) {
    Pack top{};
    for (int64_t i = 0; i < n; ++i) raise(top, cells[i]);
    return top;
}
// Scales by the largest cell and adds its logarithm to `log`; false when a single row has no cell above 0.
inline bool rescale(double* cells, int64_t n, double& log) {
    const double top = largest_of(cells, n);
    if (!(top > 0.0)) return false;
    const double inverse = 1.0 / top;
    for (int64_t i = 0; i < n; ++i) cells[i] *= inverse;
    log += std::log(top);
    return true;
}
// A row that is ruled out gets log -inf; the logarithm of a possible one is not needed and stays 0.
inline bool rescale(Pack* cells, int64_t n, Pack& log) {
    Pack top = largest_of(cells, n), inverse;
    for (int k = 0; k < LANES; ++k) inverse.lane[k] = top.lane[k] > 0.0 ? 1.0 / top.lane[k] : 0.0;
    for (int64_t i = 0; i < n; ++i) times(cells[i], inverse);
    for (int k = 0; k < LANES; ++k)
        if (!(top.lane[k] > 0.0)) log.lane[k] = -INFINITY;
    return true;
}
BAYESKIT_INLINE void divide(double& a, double b) { a = b > 0.0 ? a / b : 0.0; }
BAYESKIT_INLINE void divide(Pack& a, const Pack& b) {
    for (int k = 0; k < LANES; ++k) a.lane[k] = b.lane[k] > 0.0 ? a.lane[k] / b.lane[k] : 0.0;
}

template <typename V>
class Propagation {
public:
    // `state[v]` is read for hard variables only. `store` keeps clique products between the sweeps.
    Propagation(const Program& program, Workspace<V>& space, const int* state, const std::vector<Likelihood<V>>& soft,
                bool store)
        : p_(program), w_(space), state_(state), soft_(soft), store_(store) {
        const size_t n = p_.steps.size();
        w_.up.resize(p_.message_entries);
        if (store_) w_.cliques.resize(p_.clique_entries);
        else w_.tile.resize(TILE + 128);
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
        put(log, 0.0);
    }

    V log;  // of the probability of the evidence, after a run
    bool possible = true;

    // The first sweep; then `at_root(step, tile, tile number)` for every tile of every root.
    template <typename AtRoot>
    bool collect(AtRoot&& at_root) {
        if (!messages_up(false)) return possible = false;
        for (const Step& step : p_.steps) {
            if (p_.tree->cliques[step.clique].parent >= 0) continue;
            gather(step);
            sweep(step, false, [&](V* tile, int64_t t) { at_root(step, tile, t); });
            plus(log, scale_);
        }
        return true;
    }

    // Both sweeps; afterwards the workspace holds every free variable's marginal, normalised.
    bool marginals() {
        w_.marginals.assign(p_.marginal_offset.back(), V{});
        w_.down.resize(p_.message_entries);
        if (!messages_up(true)) return possible = false;
        for (size_t c = 0; c < p_.steps.size(); ++c)
            if (!distribute(static_cast<int>(c))) return possible = false;
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
        build(step, w_.tile.data(), index);
        return w_.tile.data();
    }

private:
    const Program& p_;
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
            V term;
            put(term, std::log(value));
            plus(log, term);
        }
        return true;
    }

    // Below a message of ones a message may still differ from ones (it sums to them): the way down needs it.
    bool messages_up(bool covered_too) {
        if (!constants()) return false;
        V ignored{};
        for (size_t c = p_.steps.size(); c-- > 0;) {
            const Step& step = p_.steps[c];
            if (w_.unit[c] || parent(c) < 0 || (w_.covered[c] && !covered_too)) continue;
            gather(step);
            V* up = w_.up.data() + step.up;
            std::memset(static_cast<void*>(up), 0, step.up_entries * sizeof(V));
            w_.sinks.assign(1, {up, &step.up_view});
            sweep(step, false, [&](V* tile, int64_t) {
                if (step.maximise) pour<true>(step, tile);
                else pour<false>(step, tile);
            });
            V& counted = w_.covered[c] ? ignored : log;
            plus(counted, scale_);
            if (!rescale(up, step.up_entries, counted)) return false;
        }
        return true;
    }

    // What multiplies into the clique: tables, likelihoods and the messages of its children.
    void gather(const Step& step) {
        w_.sources.clear();
        for (int f = step.factors_begin; f < step.factors_end; ++f) {
            const FactorUse& use = p_.factors[f];
            w_.sources.push_back({use.factor->values.data() + offset_of(*use.factor), nullptr, &use.view});
        }
        for (int i : w_.at[&step - p_.steps.data()])
            w_.sources.push_back({nullptr, soft_[i].values, &p_.home_view[soft_[i].var]});
        for (int child : step.children)
            if (!w_.unit[child])
                w_.sources.push_back({nullptr, w_.up.data() + p_.steps[child].up, &p_.steps[child].child_view});
    }

    int64_t outer_offset(const Step& step, const View& view, const int64_t* index) const {
        int64_t offset = 0;
        for (int a = 0; a < step.n_outer; ++a) offset += index[a] * p_.outer_strides[view.outer + a];
        return offset;
    }

    void build(const Step& step, V* tile, const int64_t* index) {
        size_t multiplied = 0;
        for (const auto& source : w_.sources) {
            const Axis* axes = p_.axes.data() + source.view->axes;
            const int64_t offset = outer_offset(step, *source.view, index);
            if (source.table && multiplied == 0) {
                box_put(tile, source.table + offset, axes, source.view->n_axes);
            } else {
                if (multiplied == 0) fill_with_ones(tile, step.tile);
                if (source.table) box_times(tile, source.table + offset, axes, source.view->n_axes);
                else box_times(tile, source.cells + offset, axes, source.view->n_axes);
            }
            // A class with a thousand observed children: without this the product would underflow. Tiles of one
            // clique need one scale, so it is done where there is one tile.
            if (++multiplied % SCALED_EVERY == 0 && step.n_tiles == 1) rescale(tile, step.tile, scale_);
        }
        if (multiplied == 0) fill_with_ones(tile, step.tile);
    }
    static constexpr size_t SCALED_EVERY = 8;
    V scale_{};  // logarithm of what the last built clique was divided by

    static void fill_with_ones(V* tile, int64_t n) {
        for (int64_t i = 0; i < n; ++i) put(tile[i], 1.0);
    }

    // Calls use(tile, tile number) for each tile; `built` says that the store already holds the product.
    template <typename Use>
    void sweep(const Step& step, bool built, Use&& use) {
        int64_t index[64] = {0};
        scale_ = V{};
        for (int64_t t = 0; t < step.n_tiles; ++t) {
            V* tile = store_ ? w_.cliques.data() + step.store + t * step.tile : w_.tile.data();
            if (!built) build(step, tile, index);
            index_ = index;
            use(tile, t);
            for (int a = step.n_outer; a-- > 0;) {
                if (++index[a] < p_.outer_lengths[step.outer_shape + a]) break;
                index[a] = 0;
            }
        }
    }
    const int64_t* index_ = nullptr;

    template <bool maximise>
    void pour(const Step& step, const V* tile) const {
        for (const auto& sink : w_.sinks) {
            V* cells = sink.cells + outer_offset(step, *sink.view, index_);
            if constexpr (maximise) box_raise(tile, cells, p_.axes.data() + sink.view->axes, sink.view->n_axes);
            else box_plus(tile, cells, p_.axes.data() + sink.view->axes, sink.view->n_axes);
        }
    }

    bool distribute(int c) {
        const Step& step = p_.steps[c];
        const bool root = parent(c) < 0;
        const bool built = store_ && !root && !w_.unit[c];
        if (!built) gather(step);
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
        sweep(step, built, [&](V* tile, int64_t) {
            if (root) {
                const Axis all[2] = {{1, 0}, {step.tile, 0}};
                box_plus(tile, &total, all, 2);
            } else {
                const V* down = w_.down.data() + step.up + outer_offset(step, step.up_view, index_);
                box_times(tile, down, p_.axes.data() + step.up_view.axes, step.up_view.n_axes);
            }
            pour<false>(step, tile);
        });
        if (root) {
            plus(log, scale_);
            if (!rescale(&total, 1, log)) return false;
        }
        for (int child : step.children) finish_separator(p_.steps[child], child);
        for (const MarginalUse& use : step.marginals) normalise(use.var);
        return true;
    }

    // The belief of a separator becomes the message down: scaled to sum 1, then divided by the message up.
    void finish_separator(const Step& child, int c) {
        V* down = w_.down.data() + child.up;
        V sum{};
        for (int64_t i = 0; i < child.up_entries; ++i) plus(sum, down[i]);
        V inverse;
        put(inverse, 1.0);
        divide(inverse, sum);
        for (int64_t i = 0; i < child.up_entries; ++i) times(down[i], inverse);
        for (const MarginalUse& use : child.separator_marginals) {
            box_plus(down, w_.marginals.data() + p_.marginal_offset[use.var], p_.axes.data() + use.view.axes,
                     use.view.n_axes);
            normalise(use.var);
        }
        if (w_.unit[c]) return;
        const V* up = w_.up.data() + child.up;
        for (int64_t i = 0; i < child.up_entries; ++i) divide(down[i], up[i]);
    }

    void normalise(int var) {
        V* cells = w_.marginals.data() + p_.marginal_offset[var];
        const int card = p_.network.cards[var];
        V sum{}, inverse;
        for (int i = 0; i < card; ++i) plus(sum, cells[i]);
        put(inverse, 1.0);
        divide(inverse, sum);
        for (int i = 0; i < card; ++i) times(cells[i], inverse);
    }
};

}  // namespace bayeskit
