// Posteriors of whole tables: one row of codes after another, any cells missing.
//
// A row whose cells cover the target's Markov blanket is one product of table rows (and a look at tables with zeros
// elsewhere, so that an impossible row is found). Other rows go through the tree in
// packs, one lane a row; where the tree is large, rows are sliced one by one and rows with the same cells share a plan.
#include <algorithm>
#include <cmath>
#include <map>

#include "codes.hpp"
#include "engine_class.hpp"
#include "kernels.hpp"

namespace bayeskit {
namespace {

constexpr int64_t CHUNK_ROWS = 4096, BLOCK_ROWS = 256;
// Above this many cells a pack no longer fits the caches, and slicing each row by its evidence wins.
constexpr double PACKED_TREE = 100000.0;
constexpr int64_t STORED_PACKS = 4096;
constexpr int UNKNOWN = -1;

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

BAYESKIT_SIMD void guard_block(uint8_t* open, const uint8_t* possible, const uint32_t* place, int64_t n) {
    for (int64_t i = 0; i < n; ++i) open[i] |= static_cast<uint8_t>(!possible[place[i]]);
}

template <int K>
BAYESKIT_INLINE void multiply_rows(double* acc, const double* table, const uint32_t* place, int64_t n, int k) {
    const int width = K > 0 ? K : k;
    for (int64_t i = 0; i < n; ++i)
        for (int s = 0; s < width; ++s) acc[i * width + s] *= table[place[i] + s];
}

BAYESKIT_SIMD void multiply_block(double* acc, const double* table, const uint32_t* place, int64_t n, int k) {
    switch (k) {
        case 2: multiply_rows<2>(acc, table, place, n, k); break;
        case 3: multiply_rows<3>(acc, table, place, n, k); break;
        case 4: multiply_rows<4>(acc, table, place, n, k); break;
        default: multiply_rows<0>(acc, table, place, n, k);
    }
}

BAYESKIT_SIMD void add_places(uint32_t* place, const uint32_t* level, uint32_t stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i) place[i] += level[i] * stride;
}

// Levels of a block; a cell that is no state is marked in `open` and read as 0.
BAYESKIT_SIMD void read_block(const Column& column, int64_t begin, int64_t n, uint32_t card, uint32_t* level, uint8_t* open) {
    decode<true>(column, begin, n, 0, card, level);
    for (int64_t i = 0; i < n; ++i) {
        const bool known = level[i] < card;
        open[i] |= static_cast<uint8_t>(!known);
        level[i] = known ? level[i] : 0;
    }
}

class RowPosterior {
public:
    RowPosterior(const InferenceEngine& engine, std::vector<int> targets, std::vector<int> column_vars)
        : engine_(engine.engine()), targets_(std::move(targets)), vars_(std::move(column_vars)) {
        const Network& network = engine_->network();
        place_.assign(network.size(), UNKNOWN);
        for (size_t j = 0; j < vars_.size(); ++j) place_.at(vars_[j]) = static_cast<int>(j);
        for (int t : targets_) width_ += network.cards.at(t);
        single_ = targets_.size() == 1 && place_[targets_[0]] == UNKNOWN;
        if (single_) {
            plan_ = engine_->plan_rows(targets_[0], vars_);
            make_blanket(targets_[0]);
        } else {
            plan_ = engine_->whole();
        }
        packed_ = plan_->program && plan_->entries <= PACKED_TREE;
    }

    double entries() const { return packed_ ? plan_->entries : 0.0; }

    // ((n_rows, states of all targets), rows that the network cannot give, a row that needs more than `limit` cells or -1)
    nb::tuple run(nb::object source, double limit, int n_threads) const {
        const Table table = table_of(source);
        if (table.columns.size() != vars_.size()) throw std::invalid_argument("wrong number of columns.");
        const int64_t n_chunks = (table.n_rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
        Owned<double> out({static_cast<size_t>(table.n_rows), static_cast<size_t>(width_)});
        std::vector<std::vector<int64_t>> impossible(n_chunks);
        std::vector<int64_t> large(n_chunks, -1);
        {
            nb::gil_scoped_release release;
            const int used = threads_used(n_chunks, n_threads);
            std::vector<Scratch> scratch(used);
            parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int thread) {
                const int64_t begin = chunk * CHUNK_ROWS, end = std::min(table.n_rows, begin + CHUNK_ROWS);
                run_chunk(table, begin, end, limit, out.data, impossible[chunk], large[chunk], scratch[thread]);
            });
        }
        std::vector<int64_t> rows;
        for (const auto& some : impossible) rows.insert(rows.end(), some.begin(), some.end());
        int64_t too_large = -1;
        for (int64_t row : large)
            if (row >= 0 && too_large < 0) too_large = row;
        return nb::make_tuple(out.to_numpy(), rows, too_large);
    }

private:
    struct Scratch {
        Workspace<Pack> packs;
        Workspace<double> cells;
        std::vector<double> acc;
        std::vector<uint32_t> level;
        std::vector<int> states;  // of the rows of the chunk that are left, (n_left, n_columns)
        std::vector<int64_t> left;
    };
    std::shared_ptr<const Engine> engine_;
    std::vector<int> targets_, vars_, place_;
    std::shared_ptr<const Plan> plan_;
    std::vector<BlanketTable> blanket_;
    std::vector<Guard> guards_;
    std::vector<int> blanket_columns_;
    bool single_ = false;  // one target, whose own cells are no evidence
    bool whole_blanket_ = false, packed_ = false;
    int width_ = 0;

    void make_blanket(int target) {
        const Network& network = engine_->network();
        std::vector<int> tables = network.children[target];
        tables.push_back(target);
        whole_blanket_ = true;
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
                if (place_[v] == UNKNOWN) {
                    whole_blanket_ = false;
                    return;
                }
                used[place_[v]] = 1;
                table.others.emplace_back(place_[v], stride);
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
            blanket_.push_back(std::move(table));
        }
        make_guards(target, used);
        for (size_t j = 0; j < used.size(); ++j)
            if (used[j]) blanket_columns_.push_back(static_cast<int>(j));
    }

    void make_guards(int target, std::vector<char>& used) {
        const Network& network = engine_->network();
        const std::vector<char> active = engine_->ancestors({target}, vars_, {});
        for (int f = 0; f < network.size(); ++f) {
            const Factor& factor = network.factors[f];
            const bool of_target = std::find(factor.scope.begin(), factor.scope.end(), target) != factor.scope.end();
            if (!active[f] || !factor.has_zero || of_target) continue;
            Guard guard;
            for (double value : factor.values) guard.possible.push_back(value > 0.0);
            for (size_t i = 0; i < factor.scope.size(); ++i) {
                const int column = place_[factor.scope[i]];
                if (column == UNKNOWN) {
                    whole_blanket_ = false;
                    return;
                }
                used[column] = 1;
                guard.scope.emplace_back(column, static_cast<uint32_t>(factor.stride[i]));
            }
            guards_.push_back(std::move(guard));
        }
    }

    void run_chunk(const Table& table, int64_t begin, int64_t end, double limit, double* out,
                   std::vector<int64_t>& impossible, int64_t& large, Scratch& s) const {
        s.left.clear();
        for (int64_t from = begin; from < end; from += BLOCK_ROWS) {
            const int64_t n = std::min(BLOCK_ROWS, end - from);
            if (whole_blanket_) run_blanket(table, from, n, out, s);
            else
                for (int64_t i = 0; i < n; ++i) s.left.push_back(from + i);
        }
        if (s.left.empty()) return;
        read_states(table, begin, end, s);
        if (packed_) run_packs(out, impossible, s);
        else run_single(limit, out, impossible, large, s);
    }

    void run_blanket(const Table& table, int64_t begin, int64_t n, double* out, Scratch& s) const {
        const Network& network = engine_->network();
        const int k = width_;
        s.level.resize(vars_.size() * BLOCK_ROWS);
        uint8_t open[BLOCK_ROWS] = {0};
        for (int j : blanket_columns_)
            read_block(table.columns[j], begin, n, static_cast<uint32_t>(network.cards[vars_[j]]),
                       s.level.data() + j * BLOCK_ROWS, open);
        double* acc = out + begin * k;
        std::fill(acc, acc + n * k, 1.0);
        uint32_t place[BLOCK_ROWS];
        for (const BlanketTable& part : blanket_) {
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
            // A product this small may have lost digits; the tree rescales as it goes, and finds impossible rows.
            if (open[i] || !(sum > 1e-250)) {
                s.left.push_back(begin + i);
                continue;
            }
            const double inverse = 1.0 / sum;
            for (int t = 0; t < k; ++t) acc[i * k + t] *= inverse;
        }
    }

    void read_states(const Table& table, int64_t begin, int64_t end, Scratch& s) const {
        const Network& network = engine_->network();
        const int64_t n = end - begin, columns = static_cast<int64_t>(vars_.size());
        s.states.assign(s.left.size() * vars_.size(), UNKNOWN);
        std::vector<uint32_t> level(n);
        for (int64_t j = 0; j < columns; ++j) {
            const uint32_t card = static_cast<uint32_t>(network.cards[vars_[j]]);
            decode<true>(table.columns[j], begin, n, 0, card, level.data());
            for (size_t i = 0; i < s.left.size(); ++i) {
                const uint32_t found = level[s.left[i] - begin];
                if (found < card) s.states[i * columns + j] = static_cast<int>(found);
            }
        }
    }

    void run_packs(double* out, std::vector<int64_t>& impossible, Scratch& s) const {
        const Network& network = engine_->network();
        const Program& program = *plan_->program;
        const size_t columns = vars_.size();
        std::vector<Likelihood<Pack>> soft;
        std::vector<Pack> store(program.marginal_offset.back());
        std::vector<Pack> answer(width_);
        for (size_t first = 0; first < s.left.size(); first += LANES) {
            const size_t lanes = std::min<size_t>(LANES, s.left.size() - first);
            soft.clear();
            Pack* free = store.data();
            for (size_t j = 0; j < columns; ++j) {
                const int v = vars_[j], card = network.cards[v];
                if (program.home[v] < 0) continue;
                int state[LANES];
                bool any = false;
                for (size_t k = 0; k < LANES; ++k) {
                    state[k] = k < lanes ? s.states[(first + k) * columns + j] : UNKNOWN;
                    any |= state[k] != UNKNOWN;
                }
                if (!any) continue;
                for (int x = 0; x < card; ++x)
                    for (int k = 0; k < LANES; ++k) free[x].lane[k] = state[k] == UNKNOWN || state[k] == x ? 1.0 : 0.0;
                soft.push_back({v, free});
                free += card;
            }
            Propagation<Pack> run(program, s.packs, nullptr, soft, plan_->entries <= STORED_PACKS);
            ask(run, answer, s.packs);
            write(answer, run.log, out, impossible, s, first, lanes);
        }
    }

    void ask(Propagation<Pack>& run, std::vector<Pack>& answer, const Workspace<Pack>& space) const {
        const Program& program = *plan_->program;
        if (!single_) {
            run.marginals();
            size_t at = 0;
            for (int t : targets_)
                for (int64_t i = program.marginal_offset[t]; i < program.marginal_offset[t + 1]; ++i)
                    answer[at++] = space.marginals[i];
            return;
        }
        std::fill(answer.begin(), answer.end(), Pack{});
        collect_targets(run, *plan_, answer.data());
    }

    void write(const std::vector<Pack>& answer, const Pack& log, double* out, std::vector<int64_t>& impossible, const Scratch& s,
               size_t first, size_t lanes) const {
        for (size_t k = 0; k < lanes; ++k) {
            const int64_t row = s.left[first + k];
            double* line = out + row * width_;
            size_t at = 0;
            bool good = log.lane[k] > -INFINITY;
            for (int t : targets_) {
                const size_t end = at + engine_->network().cards[t];
                double sum = 0.0;
                for (size_t i = at; i < end; ++i) sum += answer[i].lane[k];
                if (end == at + 1) {  // one state: there was nothing to sum over
                    line[at++] = 1.0;
                    continue;
                }
                good &= sum > 0.0;
                for (; at < end; ++at) line[at] = answer[at].lane[k] / sum;
            }
            if (!good) impossible.push_back(row);
        }
    }

    // One row after another; rows with the same open cells share their plan.
    void run_single(double limit, double* out, std::vector<int64_t>& impossible, int64_t& large, Scratch& s) const {
        const size_t columns = vars_.size();
        std::map<std::vector<int>, std::vector<size_t>> groups;
        for (size_t i = 0; i < s.left.size(); ++i) {
            std::vector<int> hard;
            for (size_t j = 0; j < columns; ++j)
                if (s.states[i * columns + j] != UNKNOWN) hard.push_back(vars_[j]);
            groups[hard].push_back(i);
        }
        std::vector<int> state(engine_->network().size(), UNKNOWN);
        for (const auto& [hard, rows] : groups) {
            const auto plan = single_ ? engine_->plan_joint(targets_, hard, {}, false) : engine_->plan_marginals(hard);
            if (!plan->program || plan->entries > limit) {
                large = s.left[rows[0]];
                return;
            }
            for (size_t i : rows) {
                for (size_t j = 0; j < columns; ++j) state[vars_[j]] = s.states[i * columns + j];
                if (!ask_single(*plan, hard, state, out + s.left[i] * width_, s.cells)) impossible.push_back(s.left[i]);
            }
        }
        std::sort(impossible.begin(), impossible.end());
    }

    bool ask_single(const Plan& plan, const std::vector<int>& hard, const std::vector<int>& state, double* line,
                    Workspace<double>& space) const {
        const Network& network = engine_->network();
        const Program& program = *plan.program;
        std::vector<Likelihood<double>> soft;
        std::vector<double> likelihood(program.marginal_offset.back(), 0.0);
        for (int v : hard)
            if (!program.hard[v] && program.home[v] >= 0) {
                double* values = likelihood.data() + program.marginal_offset[v];
                values[state[v]] = 1.0;
                soft.push_back({v, values});
            }
        Propagation<double> run(program, space, state.data(), soft, plan.entries <= STORED_CELLS);
        std::fill(line, line + width_, 0.0);
        if (!single_) {
            if (!run.marginals()) return false;
            for (int t : targets_) {
                if (program.hard[t]) line[std::max(state[t], 0)] = 1.0;
                else std::copy_n(space.marginals.data() + program.marginal_offset[t], network.cards[t], line);
                line += network.cards[t];
            }
            return true;
        }
        const bool good = collect_targets(run, plan, line);
        double sum = 0.0;
        for (int i = 0; i < width_; ++i) sum += line[i];
        if (!good || !(sum > 0.0)) return false;
        for (int i = 0; i < width_; ++i) line[i] /= sum;
        return true;
    }
};

}  // namespace

void bind_rows(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<RowPosterior>(m, "RowPosterior")
        .def(nb::init<const InferenceEngine&, std::vector<int>, std::vector<int>>(), "engine"_a, "targets"_a,
             "column_vars"_a)
        .def_prop_ro("entries", &RowPosterior::entries)
        .def("run", &RowPosterior::run, "table"_a, "limit"_a, "n_threads"_a);
}

}  // namespace bayeskit
