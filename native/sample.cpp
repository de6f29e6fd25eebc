// Draws from a network: forward samples, weighted counts of samples (rejection, likelihood weighting), Gibbs chains.
// A chunk of draws has its own stream of numbers, so results are the same for any number of threads.
#include <algorithm>
#include <cmath>

#include "engine_class.hpp"
#include "kernels.hpp"
#include "random.hpp"

namespace bayeskit {
namespace {

constexpr int64_t CHUNK_ROWS = 4096;
constexpr double TWO_53 = 9007199254740992.0;

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

// Row r of a table as card - 1 thresholds on a draw of 53 bits: the state is the number of thresholds reached.
std::vector<uint64_t> thresholds_of(const Factor& factor, int card) {
    const int64_t rows = static_cast<int64_t>(factor.values.size()) / card;
    std::vector<uint64_t> thresholds(rows * (card - 1) + 1);
    for (int64_t r = 0; r < rows; ++r) {
        const double* row = factor.values.data() + r * card;
        int last = card - 1;  // rounding must never end in a state of probability 0
        while (last > 0 && row[last] <= 0.0) --last;
        double sum = 0.0;
        for (int k = 0; k + 1 < card; ++k) {
            sum += row[k];
            const double reach = k >= last ? TWO_53 : std::min(std::ceil(sum * TWO_53), TWO_53);
            thresholds[r * (card - 1) + k] = static_cast<uint64_t>(reach);
        }
    }
    return thresholds;
}

template <int K>
BAYESKIT_INLINE void draw_states(const uint64_t* thresholds, const uint32_t* row, Random& random, int64_t n, int card,
                                 uint32_t* state) {
    const int steps = (K > 0 ? K : card) - 1;
    for (int64_t i = 0; i < n; ++i) {
        const uint64_t draw = random.bits() >> 11;
        const uint64_t* line = thresholds + static_cast<int64_t>(row[i]) * steps;
        uint32_t found = 0;
        if constexpr (K > 0)
            for (int k = 0; k < steps; ++k) found += draw >= line[k];
        else
            found = static_cast<uint32_t>(std::upper_bound(line, line + steps, draw) - line);
        state[i] = found;
    }
}

BAYESKIT_SIMD void draw_block(const uint64_t* thresholds, const uint32_t* row, Random random, int64_t n, int card,
                              uint32_t* state) {
    switch (card) {
        case 2: draw_states<2>(thresholds, row, random, n, card, state); break;
        case 3: draw_states<3>(thresholds, row, random, n, card, state); break;
        case 4: draw_states<4>(thresholds, row, random, n, card, state); break;
        case 5: draw_states<5>(thresholds, row, random, n, card, state); break;
        default: draw_states<0>(thresholds, row, random, n, card, state);
    }
}

BAYESKIT_SIMD void add_rows(uint32_t* row, const uint32_t* state, uint32_t stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i) row[i] += state[i] * stride;
}

BAYESKIT_SIMD void narrow(const uint32_t* state, uint8_t* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<uint8_t>(state[i]);
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
        std::vector<Owned<uint8_t>*> narrow_columns(network.size(), nullptr);
        std::vector<std::unique_ptr<Owned<uint8_t>>> bytes(network.size());
        std::vector<std::unique_ptr<Owned<uint16_t>>> shorts(network.size());
        for (int v = 0; v < network.size(); ++v) {
            if (network.cards[v] <= 254) bytes[v] = std::make_unique<Owned<uint8_t>>(std::vector<size_t>{static_cast<size_t>(n_rows)});
            else shorts[v] = std::make_unique<Owned<uint16_t>>(std::vector<size_t>{static_cast<size_t>(n_rows)});
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
                    else std::copy(state, state + n, shorts[v]->data + begin);
                }
            });
        }
        nb::list columns;
        for (int v = 0; v < network.size(); ++v) {
            if (bytes[v]) columns.append(bytes[v]->to_numpy());
            else columns.append(shorts[v]->to_numpy());
        }
        return columns;
    }

    // Chunks first .. first + n_chunks - 1 of weighted samples: (Σw, Σw², Σw[x = k], Σw²[x = k]), the last two by
    // variable and state. With `reject` a sample that disagrees with the evidence has weight 0; otherwise observed variables are set and
    // the weight is the probability of what was set, relative to its largest value.
    nb::tuple weighted(const std::vector<int>& hard, const std::vector<int>& states, const std::vector<int>& soft,
                       const std::vector<Array>& likelihoods, const std::vector<int>& wanted, bool reject, int64_t first,
                       int64_t n_chunks, uint64_t seed, int n_threads) const {
        const Network& network = engine_->network();
        const Given given(network, hard, states, soft, likelihoods);
        const std::vector<int64_t>& offset = given.offset;
        const std::vector<int>& observed = given.observed;
        const std::vector<std::vector<double>>& likelihood = given.likelihood;
        const std::vector<char> needed = needed_for(hard, soft, wanted);
        const size_t cells = offset.back();
        std::vector<double> parts(n_chunks * (2 + 2 * cells), 0.0);
        {
            nb::gil_scoped_release release;
            std::vector<std::vector<uint32_t>> scratch(threads_used(n_chunks, n_threads));
            parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int thread) {
                auto& x = scratch[thread];
                x.resize((network.size() + 1) * CHUNK_ROWS);
                std::vector<double> weight(CHUNK_ROWS, 1.0);
                for (int v : order_) {
                    if (!needed[v]) continue;
                    Random random(seed, stream(first + chunk, v));
                    uint32_t* state = x.data() + v * CHUNK_ROWS;
                    if (observed[v] >= 0 && !reject) {
                        clamp(v, observed[v], x, weight);
                        continue;
                    }
                    draw(v, CHUNK_ROWS, random, x);
                    if (observed[v] >= 0)
                        for (int64_t i = 0; i < CHUNK_ROWS; ++i)
                            weight[i] = static_cast<int>(state[i]) == observed[v] ? weight[i] : 0.0;
                    if (!likelihood[v].empty()) apply_likelihood(likelihood[v], state, weight, reject, seed, stream(first + chunk, v));
                }
                double* out = parts.data() + chunk * (2 + 2 * cells);
                for (double w : weight) {
                    out[0] += w;
                    out[1] += w * w;
                }
                for (int v : wanted)
                    for (int64_t i = 0; i < CHUNK_ROWS; ++i) {
                        const int64_t cell = offset[v] + x[v * CHUNK_ROWS + i];
                        out[2 + cell] += weight[i];
                        out[2 + cells + cell] += weight[i] * weight[i];
                    }
            });
        }
        Owned<double> sums({2}, true), by_state({cells}, true), squares({cells}, true);
        for (int64_t chunk = 0; chunk < n_chunks; ++chunk) {
            const double* part = parts.data() + chunk * (2 + 2 * cells);
            for (int i = 0; i < 2; ++i) sums.data[i] += part[i];
            for (size_t i = 0; i < cells; ++i) {
                by_state.data[i] += part[2 + i];
                squares.data[i] += part[2 + cells + i];
            }
        }
        return nb::make_tuple(sums.to_numpy(), by_state.to_numpy(), squares.to_numpy());
    }

    // Means over batches of sweeps, (n_chains · n_batches, states of all variables): of the full conditionals, which
    // vary less than the states themselves.
    nb::object gibbs(const std::vector<int>& hard, const std::vector<int>& states, const std::vector<int>& soft,
                     const std::vector<Array>& likelihoods, int64_t first, int64_t n_chains, int64_t burn_in,
                     int64_t n_batches, int64_t batch, uint64_t seed, int n_threads) const {
        const Network& network = engine_->network();
        const Given given(network, hard, states, soft, likelihoods);
        const std::vector<int64_t>& offset = given.offset;
        const std::vector<int>& observed = given.observed;
        const std::vector<std::vector<double>>& likelihood = given.likelihood;
        const size_t cells = offset.back();
        Owned<double> means({static_cast<size_t>(n_chains * n_batches), cells}, true);
        {
            nb::gil_scoped_release release;
            parallel_chunks(n_chains, n_threads, [&](int64_t chain, int) {
                Random random(seed, static_cast<uint64_t>(first + chain) * 2 + 1);
                std::vector<int> x(network.size());
                for (int v : order_) x[v] = observed[v] >= 0 ? observed[v] : draw_one(v, x, random);
                std::vector<double> p;
                for (int64_t sweep = 0; sweep < burn_in + n_batches * batch; ++sweep) {
                    const int64_t b = sweep < burn_in ? -1 : (sweep - burn_in) / batch;
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
                for (size_t i = 0; i < n_batches * cells; ++i)
                    means.data[chain * n_batches * cells + i] /= static_cast<double>(batch);
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

    void clamp(int v, int state, std::vector<uint32_t>& x, std::vector<double>& weight) const {
        const Network& network = engine_->network();
        const uint32_t* row = rows_of(v, CHUNK_ROWS, x);
        const double* values = network.factors[v].values.data() + state;
        uint32_t* out = x.data() + v * CHUNK_ROWS;
        // Only ratios of weights count; divided by the largest, weights of many observations do not underflow so soon.
        double top = 0.0;
        for (size_t r = 0; r < network.factors[v].values.size(); r += network.cards[v]) top = std::max(top, values[r]);
        const double inverse = top > 0.0 ? 1.0 / top : 0.0;
        for (int64_t i = 0; i < CHUNK_ROWS; ++i) {
            weight[i] *= inverse * values[static_cast<int64_t>(row[i]) * network.cards[v]];
            out[i] = static_cast<uint32_t>(state);
        }
    }

    static void apply_likelihood(const std::vector<double>& likelihood, const uint32_t* state, std::vector<double>& weight,
                                 bool reject, uint64_t seed, uint64_t stream) {
        // Another seed, so that acceptance does not depend on the draw of the state.
        Random random(~seed, stream);
        const double top = *std::max_element(likelihood.begin(), likelihood.end());
        for (int64_t i = 0; i < CHUNK_ROWS; ++i) {
            const double ratio = likelihood[state[i]] / top;
            weight[i] *= reject ? (random.uniform() < ratio ? 1.0 : 0.0) : ratio;
        }
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
        const auto multiply = [&](const Factor& factor) {
            int64_t base = 0, stride = 0;
            for (size_t i = 0; i < factor.scope.size(); ++i) {
                if (factor.scope[i] == v) stride = factor.stride[i];
                else base += x[factor.scope[i]] * factor.stride[i];
            }
            double top = 0.0;
            for (int k = 0; k < card; ++k) top = std::max(top, p[k] *= factor.values[base + k * stride]);
            // A variable with hundreds of children: the product is scaled before it underflows.
            if (top < 1e-100 && top > 0.0)
                for (double& value : p) value /= top;
        };
        multiply(network.factors[v]);
        for (int child : network.children[v]) multiply(network.factors[child]);
        double sum = 0.0;
        for (int k = 0; k < card; ++k) {
            if (!likelihood.empty()) p[k] *= likelihood[k];
            sum += p[k];
        }
        for (double& value : p) value /= sum;
    }
};

}  // namespace

void bind_sample(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Sampler>(m, "Sampler")
        .def(nb::init<const InferenceEngine&>(), "engine"_a)
        .def("forward", &Sampler::forward, "n_rows"_a, "seed"_a, "n_threads"_a)
        .def("weighted", &Sampler::weighted, "hard"_a, "states"_a, "soft"_a, "likelihoods"_a, "wanted"_a, "reject"_a,
             "first"_a, "n_chunks"_a, "seed"_a, "n_threads"_a)
        .def("gibbs", &Sampler::gibbs, "hard"_a, "states"_a, "soft"_a, "likelihoods"_a, "first"_a, "n_chains"_a,
             "burn_in"_a, "n_batches"_a, "batch"_a, "seed"_a, "n_threads"_a);
    m.attr("SAMPLE_CHUNK") = CHUNK_ROWS;
}

}  // namespace bayeskit
