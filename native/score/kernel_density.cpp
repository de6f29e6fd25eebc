// log of a sum of normal densities around counted values, for each class: kernel density estimates.
#include <algorithm>
#include <cmath>

#include "base/codes.hpp"
#include "base/exponential.hpp"
#include "base/parallel.hpp"
#include "kernels.hpp"

namespace bayeskit::score {
namespace {

constexpr int64_t CHUNK_ROWS = 256;
// Terms that are together smaller than exp(-40) of the largest one are below the last bit of the sum.
constexpr double NEGLIGIBLE = 40.0;

// The values that some row of one class has, in units of its bandwidth, with their counts.
struct Kernels {
    double bandwidth = 1.0;
    double log_norm = 0.0;  // log (n h √2π)
    double n = 0.0;
    std::vector<double> place, count;
};

// Σ count · exp(-(z² - least²) / 2) with z the distance to each value
BAYESKIT_SIMD double sum_kernels(const double* place, const double* count, int64_t n, double at, double least) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int lane = 0; lane < 4; ++lane) {
            const double z = std::fabs(at - place[i + lane]);
            sums[lane] += count[i + lane] * exp_of_negative(-0.5 * (z - least) * (z + least));
        }
    for (; i < n; ++i) {
        const double z = std::fabs(at - place[i]);
        sums[0] += count[i] * exp_of_negative(-0.5 * (z - least) * (z + least));
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

double log_density(const Kernels& kernels, double x) {
    const double at = x / kernels.bandwidth;
    const auto first = kernels.place.begin(), last = kernels.place.end();
    auto near = std::lower_bound(first, last, at);
    if (near == last || (near != first && at - *(near - 1) < *near - at)) --near;
    const double least = std::fabs(at - *near);
    if (!(least < 1e150)) return -INFINITY;  // its square would overflow
    // All terms beyond `reach` sum to less than n exp(-reach² / 2), which is exp(-NEGLIGIBLE) of the nearest one.
    const double reach = std::sqrt(least * least + 2.0 * (NEGLIGIBLE + std::log(kernels.n / kernels.count[near - first])));
    const auto begin = std::lower_bound(first, near, at - reach), end = std::upper_bound(near, last, at + reach);
    const int64_t from = begin - first, n = std::max<int64_t>(end - begin, 1);
    const double sum = sum_kernels(kernels.place.data() + from, kernels.count.data() + from, n, at, least);
    return std::log(sum) - 0.5 * least * least - kernels.log_norm;
}

// log P(x | c) of shape (n_rows, n_classes), 0 where x is missing. `values` rise; counts has shape (n_values, n_classes).
nb::object kernel_density(Array column, Array values, Array counts, Array bandwidth, int n_threads) {
    const int64_t n_values = static_cast<int64_t>(values.shape(0)), n_classes = static_cast<int64_t>(bandwidth.shape(0));
    if (counts.ndim() != 2 || type_of(counts) != Type::f64 || static_cast<int64_t>(counts.shape(0)) != n_values ||
        static_cast<int64_t>(counts.shape(1)) != n_classes)
        throw std::invalid_argument("the counts do not fit the values and classes.");
    std::vector<double> places(n_values), widths(n_classes);
    read_doubles(column_of(values), 0, n_values, places.data(), 1);
    read_doubles(column_of(bandwidth), 0, n_classes, widths.data(), 1);
    std::vector<Kernels> kernels(n_classes);
    const double* cells = static_cast<const double*>(counts.data());
    for (int64_t c = 0; c < n_classes; ++c) {
        kernels[c].bandwidth = widths[c];
        for (int64_t v = 0; v < n_values; ++v) {
            const double n = cells[v * counts.stride(0) + c * counts.stride(1)];
            if (!(n > 0.0)) continue;
            kernels[c].place.push_back(places[v] / widths[c]);
            kernels[c].count.push_back(n);
            kernels[c].n += n;
        }
        if (kernels[c].place.empty() || !(widths[c] > 0.0))
            throw std::invalid_argument("a class has no value, or no bandwidth above zero.");
        kernels[c].log_norm = std::log(kernels[c].n) + std::log(widths[c]) + 0.91893853320467274178;  // log √2π
    }
    const Column cells_in = column_of(column);
    const int64_t n_rows = static_cast<int64_t>(column.shape(0)), n_chunks = (n_rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
    Owned<double> out({static_cast<size_t>(n_rows), static_cast<size_t>(n_classes)}, true);
    {
        nb::gil_scoped_release release;
        parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int) {
            double x[CHUNK_ROWS];
            const int64_t begin = chunk * CHUNK_ROWS, n = std::min(CHUNK_ROWS, n_rows - begin);
            read_doubles(cells_in, begin, n, x, 1);
            for (int64_t i = 0; i < n; ++i) {
                if (x[i] != x[i]) continue;
                for (int64_t c = 0; c < n_classes; ++c)
                    out.data[(begin + i) * n_classes + c] = log_density(kernels[c], x[i]);
            }
        });
    }
    return out.to_numpy();
}

}  // namespace

void bind_kernel_density(nb::module_& m) {
    using namespace nb::literals;
    m.def("kernel_density", &kernel_density, "column"_a, "values"_a, "counts"_a, "bandwidth"_a, "n_threads"_a);
}

}  // namespace bayeskit::score
