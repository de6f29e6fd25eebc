// The elimination order in which hidden members are summed out of a product of family tables.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "score/family.hpp"

namespace bayeskit::score {

// Tables on the way through an elimination may have at most this many numbers.
constexpr int64_t MOST_NUMBERS = int64_t{1} << 26;

// One axis, or several that can be walked as one: its length and the stride of what is read along it.
struct Axis {
    int64_t size, stride;
};

// Neighbouring axes along which the cells follow each other without a gap become one; they are written behind `axes`.
inline void add_joined(const std::vector<int64_t>& sizes, const int64_t* strides, std::vector<Axis>& axes) {
    const size_t first = axes.size();
    for (size_t k = 0; k < sizes.size(); ++k) {
        if (sizes[k] == 1) continue;
        if (axes.size() > first && axes.back().stride == strides[k] * sizes[k]) {
            axes.back().size *= sizes[k];
            axes.back().stride = strides[k];
        } else {
            axes.push_back({sizes[k], strides[k]});
        }
    }
    if (axes.size() == first) axes.push_back({1, 1});
}

// How to sum out one pattern of hidden cells: which families are read as they are, and the elimination order of the others.
struct SumOutPlan {
    struct Factor {
        std::vector<int64_t> scope;    // hidden variables, ascending
        std::vector<int64_t> strides;  // in cells
        int64_t family = -1;           // a family's table, or the result of an earlier step
        int64_t cells = 1;             // over the scope
        bool has(int64_t variable) const { return std::find(scope.begin(), scope.end(), variable) != scope.end(); }
    };
    struct Step {
        std::vector<int64_t> scope, sizes;  // of the product, ascending
        size_t summed = 0;                  // the place of the variable that is summed out
        std::vector<int64_t> inputs;       // factors
        std::vector<int64_t> all_strides;  // (inputs, scope)
        std::vector<Axis> axes;            // of one input after the other
        std::vector<size_t> first_axis;    // (inputs + 1,)
        int64_t cells = 1, output = 0;
        const int64_t* strides(size_t input) const { return all_strides.data() + input * scope.size(); }
    };
    std::vector<int64_t> plain;  // families without hidden members
    std::vector<Factor> factors;
    std::vector<Step> steps;
    int64_t largest = 1;  // cells of the largest table on the way

    // The families that take part are named by position, parents before their children.
    SumOutPlan(const std::vector<Family>& families, const std::vector<int64_t>& chosen,
                const std::vector<int64_t>& levels, const std::vector<uint8_t>& hidden) {
        // A hidden feature on which nothing that is seen depends sums to one and may be left out.
        std::vector<uint8_t> needed(levels.size(), 0);
        for (size_t at = chosen.size(); at-- > 0;) {
            const Family& family = families[chosen[at]];
            if (hidden[family.feature()] && !needed[family.feature()]) continue;
            for (int64_t member : family.members) needed[member] = 1;
        }
        std::vector<uint8_t> open;
        std::vector<std::pair<int64_t, int64_t>> scope;
        for (int64_t f : chosen) {
            const Family& family = families[f];
            if (!needed[family.feature()]) continue;
            scope.clear();
            for (size_t m = 0; m < family.members.size(); ++m)
                if (hidden[family.members[m]]) scope.emplace_back(family.members[m], family.turned_stride(m));
            if (scope.empty()) {
                plain.push_back(f);
                continue;
            }
            std::sort(scope.begin(), scope.end());
            Factor factor;
            factor.family = f;
            for (const auto& [variable, stride] : scope) {
                factor.scope.push_back(variable);
                factor.strides.push_back(stride);
                factor.cells *= levels[variable];
            }
            factors.push_back(std::move(factor));
            open.push_back(1);
        }
        eliminate(levels, open);
    }

private:
    using Cost = std::pair<double, size_t>;  // cells of the product, and number of its factors
    std::vector<int64_t> met_;

    // Always the variable whose table comes out smallest; a tree is summed out without any table larger than its own.
    // Of equal ones the one with fewest factors, so that the others are multiplied when the table has become smaller.
    void eliminate(const std::vector<int64_t>& levels, std::vector<uint8_t>& open) {
        std::vector<int64_t> waiting;
        for (const Factor& factor : factors)
            waiting.insert(waiting.end(), factor.scope.begin(), factor.scope.end());
        std::sort(waiting.begin(), waiting.end());
        waiting.erase(std::unique(waiting.begin(), waiting.end()), waiting.end());
        std::vector<Cost> costs;
        for (int64_t variable : waiting) costs.push_back(cost_of(variable, levels, open));
        while (!waiting.empty()) {
            const size_t best = std::min_element(costs.begin(), costs.end()) - costs.begin();
            const double cells = costs[best].first;
            largest = cells > 9e18 ? INT64_MAX : std::max(largest, static_cast<int64_t>(cells));
            add_step(waiting[best], levels, open);
            waiting.erase(waiting.begin() + static_cast<int64_t>(best));
            costs.erase(costs.begin() + static_cast<int64_t>(best));
            // Only those that met the variable have other factors now.
            for (size_t w = 0; w < waiting.size(); ++w)
                if (factors.back().has(waiting[w])) costs[w] = cost_of(waiting[w], levels, open);
        }
    }

    Cost cost_of(int64_t variable, const std::vector<int64_t>& levels, const std::vector<uint8_t>& open) {
        const size_t n_factors = find_product(variable, open);
        double cells = 1.0;
        for (int64_t other : met_) cells *= static_cast<double>(levels[other]);
        return {cells, n_factors};
    }

    // Writes down the variables that meet when all factors of a variable are multiplied; gives the number of factors.
    size_t find_product(int64_t variable, const std::vector<uint8_t>& open) {
        met_.clear();
        size_t n_factors = 0;
        for (size_t f = 0; f < factors.size(); ++f) {
            if (!open[f] || !factors[f].has(variable)) continue;
            ++n_factors;
            for (int64_t other : factors[f].scope) {
                const auto at = std::lower_bound(met_.begin(), met_.end(), other);
                if (at == met_.end() || *at != other) met_.insert(at, other);
            }
        }
        return n_factors;
    }

    void add_step(int64_t variable, const std::vector<int64_t>& levels, std::vector<uint8_t>& open) {
        Step step;
        find_product(variable, open);
        step.scope = met_;
        step.summed = std::find(step.scope.begin(), step.scope.end(), variable) - step.scope.begin();
        for (int64_t other : step.scope) {
            step.sizes.push_back(levels[other]);
            // Above the limit nothing is run, and the product could be larger than any number.
            if (largest <= MOST_NUMBERS) step.cells *= levels[other];
        }
        for (size_t f = 0; f < factors.size(); ++f) {
            const Factor& factor = factors[f];
            if (!open[f] || !factor.has(variable)) continue;
            for (int64_t wanted : step.scope) {
                const auto at = std::lower_bound(factor.scope.begin(), factor.scope.end(), wanted);
                const bool has = at != factor.scope.end() && *at == wanted;
                step.all_strides.push_back(has ? factor.strides[at - factor.scope.begin()] : 0);
            }
            step.first_axis.push_back(step.axes.size());
            add_joined(step.sizes, step.strides(step.inputs.size()), step.axes);
            step.inputs.push_back(static_cast<int64_t>(f));
            open[f] = 0;
        }
        step.first_axis.push_back(step.axes.size());
        Factor result;
        result.scope = step.scope;
        result.scope.erase(result.scope.begin() + static_cast<int64_t>(step.summed));
        result.strides.resize(result.scope.size());
        for (size_t s = result.scope.size(); s-- > 0;) {
            result.strides[s] = result.cells;
            if (largest <= MOST_NUMBERS) result.cells *= levels[result.scope[s]];
        }
        step.output = static_cast<int64_t>(factors.size());
        factors.push_back(std::move(result));
        open.push_back(1);
        steps.push_back(std::move(step));
    }
};

}  // namespace bayeskit::score
