// Weight, mean and scatter of many cells in double-double numbers, and how two sets of rows become one and one becomes less.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/double_double.hpp"

namespace bayeskit::counts {

constexpr int MOMENT_PARTS = 6;  // weight, mean, scatter, and then what each of the three lacks

// The digits that sums of a chunk keep: what rounding takes off is itself added up in doubles, 2^15 times.
constexpr double DOUBLE_DOUBLE_ROUNDING = 0x1p-88;
// Weights that are no whole numbers may have been added up in plain doubles, in files of an older form.
constexpr double WEIGHT_ROUNDING = 1e-12;

struct Moment {
    DoubleDouble weight, mean, scatter;
};

// Cell k of an array of shape (6, cells).
inline Moment moment_at(const double* parts, int64_t cells, int64_t k) {
    return {{parts[k], parts[3 * cells + k]},
            {parts[cells + k], parts[4 * cells + k]},
            {parts[2 * cells + k], parts[5 * cells + k]}};
}

inline void put_moment(double* parts, int64_t cells, int64_t k, const Moment& m) {
    const DoubleDouble values[3] = {m.weight, m.mean, m.scatter};
    for (int part = 0; part < 3; ++part) {
        parts[part * cells + k] = values[part].hi;
        parts[(3 + part) * cells + k] = values[part].lo;
    }
}

// Chan, Golub and LeVeque (1979), eq. 2.1: moments of a union from the moments of its parts.
inline Moment merged(const Moment& a, const Moment& b) {
    if (b.weight.hi == 0) return a;
    if (a.weight.hi == 0) return b;
    const DoubleDouble weight = a.weight + b.weight, share = b.weight / weight, delta = b.mean - a.mean;
    if (delta.hi == 0) return {weight, a.mean, a.scatter + b.scatter};
    return {weight, a.mean + delta * share, a.scatter + b.scatter + delta * delta * a.weight * share};
}

enum class Rest { fits, weight_below_zero, scatter_below_zero };

// The moments of the rows that are left when those of b leave a.
inline Rest without(const Moment& a, const Moment& b, Moment& rest) {
    rest = a;
    if (b.weight.hi == 0) return Rest::fits;
    rest.weight = a.weight - b.weight;
    if (rest.weight.hi < -WEIGHT_ROUNDING * a.weight.hi) return Rest::weight_below_zero;
    if (rest.weight.hi <= WEIGHT_ROUNDING * a.weight.hi) {
        rest = Moment{};
        return Rest::fits;
    }
    const DoubleDouble ratio = b.weight / rest.weight;
    rest.mean = a.mean + (a.mean - b.mean) * ratio;
    const DoubleDouble delta = b.mean - rest.mean, between = delta * delta * b.weight * (rest.weight / a.weight);
    rest.scatter = a.scatter - b.scatter - between;
    // What rounding can have left: of the scatters themselves, and of means that are large beside the spread. Less than that
    // is no scatter, so that a column that has become constant is known to be; more than that below zero was never there.
    const double size = std::abs(a.mean.hi) + std::abs(b.mean.hi) + std::sqrt(a.scatter.hi / a.weight.hi);
    const double spread = std::sqrt(a.weight.hi * a.scatter.hi) +
                          std::abs(delta.hi) * std::min(b.weight.hi, rest.weight.hi) * (1.0 + ratio.hi);
    const double rounding = DOUBLE_DOUBLE_ROUNDING * (a.scatter.hi + b.scatter.hi + between.hi + 4.0 * size * spread);
    if (rest.scatter.hi < -rounding - 1e-12 * (a.scatter.hi + b.scatter.hi + between.hi))
        return Rest::scatter_below_zero;
    if (rest.scatter.hi <= rounding) {
        rest.scatter = {};
        rest.mean.lo = 0.0;  // all rows have one value, and that is a double
    }
    return Rest::fits;
}

}  // namespace bayeskit::counts
