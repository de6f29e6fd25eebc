// Draws from a network: forward samples, weighted counts of samples (rejection, likelihood weighting), Gibbs chains.
// A chunk of draws has its own stream of numbers, so results are the same for any number of threads.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "kernels.hpp"
#include "network/draw_states.hpp"
#include "network/python_engine.hpp"
#include "network/sample_weights.hpp"

namespace bayeskit::network {
namespace {

using namespace sampling;

constexpr int64_t CHUNK_ROWS = 4096;

// Parents before children.
std::vector<int> topological(const Network& network) {
    std::vector<int> missing(network.size()), order;
    for (int v = 0; v < network.size(); ++v)
        if (!(missing[v] = static_cast<int>(network.parents[v].size()))) order.push_back(v);
    for (size_t i = 0; i < order.size(); ++i)
        for (int child : network.children[order[i]])
            if (--missing[child] == 0) order.push_back(child);
    return order;
}

// What is known of the network's variables: a state, or one likelihood a state.
struct Given {
    std::vector<int64_t> offset;  // where each variable's states begin, and where the last ends
    std::vector<int> observed;    // its state, or -1
    std::vector<std::vector<double>> likelihood;

    Given(const Network& network, const std::vector<int>& hard, const std::vector<int>& states,
          const std::vector<int>& soft, const std::vector<Array>& likelihoods)
        : offset(network.size() + 1, 0), observed(network.size(), -1), likelihood(network.size()) {
        for (int v = 0; v < network.size(); ++v) offset[v + 1] = offset[v] + network.cards[v];
        for (size_t i = 0; i < hard.size(); ++i) observed[hard[i]] = states[i];
        for (size_t i = 0; i < soft.size(); ++i) {
            const Column column = column_of(likelihoods[i]);
            const int64_t n = network.cards[soft[i]];
            if (column.type != Type::f64 || static_cast<int64_t>(likelihoods[i].shape(0)) != n)
                throw std::invalid_argument("a likelihood needs one float64 a state.");
            likelihood[soft[i]].resize(n);
            for (int64_t k = 0; k < n; ++k)
                likelihood[soft[i]][k] = *reinterpret_cast<const double*>(column.data + k * column.stride);
        }
    }
};

class Sampler {
public:
    explicit Sampler(const InferenceEngine& engine) : engine_(engine.engine()), order_(topological(engine_->network())) {
        const Network& network = engine_->network();
        for (int v = 0; v < network.size(); ++v) thresholds_.push_back(thresholds_of(network.factors[v], network.cards[v]));
        position_.resize(network.size());
        for (size_t i = 0; i < order_.size(); ++i) position_[order_[i]] = static_cast<int>(i);
    }

    // One column of codes a variable, each in its narrowest type. Row r is the same however many rows are asked for.
    nb::list forward(int64_t n_rows, uint64_t seed, int n_threads) const {
        const Network& network = engine_->network();
        std::vector<std::unique_ptr<Owned<uint8_t>>> bytes(network.size());
        std::vector<std::unique_ptr<Owned<uint16_t>>> shorts(network.size());
        std::vector<std::unique_ptr<Owned<uint32_t>>> words(network.size());
        const std::vector<size_t> shape{static_cast<size_t>(n_rows)};
        for (int v = 0; v < network.size(); ++v) {
            // The two largest codes of a type stand for missing and unseen.
            if (network.cards[v] <= 254) bytes[v] = std::make_unique<Owned<uint8_t>>(shape);
            else if (network.cards[v] <= 65534) shorts[v] = std::make_unique<Owned<uint16_t>>(shape);
            else words[v] = std::make_unique<Owned<uint32_t>>(shape);
        }
        const int64_t n_chunks = (n_rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
        {
            nb::gil_scoped_release release;
            const int used = threads_used(n_chunks, n_threads);
            std::vector<std::vector<uint32_t>> scratch(used);
            parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int thread) {
                auto& states = scratch[thread];
                states.resize((network.size() + 1) * CHUNK_ROWS);
                const int64_t begin = chunk * CHUNK_ROWS, n = std::min(CHUNK_ROWS, n_rows - begin);
                for (int v : order_) {
                    draw(v, n, Random(seed, stream(chunk, v)), states);
                    const uint32_t* state = states.data() + v * CHUNK_ROWS;
                    if (bytes[v]) narrow(state, bytes[v]->data + begin, n);
                    else if (shorts[v]) std::copy(state, state + n, shorts[v]->data + begin);
                    else std::copy(state, state + n, words[v]->data + begin);
                }
            });
        }
        nb::list columns;
        for (int v = 0; v < network.size(); ++v) {
            if (bytes[v]) columns.append(bytes[v]->to_numpy());
            else if (shorts[v]) columns.append(shorts[v]->to_numpy());
            else columns.append(words[v]->to_numpy());
        }
        return columns;
    }

    // Weighted samples from chunk `first` on: (t, [Σw, Σw²], Σw[x = k], Σw²[x = k]), the last two by variable and state,
    // with weights in units of 2^t, so that those of thousands of observations do not underflow. With `reject` a sample
    // that disagrees with the evidence has weight 0; otherwise observed variables are set and the weight is the probability of
    // what was set.
    nb::tuple weighted(const std::vector<int>& hard, const std::vector<int>& states, const std::vector<int>& soft,
                       const std::vector<Array>& likelihoods, const std::vector<int>& wanted, bool reject, int64_t first,
                       int64_t n_rows, uint64_t seed, int n_threads) const {
        const Network& network = engine_->network();
        const Given given(network, hard, states, soft, likelihoods);
        const std::vector<int64_t>& offset = given.offset;
        const std::vector<int>& observed = given.observed;
        const std::vector<std::vector<double>>& likelihood = given.likelihood;
        const std::vector<char> needed = needed_for(hard, soft, wanted);
        const size_t cells = offset.back();
        const int64_t n_chunks = (n_rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
        std::vector<double> parts(n_chunks * (2 + 2 * cells), 0.0);
        std::vector<int64_t> units(n_chunks, 0);
        {
            nb::gil_scoped_release release;
            std::vector<std::vector<uint32_t>> scratch(threads_used(n_chunks, n_threads));
            parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int thread) {
                auto& x = scratch[thread];
                x.resize((network.size() + 1) * CHUNK_ROWS);
                Weights weight(std::min(CHUNK_ROWS, n_rows - chunk * CHUNK_ROWS));
                const int64_t n = weight.size();
                for (int v : order_) {
                    if (!needed[v]) continue;
                    Random random(seed, stream(first + chunk, v));
                    uint32_t* state = x.data() + v * CHUNK_ROWS;
                    if (observed[v] >= 0 && !reject) {
                        clamp(v, observed[v], x, weight);
                        continue;
                    }
                    draw(v, n, random, x);
                    if (observed[v] >= 0)
                        for (int64_t i = 0; i < n; ++i)
                            weight[i] = static_cast<int>(state[i]) == observed[v] ? weight[i] : 0.0;
                    if (!likelihood[v].empty()) apply_likelihood(likelihood[v], state, weight, reject, seed, stream(first + chunk, v));
                }
                double* out = parts.data() + chunk * (2 + 2 * cells);
                units[chunk] = weight.to_one_unit();
                for (int64_t i = 0; i < n; ++i) {
                    out[0] += weight[i];
                    out[1] += weight[i] * weight[i];
                }
                for (int v : wanted)
                    for (int64_t i = 0; i < n; ++i) {
                        const int64_t cell = offset[v] + x[v * CHUNK_ROWS + i];
                        out[2 + cell] += weight[i];
                        out[2 + cells + cell] += weight[i] * weight[i];
                    }
            });
        }
        Owned<double> sums({2}, true), by_state({cells}, true), squares({cells}, true);
        int64_t unit = Weights::NONE;
        for (int64_t chunk = 0; chunk < n_chunks; ++chunk) unit = std::max(unit, units[chunk]);
        for (int64_t chunk = 0; chunk < n_chunks; ++chunk) {
            if (units[chunk] == Weights::NONE) continue;
            const double once = power_of_two(units[chunk] - unit), twice = power_of_two(2 * (units[chunk] - unit));
            const double* part = parts.data() + chunk * (2 + 2 * cells);
            sums.data[0] += once * part[0];
            sums.data[1] += twice * part[1];
            for (size_t i = 0; i < cells; ++i) {
                by_state.data[i] += once * part[2 + i];
                squares.data[i] += twice * part[2 + cells + i];
            }
        }
        return nb::make_tuple(unit == Weights::NONE ? 0 : unit, sums.to_numpy(), by_state.to_numpy(), squares.to_numpy());
    }

    // Means over batches of sweeps, (n_chains · n_batches, states of all variables): of the full conditionals, which
    // vary less than the states themselves. Chain c makes lengths[c] sweeps after the burn-in; sweep s belongs to batch
    // ⌊s · n_batches / lengths[c]⌋.
    nb::object gibbs(const std::vector<int>& hard, const std::vector<int>& states, const std::vector<int>& soft,
                     const std::vector<Array>& likelihoods, int64_t first, const std::vector<int64_t>& lengths,
                     int64_t burn_in, int64_t n_batches, uint64_t seed, int n_threads) const {
        const Network& network = engine_->network();
        const Given given(network, hard, states, soft, likelihoods);
        const std::vector<int64_t>& offset = given.offset;
        const std::vector<int>& observed = given.observed;
        const std::vector<std::vector<double>>& likelihood = given.likelihood;
        const size_t cells = offset.back();
        const int64_t n_chains = static_cast<int64_t>(lengths.size());
        for (int64_t length : lengths)
            if (length < n_batches) throw std::invalid_argument("a batch needs at least one sweep.");
        Owned<double> means({static_cast<size_t>(n_chains * n_batches), cells}, true);
        {
            nb::gil_scoped_release release;
            parallel_chunks(n_chains, n_threads, [&](int64_t chain, int) {
                Random random(seed, static_cast<uint64_t>(first + chain) * 2 + 1);
                std::vector<int> x(network.size());
                for (int v : order_) x[v] = observed[v] >= 0 ? observed[v] : draw_one(v, x, random);
                std::vector<double> p;
                std::vector<int64_t> sweeps(n_batches, 0);
                for (int64_t sweep = 0; sweep < burn_in + lengths[chain]; ++sweep) {
                    const int64_t b = sweep < burn_in ? -1 : (sweep - burn_in) * n_batches / lengths[chain];
                    if (b >= 0) ++sweeps[b];
                    double* out = b < 0 ? nullptr : means.data + (chain * n_batches + b) * cells;
                    for (int v : order_) {
                        if (observed[v] >= 0) {
                            if (out) out[offset[v] + observed[v]] += 1.0;
                            continue;
                        }
                        conditional(v, x, likelihood[v], p);
                        double u = random.uniform();
                        int k = 0;
                        while (k + 1 < network.cards[v] && u >= p[k]) u -= p[k++];
                        x[v] = k;
                        if (out)
                            for (int s = 0; s < network.cards[v]; ++s) out[offset[v] + s] += p[s];
                    }
                }
                for (int64_t b = 0; b < n_batches; ++b)
                    for (size_t i = 0; i < cells; ++i)
                        means.data[(chain * n_batches + b) * cells + i] /= static_cast<double>(sweeps[b]);
            });
        }
        return means.to_numpy();
    }

private:
    std::shared_ptr<const Engine> engine_;
    std::vector<int> order_, position_;
    std::vector<std::vector<uint64_t>> thresholds_;

    uint64_t stream(int64_t chunk, int v) const {
        return static_cast<uint64_t>(chunk) * static_cast<uint64_t>(order_.size()) + static_cast<uint64_t>(v);
    }

    // Variables that stand below everything asked for or observed are not drawn.
    std::vector<char> needed_for(const std::vector<int>& hard, const std::vector<int>& soft, const std::vector<int>& wanted) const {
        const Network& network = engine_->network();
        std::vector<char> needed(network.size(), 0);
        for (const auto* set : {&hard, &soft, &wanted})
            for (int v : *set) needed[v] = 1;
        for (auto it = order_.rbegin(); it != order_.rend(); ++it)
            if (needed[*it])
                for (int p : network.parents[*it]) needed[p] = 1;
        return needed;
    }

    // Row of v's table for each sample, into the spare column.
    uint32_t* rows_of(int v, int64_t n, std::vector<uint32_t>& x) const {
        const Network& network = engine_->network();
        const Factor& factor = network.factors[v];
        uint32_t* row = x.data() + network.size() * CHUNK_ROWS;
        std::fill(row, row + n, 0u);
        for (size_t i = 0; i + 1 < factor.scope.size(); ++i)
            add_rows(row, x.data() + factor.scope[i] * CHUNK_ROWS, static_cast<uint32_t>(factor.stride[i] / network.cards[v]), n);
        return row;
    }

    void draw(int v, int64_t n, Random random, std::vector<uint32_t>& x) const {
        const uint32_t* row = rows_of(v, n, x);
        draw_block(thresholds_[v].data(), row, random, n, engine_->network().cards[v], x.data() + v * CHUNK_ROWS);
    }

    void clamp(int v, int state, std::vector<uint32_t>& x, Weights& weight) const {
        const Network& network = engine_->network();
        const uint32_t* row = rows_of(v, weight.size(), x);
        const double* values = network.factors[v].values.data() + state;
        uint32_t* out = x.data() + v * CHUNK_ROWS;
        for (int64_t i = 0; i < weight.size(); ++i) {
            weight.multiply(i, widen(values[static_cast<int64_t>(row[i]) * network.cards[v]]));
            out[i] = static_cast<uint32_t>(state);
        }
        weight.rescale();
    }

    static void apply_likelihood(const std::vector<double>& likelihood, const uint32_t* state, Weights& weight,
                                 bool reject, uint64_t seed, uint64_t stream) {
        // Another seed, so that acceptance does not depend on the draw of the state.
        Random random(~seed, stream);
        const double top = *std::max_element(likelihood.begin(), likelihood.end());
        for (int64_t i = 0; i < weight.size(); ++i) {
            if (!reject) weight.multiply(i, widen(likelihood[state[i]]));
            else if (!(random.uniform() < likelihood[state[i]] / top)) weight[i] = 0.0;
        }
        weight.rescale();
    }

    int draw_one(int v, const std::vector<int>& x, Random& random) const {
        const Network& network = engine_->network();
        const Factor& factor = network.factors[v];
        int64_t row = 0;
        for (size_t i = 0; i + 1 < factor.scope.size(); ++i) row += x[factor.scope[i]] * factor.stride[i];
        const int steps = network.cards[v] - 1;
        const uint64_t* line = thresholds_[v].data() + row / network.cards[v] * steps;
        return static_cast<int>(std::upper_bound(line, line + steps, random.bits() >> 11) - line);
    }

    // P(v | everything else) ∝ P(v | parents) · Π_children P(child | its parents) · likelihood.
    void conditional(int v, const std::vector<int>& x, const std::vector<double>& likelihood, std::vector<double>& p) const {
        const Network& network = engine_->network();
        const int card = network.cards[v];
        p.assign(card, 1.0);
        double least = 1.0;
        multiply_conditional(v, network.factors[v], x, p, least);
        for (size_t i = 0; i < network.children[v].size() && least > SMALLEST_PRODUCT; ++i)
            multiply_conditional(v, network.factors[network.children[v][i]], x, p, least);
        if (least > SMALLEST_PRODUCT) {
            double sum = 0.0;
            for (int k = 0; k < card; ++k) {
                if (!likelihood.empty()) p[k] *= likelihood[k];
                sum += p[k];
            }
            if (sum > SMALLEST_PRODUCT) {
                for (double& value : p) value /= sum;
                return;
            }
        }
        wide_conditional(v, x, likelihood, p);
    }
    // A product of doubles above this has all its digits.
    static constexpr double SMALLEST_PRODUCT = 1e-250;

    template <typename V, typename Least>
    void multiply_conditional(int v, const Factor& factor, const std::vector<int>& x, std::vector<V>& p, Least& least) const {
        int64_t base = 0, stride = 0;
        for (size_t i = 0; i < factor.scope.size(); ++i) {
            if (factor.scope[i] == v) stride = factor.stride[i];
            else base += x[factor.scope[i]] * factor.stride[i];
        }
        for (size_t k = 0; k < p.size(); ++k) {
            multiply(p[k], factor.values[base + static_cast<int64_t>(k) * stride]);
            if constexpr (std::is_same_v<V, double>) least = std::min(least, p[k]);
        }
    }

    // A variable with hundreds of children: doubles would lose states that later factors bring back.
    void wide_conditional(int v, const std::vector<int>& x, const std::vector<double>& likelihood, std::vector<double>& p) const {
        const Network& network = engine_->network();
        std::vector<WideDouble> wide(network.cards[v], widen(1.0));
        double unused = 0.0;
        multiply_conditional(v, network.factors[v], x, wide, unused);
        for (int child : network.children[v]) multiply_conditional(v, network.factors[child], x, wide, unused);
        WideDouble sum;
        for (size_t k = 0; k < wide.size(); ++k) {
            if (!likelihood.empty()) multiply(wide[k], likelihood[k]);
            add(sum, wide[k]);
        }
        for (size_t k = 0; k < wide.size(); ++k) {
            divide(wide[k], sum);
            p[k] = narrow(wide[k], 0);
        }
    }
};

}  // namespace

void bind_sampler(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Sampler>(m, "Sampler")
        .def(nb::init<const InferenceEngine&>(), "engine"_a)
        .def("forward", &Sampler::forward, "n_rows"_a, "seed"_a, "n_threads"_a)
        .def("weighted", &Sampler::weighted, "hard"_a, "states"_a, "soft"_a, "likelihoods"_a, "wanted"_a, "reject"_a,
             "first"_a, "n_rows"_a, "seed"_a, "n_threads"_a)
        .def("gibbs", &Sampler::gibbs, "hard"_a, "states"_a, "soft"_a, "likelihoods"_a, "first"_a, "lengths"_a,
             "burn_in"_a, "n_batches"_a, "seed"_a, "n_threads"_a);
    m.attr("SAMPLE_CHUNK") = CHUNK_ROWS;
}

}  // namespace bayeskit::network
