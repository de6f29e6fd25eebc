// How the Gaussians scale numbers: mean and deviation, and points of the curve of shares that normal scores follow.
#include <cmath>
#include <limits>

#include "auto/distinct_numbers.hpp"
#include "auto/kernels.hpp"

namespace bayeskit::automatic {
namespace {

struct Scale {
    double median = 0.0;   // stands for a missing number
    double unit = 1.0;     // numbers are divided by it first, so that squares do not overflow
    double center = 0.0;   // the mean in units
    double deviation = std::numeric_limits<double>::min();
    std::vector<double> x = {0.0}, share = {0.5};  // the share of the rows below a number, with half of its own
};

Scale scale(DistinctNumbers& numbers, int64_t most_points) {
    Scale scaled;
    const auto &value = numbers.value, &weight = numbers.weight, &reached = numbers.reached;
    if (value.empty()) return scaled;
    const int64_t n = static_cast<int64_t>(value.size());
    const int64_t middle = std::lower_bound(reached.begin(), reached.end(), reached.back() / 2) - reached.begin();
    scaled.median = value[middle];
    numbers.weight[middle] += numbers.missing;  // a missing cell stands at the median
    numbers.add_up();
    const double total = reached.back();
    scaled.unit = std::max({std::abs(value.front()), std::abs(value.back()), 1e-300});
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < n; ++i) sum += weight[i] * (value[i] / scaled.unit);
    scaled.center = sum / total;
    for (int64_t i = 0; i < n; ++i) {
        const double away = value[i] / scaled.unit - scaled.center;
        squares += weight[i] * away * away;
    }
    scaled.deviation = std::max(std::sqrt(squares / total), std::numeric_limits<double>::min());
    scaled.x.clear();
    scaled.share.clear();
    const int64_t n_points = std::min(n, most_points);
    for (int64_t point = 0, last = -1; point < n_points; ++point) {
        const int64_t at = n_points == 1 ? 0 : point * (n - 1) / (n_points - 1);
        if (at == last) continue;
        last = at;
        scaled.x.push_back(value[at]);
        scaled.share.push_back((reached[at] - weight[at] / 2) / total);
    }
    return scaled;
}

// Each column's median, unit, center and deviation, (4, p); and the curves of all, whose points of column k are those from
// curve_at[k] to before curve_at[k + 1].
nb::tuple scale_numbers(nb::handle columns, Vector<int32_t> order, Vector<double> weight, int64_t most_points, int n_threads) {
    const Table table = table_of(columns);
    const WeightedRows rows = WeightedRows::of(order, weight, table.n_rows);
    need(most_points > 1, "a curve needs two points.");
    const int64_t p = static_cast<int64_t>(table.columns.size());
    std::vector<Scale> every(p);
    {
        nb::gil_scoped_release release;
        std::vector<DistinctNumbers> numbers(threads_used(p, n_threads));
        parallel_chunks(p, n_threads, [&](int64_t k, int thread) {
            numbers[thread].find(table.columns[k], rows);
            every[k] = scale(numbers[thread], most_points);
        });
    }
    size_t n_points = 0;
    for (const Scale& each : every) n_points += each.x.size();
    Owned<double> scales({4, static_cast<size_t>(p)}), x({n_points}), share({n_points});
    Owned<int64_t> at({static_cast<size_t>(p + 1)});
    int64_t end = at.data[0] = 0;
    for (int64_t k = 0; k < p; ++k) {
        const double numbers[] = {every[k].median, every[k].unit, every[k].center, every[k].deviation};
        for (int64_t line = 0; line < 4; ++line) scales.data[line * p + k] = numbers[line];
        std::copy(every[k].x.begin(), every[k].x.end(), x.data + end);
        std::copy(every[k].share.begin(), every[k].share.end(), share.data + end);
        at.data[k + 1] = end += static_cast<int64_t>(every[k].x.size());
    }
    return nb::make_tuple(scales.to_numpy(), x.to_numpy(), share.to_numpy(), at.to_numpy());
}

}  // namespace

void bind_scale_numbers(nb::module_& m) {
    using namespace nb::literals;
    m.def("scale_numbers", &scale_numbers, "columns"_a, "order"_a, "weight"_a, "most_points"_a, "n_threads"_a);
}

}  // namespace bayeskit::automatic
