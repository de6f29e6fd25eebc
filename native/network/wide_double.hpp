// A double with an exponent of its own: right for any magnitude, at several times the cost of a double.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/simd.hpp"

namespace bayeskit::network {

// mantissa · 2^exponent with 0.5 <= mantissa < 1, or mantissa 0; all bytes 0 is the number 0.
struct WideDouble {
    double mantissa = 0.0;
    int64_t exponent = 0;
};

BAYESKIT_INLINE WideDouble widen(double x) {
    uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    const int64_t stored = static_cast<int64_t>(bits >> 52 & 0x7ff);
    if (stored == 0) {  // zero, or a number with leading zeros in its mantissa
        if (x == 0.0) return {};
        int exponent = 0;
        const double mantissa = std::frexp(x, &exponent);
        return {mantissa, exponent};
    }
    bits = (bits & 0x800fffffffffffffull) | 0x3fe0000000000000ull;
    WideDouble wide;
    std::memcpy(&wide.mantissa, &bits, sizeof bits);
    wide.exponent = stored - 1022;
    return wide;
}

// x / 2^base as a double; what is too small for one becomes 0.
inline double narrow(const WideDouble& x, int64_t base) {
    const int64_t exponent = x.exponent - base;
    return std::ldexp(x.mantissa, static_cast<int>(exponent < -2000 ? -2000 : exponent > 2000 ? 2000 : exponent));
}
inline double log_of(const WideDouble& x) { return std::log(x.mantissa) + 0.69314718055994530942 * static_cast<double>(x.exponent); }

BAYESKIT_INLINE void assign(WideDouble& a, double b) { a = widen(b); }
BAYESKIT_INLINE void assign(WideDouble& a, const WideDouble& b) { a = b; }
BAYESKIT_INLINE void multiply(WideDouble& a, const WideDouble& b) {
    a.mantissa *= b.mantissa;
    a.exponent += b.exponent;
    if (a.mantissa < 0.5) {
        a.mantissa *= 2.0;
        a.exponent = a.mantissa > 0.0 ? a.exponent - 1 : 0;
    }
}
BAYESKIT_INLINE void multiply(WideDouble& a, double b) { multiply(a, widen(b)); }
BAYESKIT_INLINE void add(WideDouble& a, const WideDouble& b) {
    if (b.mantissa == 0.0) return;
    if (a.mantissa == 0.0) {
        a = b;
        return;
    }
    const WideDouble &large = a.exponent >= b.exponent ? a : b, &small = a.exponent >= b.exponent ? b : a;
    const int64_t gap = large.exponent - small.exponent;
    WideDouble sum = large;
    if (gap < 64) sum.mantissa += std::ldexp(small.mantissa, -static_cast<int>(gap));
    if (sum.mantissa >= 1.0) {
        sum.mantissa *= 0.5;
        ++sum.exponent;
    }
    a = sum;
}
BAYESKIT_INLINE bool less(const WideDouble& a, const WideDouble& b) {
    if (a.mantissa == 0.0 || b.mantissa == 0.0) return a.mantissa < b.mantissa;
    return a.exponent != b.exponent ? a.exponent < b.exponent : a.mantissa < b.mantissa;
}
BAYESKIT_INLINE void keep_maximum(WideDouble& a, const WideDouble& b) {
    if (less(a, b)) a = b;
}
// 0 / 0 is 0.
BAYESKIT_INLINE void divide(WideDouble& a, const WideDouble& b) {
    if (b.mantissa == 0.0 || a.mantissa == 0.0) {
        a = {};
        return;
    }
    a.mantissa /= b.mantissa;
    a.exponent -= b.exponent;
    if (a.mantissa >= 1.0) {
        a.mantissa *= 0.5;
        ++a.exponent;
    }
}

}  // namespace bayeskit::network
