// Bin edges of minimal description length (Fayyad & Irani 1993): each column is sorted once, then cut again and again
// where the class entropy falls most, for as long as the gain pays for the cut.
#include <algorithm>
#include <cmath>
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "base/codes.hpp"
#include "base/sort.hpp"
#include "kernels.hpp"

namespace bayeskit::table {
namespace {

constexpr int64_t READ_ROWS = 4096;
constexpr int64_t LARGEST_LOOKUP = 1 << 22;
// Two cuts whose entropies differ by less than this, in nats times rows, are a tie; the lower one is taken.
constexpr double TIE = 1e-9;

// n log n in fixed point: sums of integers carry no rounding, so equal splits compare as equal whatever the order.
struct WholeEntropy {
    using Number = int64_t;
    double scale = 1.0;
    std::vector<int64_t> lookup;
    WholeEntropy(double total, int n_threads) {
        int bits = 60;
        for (double top = total * std::log(std::max(total, 2.0)); top >= 1.0; top /= 2.0) --bits;
        scale = std::ldexp(1.0, bits);
        lookup.resize(std::min<int64_t>(LARGEST_LOOKUP, static_cast<int64_t>(total)) + 1);
        constexpr int64_t CHUNK = 1 << 14;
        const int64_t length = static_cast<int64_t>(lookup.size());
        parallel_chunks((length + CHUNK - 1) / CHUNK, n_threads, [&](int64_t chunk, int) {
            for (int64_t n = chunk * CHUNK; n < std::min(length, (chunk + 1) * CHUNK); ++n) lookup[n] = compute(n);
        });
    }
    int64_t compute(int64_t n) const {
        return n < 2 ? 0 : std::llround(static_cast<double>(n) * std::log(static_cast<double>(n)) * scale);
    }
    int64_t operator()(int64_t n) const {
        return n < static_cast<int64_t>(lookup.size()) ? lookup[n] : compute(n);
    }
    double nats(int64_t value) const { return static_cast<double>(value) / scale; }
};

struct RealEntropy {
    using Number = double;
    double operator()(double n) const { return n > 0.0 ? n * std::log(n) : 0.0; }
    double nats(double value) const { return value; }
};

template <typename Entropy>
class Cutter {
public:
    using Number = typename Entropy::Number;

    Cutter(const Entropy& entropy, int64_t n_classes)
        : f_(entropy), n_classes_(n_classes), total_(n_classes), left_(n_classes) {}

    // mark: class code times two, plus one at the last row of a value. weight may be null.
    std::vector<double> edges(const std::vector<uint64_t>& key, const std::vector<uint32_t>& mark, const double* weight) {
        std::vector<double> inner_edges;
        std::vector<std::pair<int64_t, int64_t>> open = {{0, static_cast<int64_t>(key.size())}};
        while (!open.empty()) {
            const auto [lo, hi] = open.back();
            open.pop_back();
            const int64_t cut = best_cut(mark.data(), weight, lo, hi);
            if (cut < 0) continue;
            const double below = from_ordered(key[cut - 1]), above = from_ordered(key[cut]);
            const double middle = below + (above - below) / 2.0;
            inner_edges.push_back(middle > below && middle < above ? middle : above);
            open.emplace_back(lo, cut);
            open.emplace_back(cut, hi);
        }
        std::sort(inner_edges.begin(), inner_edges.end());
        return inner_edges;
    }

private:
    const Entropy& f_;
    int64_t n_classes_;
    std::vector<Number> total_, left_;

    static Number weight_of(const double* weight, int64_t i) { return weight ? static_cast<Number>(weight[i]) : Number{1}; }

    // The first row of the upper part, or -1 where no cut pays.
    int64_t best_cut(const uint32_t* mark, const double* weight, int64_t lo, int64_t hi) {
        std::fill(total_.begin(), total_.end(), Number{0});
        Number n = 0;
        for (int64_t i = lo; i < hi; ++i) total_[mark[i] >> 1] += weight_of(weight, i);
        int present = 0;
        Number right_sum = 0;
        for (Number count : total_) {
            present += count > 0;
            n += count;
            right_sum += f_(count);
        }
        if (present < 2) return -1;
        const Number whole = f_(n) - right_sum;  // entropy times rows
        std::fill(left_.begin(), left_.end(), Number{0});
        Number left_sum = 0, left_n = 0, best = 0;
        Number tie;
        if constexpr (std::is_same_v<Number, int64_t>) tie = static_cast<int64_t>(TIE * f_.scale);
        else tie = TIE;
        int64_t cut = -1;
        for (int64_t i = lo; i + 1 < hi; ++i) {
            const uint32_t c = mark[i] >> 1;
            const Number w = weight_of(weight, i), was = left_[c], now = was + w;
            left_sum += f_(now) - f_(was);
            right_sum += f_(total_[c] - now) - f_(total_[c] - was);
            left_[c] = now;
            left_n += w;
            if (!(mark[i] & 1)) continue;
            const Number parts = f_(left_n) + f_(n - left_n) - left_sum - right_sum;
            if (cut < 0 || parts < best - tie) {
                best = parts;
                cut = i + 1;
            }
        }
        return cut >= 0 && pays(mark, weight, lo, cut, static_cast<double>(n), present, whole, best) ? cut : -1;
    }

    // Gain > (log2(N - 1) + log2(3^k - 2) - (k E - k1 E1 - k2 E2)) / N, all in bits.
    bool pays(const uint32_t* mark, const double* weight, int64_t lo, int64_t cut, double n, int k, Number whole,
              Number best) {
        if (n <= 1.0) return false;
        std::fill(left_.begin(), left_.end(), Number{0});
        for (int64_t i = lo; i < cut; ++i) left_[mark[i] >> 1] += weight_of(weight, i);
        int k1 = 0, k2 = 0;
        Number n1 = 0, n2 = 0, s1 = 0, s2 = 0;
        for (int64_t c = 0; c < n_classes_; ++c) {
            const Number right = left_on_right(c);
            k1 += left_[c] > 0;
            k2 += right > 0;
            n1 += left_[c];
            n2 += right;
            s1 += f_(left_[c]);
            s2 += f_(right);
        }
        const double e = f_.nats(whole) / n, e1 = f_.nats(f_(n1) - s1) / static_cast<double>(n1),
                     e2 = f_.nats(f_(n2) - s2) / static_cast<double>(n2);
        const double log2_3k = k > 30 ? k * std::log2(3.0) : std::log2(std::pow(3.0, k) - 2.0);
        const double delta = log2_3k - (k * e - k1 * e1 - k2 * e2) / std::log(2.0);
        const double gain = f_.nats(whole - best) / n / std::log(2.0);
        return gain > (std::log2(n - 1.0) + delta) / n;
    }

    // Sums of real weights leave a crumb of rounding where nothing is left.
    Number left_on_right(int64_t c) const {
        const Number right = total_[c] - left_[c];
        if constexpr (std::is_same_v<Number, double>) return right > 1e-12 * total_[c] ? right : 0.0;
        else return right;
    }
};

template <typename Entropy>
std::vector<double> column_edges(const Column& column, const std::vector<uint32_t>& y, const double* weight, int64_t n,
                                 int64_t n_classes, const Entropy& entropy, Sorter& sorter) {
    sorter.key.resize(n);
    sorter.payload.resize(n);
    double x[READ_ROWS];
    int64_t filled = 0;
    for (int64_t begin = 0; begin < n; begin += READ_ROWS) {
        const int64_t rows = std::min(READ_ROWS, n - begin);
        read_doubles(column, begin, rows, x, 1);
        for (int64_t r = 0; r < rows; ++r) {
            const int64_t i = begin + r;
            // Written in any case, kept where the cell is known: a branch would be guessed wrong.
            sorter.key[filled] = ordered_bits(x[r]);
            sorter.payload[filled] = weight ? static_cast<uint32_t>(i) : y[i];
            filled += x[r] == x[r] && (!weight || weight[i] > 0.0);
        }
    }
    sorter.key.resize(filled);
    sorter.payload.resize(filled);
    sorter.sort();
    const std::vector<uint64_t>& key = sorter.key;
    std::vector<uint32_t>& mark = sorter.payload;
    const int64_t kept = static_cast<int64_t>(key.size());
    std::vector<double> sorted_weight(weight ? kept : 0);
    for (int64_t i = 0; i < kept; ++i) {
        const uint32_t payload = mark[i];
        const bool last = i + 1 == kept || key[i] != key[i + 1];
        if (weight) sorted_weight[i] = weight[payload];
        mark[i] = (weight ? y[payload] : payload) * 2 + (last ? 1u : 0u);
    }
    return Cutter<Entropy>(entropy, n_classes).edges(key, mark, weight ? sorted_weight.data() : nullptr);
}

nb::list mdl_edges(nb::object source, Array classes, std::optional<Array> weights, int64_t n_classes, int n_threads) {
    const Table table = table_of(source);
    const std::vector<uint32_t> y = class_codes(classes);
    const int64_t n = table.n_rows, d = static_cast<int64_t>(table.columns.size());
    if (static_cast<int64_t>(y.size()) != n) throw std::invalid_argument("y and the table differ in length.");
    for (uint32_t c : y)
        if (c >= n_classes) throw std::invalid_argument("a class code is out of range.");
    const double* weight = nullptr;
    double total = static_cast<double>(n);
    bool whole = true;
    if (weights) {
        const Column column = column_of(*weights);
        if (column.type != Type::f64 || column.stride != 8 || static_cast<int64_t>(weights->shape(0)) != n)
            throw std::invalid_argument("weights must be one contiguous float64 a row.");
        weight = reinterpret_cast<const double*>(column.data);
        total = 0.0;
        for (int64_t i = 0; i < n; ++i) {
            total += weight[i];
            whole = whole && weight[i] == std::floor(weight[i]);
        }
        whole = whole && total < 1e12;
    }
    std::vector<std::vector<double>> all_edges(d);
    {
        nb::gil_scoped_release release;
        const WholeEntropy counts(whole ? total : 0.0, n_threads);
        std::vector<Sorter> sorters(threads_used(d, n_threads));
        parallel_chunks(d, n_threads, [&](int64_t j, int thread) {
            Sorter& sorter = sorters[thread];
            all_edges[j] = whole ? column_edges(table.columns[j], y, weight, n, n_classes, counts, sorter)
                             : column_edges(table.columns[j], y, weight, n, n_classes, RealEntropy{}, sorter);
        });
    }
    nb::list out;
    for (const auto& edges : all_edges) {
        Owned<double> array({edges.size()});
        std::copy(edges.begin(), edges.end(), array.data);
        out.append(array.to_numpy());
    }
    return out;
}

}  // namespace

void bind_mdl_edges(nb::module_& m) {
    using namespace nb::literals;
    m.def("mdl_edges", &mdl_edges, "table"_a, "y"_a, "weight"_a.none(), "n_classes"_a, "n_threads"_a);
}

}  // namespace bayeskit::table
