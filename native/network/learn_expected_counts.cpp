// Expected counts of families when cells are missing: the E-step of EM, and what the gradient of the likelihood needs.
//
// In a row, a family whose cells are all known counts once, whatever the tables are: this is done when the rows are
// read. The missing cells fall into components that share no family. Given the known cells the components are
// independent, and each is a small network of its own: it is planned once for each set of variables (an elimination
// order, and where each cell of each clique looks), and solved by two sweeps. Components with the same known
// neighbours in the same states have the same posterior, so they are solved once, with the sum of their weights. A component
// whose magnitudes leave the range of a double (a class with hundreds of children) is solved in wide numbers.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "base/codes.hpp"
#include "kernels.hpp"
#include "network/solve_missing.hpp"

namespace bayeskit::network {
namespace {

using missing::Item;
using missing::Space;

constexpr int64_t CHUNKS = 8;  // fixed, so that sums do not depend on the number of threads
constexpr int64_t MIN_ITEMS = 512;

class ExpectedCounts {
public:
    using Ints = std::vector<int>;

    ExpectedCounts(std::vector<int> cards, std::vector<Ints> parents, nb::object source, std::optional<Array> weight,
                   double limit)
        : planner_(std::move(cards), parents, limit) {
        const int n = static_cast<int>(planner_.cards().size());
        const Table table = table_of(source);
        if (static_cast<int>(table.columns.size()) != n) throw std::invalid_argument("one column a variable.");
        n_rows_ = table.n_rows;
        states_.resize(n);
        for (int v = 0; v < n; ++v) {
            std::vector<uint32_t> level(n_rows_);
            const uint32_t card = static_cast<uint32_t>(planner_.cards()[v]);
            decode<true>(table.columns[v], 0, n_rows_, 0, card, level.data());
            for (uint32_t& x : level) x = x < card ? x : MISSING_STATE;
            states_[v] = std::move(level);
        }
        if (weight) weight_ = doubles(*weight, n_rows_);
        nb::gil_scoped_release release;
        read_rows();
    }

    int64_t n_cells() const { return planner_.n_cells(); }
    int64_t n_items() const { return static_cast<int64_t>(items_.size()); }
    int64_t n_components() const { return static_cast<int64_t>(components_.size()); }
    // Whether any row misses a cell of each family: the tables of the others follow from the counts at once.
    std::vector<bool> with_holes() const { return holes_; }

    nb::object complete() const {
        Owned<double> out({static_cast<size_t>(n_cells())});
        std::copy(complete_.begin(), complete_.end(), out.data);
        return out.to_numpy();
    }

    // (counts of all families, log-likelihood of the known cells, first row that is impossible or -1)
    nb::tuple expect(const Array& flat, int n_threads) const {
        const std::vector<double> tables = doubles(flat, n_cells());
        Owned<double> counts({static_cast<size_t>(n_cells())});
        double log = 0.0;
        int64_t bad = -1;
        {
            nb::gil_scoped_release release;
            std::copy(complete_.begin(), complete_.end(), counts.data);
            for (int64_t k = 0; k < n_cells(); ++k)
                if (complete_[k] > 0.0) log += complete_[k] * std::log(tables[k]);
            const int64_t n = n_items();
            const int64_t n_chunks = std::max<int64_t>(1, std::min(CHUNKS, n / MIN_ITEMS));
            std::vector<std::vector<double>> parts(n_chunks);
            std::vector<double> logs(n_chunks, 0.0);
            std::vector<int64_t> first_bad(n_chunks, -1);
            const std::vector<Range> ranges = ranges_of(tables);
            parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int) {
                parts[chunk].assign(n_cells(), 0.0);
                Space<double> space;
                Space<WideDouble> wide;
                for (int64_t i = n * chunk / n_chunks; i < n * (chunk + 1) / n_chunks; ++i) {
                    solved(items_[i], tables, ranges, space, wide, [&](auto& solution) {
                        if (!(solution.log > -INFINITY)) {
                            if (first_bad[chunk] < 0 || items_[i].row < first_bad[chunk]) first_bad[chunk] = items_[i].row;
                            return;
                        }
                        logs[chunk] += items_[i].weight * solution.log;
                        spread(components_[items_[i].component], items_[i], solution, parts[chunk].data());
                    });
                }
            });
            for (int64_t chunk = 0; chunk < n_chunks; ++chunk) {
                log += logs[chunk];
                if (first_bad[chunk] >= 0 && (bad < 0 || first_bad[chunk] < bad)) bad = first_bad[chunk];
                for (int64_t k = 0; k < n_cells(); ++k) counts.data[k] += parts[chunk][k];
            }
        }
        return nb::make_tuple(counts.to_numpy(), log, bad);
    }

    // Columns without missing cells: each is drawn from its posterior given the known cells of its row.
    nb::list complete_rows(const Array& flat, uint64_t seed) const {
        const std::vector<double> tables = doubles(flat, n_cells());
        std::vector<std::vector<uint32_t>> states(states_);
        {
            nb::gil_scoped_release release;
            const std::vector<Range> ranges = ranges_of(tables);
            Space<double> space;
            Space<WideDouble> wide;
            for (const auto& row_item : row_items_) {
                const Item& item = items_[row_item.second];
                solved(item, tables, ranges, space, wide, [&](const auto& solution) {
                    if (solution.log > -INFINITY) draw(components_[item.component], solution, seed, row_item.first, states);
                });
            }
        }
        nb::list out;
        for (const auto& column : states) {
            Owned<uint32_t> array({column.size()});
            std::copy(column.begin(), column.end(), array.data);
            out.append(array.to_numpy());
        }
        return out;
    }

private:
    static constexpr uint32_t MISSING_STATE = ~uint32_t{0};
    ComponentPlanner planner_;
    int64_t n_rows_ = 0;
    std::vector<std::vector<uint32_t>> states_;
    std::vector<double> weight_, complete_;
    std::vector<bool> holes_;
    std::vector<Component> components_;
    std::vector<Item> items_;
    std::vector<std::pair<int64_t, int64_t>> row_items_;

    void read_rows() {
        const int n = static_cast<int>(planner_.cards().size());
        complete_.assign(n_cells(), 0.0);
        holes_.assign(n, false);
        std::unordered_map<std::string, int> planned;
        std::unordered_map<std::string, int64_t> known_items;
        Ints missing, group(n, -1);
        std::string key;
        Interrupts interrupts;
        for (int64_t row = 0; row < n_rows_; ++row) {
            if (row % 1024 == 0) interrupts.check();
            const double w = weight_.empty() ? 1.0 : weight_[row];
            if (!(w > 0.0)) continue;
            missing.clear();
            for (int v = 0; v < n; ++v)
                if (states_[v][row] == MISSING_STATE) missing.push_back(v);
            for (const Family& family : planner_.families()) {
                int64_t at = family.first;
                bool whole = true;
                for (size_t k = 0; k < family.scope.size(); ++k) {
                    const uint32_t x = states_[family.scope[k]][row];
                    if (x == MISSING_STATE) {
                        whole = false;
                        break;
                    }
                    at += x * family.stride[k];
                }
                if (whole) complete_[at] += w;
                else holes_[family.scope.back()] = true;
            }
            for (int v : missing) group[v] = -1;
            for (int start : missing) {
                if (group[start] >= 0) continue;
                Ints members = reach(start, row, group);
                key.assign(reinterpret_cast<const char*>(members.data()), members.size() * sizeof(int));
                const auto place = planned.emplace(key, static_cast<int>(components_.size()));
                if (place.second) components_.push_back(planner_.plan(members));
                add_item(place.first->second, row, w, known_items);
            }
        }
    }

    Ints reach(int start, int64_t row, Ints& group) const {
        Ints members{start};
        group[start] = start;
        for (size_t k = 0; k < members.size(); ++k)
            for (int f : planner_.families_of(members[k]))
                for (int v : planner_.families()[f].scope)
                    if (states_[v][row] == MISSING_STATE && group[v] < 0) {
                        group[v] = start;
                        members.push_back(v);
                    }
        std::sort(members.begin(), members.end());
        return members;
    }

    void add_item(int component, int64_t row, double w, std::unordered_map<std::string, int64_t>& known) {
        Item item{component, {}, w, row};
        for (int f : components_[component].families) {
            const Family& family = planner_.families()[f];
            int64_t at = family.first;
            for (size_t k = 0; k < family.scope.size(); ++k) {
                const uint32_t x = states_[family.scope[k]][row];
                if (x != MISSING_STATE) at += x * family.stride[k];
            }
            item.base.push_back(static_cast<uint32_t>(at));
        }
        std::string key(reinterpret_cast<const char*>(&component), sizeof(int));
        key.append(reinterpret_cast<const char*>(item.base.data()), item.base.size() * sizeof(uint32_t));
        const auto place = known.emplace(key, n_items());
        if (place.second) items_.push_back(std::move(item));
        else items_[place.first->second].weight += w;
        row_items_.emplace_back(row, place.first->second);
    }

    // Bounds of the numbers of each family.
    std::vector<Range> ranges_of(const std::vector<double>& tables) const {
        std::vector<Range> ranges;
        for (size_t f = 0; f < planner_.families().size(); ++f) {
            const int64_t first = planner_.families()[f].first, end = f + 1 < planner_.families().size() ? planner_.families()[f + 1].first : n_cells();
            ranges.push_back(range_of_cells(tables.data() + first, end - first));
        }
        return ranges;
    }

    // Calls use(space) once an item is solved, in doubles where they do.
    template <typename Use>
    void solved(const Item& item, const std::vector<double>& tables, const std::vector<Range>& ranges, Space<double>& space,
                Space<WideDouble>& wide, Use&& use) const {
        const Component& component = components_[item.component];
        if (solve(component, item, tables, ranges, space)) use(space);
        else {
            solve(component, item, tables, ranges, wide);
            use(wide);
        }
    }

};

}  // namespace

void bind_expected_counts(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<ExpectedCounts>(m, "ExpectedCounts")
        .def(nb::init<std::vector<int>, std::vector<std::vector<int>>, nb::object, std::optional<Array>, double>(), "cards"_a,
             "parents"_a, "table"_a, "weight"_a.none(), "limit"_a)
        .def("complete", &ExpectedCounts::complete)
        .def("expect", &ExpectedCounts::expect, "tables"_a, "n_threads"_a)
        .def("complete_rows", &ExpectedCounts::complete_rows, "tables"_a, "seed"_a)
        .def_prop_ro("with_holes", &ExpectedCounts::with_holes)
        .def_prop_ro("n_cells", &ExpectedCounts::n_cells)
        .def_prop_ro("n_items", &ExpectedCounts::n_items)
        .def_prop_ro("n_components", &ExpectedCounts::n_components);
}

}  // namespace bayeskit::network
