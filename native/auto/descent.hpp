// The least value of a smooth convex function, some of whose numbers may not be negative.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace bayeskit::automatic {

using Numbers = std::vector<double>;

inline double dot(const Numbers& a, const Numbers& b) {
    double sum = 0.0;
    for (size_t v = 0; v < a.size(); ++v) sum += a[v] * b[v];
    return sum;
}

// Limited-memory BFGS: a number at 0 that the gradient would push below stays where it is, and each step is cut off at 0.
//
// A problem has `loss(x, slope)`, the diagonal `curvature(x)` of the second derivatives, how many of the first numbers are
// bounded, and the length of the first step, which knows the curvature along each axis only: numbers that do the same would
// go too far together.
template <typename Problem>
class Descent {
public:
    // It ends where a step lowers the value by no more than its share `tolerance`.
    Descent(Problem problem, double tolerance) : problem_(problem), tolerance_(tolerance) {}

    Numbers run(Numbers x) {
        const size_t size = x.size(), bounded = static_cast<size_t>(problem_.n_bounded());
        Numbers slope(size), next(size), next_slope(size);
        curvature_ = problem_.curvature(x);
        double value = problem_.loss(x, slope);
        for (int iteration = 0; iteration < MOST_ITERATIONS; ++iteration) {
            Numbers step = direction(x, slope);
            if (dot(step, slope) >= 0.0) {  // the memory misleads: start it anew
                steps_.clear();
                changes_.clear();
                step = direction(x, slope);
            }
            double length = steps_.empty() ? problem_.first_length() : 1.0, after = value;
            bool lower = false;
            for (int halving = 0; halving < 30 && !lower; ++halving, length /= 2) {
                for (size_t v = 0; v < size; ++v) {
                    next[v] = x[v] + length * step[v];
                    if (v < bounded) next[v] = std::max(next[v], 0.0);
                }
                after = problem_.loss(next, next_slope);
                double gain = 0.0;
                for (size_t v = 0; v < size; ++v) gain += slope[v] * (next[v] - x[v]);
                lower = after <= value + 1e-4 * gain;
            }
            if (!lower) break;
            remember(x, slope, next, next_slope);
            const bool done = value - after <= tolerance_ * std::max({std::abs(value), std::abs(after), 1.0});
            x.swap(next);
            slope.swap(next_slope);
            value = after;
            if (done) break;
        }
        return x;
    }

private:
    static constexpr int MOST_ITERATIONS = 100;
    static constexpr size_t MEMORY = 10;
    Problem problem_;
    double tolerance_;
    Numbers curvature_;  // along each axis, where the search began
    std::vector<Numbers> steps_, changes_;

    void remember(const Numbers& x, const Numbers& slope, const Numbers& next, const Numbers& next_slope) {
        Numbers moved(x.size()), turned(x.size());
        for (size_t v = 0; v < x.size(); ++v) {
            moved[v] = next[v] - x[v];
            turned[v] = next_slope[v] - slope[v];
        }
        if (dot(moved, turned) <= 1e-12 * dot(turned, turned)) return;
        if (steps_.size() == MEMORY) {
            steps_.erase(steps_.begin());
            changes_.erase(changes_.begin());
        }
        steps_.push_back(moved);
        changes_.push_back(turned);
    }

    Numbers direction(const Numbers& x, const Numbers& slope) const {
        std::vector<bool> fixed(x.size());
        for (int64_t v = 0; v < problem_.n_bounded(); ++v) fixed[v] = x[v] <= 0.0 && slope[v] > 0.0;
        Numbers q(slope.size()), along(steps_.size());
        for (size_t v = 0; v < q.size(); ++v) q[v] = fixed[v] ? 0.0 : -slope[v];
        for (size_t i = steps_.size(); i-- > 0;) {
            along[i] = dot(steps_[i], q) / dot(steps_[i], changes_[i]);
            for (size_t v = 0; v < q.size(); ++v) q[v] -= along[i] * changes_[i][v];
        }
        double scale = 1.0;
        if (!steps_.empty()) {
            const Numbers& last = changes_.back();
            double length = 0.0;
            for (size_t v = 0; v < q.size(); ++v) length += last[v] * last[v] / curvature_[v];
            scale = dot(steps_.back(), last) / length;
        }
        for (size_t v = 0; v < q.size(); ++v) q[v] *= scale / curvature_[v];
        for (size_t i = 0; i < steps_.size(); ++i) {
            const double back = dot(changes_[i], q) / dot(steps_[i], changes_[i]);
            for (size_t v = 0; v < q.size(); ++v) q[v] += (along[i] - back) * steps_[i][v];
        }
        for (size_t v = 0; v < q.size(); ++v)
            if (fixed[v]) q[v] = 0.0;
        return q;
    }
};

}  // namespace bayeskit::automatic
