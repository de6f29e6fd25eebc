// How large and how small numbers are: what tells, before a product is made, that no cell of it leaves the range of a double.
//
// Each table and each message has bounds for its positive cells, and a product has the sum of them. While the bounds of a
// product are within LOWEST .. HIGHEST nothing is lost. Where they are not, the product so far is looked at cell by cell and moved
// by a power of 2 (which rounds nothing); where even that cannot help, the question is asked again in wide numbers.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "network/strided_loops.hpp"
#include "network/wide_double.hpp"

namespace bayeskit::network {

// 2^low <= x < 2^high for every cell x above 0.
struct Range {
    int low = 0, high = 0;
};
inline Range operator+(Range a, Range b) { return {a.low + b.low, a.high + b.high}; }
inline Range either(Range a, Range b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

// A double holds 2^-1022 to 2^1024 with all its digits. The rest is for sums of up to 2^60 cells, and for a division by them.
constexpr int LOWEST = -960, HIGHEST = 960;
inline bool is_safe(Range range) { return range.low >= LOWEST && range.high <= HIGHEST; }
// Numbers within 2^±EASY are far from any danger: nobody looks at the cells. A message beyond it is moved to about 1.
constexpr int EASY = 256;
inline bool is_easy(Range range) { return range.low >= -EASY && range.high <= EASY; }
// Bounds of sums of up to 2^60 cells.
inline Range sums_of(Range range) { return {range.low, range.high + 60}; }
constexpr double LOG_2 = 0.69314718055994530942;

// 2^exponent <= x < 2^(exponent + 1), for x > 0; a subnormal counts as the smallest of them.
inline int exponent_of(double x) {
    uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    const int stored = static_cast<int>(bits >> 52 & 0x7ff);
    return stored > 0 ? stored - 1023 : -1074;
}
inline Range range_of(double smallest, double largest) {
    const int high = exponent_of(largest);
    return {exponent_of(smallest), high == -1074 ? -1022 : high + 1};
}
inline double power_of_2(int exponent) { return std::ldexp(1.0, exponent); }

// The largest cell, and the smallest above 0 (infinite when there is none): of all cells, or of each lane of packs.
template <typename V> struct Extremes {
    V largest, smallest;
};
inline Extremes<double> extremes_of(const double* cells, int64_t n) {
    constexpr double none = std::numeric_limits<double>::infinity();
    Extremes<double> extremes{0.0, none};
    if (n >= 32) {
        Pack largest, smallest;
        lane_extremes(cells, n / PACK, largest.lane, smallest.lane);
        for (int k = 0; k < PACK; ++k) {
            extremes.largest = std::max(extremes.largest, largest.lane[k]);
            extremes.smallest = std::min(extremes.smallest, smallest.lane[k]);
        }
        cells += n / PACK * PACK;
        n %= PACK;
    }
    for (int64_t i = 0; i < n; ++i) {
        const double x = cells[i];
        extremes.largest = extremes.largest < x ? x : extremes.largest;
        const double positive = x > 0.0 ? x : none;
        extremes.smallest = positive < extremes.smallest ? positive : extremes.smallest;
    }
    return extremes;
}
inline Extremes<Pack> extremes_of(const Pack* cells, int64_t n) {
    Extremes<Pack> extremes;
    lane_extremes(cells->lane, n, extremes.largest.lane, extremes.smallest.lane);
    return extremes;
}
inline Range range_of_cells(const double* cells, int64_t n) {
    const Extremes<double> extremes = extremes_of(cells, n);
    return extremes.largest > 0.0 ? range_of(extremes.smallest, extremes.largest) : Range{};
}
inline Range range_of_cells(const Pack* cells, int64_t n) { return range_of_cells(cells->lane, n * PACK); }

template <typename V> constexpr int LANES = 1;
template <> inline constexpr int LANES<Pack> = PACK;
BAYESKIT_INLINE double& lane_of(double& x, int) { return x; }
BAYESKIT_INLINE double& lane_of(Pack& x, int k) { return x.lane[k]; }

// Exponents and logarithms: one number, or one for each lane.
template <typename V> struct LogOf { using type = double; };
template <> struct LogOf<Pack> { using type = Pack; };
template <typename V> using Log = typename LogOf<V>::type;

// cells · 2^exponent; in two factors, since 2^exponent alone may be no double.
template <typename V>
void move_cells(V* cells, int64_t n, Log<V> exponent) {
    V first{}, second{};
    for (int k = 0; k < LANES<V>; ++k) {
        const int whole = static_cast<int>(lane_of(exponent, k)), half = whole / 2;
        lane_of(first, k) = power_of_2(half);
        lane_of(second, k) = power_of_2(whole - half);
    }
    for (int64_t i = 0; i < n; ++i) {
        multiply(cells[i], first);
        multiply(cells[i], second);
    }
}

// Moves a product up as far as it and the product with `next` allow, and adds that to `moved`; false when `next` would
// still leave the range.
template <typename V>
bool make_room(V* cells, int64_t n, Range& range, Range next, Log<V>& moved) {
    Extremes<V> extremes = extremes_of(cells, n);
    Log<V> by{};
    Range after{std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
    bool any = false;
    for (int k = 0; k < LANES<V>; ++k) {
        if (!(lane_of(extremes.largest, k) > 0.0)) continue;
        const Range lane_range = range_of(lane_of(extremes.smallest, k), lane_of(extremes.largest, k));
        const int up = HIGHEST - lane_range.high - std::max(next.high, 0);
        if (lane_range.low + up + std::min(next.low, 0) < LOWEST) return false;
        lane_of(by, k) = up;
        after = either(after, {lane_range.low + up, lane_range.high + up});
        any = true;
    }
    range = any ? after : Range{};
    move_cells(cells, n, by);
    add(moved, by);
    return true;
}

// Moves a message with the given bounds to about 1 where it may be far from it, and adds the logarithm of what was taken out to
// `log`. A message without a cell above 0 stays as it is: the sum at the root tells.
template <typename V>
void settle_magnitude(V* cells, int64_t n, Range& range, Log<V>& log) {
    if (is_easy(range)) return;
    Extremes<V> extremes = extremes_of(cells, n);
    Log<V> by{};
    Range after{std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
    bool any = false, far = false;
    for (int k = 0; k < LANES<V>; ++k) {
        if (!(lane_of(extremes.largest, k) > 0.0)) continue;
        Range lane_range = range_of(lane_of(extremes.smallest, k), lane_of(extremes.largest, k));
        if (!is_easy({lane_range.high, lane_range.high})) {
            // To about 1, or above it where the smallest cells would not survive that.
            const int high = std::max(0, lane_range.high - lane_range.low + LOWEST);
            lane_of(by, k) = high - lane_range.high;
            lane_range = {lane_range.low - lane_range.high + high, high};
            far = true;
        }
        after = either(after, lane_range);
        any = true;
    }
    range = any ? after : Range{};
    if (!far) return;
    move_cells(cells, n, by);
    for (int k = 0; k < LANES<V>; ++k) lane_of(log, k) -= LOG_2 * lane_of(by, k);
}
inline void settle_magnitude(WideDouble*, int64_t, Range&, double&) {}

// Adds the logarithm of a sum to `log`; false when it is 0.
inline bool take_log(double total, double& log) {
    if (!(total > 0.0)) return false;
    log += std::log(total);
    return true;
}
inline bool take_log(const WideDouble& total, double& log) {
    if (!(total.mantissa > 0.0)) return false;
    log += log_of(total);
    return true;
}
// The logarithm of a lane is not asked for, only whether it is possible.
inline bool take_log(const Pack& total, Pack& log) {
    for (int k = 0; k < PACK; ++k)
        if (!(total.lane[k] > 0.0)) log.lane[k] = -INFINITY;
    return true;
}

}  // namespace bayeskit::network
