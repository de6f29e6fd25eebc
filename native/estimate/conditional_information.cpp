// Conditional mutual information of all pairs of columns given the class, from their counts.
#include <algorithm>
#include <cmath>

#include <nanobind/stl/vector.h>

#include "base/codes.hpp"
#include "counts/subset_offsets.hpp"
#include "kernels.hpp"

namespace bayeskit::estimate {
namespace {

// Conditional mutual information of one pair given the class, in nats, all margins from the pair's own table; given
// `all` rows, times the share of them in which the pair is known: the gain of log-likelihood per row.
template <typename Count>
double pair_information(const Count* table, int64_t i_size, int64_t j_size, int64_t n_classes, double all) {
    std::vector<double> i_margin(i_size * n_classes, 0.0), j_margin(j_size * n_classes, 0.0), margin(n_classes, 0.0);
    double total = 0.0;
    for (int64_t v = 0; v < i_size; ++v)
        for (int64_t w = 0; w < j_size; ++w)
            for (int64_t c = 0; c < n_classes; ++c) {
                const double n = static_cast<double>(table[(v * j_size + w) * n_classes + c]);
                i_margin[v * n_classes + c] += n;
                j_margin[w * n_classes + c] += n;
                margin[c] += n;
                total += n;
            }
    if (total <= 0.0) return 0.0;
    double sum = 0.0;
    for (int64_t v = 0; v < i_size; ++v)
        for (int64_t w = 0; w < j_size; ++w)
            for (int64_t c = 0; c < n_classes; ++c) {
                const double n = static_cast<double>(table[(v * j_size + w) * n_classes + c]);
                if (n > 0.0) sum += n * std::log(n * margin[c] / (i_margin[v * n_classes + c] * j_margin[w * n_classes + c]));
            }
    return std::max(0.0, sum / (all > 0.0 ? all : total));
}

// (d, d), symmetric, from the tables of all pairs
nb::object conditional_information(Array pairs, std::vector<int64_t> sizes, int64_t n_classes, double all, int n_threads) {
    const int64_t d = static_cast<int64_t>(sizes.size());
    const auto offsets = counts::subset_offsets(2, sizes, n_classes);
    const Column column = column_of(pairs);
    if (static_cast<int64_t>(pairs.shape(0)) != offsets.back() ||
        (offsets.back() && column.stride != item_size(column.type)))  // an empty array has no stride to speak of
        throw std::invalid_argument("the pair counts do not fit the sizes.");
    Owned<double> out({static_cast<size_t>(d), static_cast<size_t>(d)}, true);
    {
        nb::gil_scoped_release release;
        parallel_chunks(d, n_threads, [&](int64_t i, int) {
            with_type(column.type, [&](auto zero) {
                using T = decltype(zero);
                const T* tables = reinterpret_cast<const T*>(column.data);
                for (int64_t j = i + 1, pair = i * (2 * d - i - 1) / 2; j < d; ++j, ++pair)
                    out.data[i * d + j] = out.data[j * d + i] =
                        pair_information(tables + offsets[pair], sizes[i], sizes[j], n_classes, all);
            });
        });
    }
    return out.to_numpy();
}

}  // namespace

void bind_conditional_information(nb::module_& m) {
    using namespace nb::literals;
    m.def("conditional_information", &conditional_information, "pairs"_a, "sizes"_a, "n_classes"_a, "all"_a, "n_threads"_a);
}

}  // namespace bayeskit::estimate
