// A number as the unevaluated sum of two doubles, about 106 bits: hi is the sum rounded to a double, lo is what is left.
//
// A source file that includes this is compiled with -ffp-contract=off (CMakeLists.txt): a product that is fused with the sum
// behind it is not rounded, and what rounding took off it would be added twice.
#pragma once
#include <cmath>

#include "base/simd.hpp"

namespace bayeskit {

struct DoubleDouble {
    double hi = 0.0, lo = 0.0;
};

// What rounding took off sum = a + b, whichever of the two is larger (Knuth); of doubles, or of several side by side.
template <typename Number>
BAYESKIT_INLINE Number sum_error(Number a, Number b, Number sum) {
    const Number part = sum - a;
    return (a - (sum - part)) + (b - part);
}

// What rounding took off difference = a - b.
template <typename Number>
BAYESKIT_INLINE Number difference_error(Number a, Number b, Number difference) {
    const Number part = difference - a;
    return (a - (difference - part)) - (b + part);
}

// a + b exactly.
BAYESKIT_INLINE DoubleDouble two_sum(double a, double b) {
    const double sum = a + b;
    return {sum, sum_error(a, b, sum)};
}

// a * b exactly.
BAYESKIT_INLINE DoubleDouble two_product(double a, double b) {
    const double product = a * b;
    return {product, std::fma(a, b, -product)};
}

BAYESKIT_INLINE DoubleDouble normal(double hi, double lo) {
    const double sum = hi + lo;
    return {sum, lo - (sum - hi)};
}

BAYESKIT_INLINE DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble high = two_sum(a.hi, b.hi), low = two_sum(a.lo, b.lo);
    const DoubleDouble first = normal(high.hi, high.lo + low.hi);
    return normal(first.hi, first.lo + low.lo);
}

BAYESKIT_INLINE DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) {
    return a + DoubleDouble{-b.hi, -b.lo};
}

BAYESKIT_INLINE DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble product = two_product(a.hi, b.hi);
    return normal(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

BAYESKIT_INLINE DoubleDouble operator/(const DoubleDouble& a, double b) {
    const double first = a.hi / b;
    const DoubleDouble rest = a - two_product(first, b);
    return normal(first, rest.hi / b);
}

// Long division: each digit is a double.
BAYESKIT_INLINE DoubleDouble operator/(const DoubleDouble& a, const DoubleDouble& b) {
    const double first = a.hi / b.hi;
    DoubleDouble rest = a - b * DoubleDouble{first, 0.0};
    const double second = rest.hi / b.hi;
    rest = rest - b * DoubleDouble{second, 0.0};
    return normal(first, second) + DoubleDouble{rest.hi / b.hi, 0.0};
}

}  // namespace bayeskit
