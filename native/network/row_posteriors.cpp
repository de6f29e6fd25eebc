// Posteriors of whole tables: one row of codes after another, any cells missing.
//
// A row whose cells cover the target's Markov blanket is one product of table rows (and a look at tables with zeros
// elsewhere, so that an impossible row is found). Other rows go through the tree in packs, one lane a row; where the tree is
// large, rows are sliced one by one and rows with the same cells share a plan. Where magnitudes leave the range of a double, a row is
// asked on its own in wide numbers.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/codes.hpp"
#include "kernels.hpp"
#include "network/markov_blanket.hpp"
#include "network/python_engine.hpp"

namespace bayeskit::network {
namespace {

using blanket::BLOCK_ROWS;
using blanket::MarkovBlanket;
using blanket::UNKNOWN;

constexpr int64_t CHUNK_ROWS = 4096;
// Above this many cells a pack no longer fits the caches, and slicing each row by its evidence wins.
constexpr double PACKED_TREE = 100000.0;
constexpr int64_t STORED_PACKS = 4096;
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
            blanket_.emplace(*engine_, targets_[0], place_, vars_);
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
        MarkovBlanket::Scratch blanket;
        std::vector<int> states;  // of the rows of the chunk that are left, (n_left, n_columns)
        std::vector<int64_t> left;
    };
    std::shared_ptr<const Engine> engine_;
    std::vector<int> targets_, vars_, place_;
    std::shared_ptr<const Plan> plan_;
    std::optional<MarkovBlanket> blanket_;
    bool single_ = false;  // one target, whose own cells are no evidence
    bool packed_ = false;
    int width_ = 0;

    void run_chunk(const Table& table, int64_t begin, int64_t end, double limit, double* out,
                   std::vector<int64_t>& impossible, int64_t& large, Scratch& s) const {
        s.left.clear();
        for (int64_t from = begin; from < end; from += BLOCK_ROWS) {
            const int64_t n = std::min(BLOCK_ROWS, end - from);
            if (blanket_ && blanket_->is_whole()) blanket_->multiply(table, from, n, out, s.blanket, s.left);
            else
                for (int64_t i = 0; i < n; ++i) s.left.push_back(from + i);
        }
        if (s.left.empty()) return;
        read_states(table, begin, end, s);
        if (packed_) run_packs(limit, out, impossible, large, s);
        else run_single(limit, out, impossible, large, s);
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
                const uint32_t seen_level = level[s.left[i] - begin];
                if (seen_level < card) s.states[i * columns + j] = static_cast<int>(seen_level);
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
