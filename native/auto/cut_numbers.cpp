// Bins of numbers: every number where they are few, bins of equal frequency otherwise.
#include <cmath>
#include <limits>

#include "auto/distinct_numbers.hpp"
#include "auto/kernels.hpp"

namespace bayeskit::automatic {
namespace {

// Half-way, but never so near the lower number that rounding puts it on the wrong side.
double edge_between(double lower, double upper) {
    return std::max(lower / 2 + upper / 2, std::nextafter(lower, std::numeric_limits<double>::infinity()));
}

std::vector<double> cut(const DistinctNumbers& numbers, int64_t most_bins) {
    const int64_t n = static_cast<int64_t>(numbers.value.size());
    std::vector<double> edges;
    auto cut_behind = [&](int64_t at) { edges.push_back(edge_between(numbers.value[at], numbers.value[at + 1])); };
    if (n <= most_bins) {
        for (int64_t at = 0; at + 1 < n; ++at) cut_behind(at);
        return edges;
    }
    int64_t last = -1;
    for (int64_t bin = 1; bin < most_bins; ++bin) {
        const double share = numbers.reached.back() * static_cast<double>(bin) / static_cast<double>(most_bins);
        const int64_t at = std::lower_bound(numbers.reached.begin(), numbers.reached.end(), share) - numbers.reached.begin();
        if (at != last && at + 1 < n) cut_behind(at);
        last = at;
    }
    return edges;
}

// The edges of each column, whose rows stand at `order`.
nb::list cut_numbers(nb::handle columns, Vector<int32_t> order, Vector<double> weight, int64_t most_bins, int n_threads) {
    const Table table = table_of(columns);
    const WeightedRows rows = WeightedRows::of(order, weight, table.n_rows);
    need(most_bins > 1, "a column needs two bins.");
    const int64_t d = static_cast<int64_t>(table.columns.size());
    std::vector<std::vector<double>> column_edges(d);
    {
        nb::gil_scoped_release release;
        std::vector<DistinctNumbers> numbers(threads_used(d, n_threads));
        parallel_chunks(d, n_threads, [&](int64_t j, int thread) {
            numbers[thread].find(table.columns[j], rows);
            column_edges[j] = cut(numbers[thread], most_bins);
        });
    }
    nb::list out;
    for (const auto& edges : column_edges) {
        Owned<double> array({edges.size()});
        std::copy(edges.begin(), edges.end(), array.data);
        out.append(array.to_numpy());
    }
    return out;
}

}  // namespace

void bind_cut_numbers(nb::module_& m) {
    using namespace nb::literals;
    m.def("cut_numbers", &cut_numbers, "columns"_a, "order"_a, "weight"_a, "most_bins"_a, "n_threads"_a);
}

}  // namespace bayeskit::automatic
