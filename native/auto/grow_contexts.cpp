// Which contexts become nodes: those that enough rows have, the most frequent first where there may be only so many.
#include <nanobind/stl/vector.h>

#include "auto/kernels.hpp"
#include "auto/networks.hpp"

namespace bayeskit::automatic {
namespace {

// Turns the weight of each context into its number from `first` on, or 0.
int32_t number_contexts(const std::vector<double>& weight, double least, int32_t most, int32_t first, int32_t* number) {
    std::vector<double> frequent;
    for (double w : weight)
        if (w >= least) frequent.push_back(w);
    size_t spare = weight.size();  // how many of exactly the least weight still have room
    if (static_cast<int64_t>(frequent.size()) > most) {
        if (most <= 0) {
            std::fill(number, number + weight.size(), 0);
            return 0;
        }
        std::nth_element(frequent.begin(), frequent.begin() + (most - 1), frequent.end(), std::greater<double>());
        least = frequent[most - 1];
        spare = static_cast<size_t>(most) - static_cast<size_t>(std::count_if(weight.begin(), weight.end(), [&](double w) { return w > least; }));
    }
    int32_t n = 0;
    for (size_t v = 0; v < weight.size(); ++v) {
        const bool kept = weight[v] > least || (weight[v] == least && spare > 0);
        if (kept && weight[v] == least) --spare;
        number[v] = kept ? first + n++ : 0;
    }
    return n;
}

// One step down: a node and a bin of its parent column give the node of the next depth.
struct Step {
    const uint8_t *column, *bins;
    int64_t size;
    int32_t first;  // the number of the first node of the next depth
    size_t begin;   // where its nodes stand among the children

    int64_t place(int32_t node, int64_t row) const { return node * size + bins[column[row]]; }

    // at[r] becomes the node of row begin + r within the next depth, -1 once it has left the tree.
    void take(const int32_t* child, int64_t begin_row, int64_t rows, int32_t* at) const {
        for (int64_t r = 0; r < rows; ++r) {
            if (at[r] < 0) continue;
            const int32_t next = child[begin + place(at[r], begin_row + r)];
            at[r] = next ? next - first : -1;
        }
    }
};

nb::tuple grow_contexts(Matrix<uint8_t> codes, Vector<double> weight, Vector<int64_t> level_at, Matrix<uint8_t> bins, Matrix<int32_t> sizes,
                        Cube<int32_t> parents, Matrix<double> least, int32_t most_nodes, int n_threads) {
    Layout layout;
    layout.n_networks = static_cast<int64_t>(sizes.shape(0));
    layout.n_features = static_cast<int64_t>(codes.shape(0));
    layout.level_at = copy_of(level_at);
    check_level_at(layout.level_at);
    check_codes(codes, layout.level_at);
    const int64_t rows = static_cast<int64_t>(codes.shape(1)), n = layout.n_features, units = layout.n_units();
    need(static_cast<int64_t>(sizes.shape(1)) == n && static_cast<int64_t>(parents.shape(1)) == n && parents.shape(2) == DEPTHS &&
             parents.shape(0) == sizes.shape(0) && least.shape(0) == sizes.shape(0) && least.shape(1) == sizes.shape(1) &&
             bins.shape(0) == sizes.shape(0) && static_cast<int64_t>(bins.shape(1)) == layout.level_at.back(),
         "the parts of the networks do not fit together.");
    need(static_cast<int64_t>(weight.shape(0)) == rows, "weights and the table differ in length.");
    layout.bins.assign(bins.data(), bins.data() + bins.size());
    layout.sizes.assign(sizes.data(), sizes.data() + sizes.size());
    layout.parents.assign(parents.data(), parents.data() + parents.size());
    std::vector<std::vector<int32_t>> child(units);
    Owned<int32_t> n_nodes({sizes.shape(0), sizes.shape(1), DEPTHS + 1}, true);
    {
        nb::gil_scoped_release release;
        parallel_chunks(units, n_threads, [&](int64_t u, int) {
            int32_t* counts = n_nodes.data + u * (DEPTHS + 1);
            counts[0] = 1;
            std::vector<Step> steps;
            std::vector<double> heavy;
            int32_t first = 1;
            for (int d = 0; d < DEPTHS; ++d) {
                const int32_t parent = layout.parents[u * DEPTHS + d];
                if (parent < 0 || !counts[d]) break;
                const Step last{codes.data() + parent * rows, layout.bins_of(u, parent), layout.size_of(u, parent), first, child[u].size()};
                heavy.assign(static_cast<size_t>(counts[d]) * last.size, 0.0);
                // Block by block from the root on: the node of each row would take as much memory as four columns.
                int32_t at[ROWS_AT_ONCE];
                for (int64_t begin = 0; begin < rows; begin += ROWS_AT_ONCE) {
                    const int64_t size = std::min(ROWS_AT_ONCE, rows - begin);
                    std::fill(at, at + size, 0);
                    for (const Step& step : steps) step.take(child[u].data(), begin, size, at);
                    for (int64_t r = 0; r < size; ++r)
                        if (at[r] >= 0) heavy[last.place(at[r], begin + r)] += weight.data()[begin + r];
                }
                child[u].resize(last.begin + heavy.size());
                counts[d + 1] = number_contexts(heavy, least.data()[u], most_nodes - first, first, child[u].data() + last.begin);
                first += counts[d + 1];
                steps.push_back(last);
            }
        });
    }
    Owned<int64_t> child_at({static_cast<size_t>(units + 1)});
    child_at.data[0] = 0;
    for (int64_t u = 0; u < units; ++u) child_at.data[u + 1] = child_at.data[u] + static_cast<int64_t>(child[u].size());
    Owned<int32_t> flat({static_cast<size_t>(child_at.data[units])});
    for (int64_t u = 0; u < units; ++u) std::copy(child[u].begin(), child[u].end(), flat.data + child_at.data[u]);
    return nb::make_tuple(n_nodes.to_numpy(), flat.to_numpy(), child_at.to_numpy());
}

}  // namespace

void bind_grow_contexts(nb::module_& m) {
    using namespace nb::literals;
    m.def("grow_contexts", &grow_contexts, "codes"_a, "weight"_a, "level_at"_a, "bins"_a, "sizes"_a, "parents"_a, "least"_a,
          "most_nodes"_a, "n_threads"_a);
}

}  // namespace bayeskit::automatic
