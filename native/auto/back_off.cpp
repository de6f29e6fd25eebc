#include "auto/back_off.hpp"

#include <cmath>

#include "base/logarithm.hpp"

namespace bayeskit::automatic {
namespace {

// The pseudo-count of the root, shared out evenly over the values.
constexpr double ROOT = 1.0;

// How often each value came in all classes together, from the root's counts.
std::vector<double> margins(const double* cells, int64_t size, int64_t n_classes) {
    std::vector<double> margin(size, 0.0);
    for (int64_t x = 0; x < size; ++x)
        for (int64_t c = 0; c < n_classes; ++c) margin[x] += cells[x * n_classes + c];
    return margin;
}

double sum_of(const double* from, int64_t n) {
    double sum = 0.0;
    for (int64_t x = 0; x < n; ++x) sum += from[x];
    return sum;
}

void add_totals(const Layout& layout, int64_t unit, const double* cells, int64_t n_classes, double* total) {
    const int64_t nodes = layout.node_at[unit + 1] - layout.node_at[unit], size = layout.sizes[unit];
    for (int64_t node = 0; node < nodes; ++node)
        for (int64_t x = 0; x < size; ++x)
            for (int64_t c = 0; c < n_classes; ++c) total[node * n_classes + c] += cells[(node * size + x) * n_classes + c];
}

// Cells of one depth with a row, and what they are in its absence.
struct Cells {
    std::vector<double> n, rest, total, above;
    std::vector<int64_t> at;

    void clear() {
        n.clear();
        rest.clear();
        total.clear();
        above.clear();
        at.clear();
    }
};

BAYESKIT_SIMD
static double likelihood(const double* n, const double* rest, const double* total, const double* above, size_t size, double m) {
    double lane[QUAD] = {};
    size_t v = 0;
    for (; v + QUAD <= size; v += QUAD)
        for (int l = 0; l < QUAD; ++l) lane[l] += n[v + l] * log_of_positive((rest[v + l] + m * above[v + l]) / (total[v + l] + m));
    for (; v < size; ++v) lane[0] += n[v] * log_of_positive((rest[v] + m * above[v]) / (total[v] + m));
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

// The place of the best m: uphill from the middle of the grid, since the likelihood rises and then falls.
size_t climb(const Cells& seen, const std::vector<double>& grid) {
    auto value = [&](size_t g) {
        return likelihood(seen.n.data(), seen.rest.data(), seen.total.data(), seen.above.data(), seen.n.size(), grid[g]);
    };
    size_t best = grid.size() / 2;
    double top = value(best);
    for (const bool up : {false, true}) {
        bool rose = false;
        while (up ? best + 1 < grid.size() : best > 0) {
            const size_t g = up ? best + 1 : best - 1;
            const double next = value(g);
            if (!(next > top)) break;
            top = next;
            best = g;
            rose = true;
        }
        if (rose) break;
    }
    return best;
}

BAYESKIT_SIMD
static void to_logs(const double* p, int64_t n, float* out) {
    for (int64_t at = 0; at < n; ++at) out[at] = static_cast<float>(log_of_positive(p[at]));
}

// One depth of the back-off for a block of rows that are each left out.
BAYESKIT_SIMD
static void back_off_rows(const int32_t* node, const uint8_t* bin, int64_t rows, const double* cells, int64_t size, const double* total,
                          int64_t n_classes, double m, const uint32_t* y, const double* row_weight, double* p) {
    for (int64_t r = 0; r < rows; ++r, p += n_classes) {
        if (node[r] < 0) continue;
        const double *line = cells + (node[r] * size + bin[r]) * n_classes, *sum = total + node[r] * n_classes;
        const int64_t t = y[r];
        const double before = p[t];
        for (int64_t c = 0; c < n_classes; ++c) p[c] = (line[c] + m * p[c]) / (sum[c] + m);
        p[t] = (std::max(line[t] - row_weight[r], 0.0) + m * before) / (std::max(sum[t] - row_weight[r], 0.0) + m);
    }
}

BAYESKIT_SIMD
static void multiply(const double* p, int64_t n, double* product) {
    for (int64_t v = 0; v < n; ++v) product[v] *= p[v];
}

BAYESKIT_SIMD
static void take_logs(double* product, int64_t n, double* logs) {
    for (int64_t v = 0; v < n; ++v) logs[v] += log_of_positive(product[v]);
    std::fill(product, product + n, 1.0);
}

}  // namespace

void choose_back_off(const Layout& layout, int64_t unit, const double* cells, int64_t n_classes, const std::vector<double>& grid, double* m) {
    const int64_t size = layout.sizes[unit], block = size * n_classes, nodes = layout.node_at[unit + 1] - layout.node_at[unit];
    const auto margin = margins(cells, size, n_classes);
    std::vector<double> total(nodes * n_classes, 0.0), left(nodes * block, 0.0);  // P of the depth so far with one row of the cell left out
    add_totals(layout, unit, cells, n_classes, total.data());
    const double rows = sum_of(margin.data(), size);
    Cells seen;
    for (int d = 0; d <= DEPTHS; ++d) {
        if (d && !layout.n_nodes[unit * (DEPTHS + 1) + d]) break;
        seen.clear();
        auto collect = [&](int32_t above, int32_t node) {
            for (int64_t x = 0; x < size; ++x) {
                if (margin[x] <= 1.0) continue;
                for (int64_t c = 0; c < n_classes; ++c) {
                    const int64_t at = node * block + x * n_classes + c;
                    const double n = cells[at];
                    if (n <= 0.0) continue;
                    seen.n.push_back(n);
                    seen.rest.push_back(std::max(n - 1.0, 0.0));
                    seen.total.push_back(std::max(total[node * n_classes + c] - 1.0, 0.0));
                    seen.above.push_back(d ? left[above * block + x * n_classes + c]
                                            : (margin[x] - 1.0 + ROOT / static_cast<double>(size)) / (rows - 1.0 + ROOT));
                    seen.at.push_back(at);
                }
            }
        };
        if (d) for_arcs(layout, unit, d, collect);
        else collect(0, 0);
        m[d] = grid[climb(seen, grid)];
        for (size_t v = 0; v < seen.n.size(); ++v)
            left[seen.at[v]] = (seen.rest[v] + m[d] * seen.above[v]) / (seen.total[v] + m[d]);
    }
}

void log_back_off(const Layout& layout, int64_t unit, const double* cells, int64_t n_classes, const double* m, float* out) {
    const int64_t size = layout.sizes[unit], block = size * n_classes, nodes = layout.node_at[unit + 1] - layout.node_at[unit];
    const auto margin = margins(cells, size, n_classes);
    std::vector<double> total(nodes * n_classes, 0.0), p(nodes * block, 1.0);
    add_totals(layout, unit, cells, n_classes, total.data());
    const double rows = sum_of(margin.data(), size);
    for (int d = 0; d <= DEPTHS; ++d) {
        if (d && !layout.n_nodes[unit * (DEPTHS + 1) + d]) break;
        auto believe = [&](int32_t above, int32_t node) {
            for (int64_t x = 0; x < size; ++x) {
                if (margin[x] <= 0.0) continue;
                for (int64_t c = 0; c < n_classes; ++c) {
                    const int64_t at = node * block + x * n_classes + c;
                    const double prior = d ? p[above * block + x * n_classes + c]
                                           : (margin[x] + ROOT / static_cast<double>(size)) / (rows + ROOT);
                    p[at] = (cells[at] + m[d] * prior) / (total[node * n_classes + c] + m[d]);
                }
            }
        };
        if (d) for_arcs(layout, unit, d, believe);
        else believe(0, 0);
    }
    to_logs(p.data(), nodes * block, out);
}

LeftOut::LeftOut(const Layout& layout, const double* cells, int64_t n_classes, const double* m, int parity, int n_threads)
    : layout_(layout), cells_(cells), n_classes_(n_classes), m_(m), parity_(parity), total_(layout.node_at.back() * n_classes, 0.0), margin_at_(1, 0) {
    for (int64_t u = 0; u < layout.n_units(); ++u) margin_at_.push_back(margin_at_.back() + layout.sizes[u]);
    margin_.resize(margin_at_.back());
    parallel_chunks(layout.n_units(), n_threads, [&](int64_t u, int) {
        const double* value_counts = cells + layout.value_at[u] * n_classes;
        add_totals(layout, u, value_counts, n_classes, total_.data() + layout.node_at[u] * n_classes);
        const auto margin = margins(value_counts, layout.sizes[u], n_classes);
        std::copy(margin.begin(), margin.end(), margin_.begin() + margin_at_[u]);
    });
}

void LeftOut::add(int64_t feature, const uint8_t* codes, int64_t n_rows, int64_t first, int64_t rows, const uint32_t* y, const double* row_weight,
                  float* out, int64_t stride) const {
    // A product of so many probabilities is still a normal number, and has one logarithm.
    constexpr int64_t AT_ONCE = 4;
    const int64_t k = n_classes_, n = rows * k;
    std::vector<double> p(n), product(n, 1.0), logs(n, 0.0);
    int64_t taken = 0;
    for (int64_t t = 0; t < layout_.n_networks; ++t) {
        if (!takes(parity_, t)) continue;
        const int64_t u = t * layout_.n_features + feature, size = layout_.sizes[u];
        const double *margin = margin_.data() + margin_at_[u], *cells = cells_ + layout_.value_at[u] * k;
        const double *total = total_.data() + layout_.node_at[u] * k, *m = m_ + u * (DEPTHS + 1);
        const double all = sum_of(margin, size);
        UnitRows path(layout_, u, codes, n_rows);
        path.start(first, rows);
        for (int64_t r = 0; r < rows; ++r) {
            const double rest = margin[path.bin[r]] - row_weight[first + r];
            // The only row of its value says nothing without itself.
            const bool alone = rest <= 1e-9 * margin[path.bin[r]];
            if (alone) path.node[r] = -1;
            const double root = alone ? 1.0 : (rest + ROOT / static_cast<double>(size)) / (all - row_weight[first + r] + ROOT);
            std::fill(p.begin() + r * k, p.begin() + (r + 1) * k, root);
        }
        int d = 0;
        do back_off_rows(path.node, path.bin, rows, cells, size, total, k, m[d++], y + first, row_weight + first, p.data());
        while (path.deeper());
        multiply(p.data(), n, product.data());
        if (++taken % AT_ONCE == 0) take_logs(product.data(), n, logs.data());
    }
    take_logs(product.data(), n, logs.data());
    const double share = 1.0 / static_cast<double>(taken);
    for (int64_t c = 0; c < k; ++c)
        for (int64_t r = 0; r < rows; ++r) out[c * stride + r] += static_cast<float>(share * logs[r * k + c]);
}

}  // namespace bayeskit::automatic
