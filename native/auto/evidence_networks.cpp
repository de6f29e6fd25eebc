// Counts of evidence networks, and what they say with back-off smoothing:
//   P_d(x | context, c) = (n(x, context, c) + m_d P_{d-1}) / (n(context, c) + m_d), from P(x) at the root on.
#include <cmath>

#include <nanobind/stl/vector.h>

#include "auto/kernels.hpp"
#include "auto/networks.hpp"

namespace bayeskit::automatic {
namespace {

// The pseudo-count of the root, shared out evenly over the values.
constexpr double ROOT = 1.0;

class EvidenceNetworks {
public:
    EvidenceNetworks(Vector<int64_t> level_at, Matrix<uint8_t> bins, Matrix<int32_t> sizes, Cube<int32_t> parents, Cube<int32_t> n_nodes,
                     Vector<int32_t> child, Vector<int64_t> child_at) {
        Layout& to = layout_;
        to.n_networks = static_cast<int64_t>(sizes.shape(0));
        to.n_features = static_cast<int64_t>(sizes.shape(1));
        to.level_at = copy_of(level_at);
        check_level_at(to.level_at);
        need(static_cast<int64_t>(to.level_at.size()) == to.n_features + 1 && bins.shape(0) == sizes.shape(0) &&
                 static_cast<int64_t>(bins.shape(1)) == to.level_at.back() && parents.shape(0) == sizes.shape(0) &&
                 parents.shape(1) == sizes.shape(1) && parents.shape(2) == DEPTHS && n_nodes.shape(0) == sizes.shape(0) &&
                 n_nodes.shape(1) == sizes.shape(1) && n_nodes.shape(2) == DEPTHS + 1,
             "the parts of the networks do not fit together.");
        to.bins.assign(bins.data(), bins.data() + bins.size());
        to.sizes.assign(sizes.data(), sizes.data() + sizes.size());
        to.parents.assign(parents.data(), parents.data() + parents.size());
        to.n_nodes.assign(n_nodes.data(), n_nodes.data() + n_nodes.size());
        to.child = copy_of(child);
        to.child_at = copy_of(child_at);
        check();
        to.number_nodes();
    }

    int64_t n_values() const { return layout_.value_at.back(); }

    // (n_values, n_classes): how often each value of each node came with each class
    nb::object count(Matrix<uint8_t> codes, Vector<uint32_t> y, Vector<double> weight, int64_t n_classes, int n_threads) const {
        const int64_t rows = check_rows(codes, y, weight, n_classes), n = layout_.n_features;
        Owned<double> out({static_cast<size_t>(n_values()), static_cast<size_t>(n_classes)}, true);
        {
            nb::gil_scoped_release release;
            parallel_chunks(layout_.n_units(), n_threads, [&](int64_t u, int) {
                const int64_t feature = u % n;
                const uint8_t *column = codes.data() + feature * rows, *table = layout_.bins_of(u, feature);
                const int64_t size = layout_.sizes[u];
                double* cells = out.data + layout_.value_at[u] * n_classes;
                int32_t nodes[DEPTHS + 1];
                for (int64_t r = 0; r < rows; ++r) {
                    const int deep = walk(layout_, u, [&](int32_t p) { return codes.data()[p * rows + r]; }, nodes);
                    const int64_t cell = table[column[r]] * n_classes + y.data()[r];
                    for (int d = 0; d <= deep; ++d) cells[nodes[d] * size * n_classes + cell] += weight.data()[r];
                }
            });
        }
        return out.to_numpy();
    }

    // (n_networks, n_features, DEPTHS + 1): the m of each depth with the greatest leave-one-out log-likelihood
    nb::object choose_back_off(Matrix<double> cells, Vector<double> grid, int n_threads) const {
        const int64_t n_classes = check_cells(cells);
        need(grid.shape(0) > 0, "the grid is empty.");
        Owned<double> out({static_cast<size_t>(layout_.n_networks), static_cast<size_t>(layout_.n_features), DEPTHS + 1});
        std::fill(out.data, out.data + layout_.n_units() * (DEPTHS + 1), grid.data()[grid.shape(0) - 1]);
        {
            nb::gil_scoped_release release;
            parallel_chunks(layout_.n_units(), n_threads, [&](int64_t u, int) {
                choose_unit(u, cells.data() + layout_.value_at[u] * n_classes, n_classes, grid, out.data + u * (DEPTHS + 1));
            });
        }
        return out.to_numpy();
    }

    // (n_rows, n_groups, n_classes): log P(x_i | c, context) without the row itself, summed over the columns of a group and
    // averaged over the networks. `own` is how much of each row is taken out.
    nb::object leave_one_out(Matrix<double> cells, Cube<double> m, Matrix<uint8_t> codes, Vector<uint32_t> y, Vector<double> own,
                             Vector<int32_t> group, int64_t n_groups, int n_threads) const {
        const int64_t n_classes = check_cells(cells), rows = check_rows(codes, y, own, n_classes), n = layout_.n_features;
        check_m(m);
        need(static_cast<int64_t>(group.shape(0)) == n, "groups and columns differ in number.");
        std::vector<std::vector<int64_t>> members(n_groups);
        for (int64_t i = 0; i < n; ++i) {
            need(group.data()[i] >= 0 && group.data()[i] < n_groups, "a group is out of range.");
            members[group.data()[i]].push_back(i);
        }
        Owned<double> out({static_cast<size_t>(rows), static_cast<size_t>(n_groups), static_cast<size_t>(n_classes)}, true);
        {
            nb::gil_scoped_release release;
            parallel_chunks(n_groups, n_threads, [&](int64_t g, int) {
                for (int64_t feature : members[g])
                    for (int64_t t = 0; t < layout_.n_networks; ++t)
                        leave_out_unit(t * n + feature, cells.data(), n_classes, m.data(), codes, rows, y, own,
                                       out.data + g * n_classes, n_groups * n_classes);
            });
        }
        return out.to_numpy();
    }

    // (n_values, n_classes): log P(x | context, c) of each value of each node; 0 for a value that no row has
    nb::object log_tables(Matrix<double> cells, Cube<double> m, int n_threads) const {
        const int64_t n_classes = check_cells(cells);
        check_m(m);
        Owned<float> out({static_cast<size_t>(n_values()), static_cast<size_t>(n_classes)});
        {
            nb::gil_scoped_release release;
            parallel_chunks(layout_.n_units(), n_threads, [&](int64_t u, int) { believe_unit(u, cells.data(), n_classes, m.data(), out.data); });
        }
        return out.to_numpy();
    }

    // (n_rows, n_classes): Σ w_i log P(x_i | c, context), the mean over the networks; hidden cells add nothing
    nb::object score(Matrix<float> tables, Matrix<uint8_t> codes, Vector<double> feature_weight, int n_threads) const {
        const int64_t n_classes = check_tables(tables), rows = static_cast<int64_t>(codes.shape(1)), n = layout_.n_features;
        check_codes(codes, layout_.level_at);
        need(static_cast<int64_t>(feature_weight.shape(0)) == n, "weights and columns differ in number.");
        Owned<double> out({static_cast<size_t>(rows), static_cast<size_t>(n_classes)}, true);
        {
            nb::gil_scoped_release release;
            parallel_chunks(n_chunks_of(rows), n_threads, [&](int64_t chunk, int) {
                for (int64_t u = 0; u < layout_.n_units(); ++u) {
                    const double w = feature_weight.data()[u % n] / static_cast<double>(layout_.n_networks);
                    if (w == 0.0) continue;
                    add_unit(u, tables.data(), n_classes, codes, rows, chunk, [&](int64_t r, const float* line) {
                        double* to = out.data + r * n_classes;
                        for (int64_t c = 0; c < n_classes; ++c) to[c] += w * static_cast<double>(line[c]);
                    });
                }
            });
        }
        return out.to_numpy();
    }

    // (n_networks, n_rows, n_classes): Σ log P(x_i | c, context) in each network
    nb::object score_each(Matrix<float> tables, Matrix<uint8_t> codes, int n_threads) const {
        const int64_t n_classes = check_tables(tables), rows = static_cast<int64_t>(codes.shape(1)), n = layout_.n_features;
        check_codes(codes, layout_.level_at);
        Owned<double> out({static_cast<size_t>(layout_.n_networks), static_cast<size_t>(rows), static_cast<size_t>(n_classes)}, true);
        {
            nb::gil_scoped_release release;
            parallel_chunks(n_chunks_of(rows), n_threads, [&](int64_t chunk, int) {
                for (int64_t u = 0; u < layout_.n_units(); ++u)
                    add_unit(u, tables.data(), n_classes, codes, rows, chunk, [&](int64_t r, const float* line) {
                        double* to = out.data + (u / n * rows + r) * n_classes;
                        for (int64_t c = 0; c < n_classes; ++c) to[c] += static_cast<double>(line[c]);
                    });
            });
        }
        return out.to_numpy();
    }

    // (n_rows, n_features, n_classes): the term of each column, the mean over the networks
    nb::object terms(Matrix<float> tables, Matrix<uint8_t> codes, int n_threads) const {
        const int64_t n_classes = check_tables(tables), rows = static_cast<int64_t>(codes.shape(1)), n = layout_.n_features;
        check_codes(codes, layout_.level_at);
        Owned<double> out({static_cast<size_t>(rows), static_cast<size_t>(n), static_cast<size_t>(n_classes)}, true);
        const double share = 1.0 / static_cast<double>(layout_.n_networks);
        {
            nb::gil_scoped_release release;
            parallel_chunks(n_chunks_of(rows), n_threads, [&](int64_t chunk, int) {
                for (int64_t u = 0; u < layout_.n_units(); ++u)
                    add_unit(u, tables.data(), n_classes, codes, rows, chunk, [&](int64_t r, const float* line) {
                        double* to = out.data + (r * n + u % n) * n_classes;
                        for (int64_t c = 0; c < n_classes; ++c) to[c] += share * static_cast<double>(line[c]);
                    });
            });
        }
        return out.to_numpy();
    }

private:
    Layout layout_;

    // A file may come from a stranger: every number that is used as a place is looked at once.
    void check() const {
        const int64_t n = layout_.n_features, units = layout_.n_units();
        need(static_cast<int64_t>(layout_.child_at.size()) == units + 1 && layout_.child_at[0] == 0 &&
                 layout_.child_at.back() == static_cast<int64_t>(layout_.child.size()),
             "the nodes of the networks do not fit.");
        for (int64_t u = 0; u < units; ++u) {
            const int64_t feature = u % n;
            need(layout_.sizes[u] >= 1 && layout_.sizes[u] <= HIDDEN, "a column has too many bins.");
            for (int64_t v = 0; v < layout_.level_at[feature + 1] - layout_.level_at[feature]; ++v)
                need(layout_.bins_of(u, feature)[v] < layout_.sizes[u], "a bin is out of range.");
        }
        for (int64_t u = 0; u < units; ++u) {
            const int32_t* counts = layout_.n_nodes.data() + u * (DEPTHS + 1);
            int64_t at = layout_.child_at[u], first = 1;
            const int64_t end = layout_.child_at[u + 1];
            need(counts[0] == 1 && at >= 0 && end >= at, "the nodes of the networks do not fit.");
            for (int d = 0; d < DEPTHS; ++d) {
                const int32_t parent = layout_.parents[u * DEPTHS + d], below = counts[d + 1];
                need(parent < n && below >= 0 && (parent < 0 || parent != u % n), "a parent is out of range.");
                if (parent < 0 || !counts[d]) {
                    need(below == 0, "a node without a parent.");
                    continue;
                }
                const int64_t length = static_cast<int64_t>(counts[d]) * layout_.size_of(u, parent);
                need(at + length <= end, "the nodes of the networks do not fit.");
                for (int64_t v = at; v < at + length; ++v) {
                    const int32_t next = layout_.child[v];
                    need(next == 0 || (next >= first && next < first + below), "a node is out of range.");
                }
                at += length;
                first += below;
            }
            need(at == end, "the nodes of the networks do not fit.");
        }
    }

    int64_t check_rows(const Matrix<uint8_t>& codes, const Vector<uint32_t>& y, const Vector<double>& weight, int64_t n_classes) const {
        const int64_t rows = static_cast<int64_t>(codes.shape(1));
        check_codes(codes, layout_.level_at);
        check_classes(y, rows, n_classes);
        need(static_cast<int64_t>(weight.shape(0)) == rows, "weights and the table differ in length.");
        for (size_t v = 0; v < codes.size(); ++v) need(codes.data()[v] != HIDDEN, "a row to learn from has no hidden cells.");
        return rows;
    }
    int64_t check_cells(const Matrix<double>& cells) const {
        need(static_cast<int64_t>(cells.shape(0)) == n_values() && cells.shape(1) > 0, "the counts do not fit the networks.");
        return static_cast<int64_t>(cells.shape(1));
    }
    int64_t check_tables(const Matrix<float>& tables) const {
        need(static_cast<int64_t>(tables.shape(0)) == n_values() && tables.shape(1) > 0, "the tables do not fit the networks.");
        return static_cast<int64_t>(tables.shape(1));
    }
    void check_m(const Cube<double>& m) const {
        need(static_cast<int64_t>(m.shape(0)) == layout_.n_networks && static_cast<int64_t>(m.shape(1)) == layout_.n_features &&
                 m.shape(2) == DEPTHS + 1,
             "m does not fit the networks.");
        for (size_t k = 0; k < m.size(); ++k) need(m.data()[k] > 0.0 && std::isfinite(m.data()[k]), "m must be above 0.");
    }

    // How often each value came in all classes together, from the root's counts.
    static std::vector<double> margins(const double* cells, int64_t size, int64_t n_classes) {
        std::vector<double> margin(size, 0.0);
        for (int64_t x = 0; x < size; ++x)
            for (int64_t c = 0; c < n_classes; ++c) margin[x] += cells[x * n_classes + c];
        return margin;
    }

    std::vector<double> totals(int64_t u, const double* cells, int64_t n_classes) const {
        const int64_t nodes = layout_.node_at[u + 1] - layout_.node_at[u], size = layout_.sizes[u];
        std::vector<double> total(nodes * n_classes, 0.0);
        for (int64_t node = 0; node < nodes; ++node)
            for (int64_t x = 0; x < size; ++x)
                for (int64_t c = 0; c < n_classes; ++c) total[node * n_classes + c] += cells[(node * size + x) * n_classes + c];
        return total;
    }

    void choose_unit(int64_t u, const double* cells, int64_t n_classes, const Vector<double>& grid, double* m) const {
        const int64_t size = layout_.sizes[u], block = size * n_classes;
        const int64_t nodes = layout_.node_at[u + 1] - layout_.node_at[u];
        const auto margin = margins(cells, size, n_classes);
        const auto total = totals(u, cells, n_classes);
        double rows = 0.0;
        for (double n : margin) rows += n;
        std::vector<double> left(nodes * block, 0.0);  // P of the depth so far with one row of the cell left out
        struct Cell {
            double n, rest, total, above;
            int64_t at;
        };
        std::vector<Cell> found;
        for (int d = 0; d <= DEPTHS; ++d) {
            if (d && !layout_.n_nodes[u * (DEPTHS + 1) + d]) break;
            found.clear();
            auto collect = [&](int32_t above, int32_t node) {
                for (int64_t x = 0; x < size; ++x) {
                    if (margin[x] <= 1.0) continue;
                    for (int64_t c = 0; c < n_classes; ++c) {
                        const int64_t at = node * block + x * n_classes + c;
                        const double n = cells[at];
                        if (n <= 0.0) continue;
                        const double p = d ? left[above * block + x * n_classes + c]
                                           : (margin[x] - 1.0 + ROOT / static_cast<double>(size)) / (rows - 1.0 + ROOT);
                        found.push_back({n, std::max(n - 1.0, 0.0), std::max(total[node * n_classes + c] - 1.0, 0.0), p, at});
                    }
                }
            };
            if (d) for_arcs(layout_, u, d, collect);
            else collect(0, 0);
            m[d] = grid.data()[climb(found, grid)];
            for (const Cell& cell : found) left[cell.at] = (cell.rest + m[d] * cell.above) / (cell.total + m[d]);
        }
    }

    // The place of the best m: uphill from the middle of the grid, since the likelihood rises and then falls.
    template <typename Cell>
    static int64_t climb(const std::vector<Cell>& found, const Vector<double>& grid) {
        const int64_t n = static_cast<int64_t>(grid.shape(0));
        auto value = [&](int64_t g) {
            const double m = grid.data()[g];
            double sum = 0.0;
            for (const Cell& cell : found) sum += cell.n * std::log((cell.rest + m * cell.above) / (cell.total + m));
            return sum;
        };
        int64_t best = n / 2;
        double top = value(best);
        for (int64_t step : {int64_t{-1}, int64_t{1}}) {
            bool rose = false;
            for (int64_t g = best + step; g >= 0 && g < n; g += step) {
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

    void leave_out_unit(int64_t u, const double* all_cells, int64_t n_classes, const double* all_m, const Matrix<uint8_t>& codes, int64_t rows,
                        const Vector<uint32_t>& y, const Vector<double>& own, double* out, int64_t stride) const {
        const int64_t feature = u % layout_.n_features, size = layout_.sizes[u];
        const double *cells = all_cells + layout_.value_at[u] * n_classes, *m = all_m + u * (DEPTHS + 1);
        const uint8_t *column = codes.data() + feature * rows, *table = layout_.bins_of(u, feature);
        const auto margin = margins(cells, size, n_classes);
        const auto total = totals(u, cells, n_classes);
        const double share = 1.0 / static_cast<double>(layout_.n_networks);
        double all = 0.0;
        for (double n : margin) all += n;
        std::vector<double> p(n_classes);
        int32_t nodes[DEPTHS + 1];
        for (int64_t r = 0; r < rows; ++r) {
            const int64_t x = table[column[r]], true_class = y.data()[r];
            const double out_of = own.data()[r], rest = margin[x] - out_of;
            if (rest <= 1e-9 * margin[x]) continue;  // the only row of its value says nothing without itself
            const int deep = walk(layout_, u, [&](int32_t q) { return codes.data()[q * rows + r]; }, nodes);
            std::fill(p.begin(), p.end(), (rest + ROOT / static_cast<double>(size)) / (all - out_of + ROOT));
            for (int d = 0; d <= deep; ++d) {
                const double *line = cells + (nodes[d] * size + x) * n_classes, *sum = total.data() + nodes[d] * n_classes;
                const double before = p[true_class], strength = m[d];
                for (int64_t c = 0; c < n_classes; ++c) p[c] = (line[c] + strength * p[c]) / (sum[c] + strength);
                p[true_class] = (std::max(line[true_class] - out_of, 0.0) + strength * before) /
                                (std::max(sum[true_class] - out_of, 0.0) + strength);
            }
            for (int64_t c = 0; c < n_classes; ++c) out[r * stride + c] += share * std::log(p[c]);
        }
    }

    void believe_unit(int64_t u, const double* all_cells, int64_t n_classes, const double* all_m, float* all_out) const {
        const int64_t size = layout_.sizes[u], block = size * n_classes, nodes = layout_.node_at[u + 1] - layout_.node_at[u];
        const double *cells = all_cells + layout_.value_at[u] * n_classes, *m = all_m + u * (DEPTHS + 1);
        float* out = all_out + layout_.value_at[u] * n_classes;
        const auto margin = margins(cells, size, n_classes);
        const auto total = totals(u, cells, n_classes);
        double rows = 0.0;
        for (double n : margin) rows += n;
        std::vector<double> p(nodes * block, 1.0);
        for (int d = 0; d <= DEPTHS; ++d) {
            if (d && !layout_.n_nodes[u * (DEPTHS + 1) + d]) break;
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
            if (d) for_arcs(layout_, u, d, believe);
            else believe(0, 0);
        }
        for (int64_t at = 0; at < nodes * block; ++at) out[at] = static_cast<float>(std::log(p[at]));
    }

    // Calls add(row, line of the row's deepest node) for the rows of a chunk whose cell is not hidden.
    template <typename Add>
    void add_unit(int64_t u, const float* all_tables, int64_t n_classes, const Matrix<uint8_t>& codes, int64_t rows, int64_t chunk, Add&& add) const {
        const int64_t feature = u % layout_.n_features, size = layout_.sizes[u];
        const float* tables = all_tables + layout_.value_at[u] * n_classes;
        const uint8_t *column = codes.data() + feature * rows, *table = layout_.bins_of(u, feature);
        int32_t nodes[DEPTHS + 1];
        for (int64_t r = chunk * ROWS_AT_ONCE; r < std::min(rows, (chunk + 1) * ROWS_AT_ONCE); ++r) {
            if (column[r] == HIDDEN) continue;
            const int deep = walk(layout_, u, [&](int32_t p) { return codes.data()[p * rows + r]; }, nodes);
            add(r, tables + (nodes[deep] * size + table[column[r]]) * n_classes);
        }
    }
};

}  // namespace

void bind_evidence_networks(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<EvidenceNetworks>(m, "EvidenceNetworks")
        .def(nb::init<Vector<int64_t>, Matrix<uint8_t>, Matrix<int32_t>, Cube<int32_t>, Cube<int32_t>, Vector<int32_t>, Vector<int64_t>>(),
             "level_at"_a, "bins"_a, "sizes"_a, "parents"_a, "n_nodes"_a, "child"_a, "child_at"_a)
        .def_prop_ro("n_values", &EvidenceNetworks::n_values)
        .def("count", &EvidenceNetworks::count, "codes"_a, "y"_a, "weight"_a, "n_classes"_a, "n_threads"_a)
        .def("choose_back_off", &EvidenceNetworks::choose_back_off, "cells"_a, "grid"_a, "n_threads"_a)
        .def("leave_one_out", &EvidenceNetworks::leave_one_out, "cells"_a, "m"_a, "codes"_a, "y"_a, "own"_a, "group"_a, "n_groups"_a,
             "n_threads"_a)
        .def("log_tables", &EvidenceNetworks::log_tables, "cells"_a, "m"_a, "n_threads"_a)
        .def("score", &EvidenceNetworks::score, "tables"_a, "codes"_a, "feature_weight"_a, "n_threads"_a)
        .def("score_each", &EvidenceNetworks::score_each, "tables"_a, "codes"_a, "n_threads"_a)
        .def("terms", &EvidenceNetworks::terms, "tables"_a, "codes"_a, "n_threads"_a);
}

}  // namespace bayeskit::automatic
