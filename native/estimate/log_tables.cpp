// log P(x_j | parents, c) of many families from their counts, each with a pseudo-count of its own; also what each cell gives
// when a row that it holds is left out.
#include <cmath>

#include <nanobind/stl/vector.h>

#include "base/codes.hpp"
#include "kernels.hpp"

namespace bayeskit::estimate {
namespace {

// Combinations of the parents that are read at once
constexpr int64_t BLOCK = 256;

// own: how much of each count, and of the sum that it is in, is left out
void fill_family(const Column& counts, int64_t n_configs, int64_t size, int64_t K, double pseudo, double row_weight, double* out) {
    std::vector<double> block(std::min(BLOCK, n_configs) * size * K), norm(K), sum(K);
    double norm_of_none = 0.0;
    for (int64_t v = 0; v < size; ++v) norm_of_none += pseudo;
    // A combination without a row gives every value the same probability; in wide tables that is nearly all of them.
    const double log_even = norm_of_none > 0.0 ? std::log(pseudo / norm_of_none) : std::log(1.0 / static_cast<double>(size));
    for (int64_t first = 0; first < n_configs; first += BLOCK) {
        const int64_t n_block = std::min(BLOCK, n_configs - first);
        read_doubles(counts, first * size * K, n_block * size * K, block.data(), 1);
        for (int64_t u = 0; u < n_block; ++u, out += size * K) {
            const double* n = block.data() + u * size * K;
            double any = 0.0;
            for (int64_t i = 0; i < size * K; ++i) any = std::max(any, n[i]);
            if (any <= 0.0) {
                std::fill_n(out, size * K, log_even);
                continue;
            }
            std::fill(norm.begin(), norm.end(), 0.0);
            for (int64_t v = 0; v < size; ++v)
                for (int64_t c = 0; c < K; ++c) norm[c] += n[v * K + c] + pseudo;
            if (row_weight > 0.0) {
                std::fill(sum.begin(), sum.end(), 0.0);
                for (int64_t v = 0; v < size; ++v)
                    for (int64_t c = 0; c < K; ++c) sum[c] += n[v * K + c];
                for (int64_t c = 0; c < K; ++c) norm[c] = std::max(0.0, sum[c] - row_weight) + norm_of_none;
            }
            for (int64_t v = 0; v < size; ++v)
                for (int64_t c = 0; c < K; ++c)
                    out[v * K + c] = norm[c] > 0.0 ? std::log((std::max(0.0, n[v * K + c] - row_weight) + pseudo) / norm[c]) : log_even;
        }
    }
}

// Counts come as one flat array a family, (combinations of the parents, values of the feature, n_classes); so do the
// logs, one family after the other.
nb::object log_tables(nb::list tables, std::vector<int64_t> n_values, int64_t n_classes, std::vector<double> pseudo, double row_weight,
                      int n_threads) {
    if (tables.size() != n_values.size() || tables.size() != pseudo.size())
        throw std::invalid_argument("each family has one number of values and one pseudo-count.");
    std::vector<Array> owners;
    std::vector<Column> columns;
    std::vector<int64_t> offsets = {0};
    for (size_t f = 0; f < n_values.size(); ++f) {
        owners.push_back(nb::cast<Array>(tables[f]));
        columns.push_back(column_of(owners.back()));
        const int64_t numbers = static_cast<int64_t>(owners.back().shape(0)), line = n_values[f] * n_classes;
        if (line ? numbers % line : numbers) throw std::invalid_argument("the counts do not fit the number of values.");
        offsets.push_back(offsets.back() + numbers);
    }
    Owned<double> out({static_cast<size_t>(offsets.back())});
    {
        nb::gil_scoped_release release;
        parallel_chunks(static_cast<int64_t>(columns.size()), n_threads, [&](int64_t f, int) {
            const int64_t line = n_values[f] * n_classes, numbers = offsets[f + 1] - offsets[f];
            if (numbers) fill_family(columns[f], numbers / line, n_values[f], n_classes, pseudo[f], row_weight, out.data + offsets[f]);
        });
    }
    return out.to_numpy();
}

}  // namespace

void bind_log_tables(nb::module_& m) {
    using namespace nb::literals;
    m.def("log_tables", &log_tables, "tables"_a, "n_values"_a, "n_classes"_a, "pseudo"_a, "own"_a,
          "n_threads"_a);
}

}  // namespace bayeskit::estimate
