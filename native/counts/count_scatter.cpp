// Weight, mean and scatter matrix of the rows of each group, with about 106 bits: what was added can be taken away again.
#include <algorithm>
#include <optional>

#include <nanobind/stl/optional.h>

#include "base/codes.hpp"
#include "base/double_double.hpp"
#include "kernels.hpp"

namespace bayeskit::counts {
namespace {

constexpr int64_t CHUNK_ROWS = 1 << 14;  // of one group; merged in order, so the sums do not depend on the threads
constexpr int64_t TILE_ROWS = 64;

struct Scatter {
    double weight = 0.0;
    std::vector<DoubleDouble> mean, scatter;  // (d), (d, d) of which the lower half is used
};

// Deviations of a tile of rows from a pivot, each an exact sum of two doubles, and the same times the row's weight.
struct Tile {
    std::vector<double> high, low, weighted_high, weighted_low;  // (TILE_ROWS, lanes)
};

// sums[k] += Σ of the rows; squares[j][k] += Σ weighted[j] · deviation[k] for k ≤ j, padded to whole lanes.
BAYESKIT_SIMD void add_tile(const double* high, const double* low, const double* weighted_high,
                            const double* weighted_low, int64_t n, int64_t d, int64_t lanes, double* __restrict sum_high,
                            double* __restrict sum_low, double* __restrict square_high, double* __restrict square_low) {
    for (int64_t i = 0; i < n; ++i) {
        const double* __restrict xh = high + i * lanes;
        const double* __restrict xl = low + i * lanes;
        const double* __restrict wh = weighted_high + i * lanes;
        const double* __restrict wl = weighted_low + i * lanes;
        for (int64_t k = 0; k < lanes; ++k) {
            const double sum = sum_high[k] + wh[k], part = sum - sum_high[k];
            sum_low[k] += ((sum_high[k] - (sum - part)) + (wh[k] - part)) + wl[k];
            sum_high[k] = sum;
        }
        for (int64_t j = 0; j < d; ++j) {
            const double a = wh[j], b = wl[j];
            double* __restrict acc_high = square_high + j * lanes;
            double* __restrict acc_low = square_low + j * lanes;
            const int64_t end = (j / QUAD + 1) * QUAD;
            for (int64_t k = 0; k < end; ++k) {
                const double product = a * xh[k];
                double rest = std::fma(a, xh[k], -product);
                rest = std::fma(a, xl[k], rest);
                rest = std::fma(b, xh[k], rest);
                const double old = acc_high[k], sum = old + product, part = sum - old;
                acc_low[k] += ((old - (sum - part)) + (product - part)) + rest;
                acc_high[k] = sum;
            }
        }
    }
}

// Chan, Golub and LeVeque (1979), for matrices.
void merge(Scatter& a, const Scatter& b, int64_t d) {
    if (!(b.weight > 0.0)) return;
    if (!(a.weight > 0.0)) {
        a = b;
        return;
    }
    const double total = a.weight + b.weight;
    std::vector<DoubleDouble> delta(d), scaled(d);
    for (int64_t j = 0; j < d; ++j) {
        delta[j] = b.mean[j] - a.mean[j];
        scaled[j] = delta[j] * DoubleDouble{b.weight, 0.0} / total;
    }
    for (int64_t j = 0; j < d; ++j)
        for (int64_t k = 0; k <= j; ++k)
            a.scatter[j * d + k] = a.scatter[j * d + k] + b.scatter[j * d + k] +
                                   scaled[j] * (delta[k] * DoubleDouble{a.weight, 0.0});
    for (int64_t j = 0; j < d; ++j) a.mean[j] = a.mean[j] + scaled[j];
    a.weight = total;
}

class Counter {
public:
    Counter(const Table& table, const double* weight, const std::vector<int64_t>& order)
        : table_(table), weight_(weight), order_(order), d_(static_cast<int64_t>(table.columns.size())),
          lanes_(quad_lanes_for(d_)), in_place_(table.row_major && table.columns[0].type == Type::f64) {}

    // The moments of rows order[begin:end], all with the same missing cells. Returns false at an infinite number.
    bool count(int64_t begin, int64_t end, Scatter& out) const {
        std::vector<double> pivot(d_), sums(2 * lanes_, 0.0), squares(2 * d_ * lanes_, 0.0);
        Tile tile;
        tile.high.assign(TILE_ROWS * lanes_, 0.0);
        tile.low.assign(TILE_ROWS * lanes_, 0.0);
        if (weight_) {
            tile.weighted_high.assign(TILE_ROWS * lanes_, 0.0);
            tile.weighted_low.assign(TILE_ROWS * lanes_, 0.0);
        }
        std::vector<double> row(d_);
        const double* first = read(order_[begin], row.data());
        for (int64_t j = 0; j < d_; ++j) pivot[j] = first[j] == first[j] ? first[j] : 0.0;
        out.weight = 0.0;
        for (int64_t start = begin; start < end; start += TILE_ROWS) {
            const int64_t n = std::min(TILE_ROWS, end - start);
            if (!fill(tile, start, n, pivot, row, out.weight)) return false;
            add_tile(tile.high.data(), tile.low.data(), weight_ ? tile.weighted_high.data() : tile.high.data(),
                     weight_ ? tile.weighted_low.data() : tile.low.data(), n, d_, lanes_, sums.data(),
                     sums.data() + lanes_, squares.data(), squares.data() + d_ * lanes_);
        }
        around_mean(pivot, sums, squares, out);
        return true;
    }

private:
    const Table& table_;
    const double* weight_;
    const std::vector<int64_t>& order_;
    int64_t d_, lanes_;
    bool in_place_;

    const double* read(int64_t i, double* copy) const {
        if (in_place_) return reinterpret_cast<const double*>(table_.columns[0].data + i * table_.columns[0].stride);
        for (int64_t j = 0; j < d_; ++j) read_doubles(table_.columns[j], i, 1, copy + j, 1);
        return copy;
    }

    bool fill(Tile& tile, int64_t start, int64_t n, const std::vector<double>& pivot, std::vector<double>& row,
              double& weight) const {
        double check = 0.0;
        for (int64_t i = 0; i < n; ++i) {
            const double* x = read(order_[start + i], row.data());
            double* high = tile.high.data() + i * lanes_;
            double* low = tile.low.data() + i * lanes_;
            for (int64_t j = 0; j < d_; ++j) {
                const double value = x[j] == x[j] ? x[j] : pivot[j];  // a missing cell deviates by nothing
                const DoubleDouble deviation = two_sum(value, -pivot[j]);
                check += value * 0.0;
                high[j] = deviation.hi;
                low[j] = deviation.lo;
            }
            const double w = weight_ ? weight_[order_[start + i]] : 1.0;
            weight += w;
            if (!weight_) continue;
            for (int64_t j = 0; j < d_; ++j) {
                const DoubleDouble product = two_product(w, high[j]);
                tile.weighted_high[i * lanes_ + j] = product.hi;
                tile.weighted_low[i * lanes_ + j] = product.lo + w * low[j];
            }
        }
        return check == 0.0;
    }

    // From sums around the pivot to the mean and the scatter around it.
    void around_mean(const std::vector<double>& pivot, const std::vector<double>& sums, const std::vector<double>& squares,
                     Scatter& out) const {
        out.mean.assign(d_, {});
        out.scatter.assign(d_ * d_, {});
        if (!(out.weight > 0.0)) return;
        std::vector<DoubleDouble> sum(d_), shift(d_);
        for (int64_t j = 0; j < d_; ++j) {
            sum[j] = two_sum(sums[j], sums[lanes_ + j]);
            shift[j] = sum[j] / out.weight;
            out.mean[j] = DoubleDouble{pivot[j], 0.0} + shift[j];
        }
        for (int64_t j = 0; j < d_; ++j)
            for (int64_t k = 0; k <= j; ++k)
                out.scatter[j * d_ + k] =
                    two_sum(squares[j * lanes_ + k], squares[(d_ + j) * lanes_ + k]) - sum[j] * shift[k];
    }
};

void write(const Scatter& group, int64_t g, int64_t n_groups, int64_t d, double* weight, double* mean, double* scatter) {
    weight[g] = group.weight;
    for (int64_t j = 0; j < d; ++j) {
        mean[g * d + j] = group.mean[j].hi;
        mean[(n_groups + g) * d + j] = group.mean[j].lo;
        for (int64_t k = 0; k <= j; ++k) {
            const DoubleDouble& cell = group.scatter[j * d + k];
            const int64_t at = (g * d + j) * d + k, mirrored = (g * d + k) * d + j, low = n_groups * d * d;
            scatter[at] = scatter[mirrored] = cell.hi;
            scatter[low + at] = scatter[low + mirrored] = cell.lo;
        }
    }
}

// weight (n_groups,), mean (2, n_groups, d) and scatter (2, n_groups, d, d), each with high and low parts; or None when a
// number is infinite. All rows of a group miss the same cells.
nb::object count_scatter(nb::object source, Array groups, std::optional<Array> weights, int64_t n_groups, int n_threads) {
    const Table table = table_of(source);
    const Classes group(groups);
    const int64_t n = table.n_rows, d = static_cast<int64_t>(table.columns.size());
    if (!d) throw std::invalid_argument("a table needs a column.");
    group.check(n, n_groups);
    const double* w = nullptr;
    if (weights) {
        if (weights->ndim() != 1 || type_of(*weights) != Type::f64 || (n > 1 && weights->stride(0) != 1) ||
            static_cast<int64_t>(weights->shape(0)) != n)
            throw std::invalid_argument("weights must be one contiguous float64 a row.");
        w = static_cast<const double*>(weights->data());
    }
    const size_t size = static_cast<size_t>(n_groups), width = static_cast<size_t>(d);
    Owned<double> weight({size}, true), mean({2, size, width}, true), scatter({2, size, width, width}, true);
    std::vector<uint8_t> good;
    {
        nb::gil_scoped_release release;
        // The rows of each group, in the order of the table.
        std::vector<int64_t> starts(n_groups + 1, 0), order(n);
        group.blocks([&](int64_t, const uint32_t* codes, int64_t rows) {
            for (int64_t i = 0; i < rows; ++i) ++starts[codes[i] + 1];
        });
        for (int64_t g = 0; g < n_groups; ++g) starts[g + 1] += starts[g];
        std::vector<int64_t> next(starts.begin(), starts.end() - 1);
        group.blocks([&](int64_t begin, const uint32_t* codes, int64_t rows) {
            for (int64_t i = 0; i < rows; ++i) order[next[codes[i]]++] = begin + i;
        });
        struct Task {
            int64_t group, begin, end;
        };
        std::vector<Task> tasks;
        for (int64_t g = 0; g < n_groups; ++g)
            for (int64_t begin = starts[g]; begin < starts[g + 1]; begin += CHUNK_ROWS)
                tasks.push_back({g, begin, std::min(begin + CHUNK_ROWS, starts[g + 1])});
        const int64_t n_tasks = static_cast<int64_t>(tasks.size());
        good.assign(n_tasks, 1);
        const Counter counter(table, w, order);
        std::vector<Scatter> parts(n_tasks);
        const auto whole = [&](int64_t t) { return tasks[t].begin == starts[tasks[t].group] && tasks[t].end == starts[tasks[t].group + 1]; };
        parallel_chunks(n_tasks, n_threads, [&](int64_t t, int) {
            Scatter part;
            good[t] = counter.count(tasks[t].begin, tasks[t].end, part);
            if (!good[t]) return;
            if (whole(t))
                write(part, tasks[t].group, n_groups, d, weight.data, mean.data, scatter.data);
            else
                parts[t] = std::move(part);
        });
        if (std::all_of(good.begin(), good.end(), [](uint8_t fine) { return fine != 0; }))
            for (int64_t t = 0; t < n_tasks;) {
                const int64_t g = tasks[t].group;
                if (whole(t)) {
                    ++t;
                    continue;
                }
                Scatter total;
                for (; t < n_tasks && tasks[t].group == g; ++t) merge(total, parts[t], d);
                write(total, g, n_groups, d, weight.data, mean.data, scatter.data);
            }
    }
    for (uint8_t fine : good)
        if (!fine) return nb::none();
    return nb::make_tuple(weight.to_numpy(), mean.to_numpy(), scatter.to_numpy());
}

}  // namespace

void bind_count_scatter(nb::module_& m) {
    using namespace nb::literals;
    m.def("count_scatter", &count_scatter, "table"_a, "groups"_a, "weight"_a.none(), "n_groups"_a, "n_threads"_a);
}

}  // namespace bayeskit::counts
