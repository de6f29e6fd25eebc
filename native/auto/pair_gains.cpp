// What each column gains when one other column is its parent besides the class: leave-one-out log-likelihood per row.
#include <cmath>

#include "auto/kernels.hpp"
#include "auto/rows.hpp"

namespace bayeskit::automatic {
namespace {

// Strengths of the shrinkage towards P(x | c) that are tried.
constexpr double STRENGTHS[] = {1.0, 10.0, 100.0};
constexpr int N_STRENGTHS = 3;

double less_one(double n) { return std::max(n - 1.0, 0.0); }

// `pair` has shape (values of the parent, values of the child, classes).
double gain(const std::vector<double>& pair, int64_t parents, int64_t children, int64_t n_classes, std::vector<double>& margins) {
    margins.assign((children + parents + 1) * n_classes, 0.0);
    double *child = margins.data(), *parent = child + children * n_classes, *whole = parent + parents * n_classes;
    for (int64_t b = 0; b < parents; ++b)
        for (int64_t a = 0; a < children; ++a)
            for (int64_t c = 0; c < n_classes; ++c) {
                const double n = pair[(b * children + a) * n_classes + c];
                child[a * n_classes + c] += n;
                parent[b * n_classes + c] += n;
                whole[c] += n;
            }
    double sum[N_STRENGTHS] = {}, alone = 0.0;
    for (int64_t a = 0; a < children; ++a)
        for (int64_t c = 0; c < n_classes; ++c) {
            double& n = child[a * n_classes + c];
            if (n <= 0.0) continue;
            const double p = (less_one(n) + 1.0 / static_cast<double>(children)) / whole[c];
            alone += n * std::log(p);
            n = p;
        }
    for (int64_t b = 0; b < parents; ++b) {
        for (int64_t c = 0; c < n_classes; ++c) {
            const double n = parent[b * n_classes + c];
            if (n > 0.0)
                for (int g = 0; g < N_STRENGTHS; ++g) sum[g] -= n * std::log(less_one(n) + STRENGTHS[g]);
        }
        for (int64_t a = 0; a < children; ++a)
            for (int64_t c = 0; c < n_classes; ++c) {
                const double n = pair[(b * children + a) * n_classes + c];
                if (n <= 0.0) continue;
                const double p = child[a * n_classes + c], rest = less_one(n);
                for (int g = 0; g < N_STRENGTHS; ++g) sum[g] += n * std::log(rest + STRENGTHS[g] * p);
            }
    }
    return *std::max_element(sum, sum + N_STRENGTHS) - alone;
}

// (n_features, n_parents): the gain of column i by parent candidates[p]; 0 for a column by itself.
nb::object pair_gains(Matrix<uint8_t> codes, Vector<uint32_t> y, Vector<double> weight, int64_t n_classes, Vector<int64_t> level_at_,
                      Vector<uint8_t> bins, Vector<int32_t> sizes, Vector<int32_t> candidates, int n_threads) {
    const int64_t n = static_cast<int64_t>(codes.shape(0)), rows = static_cast<int64_t>(codes.shape(1));
    const int64_t n_parents = static_cast<int64_t>(candidates.shape(0));
    const auto level_at = copy_of(level_at_);
    check_level_at(level_at);
    check_codes(codes, level_at);
    check_classes(y, rows, n_classes);
    need(static_cast<int64_t>(weight.shape(0)) == rows, "weights and the table differ in length.");
    need(static_cast<int64_t>(bins.shape(0)) == level_at.back() && static_cast<int64_t>(sizes.shape(0)) == n, "bins do not fit.");
    for (int64_t j = 0; j < n; ++j)
        for (int64_t v = level_at[j]; v < level_at[j + 1]; ++v) need(bins.data()[v] < sizes.data()[j], "a bin is out of range.");
    for (int64_t p = 0; p < n_parents; ++p) need(candidates.data()[p] >= 0 && candidates.data()[p] < n, "a candidate is out of range.");
    Owned<double> out({static_cast<size_t>(n), static_cast<size_t>(n_parents)}, true);
    {
        nb::gil_scoped_release release;
        double total = 0.0;
        for (int64_t r = 0; r < rows; ++r) total += weight.data()[r];
        std::vector<uint8_t> binned(n * rows);
        for (int64_t j = 0; j < n; ++j) {
            const uint8_t* table = bins.data() + level_at[j];
            for (int64_t r = 0; r < rows; ++r) {
                const uint8_t code = codes.data()[j * rows + r];
                binned[j * rows + r] = code == HIDDEN ? 0 : table[code];
            }
        }
        parallel_chunks(n, n_threads, [&](int64_t i, int) {
            std::vector<double> pair, margins;
            const uint8_t* child = binned.data() + i * rows;
            for (int64_t p = 0; p < n_parents; ++p) {
                const int64_t j = candidates.data()[p], size = sizes.data()[i];
                if (i == j) continue;
                pair.assign(sizes.data()[j] * size * n_classes, 0.0);
                const uint8_t* parent = binned.data() + j * rows;
                for (int64_t r = 0; r < rows; ++r)
                    pair[(parent[r] * size + child[r]) * n_classes + y.data()[r]] += weight.data()[r];
                out.data[i * n_parents + p] = gain(pair, sizes.data()[j], size, n_classes, margins) / total;
            }
        });
    }
    return out.to_numpy();
}

}  // namespace

void bind_pair_gains(nb::module_& m) {
    using namespace nb::literals;
    m.def("pair_gains", &pair_gains, "codes"_a, "y"_a, "weight"_a, "n_classes"_a, "level_at"_a, "bins"_a, "sizes"_a, "candidates"_a,
          "n_threads"_a);
}

}  // namespace bayeskit::automatic
