// Posteriors of whole tables: one row of codes after another, any cells missing.
//
// A row whose cells cover the target's Markov blanket is one product of table rows (and a look at tables with zeros
// elsewhere, so that an impossible row is found). Other rows go through the tree in packs, one lane a row; where the tree is
// large, rows are sliced one by one and rows with the same cells share a plan. Where magnitudes leave the range of a double, a row is
// asked on its own in wide numbers.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/codes.hpp"
#include "network/python_engine.hpp"
#include "kernels.hpp"

namespace bayeskit::network {
namespace {

constexpr int64_t CHUNK_ROWS = 4096, BLOCK_ROWS = 256;
// Above this many cells a pack no longer fits the caches, and slicing each row by its evidence wins.
constexpr double PACKED_TREE = 100000.0;
constexpr int64_t STORED_PACKS = 4096;
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
            plan_ = engine_->compiled()->whole;
        }
        packed_ = plan_->schedule && plan_->entries.cells <= PACKED_TREE;
    }

    // Cells that are stored at once for each row of a pack; a row on its own is looked at when it comes.
    double stored() const { return packed_ ? plan_->stored : 0.0; }
    double cost() const { return plan_->schedule ? plan_->schedule->cost() : INFINITY; }

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
        std::vector<WideDouble> product;
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
    bool small_products_ = false;  // a product of the blanket's tables may be below SMALLEST_PRODUCT and yet not 0
    int width_ = 0;

    void make_blanket(int target) {
        const Network& network = engine_->network();
        std::vector<int> tables = network.children[target];
        tables.push_back(target);
        whole_blanket_ = true;
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
        if (packed_) run_packs(limit, out, impossible, large, s);
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
            // A row that hits a zero is left to the tree, which finds out whether it is impossible.
            if (open[i] || !(sum > 0.0) || (small_products_ && is_small(acc + i * k, k))) {
                if (open[i] || !wide_product(i, acc + i * k, s)) s.left.push_back(begin + i);
                continue;
            }
            const double inverse = 1.0 / sum;
            for (int t = 0; t < k; ++t) acc[i * k + t] *= inverse;
        }
    }

    // A product this small may have lost digits.
    static bool is_small(const double* line, int k) {
        return std::any_of(line, line + k, [](double p) { return !(p > SMALLEST_PRODUCT); });
    }

    // The same product in wide numbers, normalised; false when it is 0 for every state.
    bool wide_product(int64_t i, double* line, Scratch& s) const {
        s.product.assign(width_, widen(1.0));
        for (const BlanketTable& part : blanket_) {
            uint32_t place = 0;
            for (const auto& [j, stride] : part.others) place += s.level[j * BLOCK_ROWS + i] * stride;
            for (int t = 0; t < width_; ++t) multiply(s.product[t], part.values[place + t]);
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

    void run_packs(double limit, double* out, std::vector<int64_t>& impossible, int64_t& large, Scratch& s) const {
        const Network& network = engine_->network();
        const Schedule& schedule = *plan_->schedule;
        const size_t columns = vars_.size();
        std::vector<Likelihood<Pack>> soft;
        std::vector<Pack> store(schedule.marginal_offset.back());
        std::vector<Pack> answer(width_);
        for (size_t first = 0; first < s.left.size(); first += PACK) {
            const size_t lanes = std::min<size_t>(PACK, s.left.size() - first);
            soft.clear();
            Pack* free = store.data();
            for (size_t j = 0; j < columns; ++j) {
                const int v = vars_[j], card = network.cards[v];
                if (schedule.home[v] < 0) continue;
                int state[PACK];
                bool any = false;
                for (size_t k = 0; k < PACK; ++k) {
                    state[k] = k < lanes ? s.states[(first + k) * columns + j] : UNKNOWN;
                    any |= state[k] != UNKNOWN;
                }
                if (!any) continue;
                for (int x = 0; x < card; ++x)
                    for (int k = 0; k < PACK; ++k) free[x].lane[k] = state[k] == UNKNOWN || state[k] == x ? 1.0 : 0.0;
                soft.push_back({v, free, {0, 1}});
                free += card;
            }
            Propagation<Pack> run(schedule, s.packs, nullptr, soft, plan_->entries.cells <= STORED_PACKS);
            ask(run, answer, s.packs);
            if (run.beyond) {  // some row of the pack has magnitudes of its own
                for (size_t k = 0; k < lanes && large < 0; ++k) run_one(*plan_, first + k, limit, out, impossible, large, s);
                continue;
            }
            write(answer, run.log, out, impossible, s, first, lanes);
        }
    }

    void ask(Propagation<Pack>& run, std::vector<Pack>& answer, const Workspace<Pack>& space) const {
        const Schedule& schedule = *plan_->schedule;
        if (!single_) {
            run.marginals();
            size_t at = 0;
            for (int t : targets_)
                for (int64_t i = schedule.marginal_offset[t]; i < schedule.marginal_offset[t + 1]; ++i)
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
        for (const auto& [hard, rows] : groups) {
            const auto plan = single_ ? engine_->plan_joint(targets_, hard, {}, false) : engine_->plan_marginals(hard);
            if (!plan->schedule || plan->stored > limit) large = s.left[rows[0]];
            for (size_t i : rows) {
                if (large >= 0) return;
                run_one(*plan, i, limit, out, impossible, large, s);
            }
        }
        std::sort(impossible.begin(), impossible.end());
    }

    // Row i of those that are left, in doubles or, where they do not do, in wide numbers.
    void run_one(const Plan& plan, size_t i, double limit, double* out, std::vector<int64_t>& impossible, int64_t& large,
                 Scratch& s) const {
        const size_t columns = vars_.size();
        std::vector<int> state(engine_->network().size(), UNKNOWN), hard;
        for (size_t j = 0; j < columns; ++j) {
            state[vars_[j]] = s.states[i * columns + j];
            if (state[vars_[j]] != UNKNOWN) hard.push_back(vars_[j]);
        }
        double* line = out + s.left[i] * width_;
        Asked asked = ask_single(plan, hard, state, line, s.cells);
        if (asked == Asked::beyond) {
            if (2.0 * plan.stored > limit) {
                large = s.left[i];
                return;
            }
            Workspace<WideDouble> space;
            asked = ask_single(plan, hard, state, line, space);
        }
        if (asked == Asked::impossible) impossible.push_back(s.left[i]);
    }

    enum class Asked { answered, impossible, beyond };

    template <typename V>
    Asked ask_single(const Plan& plan, const std::vector<int>& hard, const std::vector<int>& state, double* line,
                     Workspace<V>& space) const {
        const Network& network = engine_->network();
        const Schedule& schedule = *plan.schedule;
        std::vector<Likelihood<V>> soft;
        std::vector<V> likelihood(schedule.marginal_offset.back());
        for (int v : hard)
            if (!schedule.hard[v] && schedule.home[v] >= 0) {
                V* values = likelihood.data() + schedule.marginal_offset[v];
                assign(values[state[v]], 1.0);
                soft.push_back({v, values, {0, 1}});
            }
        Propagation<V> run(schedule, space, state.data(), soft, plan.entries.cells <= STORED_CELLS);
        std::vector<V> answer(width_);
        if (single_) {
            const bool good = collect_targets(run, plan, answer.data());
            if (run.beyond) return Asked::beyond;
            return good && normalise_into(answer.data(), width_, line) ? Asked::answered : Asked::impossible;
        }
        const bool good = run.marginals();
        if (run.beyond) return Asked::beyond;
        if (!good) return Asked::impossible;
        for (int t : targets_) {
            if (schedule.hard[t]) {
                std::fill(line, line + network.cards[t], 0.0);
                line[std::max(state[t], 0)] = 1.0;
            } else {
                normalise_into(space.marginals.data() + schedule.marginal_offset[t], network.cards[t], line);
            }
            line += network.cards[t];
        }
        return Asked::answered;
    }

    // False when all cells are 0.
    static bool normalise_into(const double* cells, int n, double* line) {
        double sum = 0.0;
        for (int i = 0; i < n; ++i) sum += cells[i];
        for (int i = 0; i < n; ++i) line[i] = cells[i] / sum;
        return sum > 0.0;
    }
    static bool normalise_into(const WideDouble* cells, int n, double* line) {
        WideDouble sum;
        for (int i = 0; i < n; ++i) add(sum, cells[i]);
        for (int i = 0; i < n; ++i) {
            WideDouble part = cells[i];
            divide(part, sum);
            line[i] = narrow(part, 0);
        }
        return sum.mantissa > 0.0;
    }
};

}  // namespace

void bind_row_posteriors(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<RowPosterior>(m, "RowPosterior")
        .def(nb::init<const InferenceEngine&, std::vector<int>, std::vector<int>>(), "engine"_a, "targets"_a,
             "column_vars"_a)
        .def_prop_ro("stored", &RowPosterior::stored)
        .def_prop_ro("cost", &RowPosterior::cost)
        .def("run", &RowPosterior::run, "table"_a, "limit"_a, "n_threads"_a);
}

}  // namespace bayeskit::network
