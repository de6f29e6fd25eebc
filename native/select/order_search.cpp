// Search over orders of variables: each variable in turn is moved to the place where the network of the order scores best
// (best order score search, BOSS; Andrews et al. 2023). The parents of a variable are those that grow and shrink finds among
// the variables before it, so that every order has one network, and no network needs a test for cycles.
#include <chrono>

#include <nanobind/stl/vector.h>

#include "base/interrupt.hpp"
#include "select/bind.hpp"
#include "select/parent_trees.hpp"

namespace bayeskit::select {
namespace {

class BestMoves {
public:
    BestMoves(nb::object scores, std::vector<Ints> candidates, std::vector<Ints> required, int max_parents,
              std::vector<std::vector<Ints>> pairs)
        : trees_(std::move(scores), std::move(candidates), std::move(required), max_parents, std::move(pairs)), children_(trees_.size()),
          required_children_(trees_.size()), rank_(trees_.size()) {
        for (int v = 0; v < trees_.size(); ++v) {
            for (int p : trees_.candidates(v)) children_.at(p).push_back(v);
            for (int p : trees_.required(v)) required_children_.at(p).push_back(v);
        }
        order_.resize(trees_.size());
        for (int v = 0; v < trees_.size(); ++v) order_[v] = rank_[v] = v;
    }

    void set_order(const Ints& order) {
        if (order.size() != order_.size()) throw std::invalid_argument("an order names each variable once.");
        order_ = order;
        for (size_t i = 0; i < order.size(); ++i) rank_.at(order[i]) = static_cast<int>(i);
    }
    const Ints& order() const { return order_; }

    // Moves each of the variables once to its best place; returns how many moved, and stops when the time is over.
    int sweep(const Ints& variables, double seconds) {
        nb::gil_scoped_release release;
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::min(seconds, 1e9));
        Interrupts interrupts;
        int moved = 0;
        for (int x : variables) {
            moved += move(x);
            interrupts.check();
            if (std::chrono::steady_clock::now() >= end) break;
        }
        return moved;
    }

    double score() {
        nb::gil_scoped_release release;
        double sum = 0.0;
        for (int v : order_) sum += trees_.score(v, place(v));
        return sum;
    }

    std::vector<Ints> parents() {
        nb::gil_scoped_release release;
        std::vector<Ints> all(order_.size());
        for (int v : order_) all[v] = trees_.parents(v, place(v));
        return all;
    }

private:
    ParentTrees trees_;
    std::vector<Ints> children_, required_children_;  // whose candidate, or required parent, a variable is
    Ints order_, rank_;

    int place(int v) {
        return trees_.best(v, [&](int p) { return rank_[p] < rank_[v]; });
    }

    // Only where a candidate of x, or a variable that x is a candidate of, is passed does the score of the order change.
    bool move(int x) {
        const int n = trees_.size(), now = rank_[x];
        const auto at = [&](int y) { return rank_[y] - (rank_[y] > now); };  // the place of y in the order without x
        int low = 0, high = n - 1;
        for (int p : trees_.required(x)) low = std::max(low, at(p) + 1);
        for (int c : required_children_[x]) high = std::min(high, at(c));
        struct Mark {
            int place;      // of the variable that is passed
            double change;  // what it loses when x stands after it
            bool parent;    // whether it may be a parent of x
        };
        std::vector<Mark> marks;
        for (int y : children_[x]) {
            const int k = at(y);
            if (k < low || k >= high) continue;
            double score[2];
            for (int with = 0; with < 2; ++with)
                score[with] = trees_.score(
                    y, trees_.best(y, [&](int p) { return p == x ? with == 1 : at(p) < k; }));
            marks.push_back({k, score[0] - score[1], false});
        }
        for (int y : trees_.candidates(x))
            if (at(y) >= low && at(y) < high) marks.push_back({at(y), 0.0, true});
        std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.place < b.place; });
        const auto alone = [&](int i) { return trees_.score(x, trees_.best(x, [&](int p) { return at(p) < i; })); };
        double after = 0.0, best = alone(low), current = best;
        int best_place = low;
        double score_here = best;
        for (size_t k = 0; k < marks.size();) {
            const int passed = marks[k].place;
            bool parent = false;
            for (; k < marks.size() && marks[k].place == passed; ++k) {
                after += marks[k].change;
                parent |= marks[k].parent;
            }
            if (parent) score_here = alone(passed + 1);
            const double total = score_here + after;
            if (passed < now) current = total;
            if (total > best + LEAST_GAIN) {
                best = total;
                best_place = passed + 1;
            }
        }
        // Sums of many scores differ by rounding.
        if (!(best > current + 1e-7)) return false;
        order_.erase(order_.begin() + now);
        order_.insert(order_.begin() + best_place, x);
        for (int i = std::min(now, best_place); i <= std::max(now, best_place); ++i) rank_[order_[i]] = i;
        return true;
    }
};

}  // namespace

void bind_order_search(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<BestMoves>(m, "BestMoves")
        .def(nb::init<nb::object, std::vector<Ints>, std::vector<Ints>, int, std::vector<std::vector<Ints>>>(), "scores"_a,
             "candidates"_a, "required"_a, "max_parents"_a, "pairs"_a = std::vector<std::vector<Ints>>())
        .def("sweep", &BestMoves::sweep, "variables"_a, "seconds"_a)
        .def("score", &BestMoves::score)
        .def("parents", &BestMoves::parents)
        .def_prop_rw("order", &BestMoves::order, &BestMoves::set_order);
}

}  // namespace bayeskit::select
