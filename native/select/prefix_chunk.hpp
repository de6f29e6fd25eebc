// One chunk of rows on its way through a tree of families: posteriors without the row itself, and what hidden cells add.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "base/codes.hpp"
#include "score/sum_out.hpp"

namespace bayeskit::select {

using score::Family;
using score::HiddenSum;
using score::HiddenTables;
using score::LazyTables;
using score::MOST_NUMBERS;
using score::SumOutPlan;

constexpr int64_t PREFIX_ROWS = 128;
constexpr uint32_t HIDDEN_LEVEL = ~uint32_t{0};
// A class whose share of the posterior falls below this goes on in logs, before it could vanish.
constexpr double FAINT = 1e-200;
// No table may fall from FAINT to nothing in one step: with smaller probabilities all rows go on in logs.
constexpr double LEAST_FACTOR = 1e-100;

struct PrefixProblem {
    int64_t n_classes = 0, lanes = 0, n_cells = 0;
    double class_pseudo = 0.0;       // pseudo-count of each class
    std::vector<double> pseudo;      // (d,) pseudo-count of each value of a feature
    std::vector<int64_t> levels;     // of each column
    std::vector<uint8_t> used;       // whether a family has the column; the others are not read
    std::vector<Family> families;
    std::vector<int64_t> before;     // the family that each stands behind, or -1
    std::vector<int64_t> from, slot; // where a chunk's posteriors without and with the family are kept
    int64_t n_slots = 1;
    std::vector<uint32_t> y;
    std::vector<double> weight, n_class;
    std::vector<double> probability; // (cells + 1, lanes) P(x_j | parents, c); the last row is for hidden cells: ones
    std::vector<double> without;     // (cells + 1, K) the same when one row leaves the cell
    std::vector<double> counts, margin;  // (cells, K) where a row may leave by less than one, else empty
    bool faint = false;

    double row_weight(int64_t row) const { return std::min(1.0, weight[row]); }
};

// (n + pseudo) / (all + size * pseudo); where nothing is known, every value is as likely.
inline double smoothed(double n, double all, double pseudo, int64_t size) {
    const double norm = std::max(0.0, all) + pseudo * static_cast<double>(size);
    return norm > 0.0 ? (std::max(0.0, n) + pseudo) / norm : 1.0 / static_cast<double>(size);
}

// What one thread works on. Posteriors are products, divided by their sum after each family; the row's own class, which
// the left-out row changes, stands apart, and its lane is 0.
struct PrefixChunk {
    const PrefixProblem& problem;
    LazyTables& hidden_tables;  // shared by all threads
    int64_t begin = 0, n = 0;
    std::vector<uint32_t> level;              // (d, PREFIX_ROWS)
    std::vector<uint8_t> column_hides;        // (d,) whether the column has a hidden cell in this chunk
    std::vector<uint8_t> hides;               // (PREFIX_ROWS,) whether the row has one
    std::vector<int64_t> cell;                // (PREFIX_ROWS,)
    std::vector<double> own_factor;           // (PREFIX_ROWS,)
    std::vector<double> others;               // (slots, PREFIX_ROWS, lanes)
    std::vector<double> truth;                // (slots, PREFIX_ROWS)
    std::vector<double> logs;                 // (slots, PREFIX_ROWS, 2, K) what stands beside the products of a row
    std::vector<uint8_t> has_logs;            // (slots, PREFIX_ROWS)
    std::vector<double> miss;                 // (PREFIX_ROWS,) 1 - P(true class)
    std::vector<double> scratch;
    std::unordered_map<std::string, SumOutPlan> plans;
    HiddenSum hidden_sum;
    std::vector<int64_t> too_large;           // rows whose hidden cells need too large a table under some family

    PrefixChunk(const PrefixProblem& of, LazyTables& lazy)
        : problem(of), hidden_tables(lazy), level(of.levels.size() * PREFIX_ROWS), column_hides(of.levels.size()), hides(PREFIX_ROWS),
          cell(PREFIX_ROWS), own_factor(PREFIX_ROWS), others(of.n_slots * PREFIX_ROWS * of.lanes),
          truth(of.n_slots * PREFIX_ROWS), has_logs(of.n_slots * PREFIX_ROWS), miss(PREFIX_ROWS), scratch(of.n_classes) {}

    const uint32_t* levels(int64_t j) const { return level.data() + j * PREFIX_ROWS; }

    void read(const Table& table, int64_t first) {
        begin = first;
        n = std::min(PREFIX_ROWS, table.n_rows - begin);
        std::fill(hides.begin(), hides.end(), 0);
        for (size_t j = 0; j < problem.levels.size(); ++j) {
            if (!problem.used[j]) continue;
            const uint32_t size = static_cast<uint32_t>(problem.levels[j]);
            uint32_t* out = level.data() + j * PREFIX_ROWS;
            decode<true>(table.columns[j], begin, n, 0, size, out);
            uint32_t highest = 0;
            for (int64_t r = 0; r < n; ++r) highest = std::max(highest, out[r]);
            column_hides[j] = highest >= size;
            for (int64_t r = 0; column_hides[j] && r < n; ++r)
                if (out[r] >= size) {
                    out[r] = HIDDEN_LEVEL;
                    hides[r] = 1;
                }
        }
    }

    // P(c) without the row
    void start() {
        const int64_t K = problem.n_classes, lanes = problem.lanes;
        for (int64_t r = 0; r < n; ++r) {
            const int64_t row = begin + r, label = problem.y[row];
            const double row_weight = problem.row_weight(row);
            double* line = others.data() + r * lanes;
            std::fill_n(line, lanes, 0.0);
            for (int64_t c = 0; c < K; ++c) line[c] = problem.n_class[c] + problem.class_pseudo;
            line[label] = 0.0;
            truth[r] = std::max(0.0, problem.n_class[label] - row_weight) + problem.class_pseudo;
            has_logs[r] = 0;
        }
        std::fill(cell.begin(), cell.end(), problem.n_cells);
        std::fill(own_factor.begin(), own_factor.end(), 1.0);
    }

    void find_cells(const Family& family) {
        const int64_t K = problem.n_classes;
        const uint32_t* y = problem.y.data() + begin;
        std::fill(cell.begin(), cell.begin() + n, family.first_cell);
        for (size_t m = 0; m < family.members.size(); ++m) {
            const uint32_t* member_levels = levels(family.members[m]);
            const int64_t stride = family.strides[m];
            for (int64_t r = 0; r < n; ++r) cell[r] += stride * member_levels[r];
        }
        for (int64_t member : family.members)
            for (int64_t r = 0; column_hides[member] && r < n; ++r)
                if (levels(member)[r] == HIDDEN_LEVEL) cell[r] = problem.n_cells;
        for (int64_t r = 0; r < n; ++r) own_factor[r] = problem.without[cell[r] * K + y[r]];
        if (problem.counts.empty()) return;
        for (int64_t r = 0; r < n; ++r) {
            const double row_weight = problem.row_weight(begin + r);
            const int64_t at = cell[r] * K + y[r];
            if (row_weight < 1.0 && cell[r] < problem.n_cells)
                own_factor[r] = smoothed(problem.counts[at] - row_weight, problem.margin[at] - row_weight, problem.pseudo[family.feature()],
                                         problem.levels[family.feature()]);
        }
    }

    bool is_faint(int64_t at) const {
        const double* line = others.data() + at * problem.lanes;
        bool faint = problem.faint || (truth[at] > 0.0 && truth[at] < FAINT);
        for (int64_t c = 0; c < problem.n_classes; ++c) faint = faint || (line[c] > 0.0 && line[c] < FAINT);
        return faint;
    }

    // The row's products become logs, and start again at one. Two logs a class: of products, and of hidden cells.
    void absorb(int64_t slot, int64_t r) {
        const int64_t K = problem.n_classes, at = slot * PREFIX_ROWS + r, label = problem.y[begin + r];
        need_logs(at);
        double *line = others.data() + at * problem.lanes, *log = logs.data() + at * 2 * K;
        for (int64_t c = 0; c < K; ++c) {
            double& product = c == label ? truth[at] : line[c];
            if (product > 0.0) {
                log[c] += std::log(product);
                product = 1.0;
            }
        }
    }

    void need_logs(int64_t at) {
        const int64_t K = problem.n_classes;
        if (logs.empty()) logs.resize(problem.n_slots * PREFIX_ROWS * 2 * K);
        if (!has_logs[at]) std::fill_n(logs.data() + at * 2 * K, 2 * K, 0.0);
        has_logs[at] = 1;
    }

    void hand_on_logs(int64_t from, int64_t to) {
        if (from == to) return;
        const int64_t K = problem.n_classes;
        for (int64_t r = 0; r < n; ++r) {
            const int64_t a = from * PREFIX_ROWS + r, b = to * PREFIX_ROWS + r;
            has_logs[b] = has_logs[a];
            if (has_logs[a]) std::copy_n(logs.data() + a * 2 * K, 2 * K, logs.data() + b * 2 * K);
        }
    }

    // 1 - P(true class) of a row that has logs beside its products
    double miss_in_logs(int64_t slot, int64_t r) {
        const int64_t K = problem.n_classes, at = slot * PREFIX_ROWS + r, label = problem.y[begin + r];
        const double *line = others.data() + at * problem.lanes, *log = logs.data() + at * 2 * K;
        double peak = -INFINITY;
        for (int64_t c = 0; c < K; ++c) {
            scratch[c] = std::log(c == label ? truth[at] : line[c]) + log[c] + log[K + c];
            peak = std::max(peak, scratch[c]);
        }
        if (!(peak > -INFINITY)) return miss_of_prior(r);
        double sum = 0.0, rest = 0.0;
        for (int64_t c = 0; c < K; ++c) {
            const double part = std::exp(scratch[c] - peak);
            sum += part;
            if (c != label) rest += part;
        }
        return rest / sum;
    }

    // A row that no class can give is answered with the prior.
    double miss_of_prior(int64_t r) const {
        const int64_t label = problem.y[begin + r];
        const double row_weight = problem.row_weight(begin + r);
        double total = -row_weight;
        for (double n : problem.n_class) total += n + problem.class_pseudo;
        if (!(total > 0.0)) return 1.0 - 1.0 / static_cast<double>(problem.n_classes);
        return 1.0 - std::max(0.0, problem.n_class[label] + problem.class_pseudo - row_weight) / total;
    }

    // What the families with hidden members add, where a known feature has just met a hidden parent
    void sum_out(int64_t f, int64_t r) {
        const int64_t K = problem.n_classes, at = problem.slot[f] * PREFIX_ROWS + r;
        const SumOutPlan* plan = plan_for(f, r);
        need_logs(at);
        double* log = logs.data() + at * 2 * K + K;
        std::fill_n(log, K, 0.0);
        if (!plan) return;  // features with a hidden parent are left out, as the scorer of such a row leaves them out
        const HiddenTables& tables = hidden_tables.get([&] {
            return HiddenTables(problem.families, K, problem.probability.data(), problem.lanes, [](double p) { return p; });
        });
        hidden_sum.add(*plan, problem.families, tables, level.data() + r, PREFIX_ROWS, log);
    }

    const SumOutPlan* plan_for(int64_t f, int64_t r) {
        std::vector<int64_t> path;
        for (int64_t at = f; at >= 0; at = problem.before[at]) path.push_back(at);
        std::reverse(path.begin(), path.end());
        std::vector<uint8_t> hidden(problem.levels.size(), 0);
        for (int64_t at : path) {
            const int64_t feature = problem.families[at].feature();
            hidden[feature] = levels(feature)[r] == HIDDEN_LEVEL;
        }
        std::string key(reinterpret_cast<const char*>(&f), sizeof f);
        key.append(reinterpret_cast<const char*>(hidden.data()), hidden.size());
        auto at = plans.find(key);
        if (at == plans.end()) {
            if (plans.size() > 10000) plans.clear();  // a bound on the memory of tables with many patterns
            at = plans.emplace(key, SumOutPlan(problem.families, path, problem.levels, hidden)).first;
        }
        if (at->second.largest <= MOST_NUMBERS / problem.n_classes) return &at->second;
        if (too_large.empty() || too_large.back() != begin + r) too_large.push_back(begin + r);
        return nullptr;
    }

    bool meets_hidden_parent(const Family& family, int64_t r) const {
        if (levels(family.feature())[r] == HIDDEN_LEVEL) return false;
        for (int64_t member : family.members)
            if (levels(member)[r] == HIDDEN_LEVEL) return true;
        return false;
    }
};

}  // namespace bayeskit::select
