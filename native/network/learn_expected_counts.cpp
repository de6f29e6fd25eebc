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
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "base/codes.hpp"
#include "kernels.hpp"
#include "network/junction_tree.hpp"
#include "network/propagation.hpp"

namespace bayeskit::network {
namespace {

constexpr int64_t CHUNKS = 8;  // fixed, so that sums do not depend on the number of threads
constexpr int64_t MIN_ITEMS = 512;

// One variable of a component, eliminated: its clique is the context (outer axes) and the variable itself (innermost).
struct Node {
    int var = 0, card = 1;
    int parent = -1;                  // node that gets the message
    std::vector<int> context;         // nodes
    int64_t cells = 1, rows = 1;      // of the clique, and of the message
    int64_t message = 0, clique = 0;  // places in the work space
    std::vector<int> factors;         // of the component
    std::vector<std::vector<uint32_t>> factor_cell;  // (cells,) each: offset in the family's table
    std::vector<int> children;
    std::vector<std::vector<uint32_t>> child_row;    // (cells,) each: row of the child's message
};

struct Component {
    std::vector<int> families;  // in the order of the factors
    std::vector<Node> nodes;    // children before parents; the last is the root
    int64_t messages = 0, cliques = 0;
};

struct Family {
    std::vector<int> scope;  // parents, then the variable
    std::vector<int64_t> stride;
    int64_t first = 0;       // in the flat tables
};

class ExpectedCounts {
public:
    using Ints = std::vector<int>;

    ExpectedCounts(std::vector<int> cards, std::vector<Ints> parents, nb::object source, std::optional<Array> weight,
                   double limit)
        : cards_(std::move(cards)), limit_(limit) {
        const int n = static_cast<int>(cards_.size());
        families_of_.resize(n);
        for (int v = 0; v < n; ++v) {
            Family family;
            family.scope = parents.at(v);
            family.scope.push_back(v);
            family.first = n_cells_;
            family.stride.resize(family.scope.size());
            int64_t stride = 1;
            for (size_t k = family.scope.size(); k-- > 0;) {
                family.stride[k] = stride;
                stride *= cards_[family.scope[k]];
            }
            n_cells_ += stride;
            for (int member : family.scope) families_of_[member].push_back(v);
            families_.push_back(std::move(family));
        }
        const Table table = table_of(source);
        if (static_cast<int>(table.columns.size()) != n) throw std::invalid_argument("one column a variable.");
        n_rows_ = table.n_rows;
        states_.resize(n);
        for (int v = 0; v < n; ++v) {
            std::vector<uint32_t> level(n_rows_);
            const uint32_t card = static_cast<uint32_t>(cards_[v]);
            decode<true>(table.columns[v], 0, n_rows_, 0, card, level.data());
            for (uint32_t& x : level) x = x < card ? x : MISSING_STATE;
            states_[v] = std::move(level);
        }
        if (weight) weight_ = doubles(*weight, n_rows_);
        nb::gil_scoped_release release;
        read_rows();
    }

    int64_t n_cells() const { return n_cells_; }
    int64_t n_items() const { return static_cast<int64_t>(items_.size()); }
    int64_t n_components() const { return static_cast<int64_t>(components_.size()); }
    // Whether any row misses a cell of each family: the tables of the others follow from the counts at once.
    std::vector<bool> with_holes() const { return holes_; }

    nb::object complete() const {
        Owned<double> out({static_cast<size_t>(n_cells_)});
        std::copy(complete_.begin(), complete_.end(), out.data);
        return out.to_numpy();
    }

    // (counts of all families, log-likelihood of the known cells, first row that is impossible or -1)
    nb::tuple expect(const Array& flat, int n_threads) const {
        const std::vector<double> tables = doubles(flat, n_cells_);
        Owned<double> counts({static_cast<size_t>(n_cells_)});
        double log = 0.0;
        int64_t bad = -1;
        {
            nb::gil_scoped_release release;
            std::copy(complete_.begin(), complete_.end(), counts.data);
            for (int64_t k = 0; k < n_cells_; ++k)
                if (complete_[k] > 0.0) log += complete_[k] * std::log(tables[k]);
            const int64_t n = n_items();
            const int64_t n_chunks = std::max<int64_t>(1, std::min(CHUNKS, n / MIN_ITEMS));
            std::vector<std::vector<double>> parts(n_chunks);
            std::vector<double> logs(n_chunks, 0.0);
            std::vector<int64_t> first_bad(n_chunks, -1);
            const std::vector<Range> ranges = ranges_of(tables);
            parallel_chunks(n_chunks, n_threads, [&](int64_t chunk, int) {
                parts[chunk].assign(n_cells_, 0.0);
                Space<double> space;
                Space<WideDouble> wide;
                for (int64_t i = n * chunk / n_chunks; i < n * (chunk + 1) / n_chunks; ++i) {
                    solved(items_[i], tables, ranges, space, wide, [&](auto& found) {
                        if (!(found.log > -INFINITY)) {
                            if (first_bad[chunk] < 0 || items_[i].row < first_bad[chunk]) first_bad[chunk] = items_[i].row;
                            return;
                        }
                        logs[chunk] += items_[i].weight * found.log;
                        spread(items_[i], found, parts[chunk].data());
                    });
                }
            });
            for (int64_t chunk = 0; chunk < n_chunks; ++chunk) {
                log += logs[chunk];
                if (first_bad[chunk] >= 0 && (bad < 0 || first_bad[chunk] < bad)) bad = first_bad[chunk];
                for (int64_t k = 0; k < n_cells_; ++k) counts.data[k] += parts[chunk][k];
            }
        }
        return nb::make_tuple(counts.to_numpy(), log, bad);
    }

    // Columns without missing cells: each is drawn from its posterior given the known cells of its row.
    nb::list complete_rows(const Array& flat, uint64_t seed) const {
        const std::vector<double> tables = doubles(flat, n_cells_);
        std::vector<std::vector<uint32_t>> states(states_);
        {
            nb::gil_scoped_release release;
            const std::vector<Range> ranges = ranges_of(tables);
            Space<double> space;
            Space<WideDouble> wide;
            for (const auto& row_item : row_items_) {
                const Item& item = items_[row_item.second];
                solved(item, tables, ranges, space, wide, [&](const auto& found) {
                    if (found.log > -INFINITY) draw(components_[item.component], found, seed, row_item.first, states);
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
    struct Item {
        int component;
        std::vector<uint32_t> base;  // where each factor begins, given the known cells
        double weight;
        int64_t row;                 // the first that has it
    };
    template <typename V>
    struct Space {
        std::vector<V> messages, down, cliques;
        std::vector<Range> range;  // of each node's message
        double log = 0.0;
    };
    std::vector<int> cards_;
    double limit_, used_ = 0.0;
    std::vector<Family> families_;
    std::vector<Ints> families_of_;
    int64_t n_cells_ = 0, n_rows_ = 0;
    std::vector<std::vector<uint32_t>> states_;
    std::vector<double> weight_, complete_;
    std::vector<bool> holes_;
    std::vector<Component> components_;
    std::vector<Item> items_;
    std::vector<std::pair<int64_t, int64_t>> row_items_;

    // A number in [0, 1) that depends on its three arguments only.
    static double uniform(uint64_t seed, uint64_t row, uint64_t var) {
        // Not 0 for three zeros, which the mixing would leave as it is.
        uint64_t x = 0xD1B54A32D192ED03ull + seed * 0x9E3779B97F4A7C15ull + row * 0xBF58476D1CE4E5B9ull + var * 0x94D049BB133111EBull;
        for (int k = 0; k < 3; ++k) {
            x ^= x >> 30;
            x *= 0xBF58476D1CE4E5B9ull;
            x ^= x >> 27;
            x *= 0x94D049BB133111EBull;
            x ^= x >> 31;
        }
        return static_cast<double>(x >> 11) * 0x1.0p-53;
    }

    void read_rows() {
        const int n = static_cast<int>(cards_.size());
        complete_.assign(n_cells_, 0.0);
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
            for (const Family& family : families_) {
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
                const auto found = planned.emplace(key, static_cast<int>(components_.size()));
                if (found.second) components_.push_back(plan(members));
                add_item(found.first->second, row, w, known_items);
            }
        }
    }

    Ints reach(int start, int64_t row, Ints& group) const {
        Ints members{start};
        group[start] = start;
        for (size_t k = 0; k < members.size(); ++k)
            for (int f : families_of_[members[k]])
                for (int v : families_[f].scope)
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
            const Family& family = families_[f];
            int64_t at = family.first;
            for (size_t k = 0; k < family.scope.size(); ++k) {
                const uint32_t x = states_[family.scope[k]][row];
                if (x != MISSING_STATE) at += x * family.stride[k];
            }
            item.base.push_back(static_cast<uint32_t>(at));
        }
        std::string key(reinterpret_cast<const char*>(&component), sizeof(int));
        key.append(reinterpret_cast<const char*>(item.base.data()), item.base.size() * sizeof(uint32_t));
        const auto found = known.emplace(key, n_items());
        if (found.second) items_.push_back(std::move(item));
        else items_[found.first->second].weight += w;
        row_items_.emplace_back(row, found.first->second);
    }

    Component plan(const Ints& members) {
        Component component;
        const int n = static_cast<int>(members.size());
        std::map<int, int> place;
        for (int i = 0; i < n; ++i) place[members[i]] = i;
        std::map<int, char> touched;
        for (int v : members)
            for (int f : families_of_[v]) touched[f] = 1;
        Ints cards(n);
        for (int i = 0; i < n; ++i) cards[i] = cards_[members[i]];
        EliminationProblem problem{&cards, {}, Ints(n, 0)};
        for (const auto& [f, yes] : touched) {
            component.families.push_back(f);
            Ints own;
            for (int v : families_[f].scope)
                if (place.count(v)) own.push_back(place[v]);
            problem.scopes.push_back(std::move(own));
        }
        OrderSearch search(problem, 0);
        search.run(1, 0);
        used_ += 32.0 * search.tree().total.cells;
        if (used_ > limit_) throw std::length_error("the missing cells of a row need tables over the memory limit.");
        Ints rank(n, 0);
        for (int k = 0; k < n; ++k) rank[search.order()[k]] = k;
        // A variable that is eliminated has those before it in its clique as context, the last to go outermost.
        std::vector<Ints> context(n);
        for (const Clique& clique : search.tree().cliques)
            for (size_t k = clique.separator.size(); k < clique.vars.size(); ++k)
                context[clique.vars[k]].assign(clique.vars.begin(), clique.vars.begin() + static_cast<int64_t>(k));
        lay_out(component, members, search.order(), rank, context, problem.scopes);
        return component;
    }

    void lay_out(Component& component, const Ints& members, const Ints& order, const Ints& rank,
                 const std::vector<Ints>& context, const std::vector<Ints>& inside) const {
        component.nodes.resize(order.size());
        for (size_t k = 0; k < order.size(); ++k) {
            Node& node = component.nodes[k];
            node.var = members[order[k]];
            node.card = cards_[node.var];
            for (int i : context[order[k]]) node.context.push_back(rank[i]);
            if (!node.context.empty()) node.parent = node.context.back();
            node.cells = node.card;
            for (int c : node.context) node.cells *= cards_[members[order[c]]];
            node.rows = node.cells / node.card;
            node.message = component.messages;
            node.clique = component.cliques;
            component.messages += node.rows;
            component.cliques += node.cells;
        }
        for (size_t f = 0; f < inside.size(); ++f) {
            int first = rank[inside[f][0]];
            for (int i : inside[f]) first = std::min(first, rank[i]);
            Node& node = component.nodes[first];
            node.factors.push_back(static_cast<int>(f));
            const Family& family = families_[component.families[f]];
            std::vector<int64_t> stride(component.nodes.size(), 0);
            for (size_t k = 0; k < family.scope.size(); ++k)
                for (size_t i = 0; i < component.nodes.size(); ++i)
                    if (component.nodes[i].var == family.scope[k]) stride[i] = family.stride[k];
            node.factor_cell.push_back(walk(component, first, stride));
        }
        for (size_t k = 0; k < component.nodes.size(); ++k) {
            const int up = component.nodes[k].parent;
            if (up < 0) continue;
            std::vector<int64_t> stride(component.nodes.size(), 0);
            int64_t step = 1;
            const Ints& own = component.nodes[k].context;
            for (size_t i = own.size(); i-- > 0;) {
                stride[own[i]] = step;
                step *= component.nodes[own[i]].card;
            }
            component.nodes[up].children.push_back(static_cast<int>(k));
            component.nodes[up].child_row.push_back(walk(component, up, stride));
        }
    }

    // For each cell of a node's clique, the place in an operand with these strides, by node.
    static std::vector<uint32_t> walk(const Component& component, int at, const std::vector<int64_t>& stride) {
        const Node& node = component.nodes[at];
        Ints axes(node.context);
        axes.push_back(at);
        std::vector<uint32_t> cell(node.cells);
        Ints index(axes.size(), 0);
        int64_t offset = 0;
        for (int64_t i = 0; i < node.cells; ++i) {
            cell[i] = static_cast<uint32_t>(offset);
            for (size_t a = axes.size(); a-- > 0;) {
                offset += stride[axes[a]];
                if (++index[a] < component.nodes[axes[a]].card) break;
                offset -= stride[axes[a]] * index[a];
                index[a] = 0;
            }
        }
        return cell;
    }

    // Bounds of the numbers of each family.
    std::vector<Range> ranges_of(const std::vector<double>& tables) const {
        std::vector<Range> ranges;
        for (size_t f = 0; f < families_.size(); ++f) {
            const int64_t first = families_[f].first, end = f + 1 < families_.size() ? families_[f + 1].first : n_cells_;
            ranges.push_back(range_of_cells(tables.data() + first, end - first));
        }
        return ranges;
    }

    // Calls use(space) once an item is solved, in doubles where they do.
    template <typename Use>
    void solved(const Item& item, const std::vector<double>& tables, const std::vector<Range>& ranges, Space<double>& space,
                Space<WideDouble>& wide, Use&& use) const {
        if (solve(item, tables, ranges, space)) use(space);
        else {
            solve(item, tables, ranges, wide);
            use(wide);
        }
    }

    // Messages up, and the logarithm of the component's part of the row's probability; false where doubles do not do.
    template <typename V>
    bool solve(const Item& item, const std::vector<double>& tables, const std::vector<Range>& ranges, Space<V>& space) const {
        const Component& component = components_[item.component];
        if (static_cast<int64_t>(space.messages.size()) < component.messages) space.messages.resize(component.messages);
        if (static_cast<int64_t>(space.cliques.size()) < component.cliques) space.cliques.resize(component.cliques);
        space.range.resize(component.nodes.size());
        space.log = 0.0;
        for (size_t n = 0; n < component.nodes.size(); ++n) {
            const Node& node = component.nodes[n];
            V* p = space.cliques.data() + node.clique;
            for (int64_t i = 0; i < node.cells; ++i) assign(p[i], 1.0);
            Range range;
            double moved = 0.0;
            for (size_t k = 0; k < node.factors.size(); ++k) {
                const double* table = tables.data() + item.base[node.factors[k]];
                if (!has_room(p, node.cells, range, ranges[component.families[node.factors[k]]], moved)) return false;
                const uint32_t* cell = node.factor_cell[k].data();
                for (int64_t i = 0; i < node.cells; ++i) multiply(p[i], table[cell[i]]);
            }
            for (size_t k = 0; k < node.children.size(); ++k) {
                const V* message = space.messages.data() + component.nodes[node.children[k]].message;
                if (!has_room(p, node.cells, range, space.range[node.children[k]], moved)) return false;
                const uint32_t* row = node.child_row[k].data();
                for (int64_t i = 0; i < node.cells; ++i) multiply(p[i], message[row[i]]);
            }
            V* message = space.messages.data() + node.message;
            V top{};
            for (int64_t r = 0; r < node.rows; ++r) {
                V sum{};
                for (int x = 0; x < node.card; ++x) add(sum, p[r * node.card + x]);
                message[r] = sum;
                keep_maximum(top, sum);
            }
            if (!take_log(top, space.log)) {
                space.log = -INFINITY;
                return true;
            }
            space.log -= LOG_2 * moved;
            if (!scale(top, p, node.cells, message, node.rows, range)) return false;
            space.range[n] = range;
        }
        return true;
    }

    // Whether a product can take a factor with the bounds of `next`: always for wide numbers; doubles are moved if need be.
    static bool has_room(double* p, int64_t n, Range& range, Range next, double& moved) {
        if (!is_safe(range + next) && !make_room(p, n, range, next, moved)) return false;
        range = range + next;
        return true;
    }
    static bool has_room(WideDouble*, int64_t, Range&, Range, double&) { return true; }

    // Divides a clique and its message by the largest number of the message; false where the smallest would be lost.
    static bool scale(double top, double* p, int64_t n_cells, double* message, int64_t n_rows, Range& range) {
        const int high = exponent_of(top);
        if (range.low - high - 1 < LOWEST) {
            range = range_of_cells(p, n_cells);
            if (range.low - high - 1 < LOWEST) return false;
        }
        range = {range.low - high - 1, 1};
        const double inverse = 1.0 / top;
        for (int64_t r = 0; r < n_rows; ++r) message[r] *= inverse;
        for (int64_t i = 0; i < n_cells; ++i) p[i] *= inverse;
        return true;
    }
    static bool scale(const WideDouble& top, WideDouble* p, int64_t n_cells, WideDouble* message, int64_t n_rows, Range&) {
        for (int64_t r = 0; r < n_rows; ++r) divide(message[r], top);
        for (int64_t i = 0; i < n_cells; ++i) divide(p[i], top);
        return true;
    }

    // Beliefs down, added to the counts of the families.
    template <typename V>
    void spread(const Item& item, Space<V>& space, double* counts) const {
        const Component& component = components_[item.component];
        space.down.assign(component.messages, V{});
        // Scaled, the root's message is 1.
        assign(space.down[component.nodes.back().message], item.weight);
        for (size_t n = component.nodes.size(); n-- > 0;) {
            const Node& node = component.nodes[n];
            V* p = space.cliques.data() + node.clique;
            const V* down = space.down.data() + node.message;
            for (int64_t r = 0; r < node.rows; ++r)
                for (int x = 0; x < node.card; ++x) multiply(p[r * node.card + x], down[r]);
            for (size_t k = 0; k < node.factors.size(); ++k) {
                double* table = counts + item.base[node.factors[k]];
                const uint32_t* cell = node.factor_cell[k].data();
                for (int64_t i = 0; i < node.cells; ++i) table[cell[i]] += narrowed(p[i]);
            }
            for (size_t k = 0; k < node.children.size(); ++k) {
                const Node& child = component.nodes[node.children[k]];
                const V* message = space.messages.data() + child.message;
                V* below = space.down.data() + child.message;
                const uint32_t* row = node.child_row[k].data();
                for (int64_t i = 0; i < node.cells; ++i) {
                    V part = p[i];
                    divide(part, message[row[i]]);
                    add(below[row[i]], part);
                }
            }
        }
    }
    static double narrowed(double x) { return x; }
    static double narrowed(const WideDouble& x) { return narrow(x, 0); }

    // The missing cells of a row, drawn from the last node to the first: each given its context.
    template <typename V>
    static void draw(const Component& component, const Space<V>& space, uint64_t seed, int64_t row,
                     std::vector<std::vector<uint32_t>>& states) {
        std::vector<int> state(component.nodes.size());
        std::vector<double> p;
        for (size_t i = component.nodes.size(); i-- > 0;) {
            const Node& node = component.nodes[i];
            int64_t at = 0;
            for (int c : node.context) at = at * component.nodes[c].card + state[c];
            V sum{};
            const V* cells = space.cliques.data() + node.clique + at * node.card;
            for (int x = 0; x < node.card; ++x) add(sum, cells[x]);
            p.clear();
            for (int x = 0; x < node.card; ++x) {
                V part = cells[x];
                divide(part, sum);
                p.push_back(narrowed(part));
            }
            double u = uniform(seed, static_cast<uint64_t>(row), static_cast<uint64_t>(node.var));
            int x = 0;
            while (x + 1 < node.card && (u -= p[x]) >= 0.0) ++x;
            while (x > 0 && !(p[x] > 0.0)) --x;
            state[i] = x;
            states[node.var][row] = static_cast<uint32_t>(x);
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
