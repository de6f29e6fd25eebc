// What each column gains when one other column is its parent besides the class: leave-one-out log-likelihood per row.
#include <cmath>

#include "auto/kernels.hpp"
#include "auto/rows.hpp"
#include "base/logarithm.hpp"

namespace bayeskit::automatic {
namespace {

// Strengths of the shrinkage towards P(x | c) that are tried.
constexpr double STRENGTHS[] = {1.0, 10.0, 100.0};
constexpr int N_STRENGTHS = 3;

double less_one(double n) { return std::max(n - 1.0, 0.0); }

// Adds Σ n log(rest + m p) for each strength m.
BAYESKIT_SIMD
static void add_likelihoods(const double* n, const double* rest, const double* p, size_t size, double* sum) {
    for (int g = 0; g < N_STRENGTHS; ++g) {
        double lane[QUAD] = {};
        size_t v = 0;
        for (; v + QUAD <= size; v += QUAD)
            for (int l = 0; l < QUAD; ++l) lane[l] += n[v + l] * log_of_positive(rest[v + l] + STRENGTHS[g] * p[v + l]);
        for (; v < size; ++v) lane[0] += n[v] * log_of_positive(rest[v] + STRENGTHS[g] * p[v]);
        sum[g] += (lane[0] + lane[1]) + (lane[2] + lane[3]);
    }
}

// A column by itself, beside the class.
struct Alone {
    std::vector<double> p;                // (values, classes): P(x | c) with one row of the cell left out
    double likelihood = 0.0;              // Σ n log p
    double as_parent[N_STRENGTHS] = {};   // -Σ n log(n - 1 + m): what the denominators add where it is a parent
};

Alone alone_of(const uint8_t* column, int64_t size, int64_t rows, const uint32_t* y, const double* weight, int64_t n_classes) {
    std::vector<double> n(size * n_classes, 0.0), whole(n_classes, 0.0), minus, rest, one;
    for (int64_t r = 0; r < rows; ++r) {
        n[column[r] * n_classes + y[r]] += weight[r];
        whole[y[r]] += weight[r];
    }
    Alone alone;
    alone.p.assign(n.size(), 1.0);
    for (int64_t at = 0; at < size * n_classes; ++at) {
        if (n[at] <= 0.0) continue;
        alone.p[at] = (less_one(n[at]) + 1.0 / static_cast<double>(size)) / whole[at % n_classes];
        alone.likelihood += n[at] * std::log(alone.p[at]);
        minus.push_back(-n[at]);
        rest.push_back(less_one(n[at]));
    }
    one.assign(minus.size(), 1.0);
    add_likelihoods(minus.data(), rest.data(), one.data(), minus.size(), alone.as_parent);
    return alone;
}

// Counts of one column beside another, of which those with a row are looked at.
class Pairs {
public:
    Pairs(const uint8_t* child, int64_t size, int64_t rows, const uint32_t* y, const double* weight, int64_t n_classes)
        : block_(size * n_classes), rows_(rows), weight_(weight), place_(rows) {
        for (int64_t r = 0; r < rows; ++r) place_[r] = static_cast<uint32_t>(child[r] * n_classes + y[r]);
    }

    double gain(const uint8_t* parent, int64_t parents, const Alone& as_child, const Alone& as_parent) {
        const size_t cells = static_cast<size_t>(parents * block_);
        if (cell_.size() < cells) cell_.resize(cells, 0.0);
        n_.clear();
        rest_.clear();
        p_.clear();
        if (static_cast<size_t>(rows_) < cells) {
            touched_.clear();
            for (int64_t r = 0; r < rows_; ++r) {
                const size_t at = static_cast<size_t>(parent[r] * block_) + place_[r];
                if (cell_[at] == 0.0) touched_.push_back(at);
                cell_[at] += weight_[r];
            }
            for (size_t at : touched_) take(at, as_child);
        } else {
            for (int64_t r = 0; r < rows_; ++r) cell_[static_cast<size_t>(parent[r] * block_) + place_[r]] += weight_[r];
            for (size_t at = 0; at < cells; ++at)
                if (cell_[at] > 0.0) take(at, as_child);
        }
        double sum[N_STRENGTHS];
        std::copy(as_parent.as_parent, as_parent.as_parent + N_STRENGTHS, sum);
        add_likelihoods(n_.data(), rest_.data(), p_.data(), n_.size(), sum);
        return *std::max_element(sum, sum + N_STRENGTHS) - as_child.likelihood;
    }

private:
    int64_t block_, rows_;
    const double* weight_;
    std::vector<uint32_t> place_;  // of each row within the cells of a parent's value
    std::vector<double> cell_;     // (values of the parent, values of the child, classes), empty between two pairs
    std::vector<size_t> touched_;
    std::vector<double> n_, rest_, p_;

    void take(size_t at, const Alone& as_child) {
        n_.push_back(cell_[at]);
        rest_.push_back(less_one(cell_[at]));
        p_.push_back(as_child.p[at % static_cast<size_t>(block_)]);
        cell_[at] = 0.0;
    }
};

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
        std::vector<Alone> alone(n);
        parallel_chunks(n, n_threads, [&](int64_t i, int) {
            alone[i] = alone_of(binned.data() + i * rows, sizes.data()[i], rows, y.data(), weight.data(), n_classes);
        });
        parallel_chunks(n, n_threads, [&](int64_t i, int) {
            Pairs pairs(binned.data() + i * rows, sizes.data()[i], rows, y.data(), weight.data(), n_classes);
            for (int64_t p = 0; p < n_parents; ++p) {
                const int64_t j = candidates.data()[p];
                if (i != j) out.data[i * n_parents + p] = pairs.gain(binned.data() + j * rows, sizes.data()[j], alone[i], alone[j]) / total;
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
