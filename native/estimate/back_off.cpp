// log P(x_j | parents, c) of many families with back-off: each table is smoothed towards the one with a parent less,
//   P_d(x | u_1 … u_d, c) = (n(x, u_1 … u_d, c) + m_d P_{d-1}) / (n(u_1 … u_d, c) + m_d), from P(x) on,
// with the m_d of a grid that have the greatest leave-one-out log-likelihood, which follows from the counts alone.
#include <cmath>

#include <nanobind/stl/vector.h>

#include "base/codes.hpp"
#include "kernels.hpp"

namespace bayeskit::estimate {
namespace {

// What is written: P as it is; P of the row's own class when it is left out; P of the other classes then, in which only the
// root P(x) has lost a row.
enum class LeftOut { none, own_class, other_classes };

struct Depth {
    std::vector<double> counts, context;  // (configs, values, K), (configs, K)
};

class Family {
public:
    Family(const Column& counts, const std::vector<int64_t>& shape, int64_t n_classes) : shape_(shape), K_(n_classes) {
        size_ = shape.back();
        line_ = size_ * K_;
        int64_t configs = 1;
        for (size_t p = 0; p + 1 < shape.size(); ++p) configs *= shape[p];
        depths_.resize(shape.size());
        depths_.back().counts.resize(configs * line_);
        read_doubles(counts, 0, configs * line_, depths_.back().counts.data(), 1);
        for (size_t d = depths_.size() - 1; d > 0; --d) {
            const int64_t few = configs / shape[d - 1];
            depths_[d - 1].counts.assign(few * line_, 0.0);
            for (int64_t g = 0; g < configs; ++g)
                for (int64_t i = 0; i < line_; ++i) depths_[d - 1].counts[g / shape[d - 1] * line_ + i] += depths_[d].counts[g * line_ + i];
            configs = few;
        }
        for (Depth& depth : depths_) {
            const int64_t n = static_cast<int64_t>(depth.counts.size()) / line_;
            depth.context.assign(n * K_, 0.0);
            for (int64_t g = 0; g < n; ++g)
                for (int64_t i = 0; i < line_; ++i) depth.context[g * K_ + i % K_] += depth.counts[g * line_ + i];
        }
    }

    void fill(const std::vector<double>& grid, double root, LeftOut left, double* m, double* out) const {
        std::vector<double> p = at_root(root, left != LeftOut::none), without = at_root(root, true);
        for (size_t d = 0; d < depths_.size(); ++d) {
            const int64_t fan = d ? shape_[d - 1] : 1;
            m[d] = best(depths_[d], fan, without, grid);
            p = deeper(depths_[d], fan, p, m[d], left == LeftOut::own_class ? 1.0 : 0.0);
            without = deeper(depths_[d], fan, without, m[d], 1.0);
        }
        for (size_t i = 0; i < p.size(); ++i) out[i] = std::log(p[i]);
    }

private:
    std::vector<int64_t> shape_;
    int64_t K_, size_, line_;
    std::vector<Depth> depths_;

    std::vector<double> at_root(double root, bool without_one) const {
        std::vector<double> n(size_, 0.0), p(line_);
        double all = 0.0;
        for (int64_t i = 0; i < line_; ++i) n[i / K_] += depths_[0].counts[i];
        for (double each : n) all += each;
        const double row_weight = without_one ? 1.0 : 0.0, even = root / static_cast<double>(size_);
        for (int64_t i = 0; i < line_; ++i) p[i] = (std::max(n[i / K_] - row_weight, 0.0) + even) / (std::max(all - row_weight, 0.0) + root);
        return p;
    }

    std::vector<double> deeper(const Depth& depth, int64_t fan, const std::vector<double>& above, double m, double row_weight) const {
        std::vector<double> p(depth.counts.size());
        for (size_t i = 0; i < p.size(); ++i) {
            const int64_t g = static_cast<int64_t>(i) / line_, rest = static_cast<int64_t>(i) % line_;
            const double n = std::max(depth.counts[i] - row_weight, 0.0), all = std::max(depth.context[g * K_ + rest % K_] - row_weight, 0.0);
            p[i] = (n + m * above[g / fan * line_ + rest]) / (all + m);
        }
        return p;
    }

    // The first m with the greatest sum over all rows of log P(x | context, c) without the row itself
    double best(const Depth& depth, int64_t fan, const std::vector<double>& above, const std::vector<double>& grid) const {
        if (grid.size() == 1) return grid[0];
        std::vector<double> sum(grid.size(), 0.0);
        for (size_t i = 0; i < depth.counts.size(); ++i) {
            const double n = depth.counts[i];
            if (n <= 0.0) continue;
            const int64_t g = static_cast<int64_t>(i) / line_, rest = static_cast<int64_t>(i) % line_;
            const double less = std::max(n - 1.0, 0.0), all = std::max(depth.context[g * K_ + rest % K_] - 1.0, 0.0);
            const double p = above[g / fan * line_ + rest];
            for (size_t k = 0; k < grid.size(); ++k) sum[k] += n * std::log((less + grid[k] * p) / (all + grid[k]));
        }
        return grid[std::max_element(sum.begin(), sum.end()) - sum.begin()];
    }
};

// Counts come as one flat array a family, (values of each parent …, values of the feature, n_classes), the last parent being
// the first to go; `shapes` has the sizes without the classes. Gives the logs, one family after the other, and the m of each
// family and depth, one family after the other.
nb::tuple back_off_tables(nb::list tables, std::vector<std::vector<int64_t>> shapes, int64_t n_classes, std::vector<double> grid,
                          double root, int left_out, int n_threads) {
    if (tables.size() != shapes.size()) throw std::invalid_argument("each family has one shape.");
    if (grid.empty() || left_out < 0 || left_out > 2) throw std::invalid_argument("no grid, or an unknown form.");
    std::vector<Array> owners;
    std::vector<Column> columns;
    std::vector<int64_t> offsets = {0}, m_offsets = {0};
    for (size_t f = 0; f < shapes.size(); ++f) {
        owners.push_back(nb::cast<Array>(tables[f]));
        columns.push_back(column_of(owners.back()));
        int64_t cells = n_classes;
        for (int64_t size : shapes[f]) cells *= size;
        if (shapes[f].empty() || static_cast<int64_t>(owners.back().shape(0)) != cells)
            throw std::invalid_argument("the counts do not fit their shape.");
        offsets.push_back(offsets.back() + cells);
        m_offsets.push_back(m_offsets.back() + static_cast<int64_t>(shapes[f].size()));
    }
    Owned<double> out({static_cast<size_t>(offsets.back())}), m({static_cast<size_t>(m_offsets.back())});
    {
        nb::gil_scoped_release release;
        parallel_chunks(static_cast<int64_t>(columns.size()), n_threads, [&](int64_t f, int) {
            std::fill(m.data + m_offsets[f], m.data + m_offsets[f + 1], grid[0]);
            if (offsets[f + 1] > offsets[f])
                Family(columns[f], shapes[f], n_classes)
                    .fill(grid, root, static_cast<LeftOut>(left_out), m.data + m_offsets[f], out.data + offsets[f]);
        });
    }
    return nb::make_tuple(out.to_numpy(), m.to_numpy());
}

}  // namespace

void bind_back_off(nb::module_& m) {
    using namespace nb::literals;
    m.def("back_off_tables", &back_off_tables, "tables"_a, "shapes"_a, "n_classes"_a, "grid"_a, "root"_a, "left_out"_a,
          "n_threads"_a);
}

}  // namespace bayeskit::estimate
