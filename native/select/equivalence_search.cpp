// Greedy search between classes of equivalent networks: one step inserts, deletes or turns an arc of a CPDAG.
//
// Insert(x, y, T) and Delete(x, y, H) are those of Chickering (2002), theorems 15 and 17; Turn reverses an arc y → x of the class
// (Hauser & Bühlmann 2012). A step takes the best deletion that gains, else the best turn, else the best insertion (Nazaret & Blei
// 2024): at the end none of the three gains. Changes wait in heaps; after a step only those around the pairs that changed are
// scored anew, and one that waits is looked at again when its turn comes.
#include <queue>
#include <string>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/interrupt.hpp"
#include "select/bind.hpp"
#include "select/parent_trees.hpp"
#include "select/pattern.hpp"

namespace bayeskit::select {
namespace {

enum Kind { DELETE = 0, TURN = 1, INSERT = 2 };

struct Change {
    double gain;
    Kind kind;
    int x, y;
    Ints clique;  // of the undirected neighbours of y that become, or stay, its parents
    Ints family;  // the parents of y without x that the gain is for
    bool operator<(const Change& other) const {
        if (gain != other.gain) return gain < other.gain;
        return std::pair(x, y) > std::pair(other.x, other.y);  // of equal ones the first by position
    }
};

class EquivalenceMoves {
public:
    // `allowed` are the parents that each variable may have.
    EquivalenceMoves(nb::object scores, const std::vector<Ints>& start, std::vector<Ints> allowed, std::vector<Ints> required,
                     int max_parents)
        : families_(std::move(scores)), allowed_(std::move(allowed)), required_(std::move(required)), max_parents_(max_parents),
          now_(static_cast<int>(start.size())) {
        const size_t n = start.size();
        if (allowed_.size() != n || required_.size() != n) throw std::invalid_argument("one list a variable.");
        for (auto* lists : {&allowed_, &required_})
            for (Ints& list : *lists) std::sort(list.begin(), list.end());
        children_.resize(n);
        for (size_t y = 0; y < n; ++y) {
            for (int x : allowed_[y]) children_.at(x).push_back(static_cast<int>(y));
            directions_ |= !required_[y].empty();
        }
        for (size_t y = 0; y < n; ++y)
            for (int x : allowed_[y]) directions_ |= !has(allowed_[x], static_cast<int>(y));
        now_ = class_of(start);
        if (!now_.extend(graph_)) throw std::invalid_argument("the start is no graph that the constraints allow.");
        for (size_t y = 0; y < n; ++y) dirty_.push_back(static_cast<int>(y));
    }

    // Makes the best change; its kind and gain, or "" where none gains.
    std::pair<std::string, double> step() {
        nb::gil_scoped_release release;
        Interrupts interrupts;
        while (!dirty_.empty()) {  // one by one, so that Ctrl-C loses nothing
            find_changes(dirty_.back());
            dirty_.pop_back();
            interrupts.check();
        }
        static const char* NAMES[] = {"delete", "turn", "insert"};
        for (int kind : {DELETE, TURN, INSERT})
            while (!heaps_[kind].empty()) {
                const Change change = heaps_[kind].top();
                heaps_[kind].pop();
                interrupts.check();
                if (!still_there(change)) continue;
                if (!is_open(change)) {
                    parked_.push_back(change);
                    continue;
                }
                if (const double gain = apply(change); gain > LEAST_GAIN) return {NAMES[kind], gain};
            }
        return {"", 0.0};
    }

    double score() {
        nb::gil_scoped_release release;
        return total(graph_);
    }
    const std::vector<Ints>& parents() const { return graph_; }
    // The marks of the class: for each node all that it points to, along an arc or an edge.
    std::vector<Ints> marks() const {
        std::vector<Ints> out(now_.size());
        for (int a = 0; a < now_.size(); ++a)
            for (int b : now_.near(a))
                if (now_.mark(a, b)) out[a].push_back(b);
        return out;
    }

private:
    HeldFamilies families_;
    std::vector<Ints> allowed_, required_, children_;  // children_: whose parent a variable may be
    int max_parents_;
    bool directions_ = false;  // whether some arc is allowed one way only
    Pattern now_;
    std::vector<Ints> graph_;  // a directed graph of the class
    std::priority_queue<Change> heaps_[3];
    std::vector<Change> parked_;  // a way from y to x forbids them as long as it is there
    Ints dirty_;
    std::vector<uint8_t> seen_;
    Ints stack_;

    static bool has(const Ints& sorted, int v) { return std::binary_search(sorted.begin(), sorted.end(), v); }
    static Ints merged(const Ints& a, const Ints& b) {
        Ints out;
        std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
        return out;
    }
    static Ints without(Ints list, int v) {
        list.erase(std::remove(list.begin(), list.end(), v), list.end());
        return list;
    }

    double total(const std::vector<Ints>& parents) {
        double sum = 0.0;
        for (size_t v = 0; v < parents.size(); ++v) sum += families_->local(static_cast<int>(v), parents[v]);
        return sum;
    }

    // The class of a graph, with the directions that the constraints leave.
    Pattern class_of(const std::vector<Ints>& parents) const {
        Pattern all = Pattern::of_graph(parents);
        if (directions_)
            for (size_t y = 0; y < parents.size(); ++y)
                for (int x : parents[y])
                    if (has(required_[y], x) || !has(allowed_[x], static_cast<int>(y))) all.set(static_cast<int>(y), x, false);
        all.close(directions_);
        return all;
    }

    bool is_clique(const Ints& nodes) const {
        for (size_t i = 0; i < nodes.size(); ++i)
            for (size_t k = i + 1; k < nodes.size(); ++k)
                if (!now_.joined(nodes[i], nodes[k])) return false;
        return true;
    }
    Ints near_both(int y, int x) const {
        Ints both;
        for (int z : now_.neighbours(y))
            if (z != x && now_.joined(z, x)) both.push_back(z);
        return both;
    }

    void find_changes(int y) {
        const Ints parents = now_.parents(y), beside = now_.neighbours(y);
        Ints outside, turned;  // what may be inserted into y, and what y points to
        for (int x : allowed_[y]) {
            if (!now_.joined(x, y)) outside.push_back(x);
            else if (now_.arc(y, x) && !has(required_[x], y)) turned.push_back(x);
        }
        grow_cliques(y, parents, beside, 0, {}, outside, turned);
        for (const Ints* list : {&parents, &beside})
            for (int x : *list)
                if (!has(required_[y], x) && !has(required_[x], y)) find_deletes(x, y, parents, near_both(y, x), 0, {});
    }

    // Insertions and turns into y, for each clique of its undirected neighbours.
    void grow_cliques(int y, const Ints& parents, const Ints& beside, size_t from, const Ints& clique, const Ints& outside,
                      const Ints& turned) {
        const Ints family = merged(parents, clique);
        if (static_cast<int>(family.size()) >= max_parents_) return;
        const Ints candidates = merged(outside, turned);
        std::vector<double> with(candidates.size());
        const double score = families_->local(y, family);
        families_->with_each(y, family, score, candidates, with.data());
        bool hope = false;
        for (size_t k = 0; k < candidates.size(); ++k) {
            hope |= with[k] > -INFINITY;
            const int x = candidates[k];
            const Ints both = near_both(y, x);
            if (!std::includes(clique.begin(), clique.end(), both.begin(), both.end())) continue;
            double gain = with[k] - score;
            const bool turn = now_.joined(x, y);
            if (turn && gain > -INFINITY) {
                const Ints above = now_.parents(x);
                gain += families_->local(x, without(above, y)) - families_->local(x, above);
            }
            if (gain > LEAST_GAIN) heaps_[turn ? TURN : INSERT].push({gain, turn ? TURN : INSERT, x, y, clique, family});
        }
        // What cannot pay for itself here cannot in a larger family either.
        if (!hope) return;
        for (size_t k = from; k < beside.size(); ++k) {
            bool all = has(allowed_[y], beside[k]);
            for (int old : clique) all = all && now_.joined(old, beside[k]);
            if (!all) continue;
            Ints larger(clique);
            larger.push_back(beside[k]);
            grow_cliques(y, parents, beside, k + 1, larger, outside, turned);
        }
    }

    void find_deletes(int x, int y, const Ints& parents, const Ints& both, size_t from, const Ints& kept) {
        const Ints family = without(merged(parents, kept), x);
        const double gain = families_->local(y, family) - families_->local(y, merged(family, {x}));
        if (gain > LEAST_GAIN) heaps_[DELETE].push({gain, DELETE, x, y, kept, family});
        for (size_t k = from; k < both.size(); ++k) {
            bool all = true;
            for (int old : kept) all = all && now_.joined(old, both[k]);
            if (!all) continue;
            Ints larger(kept);
            larger.push_back(both[k]);
            find_deletes(x, y, parents, both, k + 1, larger);
        }
    }

    // Whether the change is still one of the class as it is now, with the same gain.
    bool still_there(const Change& c) {
        if (c.kind == DELETE ? !now_.mark(c.x, c.y) : c.kind == TURN ? !now_.arc(c.y, c.x) : now_.joined(c.x, c.y)) return false;
        for (int z : c.clique)
            if (!now_.edge(z, c.y)) return false;
        const Ints both = near_both(c.y, c.x);
        if (c.kind == DELETE) {
            if (!std::includes(both.begin(), both.end(), c.clique.begin(), c.clique.end())) return false;
        } else if (!std::includes(c.clique.begin(), c.clique.end(), both.begin(), both.end())) {
            return false;
        }
        if (!is_clique(c.clique) || without(merged(now_.parents(c.y), c.clique), c.x) != c.family) return false;
        if (c.kind != TURN) return true;
        const Ints above = now_.parents(c.x);
        const double gain = families_->local(c.y, merged(c.family, {c.x})) - families_->local(c.y, c.family) +
                            families_->local(c.x, without(above, c.y)) - families_->local(c.x, above);
        return std::fabs(gain - c.gain) < LEAST_GAIN;
    }

    bool is_open(const Change& c) {
        if (c.kind == DELETE) return true;
        Ints blocked = c.clique;
        if (c.kind == TURN)
            for (int z : now_.neighbours(c.x)) blocked.push_back(z);
        return !now_.has_way(c.y, c.x, blocked, c.kind != TURN, seen_, stack_);
    }

    // Makes the change; returns its gain, or 0 where the constraints, or no directed graph, allow it.
    double apply(const Change& c) {
        Pattern next(now_);
        if (c.kind == DELETE) {
            for (int h : near_both(c.y, c.x)) {
                if (has(c.clique, h)) continue;
                next.set(h, c.y, false);
                if (now_.edge(c.x, h)) next.set(h, c.x, false);
            }
            next.set(c.x, c.y, false);
            next.set(c.y, c.x, false);
        } else {
            next.set(c.y, c.x, false);
            next.set(c.x, c.y, true);
            for (int t : c.clique) next.set(c.y, t, false);
        }
        std::vector<Ints> graph;
        if (!next.extend(graph) || !fits(graph)) return 0.0;
        double gain = 0.0;
        for (size_t v = 0; v < graph.size(); ++v)
            if (graph[v] != graph_[v])
                gain += families_->local(static_cast<int>(v), graph[v]) - families_->local(static_cast<int>(v), graph_[v]);
        if (gain <= LEAST_GAIN) return 0.0;
        Pattern after = class_of(graph);
        note_changed(after);
        now_ = std::move(after);
        graph_ = std::move(graph);
        for (Change& waiting : parked_) heaps_[waiting.kind].push(std::move(waiting));
        parked_.clear();
        return gain;
    }

    bool fits(const std::vector<Ints>& graph) const {
        for (size_t y = 0; y < graph.size(); ++y) {
            if (static_cast<int>(graph[y].size()) > max_parents_) return false;
            for (int x : graph[y])
                if (!has(allowed_[y], x) && !has(required_[y], x)) return false;
            for (int x : required_[y])
                if (!has(graph[y], x)) return false;
        }
        return true;
    }

    // Changes into y depend on its parents and undirected neighbours, and on who is joined to these.
    void note_changed(const Pattern& after) {
        std::vector<uint8_t> dirty(now_.size(), 0);
        for (int a = 0; a < now_.size(); ++a) {
            const Ints around = merged(now_.near(a), after.near(a));
            for (int b : around) {
                if (now_.mark(a, b) == after.mark(a, b) && now_.mark(b, a) == after.mark(b, a)) continue;
                dirty[a] = 1;
                // What turns an arc into a variable is scored with the parents of both ends.
                for (int y : after.parents(a)) dirty[y] = 1;
                if (now_.joined(a, b) != after.joined(a, b))
                    for (int y : after.neighbours(a)) dirty[y] = 1;
            }
        }
        dirty_.clear();
        for (int y = 0; y < now_.size(); ++y)
            if (dirty[y]) dirty_.push_back(y);
    }
};

}  // namespace

void bind_equivalence_search(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<EquivalenceMoves>(m, "EquivalenceMoves")
        .def(nb::init<nb::object, const std::vector<Ints>&, std::vector<Ints>, std::vector<Ints>, int>(), "scores"_a, "start"_a,
             "allowed"_a, "required"_a, "max_parents"_a)
        .def("step", &EquivalenceMoves::step)
        .def("score", &EquivalenceMoves::score)
        .def("parents", &EquivalenceMoves::parents)
        .def("marks", &EquivalenceMoves::marks);
}

}  // namespace bayeskit::select
