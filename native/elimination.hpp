// Sums hidden members out of a product of family tables, exactly, by eliminating one variable at a time.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace bayeskit {

// The table P(feature | parents, class) of one family: (levels of the parents …, levels of the feature, n_classes).
struct Family {
    std::vector<int64_t> members;  // parents, then the feature itself
    std::vector<int64_t> strides;  // in cells, one for each member
    int64_t first_cell, n_cells;
    Family(std::vector<int64_t> of, const std::vector<int64_t>& levels, int64_t first)
        : members(std::move(of)), strides(members.size()), first_cell(first), n_cells(1) {
        for (size_t m = members.size(); m-- > 0;) {
            strides[m] = n_cells;
            n_cells *= levels.at(members[m]);
        }
    }
    int64_t feature() const { return members.back(); }
};

// Tables on the way through an elimination may have at most this many numbers.
constexpr int64_t MOST_NUMBERS = int64_t{1} << 26;
constexpr const char* TOO_LARGE = "summing out the missing cells of a row needs too large a table.";

// How to sum out one pattern of hidden cells: which families are read as they are, and in which order the others melt.
struct Elimination {
    struct Factor {
        std::vector<int64_t> scope;    // hidden variables, ascending
        std::vector<int64_t> strides;  // in cells
        int64_t family = -1;           // a family's table, or the result of an earlier step
        int64_t cells = 1;
    };
    struct Step {
        int64_t variable = 0;
        std::vector<int64_t> scope;                 // of the result
        std::vector<int64_t> inputs;                // factors
        std::vector<std::vector<int64_t>> strides;  // of each input: for each of scope, then for `variable`
        int64_t output = 0;
    };
    std::vector<int64_t> plain;  // families without hidden members
    std::vector<Factor> factors;
    std::vector<Step> steps;
    int64_t largest = 1;  // cells of the largest table on the way

    // The families that take part are named by position, parents before their children.
    Elimination(const std::vector<Family>& families, const std::vector<int64_t>& chosen,
                const std::vector<int64_t>& levels, const std::vector<uint8_t>& hidden) {
        // A hidden feature on which nothing that is seen depends sums to one and may be left out.
        std::vector<uint8_t> needed(levels.size(), 0);
        for (size_t at = chosen.size(); at-- > 0;) {
            const Family& family = families[chosen[at]];
            if (hidden[family.feature()] && !needed[family.feature()]) continue;
            for (int64_t member : family.members) needed[member] = 1;
        }
        std::vector<uint8_t> open;
        for (int64_t f : chosen) {
            const Family& family = families[f];
            if (!needed[family.feature()]) continue;
            Factor factor;
            factor.family = f;
            std::vector<std::pair<int64_t, int64_t>> scope;
            for (size_t m = 0; m < family.members.size(); ++m)
                if (hidden[family.members[m]]) scope.emplace_back(family.members[m], family.strides[m]);
            if (scope.empty()) {
                plain.push_back(f);
                continue;
            }
            std::sort(scope.begin(), scope.end());
            for (const auto& [variable, stride] : scope) {
                factor.scope.push_back(variable);
                factor.strides.push_back(stride);
            }
            factors.push_back(std::move(factor));
            open.push_back(1);
        }
        eliminate(levels, open);
    }

private:
    // Always the variable whose table comes out smallest; a tree is summed out without any table larger than its own.
    void eliminate(const std::vector<int64_t>& levels, std::vector<uint8_t>& open) {
        std::vector<int64_t> waiting;
        for (const Factor& factor : factors)
            waiting.insert(waiting.end(), factor.scope.begin(), factor.scope.end());
        std::sort(waiting.begin(), waiting.end());
        waiting.erase(std::unique(waiting.begin(), waiting.end()), waiting.end());
        while (!waiting.empty()) {
            int64_t best = -1;
            double best_size = INFINITY;
            for (int64_t variable : waiting) {
                double size = static_cast<double>(levels[variable]);
                for (int64_t other : result_scope(variable, open)) size *= static_cast<double>(levels[other]);
                if (size < best_size) {
                    best_size = size;
                    best = variable;
                }
            }
            largest = best_size > 9e18 ? INT64_MAX : std::max(largest, static_cast<int64_t>(best_size));
            add_step(best, levels, open);
            waiting.erase(std::find(waiting.begin(), waiting.end(), best));
        }
    }

    std::vector<int64_t> result_scope(int64_t variable, const std::vector<uint8_t>& open) const {
        std::vector<int64_t> scope;
        for (size_t f = 0; f < factors.size(); ++f)
            if (open[f] && std::binary_search(factors[f].scope.begin(), factors[f].scope.end(), variable))
                scope.insert(scope.end(), factors[f].scope.begin(), factors[f].scope.end());
        std::sort(scope.begin(), scope.end());
        scope.erase(std::unique(scope.begin(), scope.end()), scope.end());
        scope.erase(std::remove(scope.begin(), scope.end(), variable), scope.end());
        return scope;
    }

    void add_step(int64_t variable, const std::vector<int64_t>& levels, std::vector<uint8_t>& open) {
        Step step;
        step.variable = variable;
        step.scope = result_scope(variable, open);
        for (size_t f = 0; f < factors.size(); ++f) {
            const Factor& factor = factors[f];
            if (!open[f] || !std::binary_search(factor.scope.begin(), factor.scope.end(), variable)) continue;
            std::vector<int64_t> strides;
            auto stride_of = [&](int64_t wanted) {
                const auto at = std::lower_bound(factor.scope.begin(), factor.scope.end(), wanted);
                return at != factor.scope.end() && *at == wanted ? factor.strides[at - factor.scope.begin()] : 0;
            };
            for (int64_t other : step.scope) strides.push_back(stride_of(other));
            strides.push_back(stride_of(variable));
            step.inputs.push_back(static_cast<int64_t>(f));
            step.strides.push_back(std::move(strides));
            open[f] = 0;
        }
        Factor result;
        result.scope = step.scope;
        result.strides.resize(step.scope.size());
        for (size_t s = step.scope.size(); s-- > 0;) {
            result.strides[s] = result.cells;
            result.cells *= levels[step.scope[s]];
        }
        step.output = static_cast<int64_t>(factors.size());
        factors.push_back(std::move(result));
        open.push_back(1);
        steps.push_back(std::move(step));
    }
};

constexpr size_t MOST_FACTORS = 24;  // (1e-12) ** 24 is still a double

// Runs an elimination for one row; the room is kept from row to row.
class Eliminator {
public:
    // tables: probabilities (cells, width), the first n_classes of each row. level: of each variable, read where it is not hidden.
    // Adds the log of the sum over the hidden cells to log_joint (n_classes,).
    void add(const Elimination& plan, const std::vector<Family>& families, const std::vector<int64_t>& levels,
             const double* tables, int64_t width, int64_t n_classes, const uint32_t* level, int64_t level_stride,
             double* log_joint) {
        const size_t n_factors = plan.factors.size();
        data_.resize(n_factors);
        room_.resize(n_factors);
        for (size_t f = 0; f < n_factors; ++f) {
            const auto& factor = plan.factors[f];
            if (factor.family < 0) continue;
            const Family& family = families[factor.family];
            int64_t cell = family.first_cell;
            for (size_t m = 0; m < family.members.size(); ++m)
                if (!std::binary_search(factor.scope.begin(), factor.scope.end(), family.members[m]))
                    cell += family.strides[m] * level[family.members[m] * level_stride];
            data_[f] = tables + cell * width;
        }
        width_.assign(n_factors, n_classes);
        for (size_t f = 0; f < n_factors; ++f)
            if (plan.factors[f].family >= 0) width_[f] = width;
        for (const auto& step : plan.steps) run(plan, step, levels, n_classes, log_joint);
    }

private:
    std::vector<const double*> data_;
    std::vector<std::vector<double>> room_;
    std::vector<int64_t> at_, count_, width_;
    std::vector<double> product_;

    std::vector<double> logs_;

    // sum[c] = log of the sum over the variable's levels of the product of all factors
    void sum_logs(const Elimination::Step& step, int64_t n_levels, int64_t K, double* sum) {
        std::fill(logs_.begin(), logs_.end(), 0.0);
        for (int64_t v = 0; v < n_levels; ++v)
            for (size_t f = 0; f < step.inputs.size(); ++f) {
                const double* values = data_[step.inputs[f]] + (at_[f] + v * step.strides[f].back()) * width_[step.inputs[f]];
                for (int64_t c = 0; c < K; ++c) logs_[v * K + c] += std::log(values[c]);
            }
        for (int64_t c = 0; c < K; ++c) {
            double peak = -INFINITY, total = 0.0;
            for (int64_t v = 0; v < n_levels; ++v) peak = std::max(peak, logs_[v * K + c]);
            for (int64_t v = 0; v < n_levels; ++v)
                if (peak > -INFINITY) total += std::exp(logs_[v * K + c] - peak);
            sum[c] = peak > -INFINITY ? peak + std::log(total) : -INFINITY;
        }
    }

    void run(const Elimination& plan, const Elimination::Step& step, const std::vector<int64_t>& levels, int64_t K,
             double* log_joint) {
        const auto& result = plan.factors[step.output];
        std::vector<double>& out = room_[step.output];
        out.assign(result.cells * K, 0.0);
        data_[step.output] = out.data();
        const size_t n_inputs = step.inputs.size(), n_scope = step.scope.size();
        at_.assign(n_inputs, 0);
        count_.assign(n_scope, 0);
        product_.resize(K);
        // A product of many factors is summed up as logs: as plain numbers it would fall below the smallest there is.
        const bool in_logs = n_inputs > MOST_FACTORS;
        const int64_t n_levels = levels[step.variable];
        if (in_logs) logs_.resize(n_levels * K);
        for (int64_t cell = 0; cell < result.cells; ++cell) {
            double* sum = out.data() + cell * K;
            if (in_logs) sum_logs(step, n_levels, K, sum);
            for (int64_t v = 0; !in_logs && v < n_levels; ++v) {
                std::fill(product_.begin(), product_.end(), 1.0);
                for (size_t f = 0; f < n_inputs; ++f) {
                    const double* values = data_[step.inputs[f]] + (at_[f] + v * step.strides[f].back()) * width_[step.inputs[f]];
                    for (int64_t c = 0; c < K; ++c) product_[c] *= values[c];
                }
                for (int64_t c = 0; c < K; ++c) sum[c] += product_[c];
            }
            for (size_t s = n_scope; s-- > 0;) {  // the next cell of the result
                const bool wraps = ++count_[s] == levels[step.scope[s]];
                for (size_t f = 0; f < n_inputs; ++f)
                    at_[f] += wraps ? -step.strides[f][s] * (levels[step.scope[s]] - 1) : step.strides[f][s];
                if (!wraps) break;
                count_[s] = 0;
            }
        }
        // Each class is divided by its largest cell, so that long products do not vanish.
        for (int64_t c = 0; c < K; ++c) {
            if (in_logs) {
                double peak = -INFINITY;
                for (int64_t cell = 0; cell < result.cells; ++cell) peak = std::max(peak, out[cell * K + c]);
                log_joint[c] += peak;
                for (int64_t cell = 0; cell < result.cells; ++cell)
                    out[cell * K + c] = peak > -INFINITY ? std::exp(out[cell * K + c] - peak) : 0.0;
                continue;
            }
            double peak = 0.0;
            for (int64_t cell = 0; cell < result.cells; ++cell) peak = std::max(peak, out[cell * K + c]);
            log_joint[c] += std::log(peak);
            if (peak > 0.0)
                for (int64_t cell = 0; cell < result.cells; ++cell) out[cell * K + c] /= peak;
        }
    }
};

}  // namespace bayeskit
