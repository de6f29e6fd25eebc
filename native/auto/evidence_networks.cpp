// Counts of evidence networks, and what they say with back-off smoothing.
#include <cmath>

#include <nanobind/stl/vector.h>

#include "auto/back_off.hpp"
#include "auto/counts.hpp"
#include "auto/kernels.hpp"

namespace bayeskit::automatic {
namespace {

constexpr int64_t FEW = 16;  // rows that are walked one by one

// to[r] += weight × the line of the row's deepest node, for rows whose cell is not hidden
BAYESKIT_SIMD
static void add_lines(const UnitRows& path, int64_t rows, const float* tables, int64_t size, int64_t n_classes, double weight, double* to,
                      int64_t stride) {
    for (int64_t r = 0; r < rows; ++r, to += stride) {
        if (path.bin[r] == HIDDEN) continue;
        const float* line = tables + (path.deepest[r] * size + path.bin[r]) * n_classes;
        for (int64_t c = 0; c < n_classes; ++c) to[c] += weight * static_cast<double>(line[c]);
    }
}

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

    // (n_values, n_classes): how often each value of each node came with each class; 0 in networks of another parity
    nb::object count(Matrix<uint8_t> codes, Vector<uint32_t> y, Vector<double> weight, int64_t n_classes, int n_threads, int parity) const {
        const int64_t rows = check_rows(codes, y, weight, n_classes);
        Owned<double> out({static_cast<size_t>(n_values()), static_cast<size_t>(n_classes)});
        {
            nb::gil_scoped_release release;
            parallel_chunks(layout_.n_units(), n_threads, [&](int64_t u, int) {
                double* cells = out.data + layout_.value_at[u] * n_classes;
                std::fill(cells, out.data + layout_.value_at[u + 1] * n_classes, 0.0);
                if (!takes(parity, u / layout_.n_features)) return;
                const int64_t size = layout_.sizes[u], block = size * n_classes;
                UnitRows path(layout_, u, codes.data(), rows);
                for (int64_t first = 0; first < rows; first += ROWS_AT_ONCE) {
                    const int64_t here = std::min(ROWS_AT_ONCE, rows - first);
                    path.start(first, here);
                    while (path.deeper()) continue;
                    for (int64_t r = 0; r < here; ++r)
                        cells[path.deepest[r] * block + path.bin[r] * n_classes + y.data()[first + r]] += weight.data()[first + r];
                }
                // A row was counted in its deepest node only; each node gives what it has to the one above.
                for (int d = DEPTHS; d > 0; --d)
                    if (layout_.n_nodes[u * (DEPTHS + 1) + d])
                        for_arcs(layout_, u, d, [&](int32_t above, int32_t node) {
                            for (int64_t v = 0; v < block; ++v) cells[above * block + v] += cells[node * block + v];
                        });
            });
        }
        return out.to_numpy();
    }

    // (n_networks, n_features, DEPTHS + 1): the m of each depth with the greatest leave-one-out log-likelihood
    nb::object choose_back_off(Matrix<double> cells, Vector<double> grid, int n_threads) const {
        const int64_t n_classes = check_cells(cells);
        need(grid.shape(0) > 0, "the grid is empty.");
        const auto strengths = copy_of(grid);
        Owned<double> out({static_cast<size_t>(layout_.n_networks), static_cast<size_t>(layout_.n_features), DEPTHS + 1});
        std::fill(out.data, out.data + layout_.n_units() * (DEPTHS + 1), grid.data()[grid.shape(0) - 1]);
        {
            nb::gil_scoped_release release;
            parallel_chunks(layout_.n_units(), n_threads, [&](int64_t u, int) {
                automatic::choose_back_off(layout_, u, cells.data() + layout_.value_at[u] * n_classes, n_classes, strengths, out.data + u * (DEPTHS + 1));
            });
        }
        return out.to_numpy();
    }

    // (n_groups, n_classes, n_rows): log P(x_i | c, context) without the row itself, summed over the columns of a group and
    // averaged over the networks of a parity. `own` is how much of each row is taken out.
    nb::object leave_one_out(Matrix<double> cells, Cube<double> m, Matrix<uint8_t> codes, Vector<uint32_t> y, Vector<double> row_weight,
                             Vector<int32_t> group, int64_t n_groups, int n_threads, int parity) const {
        const int64_t n_classes = check_cells(cells), rows = check_rows(codes, y, row_weight, n_classes), n = layout_.n_features;
        check_m(m);
        need(parity < std::min<int64_t>(layout_.n_networks, 2), "there is no network of this parity.");
        need(static_cast<int64_t>(group.shape(0)) == n, "groups and columns differ in number.");
        for (int64_t i = 0; i < n; ++i) need(group.data()[i] >= 0 && group.data()[i] < n_groups, "a group is out of range.");
        Owned<float> out({static_cast<size_t>(n_groups), static_cast<size_t>(n_classes), static_cast<size_t>(rows)}, true);
        {
            nb::gil_scoped_release release;
            const LeftOut left_out(layout_, cells.data(), n_classes, m.data(), parity, n_threads);
            parallel_chunks((rows + LeftOut::ROWS - 1) / LeftOut::ROWS, n_threads, [&](int64_t chunk, int) {
                const int64_t first = chunk * LeftOut::ROWS, here = std::min(LeftOut::ROWS, rows - first);
                for (int64_t i = 0; i < n; ++i)
                    left_out.add(i, codes.data(), rows, first, here, y.data(), row_weight.data(), out.data + group.data()[i] * n_classes * rows + first, rows);
            });
        }
        return out.to_numpy();
    }

    // (n_values, n_classes): log P(x | context, c) of each value of each node; 0 for a value that no row has
    nb::object log_tables(AnyMatrix table, Cube<double> m, int n_threads) const {
        const Counts cells(table);
        const int64_t n_classes = cells.n_classes;
        need(cells.n_lines == n_values() && n_classes > 0, "the counts do not fit the networks.");
        check_m(m);
        Owned<float> out({static_cast<size_t>(n_values()), static_cast<size_t>(n_classes)});
        {
            nb::gil_scoped_release release;
            parallel_chunks(layout_.n_units(), n_threads, [&](int64_t u, int) {
                const auto value_counts = cells.lines(layout_.value_at[u], layout_.value_at[u + 1]);
                log_back_off(layout_, u, value_counts.data(), n_classes, m.data() + u * (DEPTHS + 1), out.data + layout_.value_at[u] * n_classes);
            });
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
                    add_unit(u, tables.data(), n_classes, codes, chunk, w, out.data, n_classes);
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
                    add_unit(u, tables.data(), n_classes, codes, chunk, 1.0, out.data + u / n * rows * n_classes, n_classes);
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
                    add_unit(u, tables.data(), n_classes, codes, chunk, share, out.data + u % n * n_classes, n * n_classes);
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

    // Adds weight × the line of the deepest node to the rows of a chunk; row r is at to + r × stride.
    void add_unit(int64_t u, const float* tables, int64_t n_classes, const Matrix<uint8_t>& codes, int64_t chunk, double weight, double* to,
                  int64_t stride) const {
        const int64_t rows = static_cast<int64_t>(codes.shape(1)), first = chunk * ROWS_AT_ONCE, here = std::min(ROWS_AT_ONCE, rows - first);
        if (rows < FEW) {  // the bins of all levels would be read for a few of them
            for (int64_t r = 0; r < rows; ++r) add_row(u, tables + layout_.value_at[u] * n_classes, n_classes, codes.data() + r, rows, weight, to + r * stride);
            return;
        }
        UnitRows path(layout_, u, codes.data(), rows);
        path.start(first, here);
        while (path.deeper()) continue;
        add_lines(path, here, tables + layout_.value_at[u] * n_classes, layout_.sizes[u], n_classes, weight, to + first * stride, stride);
    }

    // The same for one row, whose level of column j is row[j × stride].
    void add_row(int64_t u, const float* tables, int64_t n_classes, const uint8_t* row, int64_t stride, double weight, double* to) const {
        const uint8_t level = row[u % layout_.n_features * stride];
        if (level == HIDDEN) return;
        const int32_t* counts = layout_.n_nodes.data() + u * (DEPTHS + 1);
        const int32_t* child = layout_.child.data() + layout_.child_at[u];
        int64_t node = 0, first = 0;
        for (int d = 0; d < DEPTHS; ++d) {
            const int32_t parent = layout_.parents[u * DEPTHS + d];
            if (parent < 0 || !counts[d + 1] || row[parent * stride] == HIDDEN) break;
            const int64_t size = layout_.size_of(u, parent);
            const int32_t next = child[(node - first) * size + layout_.bins_of(u, parent)[row[parent * stride]]];
            if (!next) break;
            child += counts[d] * size;
            first += counts[d];
            node = next;
        }
        const float* line = tables + (node * layout_.sizes[u] + layout_.bins_of(u, u % layout_.n_features)[level]) * n_classes;
        for (int64_t c = 0; c < n_classes; ++c) to[c] += weight * static_cast<double>(line[c]);
    }
};

}  // namespace

void bind_evidence_networks(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<EvidenceNetworks>(m, "EvidenceNetworks")
        .def(nb::init<Vector<int64_t>, Matrix<uint8_t>, Matrix<int32_t>, Cube<int32_t>, Cube<int32_t>, Vector<int32_t>, Vector<int64_t>>(),
             "level_at"_a, "bins"_a, "sizes"_a, "parents"_a, "n_nodes"_a, "child"_a, "child_at"_a)
        .def_prop_ro("n_values", &EvidenceNetworks::n_values)
        .def("count", &EvidenceNetworks::count, "codes"_a, "y"_a, "weight"_a, "n_classes"_a, "n_threads"_a, "parity"_a = -1)
        .def("choose_back_off", &EvidenceNetworks::choose_back_off, "cells"_a, "grid"_a, "n_threads"_a)
        .def("leave_one_out", &EvidenceNetworks::leave_one_out, "cells"_a, "m"_a, "codes"_a, "y"_a, "own"_a, "group"_a, "n_groups"_a,
             "n_threads"_a, "parity"_a = -1)
        .def("log_tables", &EvidenceNetworks::log_tables, "cells"_a, "m"_a, "n_threads"_a)
        .def("score", &EvidenceNetworks::score, "tables"_a, "codes"_a, "feature_weight"_a, "n_threads"_a)
        .def("score_each", &EvidenceNetworks::score_each, "tables"_a, "codes"_a, "n_threads"_a)
        .def("terms", &EvidenceNetworks::terms, "tables"_a, "codes"_a, "n_threads"_a);
}

}  // namespace bayeskit::automatic
