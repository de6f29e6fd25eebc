// Leave-one-out losses of many structures at once, in one pass over the rows. The structures form a tree: each family
// stands behind another one, and with all families before it is a classifier whose loss is wanted.
#include <algorithm>
#include <cmath>
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "kernels.hpp"
#include "base/simd.hpp"
#include "select/prefix_chunk.hpp"

namespace bayeskit::select {
namespace {

using Problem = PrefixProblem;
using Chunk = PrefixChunk;

// A family takes over the place of the one before it where no other family needs that any more.
void give_slots(Problem& problem) {
    const int64_t n = static_cast<int64_t>(problem.families.size());
    std::vector<int64_t> last(n + 1, -1);
    for (int64_t f = 0; f < n; ++f) last[problem.before[f] + 1] = f;
    for (int64_t f = 0; f < n; ++f) {
        const int64_t before = problem.before[f];
        problem.from.push_back(before < 0 ? 0 : problem.slot[before]);
        problem.slot.push_back(last[before + 1] == f ? problem.from[f] : problem.n_slots++);
    }
}

void fill_tables(Problem& problem, const Column& flat, bool any_part, int n_threads) {
    const int64_t K = problem.n_classes, lanes = problem.lanes;
    problem.probability.assign((problem.n_cells + 1) * lanes, 0.0);
    problem.without.assign((problem.n_cells + 1) * K, 1.0);
    std::fill_n(problem.probability.data() + problem.n_cells * lanes, K, 1.0);
    if (any_part) {
        problem.counts.resize(problem.n_cells * K);
        problem.margin.resize(problem.n_cells * K);
    }
    std::vector<double> least(problem.families.size(), 1.0);
    parallel_chunks(static_cast<int64_t>(problem.families.size()), n_threads, [&](int64_t f, int) {
        const Family& family = problem.families[f];
        const int64_t size = problem.levels[family.feature()];
        const double pseudo = problem.pseudo[family.feature()];
        std::vector<double> counts(size * K), all(K);
        for (int64_t first = family.first_cell; first < family.first_cell + family.n_cells; first += size) {
            read_doubles(flat, first * K, size * K, counts.data(), 1);
            std::fill(all.begin(), all.end(), 0.0);
            for (int64_t k = 0; k < size * K; ++k) all[k % K] += counts[k];
            for (int64_t v = 0; v < size; ++v)
                for (int64_t c = 0; c < K; ++c) {
                    const double n = counts[v * K + c];
                    const double p = smoothed(n, all[c], pseudo, size);
                    const double rest = smoothed(n - 1.0, all[c] - 1.0, pseudo, size);
                    problem.probability[(first + v) * lanes + c] = p;
                    problem.without[(first + v) * K + c] = rest;
                    if (p > 0.0) least[f] = std::min(least[f], p);
                    if (rest > 0.0) least[f] = std::min(least[f], rest);
                    if (!any_part) continue;
                    problem.counts[(first + v) * K + c] = n;
                    problem.margin[(first + v) * K + c] = all[c];
                }
        }
    });
    for (double p : least) problem.faint = problem.faint || p < LEAST_FACTOR;
}

// Multiplies n rows by their cells' probabilities and divides by the sum; the least number that is not 0 is returned.
template <int fixed_lanes>
BAYESKIT_INLINE double multiply_lanes(const double* probability, const int64_t* cell, const double* own_factor,
                                      const double* in, const double* truth_in, double* out, double* truth_out,
                                      double* miss, int64_t n, int64_t any_lanes) {
    const int64_t lanes = fixed_lanes ? fixed_lanes : any_lanes;
    double least = 1.0;
    for (int64_t r = 0; r < n; ++r) {
        const double *line = probability + cell[r] * lanes, *p = in + r * lanes;
        double* q = out + r * lanes;
        double rest = 0.0;
        if constexpr (fixed_lanes > 0) {
            double product[fixed_lanes];
            for (int k = 0; k < fixed_lanes; ++k) product[k] = p[k] * line[k];
            for (int k = 0; k < fixed_lanes; ++k) rest += product[k];
            const double of_label = truth_in[r] * own_factor[r], sum = rest + of_label, scale = sum > 0.0 ? 1.0 / sum : 0.0;
            for (int k = 0; k < fixed_lanes; ++k) product[k] *= scale;
            for (int k = 0; k < fixed_lanes; ++k) least = std::min(least, product[k] > 0.0 ? product[k] : 1.0);
            for (int k = 0; k < fixed_lanes; ++k) q[k] = product[k];
            truth_out[r] = of_label * scale;
            miss[r] = sum > 0.0 ? rest * scale : -1.0;
        } else {
            for (int64_t k = 0; k < lanes; ++k) rest += q[k] = p[k] * line[k];
            const double of_label = truth_in[r] * own_factor[r], sum = rest + of_label, scale = sum > 0.0 ? 1.0 / sum : 0.0;
            for (int64_t k = 0; k < lanes; ++k) {
                q[k] *= scale;
                least = std::min(least, q[k] > 0.0 ? q[k] : 1.0);
            }
            truth_out[r] = of_label * scale;
            miss[r] = sum > 0.0 ? rest * scale : -1.0;
        }
        least = std::min(least, truth_out[r] > 0.0 ? truth_out[r] : 1.0);
    }
    return least;
}

BAYESKIT_SIMD double multiply(const double* probability, const int64_t* cell, const double* own_factor, const double* in,
                              const double* truth_in, double* out, double* truth_out, double* miss, int64_t n,
                              int64_t lanes) {
    if (lanes == 2) return multiply_lanes<2>(probability, cell, own_factor, in, truth_in, out, truth_out, miss, n, lanes);
    if (lanes == 4) return multiply_lanes<4>(probability, cell, own_factor, in, truth_in, out, truth_out, miss, n, lanes);
    if (lanes == 8) return multiply_lanes<8>(probability, cell, own_factor, in, truth_in, out, truth_out, miss, n, lanes);
    return multiply_lanes<0>(probability, cell, own_factor, in, truth_in, out, truth_out, miss, n, lanes);
}

// One family (or, with f < 0, the prior) on a chunk; adds the rows' squared misses, times their weights, to the sum.
void add_family(Chunk& chunk, int64_t f, double& sum) {
    const Problem& problem = chunk.problem;
    const int64_t from = f < 0 ? 0 : problem.from[f], slot = f < 0 ? 0 : problem.slot[f];
    if (f >= 0) chunk.find_cells(problem.families[f]);
    chunk.hand_on_logs(from, slot);
    double* out = chunk.others.data() + slot * PREFIX_ROWS * problem.lanes;
    const double least = multiply(problem.probability.data(), chunk.cell.data(), chunk.own_factor.data(),
                                  chunk.others.data() + from * PREFIX_ROWS * problem.lanes,
                                  chunk.truth.data() + from * PREFIX_ROWS, out, chunk.truth.data() + slot * PREFIX_ROWS,
                                  chunk.miss.data(), chunk.n, problem.lanes);
    const bool faint = problem.faint || least < FAINT;
    for (int64_t r = 0; r < chunk.n; ++r) {
        if (f >= 0 && chunk.hides[r] && chunk.meets_hidden_parent(problem.families[f], r)) chunk.sum_out(f, r);
        if (faint && chunk.is_faint(slot * PREFIX_ROWS + r)) chunk.absorb(slot, r);
        if (chunk.has_logs[slot * PREFIX_ROWS + r]) chunk.miss[r] = chunk.miss_in_logs(slot, r);
        else if (chunk.miss[r] < 0.0) chunk.miss[r] = chunk.miss_of_prior(r);
        sum += problem.weight[chunk.begin + r] * chunk.miss[r] * chunk.miss[r];
    }
}

Problem gather(const Table& table, const Array& y, const std::optional<Array>& weight, const Array& n_class,
               const Array& counts, std::vector<int64_t> sizes, std::vector<std::vector<int64_t>> families,
               std::vector<int64_t> before, double class_pseudo, std::vector<double> pseudo, int n_threads) {
    Problem problem;
    problem.n_classes = static_cast<int64_t>(n_class.shape(0));
    problem.lanes = lanes_for(problem.n_classes);
    problem.class_pseudo = class_pseudo;
    problem.pseudo = std::move(pseudo);
    problem.levels = std::move(sizes);
    if (problem.pseudo.size() != problem.levels.size()) throw std::invalid_argument("each feature has one pseudo-count.");
    if (table.columns.size() != problem.levels.size()) throw std::invalid_argument("wrong number of columns.");
    problem.used.assign(problem.levels.size(), 0);
    for (auto& members : families) {
        for (int64_t member : members) problem.used.at(member) = 1;
        Family family(std::move(members), problem.levels, problem.n_cells);
        problem.n_cells += family.n_cells;
        problem.families.push_back(std::move(family));
    }
    if (before.size() != problem.families.size()) throw std::invalid_argument("each family stands behind one.");
    for (size_t f = 0; f < before.size(); ++f)
        if (before[f] < -1 || before[f] >= static_cast<int64_t>(f))
            throw std::invalid_argument("a family stands behind one that comes earlier.");
    problem.before = std::move(before);
    give_slots(problem);
    problem.y = class_codes(y);
    if (static_cast<int64_t>(problem.y.size()) != table.n_rows)
        throw std::invalid_argument("y and the table differ in length.");
    for (uint32_t c : problem.y)
        if (c >= problem.n_classes) throw std::invalid_argument("a class code is out of range.");
    problem.weight = weight ? doubles(*weight, table.n_rows) : std::vector<double>(table.n_rows, 1.0);
    bool any_part = false;
    for (double w : problem.weight) any_part = any_part || w < 1.0;
    problem.n_class = doubles(n_class, problem.n_classes);
    if (static_cast<int64_t>(counts.shape(0)) != problem.n_cells * problem.n_classes)
        throw std::invalid_argument("the counts do not fit the families.");
    fill_tables(problem, column_of(counts), any_part, n_threads);
    return problem;
}

// (families + 1,): the weighted sum of (1 - P(true class))², leave-one-out, of the prior alone and of each family with
// those before it; and the rows whose hidden cells are too many to be summed out under some family, in rising order.
nb::tuple prefix_losses(nb::list columns, Array y, std::optional<Array> weight, Array n_class, Array counts,
                         std::vector<int64_t> sizes, std::vector<std::vector<int64_t>> families,
                         std::vector<int64_t> before, double class_pseudo, std::vector<double> pseudo, int n_threads) {
    const Table table = table_of(columns);
    const Problem problem = gather(table, y, weight, n_class, counts, std::move(sizes), std::move(families),
                             std::move(before), class_pseudo, std::move(pseudo), n_threads);
    const int64_t n_sums = static_cast<int64_t>(problem.families.size()) + 1;
    const int64_t n_chunks = (table.n_rows + PREFIX_ROWS - 1) / PREFIX_ROWS;
    // Groups of chunks are summed apart and then in order, so that the number of threads leaves no trace.
    const int64_t per_group = std::max<int64_t>(1, n_chunks / 1024), n_groups = (n_chunks + per_group - 1) / per_group;
    std::vector<double> sums(n_groups * n_sums, 0.0);
    Owned<double> out({static_cast<size_t>(n_sums)}, true);
    std::vector<int64_t> too_large;
    {
        nb::gil_scoped_release release;
        LazyTables hidden_tables;
        std::vector<std::optional<Chunk>> scratches(threads_used(n_groups, n_threads));
        for (auto& scratch : scratches) scratch.emplace(problem, hidden_tables);
        parallel_chunks(n_groups, n_threads, [&](int64_t group, int thread) {
            Chunk& chunk = *scratches[thread];
            for (int64_t at = group * per_group; at < std::min(n_chunks, (group + 1) * per_group); ++at) {
                chunk.read(table, at * PREFIX_ROWS);
                chunk.start();
                for (int64_t f = -1; f < n_sums - 1; ++f) add_family(chunk, f, sums[group * n_sums + f + 1]);
            }
        });
        for (const auto& scratch : scratches)
            too_large.insert(too_large.end(), scratch->too_large.begin(), scratch->too_large.end());
        std::sort(too_large.begin(), too_large.end());
        too_large.erase(std::unique(too_large.begin(), too_large.end()), too_large.end());
        for (int64_t group = 0; group < n_groups; ++group)
            for (int64_t k = 0; k < n_sums; ++k) out.data[k] += sums[group * n_sums + k];
    }
    return nb::make_tuple(out.to_numpy(), too_large);
}

}  // namespace

void bind_prefix_losses(nb::module_& m) {
    using namespace nb::literals;
    m.def("prefix_losses", &prefix_losses, "columns"_a, "y"_a, "weight"_a.none(), "n_class"_a, "counts"_a, "sizes"_a,
          "families"_a, "before"_a, "class_pseudo"_a, "pseudo"_a, "n_threads"_a);
}

}  // namespace bayeskit::select
