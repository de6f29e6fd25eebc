// Leave-one-out losses of all super-parents in one pass over the rows, from the counts of all pairs:
// log P(c, x_u) + sum over j of log P(x_j | c, x_u) for each feature u, where the row itself is not counted.
#include <algorithm>
#include <cmath>
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "base/codes.hpp"
#include "kernels.hpp"
#include "base/simd.hpp"
#include "base/score.hpp"

namespace bayeskit::select {
namespace {

constexpr int64_t CHUNK_ROWS = 256;
// Super-parents are taken together while their tables have at most this many numbers (64 MiB); wide tables are read
// once for each such block, so that memory does not grow with the square of the number of columns.
constexpr int64_t MOST_NUMBERS = int64_t{1} << 23;

struct Problem {
    int64_t d = 0, n_classes = 0, lanes = 0;
    std::vector<int64_t> sizes, first_value;
    std::vector<double> n_value;      // (values, K)
    Column pairs{};                   // (cells of pair (0, 1), (0, 2), …, K), read as they are
    std::vector<int64_t> first_cell;  // of each pair i < j, in its place i d + j
    std::vector<uint32_t> y;
    std::vector<double> weight;
    std::vector<double> pseudo;         // (d,) of each value of a feature, given class and super-parent
    std::vector<double> parent_pseudo;  // (d,) of each cell of the joint of class and super-parent
    std::vector<double> prior_counts;   // (d, K) what P(c) is estimated from, where x_u is the super-parent
    std::vector<double> prior_pseudo;   // (d,) of each class
    bool smooth = false;                // every pseudo-count is above 0
    bool any_whole = false, any_part = false;  // rows that leave the counts as one, or as less than one

    double row_weight(int64_t row) const { return std::min(1.0, weight[row]); }
};

double log_smoothed(double n, double all, int64_t size) {
    return all > 0.0 ? std::log(n / all) : -std::log(static_cast<double>(size));
}

// One child of a super-parent: P(x_j | c, x_u). A hidden x_j has a level of its own, whose logs are 0.
struct Child {
    int64_t feature, size;
    std::vector<double> log_table;    // (S_u, S_j + 1, lanes)
    std::vector<double> log_without;  // (S_u, S_j + 1, K) when one row leaves the cell; empty if none does
    std::vector<double> counts;       // (S_u, S_j + 1, K), at S_j their sum over x_j; empty if all rows leave as one
};

struct SuperParent {
    int64_t feature, size;
    std::vector<double> n_class;                 // (K,) rows of each class in which x_u is known
    std::vector<double> prior_count;             // (K,) what P(c) is estimated from, with pseudo-counts
    std::vector<double> log_prior_count;         // (K,)
    std::vector<double> log_prior;               // (K,)
    std::vector<double> log_own_without;         // (K,) log P(c) when one row of class c is not counted
    double total = 0.0, log_total_without = 0.0;
    std::vector<double> log_table, log_without;  // (S_u, lanes) log P(x_u | c)
    std::vector<Child> children;

    SuperParent(const Problem& problem, int64_t u) : feature(u), size(problem.sizes[u]) {
        const int64_t K = problem.n_classes;
        const double* counts = problem.n_value.data() + problem.first_value[u] * K;
        n_class.assign(K, 0.0);
        for (int64_t v = 0; v < size; ++v)
            for (int64_t c = 0; c < K; ++c) n_class[c] += counts[v * K + c];
        for (int64_t c = 0; c < K; ++c) {
            prior_count.push_back(problem.prior_counts[u * K + c] + problem.prior_pseudo[u]);
            log_prior_count.push_back(std::log(prior_count[c]));
            total += prior_count[c];
        }
        log_total_without = std::log(total - 1.0);
        for (int64_t c = 0; c < K; ++c) {
            log_prior.push_back(log_smoothed(prior_count[c], total, K));
            log_own_without.push_back(log_own_class(problem, c, 1.0));
        }
        log_table.assign(size * problem.lanes, 0.0);
        log_without.assign(size * problem.lanes, 0.0);
        for (int64_t v = 0; v < size; ++v)
            for (int64_t c = 0; c < K; ++c) {
                log_table[v * problem.lanes + c] = log_value(problem, v, c, 0.0);
                log_without[v * problem.lanes + c] = log_value(problem, v, c, 1.0);
            }
        for (int64_t j = 0; j < problem.d; ++j)
            if (j != u && problem.sizes[j] > 0) children.push_back(child(problem, j));
    }

    // log P(x_u | c) when so much of a row with x_u = v and class c is not counted
    double log_value(const Problem& problem, int64_t v, int64_t c, double row_weight) const {
        const double n = problem.n_value[(problem.first_value[feature] + v) * problem.n_classes + c];
        const double pseudo = problem.parent_pseudo[feature];
        return log_smoothed(std::max(0.0, n - row_weight) + pseudo,
                         std::max(0.0, n_class[c] - row_weight) + pseudo * static_cast<double>(size), size);
    }

    // log P(c) of the row's own class when so much of it is not counted
    double log_own_class(const Problem& problem, int64_t c, double row_weight) const {
        const double n = problem.prior_counts[feature * problem.n_classes + c];
        return std::log(std::max(0.0, n - row_weight) + problem.prior_pseudo[feature]) - std::log(total - row_weight);
    }

    Child child(const Problem& problem, int64_t j) const {
        const int64_t K = problem.n_classes, S = problem.sizes[j], cells = size * (S + 1);
        Child made{j, S, std::vector<double>(cells * problem.lanes, 0.0), {}, std::vector<double>(cells * K, 0.0)};
        if (problem.any_whole) made.log_without.assign(cells * K, 0.0);
        const int64_t low = std::min(feature, j), high = std::max(feature, j);
        std::vector<double> pair(size * S * K);
        Column column = problem.pairs;
        column.data += problem.first_cell[low * problem.d + high] * column.stride;
        read_doubles(column, 0, size * S * K, pair.data(), 1);
        const double pseudo = problem.pseudo[j], all_pseudo = pseudo * static_cast<double>(S);
        for (int64_t v = 0; v < size; ++v) {
            double* line = made.counts.data() + v * (S + 1) * K;
            for (int64_t w = 0; w < S; ++w)
                for (int64_t c = 0; c < K; ++c) {
                    line[w * K + c] = pair[(feature == low ? v * S + w : w * size + v) * K + c];
                    line[S * K + c] += line[w * K + c];
                }
            for (int64_t w = 0; w < S; ++w)
                for (int64_t c = 0; c < K; ++c) {
                    const int64_t cell = v * (S + 1) + w;
                    const double n = line[w * K + c], all = line[S * K + c];
                    made.log_table[cell * problem.lanes + c] = log_smoothed(n + pseudo, all + all_pseudo, S);
                    if (problem.any_whole)
                        made.log_without[cell * K + c] = log_smoothed(std::max(0.0, n - 1.0) + pseudo,
                                                                   std::max(0.0, all - 1.0) + all_pseudo, S);
                }
        }
        if (!problem.any_part) made.counts.clear();
        return made;
    }

    // The same as log_without for a row of which less than one is counted
    double log_child(const Problem& problem, const Child& child, int64_t v, int64_t w, int64_t c, double row_weight) const {
        if (w == child.size) return 0.0;
        const double* line = child.counts.data() + v * (child.size + 1) * problem.n_classes + c;
        const double n = line[w * problem.n_classes], all = line[child.size * problem.n_classes];
        const double pseudo = problem.pseudo[child.feature];
        return log_smoothed(std::max(0.0, n - row_weight) + pseudo,
                         std::max(0.0, all - row_weight) + pseudo * static_cast<double>(child.size), child.size);
    }
};

// A chunk of rows and what is summed up for them.
struct Chunk {
    int64_t begin = 0, n = 0;
    std::vector<uint32_t> level;   // (d, CHUNK_ROWS), the number of values where the cell is hidden
    std::vector<uint32_t> parent;  // (CHUNK_ROWS,) the level of x_u, 0 where it is hidden
    std::vector<int64_t> cell;
    std::vector<double> terms;     // (S_u, lanes) of one row in which x_u is hidden
    std::vector<double> joint;     // (CHUNK_ROWS, lanes)
    std::vector<double> prior;     // (K,) of one row that no class can give
    std::vector<double> truth;     // (CHUNK_ROWS,) log P(x, c) of the row's own class c without the row

    explicit Chunk(const Problem& problem)
        : level(problem.d * CHUNK_ROWS), parent(CHUNK_ROWS), cell(CHUNK_ROWS), joint(CHUNK_ROWS * problem.lanes),
          truth(CHUNK_ROWS) {}

    const uint32_t* levels(int64_t j) const { return level.data() + j * CHUNK_ROWS; }

    void read(const Problem& problem, const Table& table, int64_t first) {
        begin = first;
        n = std::min(CHUNK_ROWS, table.n_rows - begin);
        for (int64_t j = 0; j < problem.d; ++j) {
            const uint32_t size = static_cast<uint32_t>(problem.sizes[j]);
            uint32_t* out = level.data() + j * CHUNK_ROWS;
            decode<true>(table.columns[j], begin, n, 0, size, out);
            for (int64_t r = 0; r < n; ++r) out[r] = std::min(out[r], size);
        }
    }
};

// Adds what a child gives to each row of a chunk; leaves the cells that it read in `cell`.
BAYESKIT_SIMD void add_child(double* joint, const double* table, const uint32_t* parent, const uint32_t* level,
                             int64_t n_levels, int64_t* cell, int64_t n, int64_t lanes) {
    for (int64_t r = 0; r < n; ++r) cell[r] = static_cast<int64_t>(parent[r]) * n_levels + level[r];
    add_rows(joint, table, cell, n, lanes);
}

// Adds what a child gives in one row to each value that its hidden parent may have.
BAYESKIT_SIMD void add_to_each_level(double* terms, const double* table, int64_t level, int64_t n_levels, int64_t* cell,
                                     int64_t size, int64_t lanes) {
    for (int64_t v = 0; v < size; ++v) cell[v] = v * n_levels + level;
    add_rows(terms, table, cell, size, lanes);
}

void start(const Problem& problem, const SuperParent& u, Chunk& chunk) {
    const int64_t K = problem.n_classes;
    const uint32_t* level = chunk.levels(u.feature);
    for (int64_t r = 0; r < chunk.n; ++r) {
        const int64_t row = chunk.begin + r, label = problem.y[row];
        const double row_weight = problem.row_weight(row);
        const int64_t v = level[r] < u.size ? level[r] : 0;
        const double log_total = row_weight == 1.0 ? u.log_total_without : std::log(u.total - row_weight);
        chunk.parent[r] = static_cast<uint32_t>(v);
        double* joint = chunk.joint.data() + r * problem.lanes;
        if (level[r] < u.size && !(u.total > row_weight)) {  // no other row knows x_u: all classes and values are as likely
            std::fill(joint, joint + K, 0.0);
            chunk.truth[r] = 0.0;
            continue;
        }
        for (int64_t c = 0; c < K; ++c) joint[c] = u.log_prior_count[c] - log_total + u.log_table[v * problem.lanes + c];
        chunk.truth[r] = row_weight == 1.0 ? u.log_own_without[label] + u.log_without[v * problem.lanes + label]
                                    : u.log_own_class(problem, label, row_weight) + u.log_value(problem, v, label, row_weight);
    }
}

// log P(x, c) of a row in which x_u is hidden: the row is in no count of u, and x_u is summed out.
void sum_out(const Problem& problem, const SuperParent& u, Chunk& chunk, int64_t r, double* joint) {
    const int64_t K = problem.n_classes, lanes = problem.lanes;
    std::copy_n(u.log_prior.data(), K, joint);
    bool any = false;
    for (const Child& child : u.children) any = any || chunk.levels(child.feature)[r] < child.size;
    if (!any) return;
    std::vector<double>& terms = chunk.terms;
    terms = u.log_table;
    chunk.cell.resize(std::max(CHUNK_ROWS, u.size));
    for (const Child& child : u.children)
        add_to_each_level(terms.data(), child.log_table.data(), chunk.levels(child.feature)[r], child.size + 1,
                          chunk.cell.data(), u.size, lanes);
    for (int64_t c = 0; c < K; ++c) {
        double peak = -INFINITY, sum = 0.0;
        for (int64_t v = 0; v < u.size; ++v) peak = std::max(peak, terms[v * lanes + c]);
        if (peak > -INFINITY)
            for (int64_t v = 0; v < u.size; ++v) sum += std::exp(terms[v * lanes + c] - peak);
        joint[c] += peak > -INFINITY ? peak + std::log(sum) : -INFINITY;
    }
}

void add_chunk(const Problem& problem, const SuperParent& u, Chunk& chunk, double* sums) {
    const int64_t K = problem.n_classes, lanes = problem.lanes;
    const uint32_t* y = problem.y.data() + chunk.begin;
    start(problem, u, chunk);
    for (const Child& child : u.children) {
        const uint32_t* level = chunk.levels(child.feature);
        add_child(chunk.joint.data(), child.log_table.data(), chunk.parent.data(), level, child.size + 1,
                  chunk.cell.data(), chunk.n, lanes);
        if (!problem.any_part) {
            for (int64_t r = 0; r < chunk.n; ++r) chunk.truth[r] += child.log_without[chunk.cell[r] * K + y[r]];
            continue;
        }
        for (int64_t r = 0; r < chunk.n; ++r) {
            const double row_weight = problem.row_weight(chunk.begin + r);
            chunk.truth[r] += row_weight == 1.0 ? child.log_without[chunk.cell[r] * K + y[r]]
                                         : u.log_child(problem, child, chunk.parent[r], level[r], y[r], row_weight);
        }
    }
    for (int64_t r = 0; r < chunk.n; ++r) {
        double* joint = chunk.joint.data() + r * lanes;
        if (chunk.levels(u.feature)[r] < u.size) joint[y[r]] = chunk.truth[r];
        else sum_out(problem, u, chunk, r, joint);
        const double* prior = u.log_prior.data();
        if (!problem.smooth && chunk.levels(u.feature)[r] < u.size) {  // else every row can be given
            chunk.prior.resize(K);
            log_prior_without(u.prior_count.data(), static_cast<int>(K), y[r], problem.row_weight(chunk.begin + r), chunk.prior.data());
            prior = chunk.prior.data();
        }
        add_losses(joint, prior, static_cast<int>(K), y[r], problem.weight[chunk.begin + r], sums);
    }
}

Problem gather(const Table& table, const Array& y, const std::optional<Array>& weight, const Array& n_value,
               const Array& pairs, std::vector<int64_t> sizes, int64_t n_classes, std::vector<double> pseudo,
               std::vector<double> parent_pseudo, const Array& prior_counts,
               std::vector<double> prior_pseudo) {
    Problem problem;
    problem.d = static_cast<int64_t>(sizes.size());
    problem.n_classes = n_classes;
    problem.lanes = lanes_for(n_classes);
    if (static_cast<int64_t>(table.columns.size()) != problem.d) throw std::invalid_argument("wrong number of columns.");
    int64_t n_values = 0, n_cells = 0;
    problem.first_cell.assign(problem.d * problem.d, 0);
    for (int64_t i = 0; i < problem.d; ++i) {
        problem.first_value.push_back(n_values);
        n_values += sizes[i];
        for (int64_t j = i + 1; j < problem.d; ++j) {
            problem.first_cell[i * problem.d + j] = n_cells;
            n_cells += sizes[i] * sizes[j] * n_classes;
        }
    }
    problem.sizes = std::move(sizes);
    problem.n_value = doubles(n_value, n_values * n_classes);
    problem.pairs = column_of(pairs);
    if (static_cast<int64_t>(pairs.shape(0)) != n_cells) throw std::invalid_argument("the counts do not fit the sizes.");
    problem.y = class_codes(y);
    if (static_cast<int64_t>(problem.y.size()) != table.n_rows)
        throw std::invalid_argument("y and the table differ in length.");
    for (uint32_t c : problem.y)
        if (c >= n_classes) throw std::invalid_argument("a class code is out of range.");
    problem.weight = weight ? doubles(*weight, table.n_rows) : std::vector<double>(table.n_rows, 1.0);
    for (double w : problem.weight) (w < 1.0 ? problem.any_part : problem.any_whole) = true;
    if (static_cast<int64_t>(pseudo.size()) != problem.d || static_cast<int64_t>(parent_pseudo.size()) != problem.d)
        throw std::invalid_argument("each feature has one pseudo-count.");
    if (static_cast<int64_t>(prior_pseudo.size()) != problem.d)
        throw std::invalid_argument("each feature has one pseudo-count of a class.");
    const auto above_zero = [](double count) { return count > 0.0; };
    problem.smooth = std::all_of(pseudo.begin(), pseudo.end(), above_zero) &&
                     std::all_of(parent_pseudo.begin(), parent_pseudo.end(), above_zero);
    problem.pseudo = std::move(pseudo);
    problem.parent_pseudo = std::move(parent_pseudo);
    problem.prior_counts = doubles(prior_counts, problem.d * n_classes);
    problem.prior_pseudo = std::move(prior_pseudo);
    return problem;
}

// (d, 3): weighted sums of 0-1 error, log-loss and (1 - P(true class))², leave-one-out, of the SPODE of each feature;
// infinite for a feature that has no value.
nb::object super_parent_losses(nb::list columns, Array y, std::optional<Array> weight, Array n_value, Array pairs,
                               std::vector<int64_t> sizes, int64_t n_classes, std::vector<double> pseudo,
                               std::vector<double> parent_pseudo, Array prior_counts,
                               std::vector<double> prior_pseudo, int n_threads) {
    const Table table = table_of(columns);
    const Problem problem = gather(table, y, weight, n_value, pairs, std::move(sizes), n_classes, std::move(pseudo),
                                   std::move(parent_pseudo), prior_counts, std::move(prior_pseudo));
    const int64_t d = problem.d, n_chunks = (table.n_rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
    // Groups of chunks are summed apart and then in order, so that the number of threads leaves no trace.
    const int64_t per_group = std::max<int64_t>(1, n_chunks / 1024), n_groups = (n_chunks + per_group - 1) / per_group;
    Owned<double> out({static_cast<size_t>(d), 3}, true);
    {
        nb::gil_scoped_release release;
        int64_t n_values = 0;
        for (int64_t size : problem.sizes) n_values += size + 1;
        for (int64_t first = 0; first < d;) {
            std::vector<int64_t> block;
            for (int64_t numbers = 0; first < d && (block.empty() || numbers < MOST_NUMBERS); ++first) {
                block.push_back(first);
                numbers += problem.sizes[first] * n_values * (problem.lanes + n_classes * (1 + problem.any_part));
            }
            const int64_t n_block = static_cast<int64_t>(block.size());
            std::vector<std::optional<SuperParent>> parents(n_block);
            parallel_chunks(n_block, n_threads, [&](int64_t k, int) {
                if (problem.sizes[block[k]] > 0) parents[k].emplace(problem, block[k]);
            });
            std::vector<double> sums(n_groups * n_block * 3, 0.0);
            parallel_chunks(n_groups, n_threads, [&](int64_t group, int) {
                Chunk chunk(problem);
                for (int64_t at = group * per_group; at < std::min(n_chunks, (group + 1) * per_group); ++at) {
                    chunk.read(problem, table, at * CHUNK_ROWS);
                    for (int64_t k = 0; k < n_block; ++k)
                        if (parents[k]) add_chunk(problem, *parents[k], chunk, sums.data() + (group * n_block + k) * 3);
                }
            });
            for (int64_t k = 0; k < n_block * 3; ++k)
                for (int64_t group = 0; group < n_groups; ++group)
                    out.data[block[0] * 3 + k] += sums[group * n_block * 3 + k];
        }
        for (int64_t u = 0; u < d; ++u)
            if (problem.sizes[u] == 0) std::fill_n(out.data + u * 3, 3, INFINITY);
    }
    return out.to_numpy();
}

}  // namespace

void bind_super_parent_losses(nb::module_& m) {
    using namespace nb::literals;
    m.def("super_parent_losses", &super_parent_losses, "columns"_a, "y"_a, "weight"_a.none(), "n_value"_a, "pairs"_a,
          "sizes"_a, "n_classes"_a, "pseudo"_a, "parent_pseudo"_a, "prior_counts"_a, "prior_pseudo"_a, "n_threads"_a);
}

}  // namespace bayeskit::select
