// Tests of conditional independence of two columns given others, from one table of counts each.
//
//   G² = 2 Σ n_xyz ln(n_xyz n_z / (n_xz n_yz)),   χ² = Σ (n_xyz − e)² / e with e = n_xz n_yz / n_z
//
// Degrees of freedom: "full" counts all values, (R − 1)(C − 1) Π r_z; otherwise those that occur within each
// configuration z, since a value that z never shows is no freedom.
#include <cmath>
#include <optional>
#include <string>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "select/family_rows.hpp"
#include "kernels.hpp"

namespace bayeskit::select {
namespace {

// The upper tail of the chi-squared distribution, Q(df / 2, x / 2): a series below the mean, a continued fraction above
// (Abramowitz & Stegun 6.5.29 and 6.5.31).
double chi_squared_tail(double x, double df) {
    if (!(df > 0.0)) return 1.0;
    if (!(x > 0.0)) return 1.0;
    const double a = 0.5 * df, t = 0.5 * x;
    const double log_front = a * std::log(t) - t - std::lgamma(a);
    if (t < a + 1.0) {
        double term = 1.0 / a, sum = term;
        for (int k = 1; k < 10000 && term > sum * 1e-17; ++k) {
            term *= t / (a + k);
            sum += term;
        }
        return 1.0 - sum * std::exp(log_front);
    }
    // Lentz's way to run a continued fraction from the front.
    constexpr double TINY = 1e-300;
    double b = t + 1.0 - a, c = 1.0 / TINY, d = 1.0 / b, h = d;
    for (int k = 1; k < 10000; ++k) {
        const double an = -k * (k - a);
        b += 2.0;
        d = an * d + b;
        if (std::fabs(d) < TINY) d = TINY;
        c = b + an / c;
        if (std::fabs(c) < TINY) c = TINY;
        d = 1.0 / d;
        const double step = d * c;
        h *= step;
        if (std::fabs(step - 1.0) < 1e-16) break;
    }
    return std::exp(log_front) * h;
}

struct Outcome {
    double statistic = 0.0, df = 0.0, p = 1.0;
};

class IndependenceTests {
public:
    using Ints = std::vector<int>;

    IndependenceTests(nb::object table, std::optional<Array> weight, const std::vector<int64_t>& cards, const std::string& test)
        : weights_(weight ? doubles(*weight, static_cast<int64_t>(weight->shape(0))) : std::vector<double>()),
          rows_(table, cards, weight ? weights_.data() : nullptr), pearson_(test == "chi2"), full_(test == "mi") {
        if (test != "chi2" && test != "mi" && test != "g2") throw std::invalid_argument("unknown test.");
    }

    nb::tuple test(int x, int y, const Ints& given) {
        Scratch scratch;
        const Outcome outcome = run(x, y, given, scratch);
        ++n_tests_;
        return nb::make_tuple(outcome.statistic, outcome.df, outcome.p);
    }

    // For each pair, the first set of `size` of its candidates given which it is independent (p > alpha), in
    // lexicographic order, first among `left`, then among `right`; none is an empty answer with p <= alpha.
    nb::list level(const std::vector<Ints>& pairs, const std::vector<Ints>& left, const std::vector<Ints>& right, int size,
                   double alpha, int n_threads) {
        const int64_t n = static_cast<int64_t>(pairs.size());
        std::vector<Ints> sets(n);
        std::vector<double> p(n, 0.0);
        std::vector<int64_t> tests(n, 0);
        {
            nb::gil_scoped_release release;
            std::vector<Scratch> scratch(threads_used(n, n_threads));
            parallel_chunks(n, n_threads, [&](int64_t k, int thread) {
                for (int side = 0; side < (size ? 2 : 1); ++side) {
                    const Ints& from = side == 0 ? left[k] : right[k];
                    if (search(pairs[k][0], pairs[k][1], from, side == 1 ? &left[k] : nullptr, size, alpha, sets[k], p[k],
                               tests[k], scratch[thread]))
                        return;
                }
            });
        }
        nb::list out;
        for (int64_t k = 0; k < n; ++k) {
            n_tests_ += tests[k];
            out.append(nb::make_tuple(p[k] > alpha, sets[k], p[k]));
        }
        return out;
    }

    int64_t n_tests() const { return n_tests_; }

private:
    struct Scratch {
        std::vector<uint32_t> counts, base, marginal_x, marginal_y;
        std::vector<double> weights;
    };
    std::vector<double> weights_;
    FamilyRows rows_;
    bool pearson_, full_;
    int64_t n_tests_ = 0;

    bool search(int x, int y, const Ints& from, const Ints* done, int size, double alpha, Ints& separators, double& best,
                int64_t& tests, Scratch& scratch) const {
        if (static_cast<int>(from.size()) < size) return false;
        Ints place(size), given(size);
        for (int i = 0; i < size; ++i) place[i] = i;
        while (true) {
            for (int i = 0; i < size; ++i) given[i] = from[place[i]];
            bool seen = false;
            if (done) {
                seen = true;
                for (int z : given) seen &= std::find(done->begin(), done->end(), z) != done->end();
            }
            if (!seen) {
                const double p = run(x, y, given, scratch).p;
                ++tests;
                best = std::max(best, p);
                if (p > alpha) {
                    separators = given;
                    return true;
                }
            }
            int i = size - 1;
            while (i >= 0 && place[i] == static_cast<int>(from.size()) - size + i) --i;
            if (i < 0) return false;
            ++place[i];
            for (int k = i + 1; k < size; ++k) place[k] = place[k - 1] + 1;
        }
    }

    Outcome run(int x, int y, const Ints& given, Scratch& scratch) const {
        Configurations z;
        double q = 1.0;
        for (int v : given) {
            z = extend(rows_, z, v);
            q *= rows_.card[v];
        }
        const int64_t n_ids = z.n_ids + (z.any_missing ? 1 : 0);
        const uint32_t wx = rows_.width[x], wy = rows_.width[y];
        int64_t cells = n_ids * wx * wy;
        if (cells > rows_.most_cells() && n_ids > rows_.n_rows + 1) throw std::length_error("too many configurations.");
        scratch.base.resize(rows_.n_rows);
        rows_.with_column(x, [&](const auto* column) {
            if (z.id.empty())
                for (int64_t i = 0; i < rows_.n_rows; ++i) scratch.base[i] = column[i];
            else
                for (int64_t i = 0; i < rows_.n_rows; ++i) scratch.base[i] = z.id[i] * wx + column[i];
        });
        Outcome out;
        rows_.with_column(y, [&](const auto* column) {
            if (rows_.weight.empty()) {
                count_cells(rows_, scratch.base.data(), column, wy, scratch.counts, cells);
                out = outcome(scratch.counts.data(), z.n_ids, x, y);
            } else {
                count_cells(rows_, scratch.base.data(), column, wy, scratch.weights, cells);
                out = outcome(scratch.weights.data(), z.n_ids, x, y);
            }
        });
        if (full_) out.df = (rows_.card[x] - 1.0) * (rows_.card[y] - 1.0) * q;
        out.p = chi_squared_tail(out.statistic, out.df);
        return out;
    }

    template <typename C>
    Outcome outcome(const C* cells, int64_t n_ids, int x, int y) const {
        const uint32_t wx = rows_.width[x], wy = rows_.width[y], rx = rows_.card[x], ry = rows_.card[y];
        std::vector<double> row(rx), column(ry);
        Outcome out;
        for (int64_t id = 0; id < n_ids; ++id) {
            const C* table = cells + id * wx * wy;
            std::fill(row.begin(), row.end(), 0.0);
            std::fill(column.begin(), column.end(), 0.0);
            double n = 0.0;
            for (uint32_t a = 0; a < rx; ++a)
                for (uint32_t b = 0; b < ry; ++b) {
                    const double c = static_cast<double>(table[a * wy + b]);
                    row[a] += c;
                    column[b] += c;
                    n += c;
                }
            if (!(n > 0.0)) continue;
            int rows = 0, columns = 0;
            for (double c : row) rows += c > 0.0;
            for (double c : column) columns += c > 0.0;
            out.df += (rows - 1.0) * (columns - 1.0);
            if (rows < 2 || columns < 2) continue;
            for (uint32_t a = 0; a < rx; ++a)
                for (uint32_t b = 0; b < ry; ++b) {
                    const double c = static_cast<double>(table[a * wy + b]), e = row[a] * column[b] / n;
                    if (pearson_) {
                        if (e > 0.0) out.statistic += (c - e) * (c - e) / e;
                    } else if (c > 0.0) {
                        out.statistic += 2.0 * c * std::log(c / e);
                    }
                }
        }
        return out;
    }
};

}  // namespace

void bind_independence_tests(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<IndependenceTests>(m, "IndependenceTests")
        .def(nb::init<nb::object, std::optional<Array>, const std::vector<int64_t>&, const std::string&>(), "table"_a,
             "weight"_a.none(), "cards"_a, "test"_a)
        .def("test", &IndependenceTests::test, "x"_a, "y"_a, "given"_a)
        .def("level", &IndependenceTests::level, "pairs"_a, "left"_a, "right"_a, "size"_a, "alpha"_a, "n_threads"_a)
        .def_prop_ro("n_tests", &IndependenceTests::n_tests);
    m.def("chi_squared_tail", &chi_squared_tail, "x"_a, "df"_a);
}

}  // namespace bayeskit::select
