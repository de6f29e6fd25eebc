// Sums the hidden variables out of one row: products of tables over the hidden variables, summed over one of them at a time.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "score/sum_out_plan.hpp"
#include "score/hidden_tables.hpp"
#include "base/simd.hpp"

namespace bayeskit::score {

// Products are made in slabs of about this many numbers, which stay in the cache.
constexpr int64_t SLAB_NUMBERS = int64_t{1} << 16;
// Products whose logs (to base 2) stay within this are plain doubles.
constexpr double MOST_LOG2 = 1000.0;

template <int fixed, bool assign>
BAYESKIT_INLINE void multiply_run(double* out, const double* values, int64_t n, int64_t stride, int64_t any) {
    const int64_t K = fixed ? fixed : any;
    if (stride == 1) {
        for (int64_t i = 0; i < n * K; ++i) out[i] = assign ? values[i] : out[i] * values[i];
    } else {
        for (int64_t i = 0; i < n; ++i, out += K, values += stride * K)
            for (int64_t c = 0; c < K; ++c) out[c] = assign ? values[c] : out[c] * values[c];
    }
}

template <int fixed, bool assign>
BAYESKIT_INLINE void multiply_axes(double* out, const double* values, const Axis* axes, size_t n_axes,
                                   std::vector<int64_t>& count, int64_t K) {
    const size_t n_outer = n_axes - 1;
    const Axis inner = axes[n_outer];
    if (n_outer == 0) return multiply_run<fixed, assign>(out, values, inner.size, inner.stride, K);
    count.assign(n_outer, 0);
    for (;;) {
        multiply_run<fixed, assign>(out, values, inner.size, inner.stride, K);
        out += inner.size * K;
        size_t at = n_outer;
        for (; at-- > 0;) {
            values += axes[at].stride * K;
            if (++count[at] < axes[at].size) break;
            values -= axes[at].stride * axes[at].size * K;
            count[at] = 0;
        }
        if (at == SIZE_MAX) return;
    }
}

// out (…, K) = values, or out *= values, which are read along the axes
template <bool assign>
static BAYESKIT_SIMD void multiply_table(double* out, const double* values, const Axis* axes, size_t n_axes,
                                  std::vector<int64_t>& count, int64_t K) {
    if (K == 2) return multiply_axes<2, assign>(out, values, axes, n_axes, count, K);
    if (K == 3) return multiply_axes<3, assign>(out, values, axes, n_axes, count, K);
    multiply_axes<0, assign>(out, values, axes, n_axes, count, K);
}

template <int fixed>
BAYESKIT_INLINE void add_last_axis(const double* product, int64_t n_before, int64_t n_summed, double* out, int64_t any) {
    const int64_t K = fixed ? fixed : any;
    for (int64_t a = 0; a < n_before; ++a, out += K)
        for (int64_t v = 0; v < n_summed; ++v, product += K)
            for (int64_t c = 0; c < K; ++c) out[c] += product[c];
}

// out (n_before, width) += product (n_before, n_summed, width), summed over the middle
static BAYESKIT_SIMD void add_up(const double* product, int64_t n_before, int64_t n_summed, int64_t width, double* out,
                          int64_t K) {
    if (width == 2 && K == 2) return add_last_axis<2>(product, n_before, n_summed, out, K);
    if (width == 3 && K == 3) return add_last_axis<3>(product, n_before, n_summed, out, K);
    for (int64_t a = 0; a < n_before; ++a, out += width)
        for (int64_t v = 0; v < n_summed; ++v, product += width)
            for (int64_t i = 0; i < width; ++i) out[i] += product[i];
}

// Its arrays are kept from row to row.
class HiddenSum {
public:
    // level: of each variable, read where it is not hidden. Adds the log of the sum over the hidden cells to log_joint.
    void add(const SumOutPlan& plan, const std::vector<Family>& families, const HiddenTables& tables,
             const uint32_t* level, int64_t level_stride, double* log_joint) {
        const size_t n_factors = plan.factors.size();
        data_.resize(n_factors);
        room_.resize(n_factors);
        result_low_.resize(n_factors);
        families_ = &families;
        tables_ = &tables;
        level_ = level;
        level_stride_ = level_stride;
        K_ = tables.n_classes();
        for (size_t f = 0; f < n_factors; ++f) {
            const auto& factor = plan.factors[f];
            if (factor.family < 0) continue;
            const Family& family = families[factor.family];
            int64_t cell = 0;
            for (size_t m = 0; m < family.members.size(); ++m)
                if (!factor.has(family.members[m]))
                    cell += family.turned_stride(m) * level[family.members[m] * level_stride];
            data_[f] = tables.numbers(family) + cell * K_;
        }
        for (const auto& step : plan.steps) run(plan, step, log_joint);
    }

private:
    const std::vector<Family>* families_ = nullptr;
    const HiddenTables* tables_ = nullptr;
    const uint32_t* level_ = nullptr;
    int64_t level_stride_ = 1, K_ = 0;
    std::vector<const double*> data_;
    std::vector<std::vector<double>> room_;
    std::vector<int64_t> count_, sizes_, strides_, place_;
    std::vector<double> product_;
    std::vector<int32_t> power_, out_power_;  // of 2, beside the product and the result where doubles would not reach
    std::vector<Axis> axes_, free_;
    double low_ = 0.0, high_ = 0.0;   // bounds of log2 of the product
    std::vector<double> result_low_;  // log2 of the least number of a result that is not 0

    const HiddenTable* sparse(const SumOutPlan::Factor& factor) const {
        if (factor.family < 0) return nullptr;
        const HiddenTable& table = (*tables_)[factor.family];
        const Family& family = (*families_)[factor.family];
        if (table.even == 0.0) return nullptr;
        const bool whole = factor.has(family.feature());
        const int64_t reads = static_cast<int64_t>(table.uneven.size()) * (whole ? family.n_levels : 1);
        return reads * 4 < factor.cells ? &table : nullptr;
    }

    void run(const SumOutPlan& plan, const SumOutPlan::Step& step, double* log_joint) {
        const auto& result = plan.factors[step.output];
        std::vector<double>& out = room_[step.output];
        out.assign(result.cells * K_, 0.0);
        out_power_.clear();
        data_[step.output] = out.data();
        const int64_t rest = step.cells / step.sizes[0];
        const int64_t slab = std::clamp<int64_t>(SLAB_NUMBERS / std::max<int64_t>(1, rest * K_), 1, step.sizes[0]);
        for (int64_t begin = 0; begin < step.sizes[0]; begin += slab) {
            const int64_t n = std::min(slab, step.sizes[0] - begin);
            fill_product(plan, step, begin, n, rest);
            // The slab is cut along the first axis; where that is the one summed over, all slabs meet in one result.
            const bool meets = step.summed == 0;
            int64_t n_before = meets ? 1 : n;
            for (size_t k = 1; k < step.summed; ++k) n_before *= step.sizes[k];
            const int64_t n_summed = meets ? n : step.sizes[step.summed];
            const int64_t width = n * rest / n_before / n_summed * K_;
            const int64_t first = meets ? 0 : begin * rest / n_summed * K_;
            if (power_.empty()) add_up(product_.data(), n_before, n_summed, width, out.data() + first, K_);
            else add_up_powers(n_before, n_summed, width, first, out);
        }
        for (size_t f = 0; f < step.inputs.size(); ++f)
            if (const HiddenTable* table = sparse(plan.factors[step.inputs[f]]))
                for (int64_t c = 0; c < K_; ++c) log_joint[c] += std::log(table->even);
        result_low_[step.output] = settle(out, log_joint);
    }

    void fill_product(const SumOutPlan& plan, const SumOutPlan::Step& step, int64_t begin, int64_t n, int64_t rest) {
        product_.resize(n * rest * K_);
        power_.clear();
        low_ = high_ = 0.0;
        const bool whole = n == step.sizes[0];
        bool empty = true;
        if (!whole) {
            sizes_ = step.sizes;
            sizes_[0] = n;
        }
        for (size_t f = 0; f < step.inputs.size(); ++f) {
            const auto& factor = plan.factors[step.inputs[f]];
            if (sparse(factor)) continue;
            keep_in_reach(factor.family < 0 ? result_low_[step.inputs[f]] : (*tables_)[factor.family].log2_least, 0.0);
            const double* values = data_[step.inputs[f]] + begin * step.strides(f)[0] * K_;
            const Axis* axes = step.axes.data() + step.first_axis[f];
            size_t n_axes = step.first_axis[f + 1] - step.first_axis[f];
            if (!whole) {
                axes_.clear();
                add_joined(sizes_, step.strides(f), axes_);
                axes = axes_.data();
                n_axes = axes_.size();
            }
            if (empty) multiply_table<true>(product_.data(), values, axes, n_axes, count_, K_);
            else multiply_table<false>(product_.data(), values, axes, n_axes, count_, K_);
            empty = false;
        }
        if (empty) std::fill(product_.begin(), product_.end(), 1.0);
        for (size_t f = 0; f < step.inputs.size(); ++f) {
            const auto& factor = plan.factors[step.inputs[f]];
            const HiddenTable* table = sparse(factor);
            if (!table) continue;
            keep_in_reach(table->log2_least, -std::log2(table->even));
            multiply_uneven(step, factor, *table, begin, n);
        }
    }

    // Multiplies the combinations of parents that are uneven, relative to the even ones.
    void multiply_uneven(const SumOutPlan::Step& step, const SumOutPlan::Factor& factor, const HiddenTable& table,
                         int64_t begin, int64_t n) {
        const Family& family = (*families_)[factor.family];
        const size_t n_parents = family.members.size() - 1;
        place_.assign(n_parents + 1, -1);
        strides_.assign(step.scope.size(), K_);
        for (size_t k = step.scope.size() - 1; k-- > 0;) strides_[k] = strides_[k + 1] * step.sizes[k + 1];
        free_.clear();
        for (size_t k = 0; k < step.scope.size(); ++k) {
            const auto at = std::find(family.members.begin(), family.members.end(), step.scope[k]);
            if (at != family.members.end()) place_[at - family.members.begin()] = static_cast<int64_t>(k);
            else free_.push_back({k ? step.sizes[k] : n, strides_[k]});
        }
        const int64_t feature = place_[n_parents], n_configs = family.n_configs();
        const double *numbers = tables_->numbers(family), scale = 1.0 / table.even;
        int64_t from = 0, to = family.n_levels;
        if (feature < 0) to = (from = level_[family.feature() * level_stride_]) + 1;
        else if (feature == 0) to = (from = begin) + n;
        for (size_t e = 0; e < table.uneven.size(); ++e) {
            const uint32_t* parent = table.parent_level.data() + e * n_parents;
            int64_t at = 0;
            bool here = true;
            for (size_t m = 0; m < n_parents && here; ++m) {
                const int64_t parent_level = parent[m], k = place_[m];
                if (k < 0) here = parent_level == level_[family.members[m] * level_stride_];
                else if (k == 0) here = parent_level >= begin && parent_level < begin + n;
                if (k >= 0) at += (k ? parent_level : parent_level - begin) * strides_[k];
            }
            if (!here) continue;
            for (int64_t v = from; v < to; ++v) {
                const double* p = numbers + (v * n_configs + table.uneven[e]) * K_;
                const int64_t along = feature < 0 ? 0 : (feature == 0 ? v - begin : v) * strides_[feature];
                multiply_cells(product_.data() + at + along, p, scale, 0);
            }
        }
    }

    void multiply_cells(double* out, const double* p, double scale, size_t axis) {
        if (axis == free_.size()) {
            for (int64_t c = 0; c < K_; ++c) out[c] *= p[c] * scale;
            return;
        }
        for (int64_t i = 0; i < free_[axis].size; ++i) multiply_cells(out + i * free_[axis].stride, p, scale, axis + 1);
    }

    // Before a product could leave the range of a double, its powers of two are written apart.
    void keep_in_reach(double low, double high) {
        if (low_ + low < -MOST_LOG2 || high_ + high > MOST_LOG2) {
            if (low_ < 0.0 || high_ > 0.0) {
                power_.resize(product_.size(), 0);
                for (size_t i = 0; i < product_.size(); ++i) {
                    int power = 0;
                    product_[i] = std::frexp(product_[i], &power);
                    power_[i] += power;
                }
            }
            low_ = -1.0;
            high_ = 0.0;
        }
        low_ += low;
        high_ += high;
    }

    void add_up_powers(int64_t n_before, int64_t n_summed, int64_t width, int64_t first, std::vector<double>& out) {
        out_power_.resize(out.size(), 0);
        for (int64_t a = 0; a < n_before; ++a)
            for (int64_t v = 0; v < n_summed; ++v)
                for (int64_t i = 0; i < width; ++i) {
                    const int64_t from = (a * n_summed + v) * width + i, to = first + a * width + i;
                    if (!(product_[from] > 0.0)) continue;
                    if (!(out[to] > 0.0)) {
                        out[to] = product_[from];
                        out_power_[to] = power_[from];
                        continue;
                    }
                    const int32_t power = std::max(power_[from], out_power_[to]);
                    out[to] = std::ldexp(out[to], out_power_[to] - power) + std::ldexp(product_[from], power_[from] - power);
                    out_power_[to] = power;
                }
    }

    // Each class is divided by its largest cell, so that long products do not vanish. Returns log2 of the least number.
    double settle(std::vector<double>& out, double* log_joint) {
        const double log_two = 0.6931471805599453;
        const int64_t cells = static_cast<int64_t>(out.size()) / K_;
        double least = 1.0;
        for (int64_t c = 0; c < K_; ++c) {
            if (!out_power_.empty()) {
                int32_t top = INT32_MIN;
                for (int64_t cell = 0; cell < cells; ++cell)
                    if (out[cell * K_ + c] > 0.0) top = std::max(top, out_power_[cell * K_ + c]);
                for (int64_t cell = 0; cell < cells && top > INT32_MIN; ++cell)
                    out[cell * K_ + c] = std::ldexp(out[cell * K_ + c], out_power_[cell * K_ + c] - top);
                if (top > INT32_MIN) log_joint[c] += log_two * top;
            }
            double peak = 0.0;
            for (int64_t cell = 0; cell < cells; ++cell) peak = std::max(peak, out[cell * K_ + c]);
            log_joint[c] += std::log(peak);
            for (int64_t cell = 0; cell < cells && peak > 0.0; ++cell) {
                double& share = out[cell * K_ + c];
                share /= peak;
                if (share > 0.0) least = std::min(least, share);
            }
        }
        return std::log2(least);
    }
};

}  // namespace bayeskit::score
