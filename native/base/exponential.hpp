// exp without a branch or a call, so that a compiler computes several at once.
#pragma once
#include <cstdint>
#include <cstring>

#include "base/simd.hpp"

namespace bayeskit {

// Σ r^k / k! up to k = 13: e^r to about one unit in the last place for |r| <= log(2) / 2.
template <typename Number>
BAYESKIT_INLINE Number exp_series(Number r) {
    Number p = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    return p * r + 1.0;
}

// exp(x) = 2^k e^r. Adding 1.5 · 2^52 rounds to a whole number, k, which is then in the low bits.
constexpr double LOG2E = 1.4426950408889634, LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
constexpr double TO_WHOLE = 6755399441055744.0;

// exp(x) for -700 < x <= 0 to about one unit in the last place.
BAYESKIT_INLINE double exp_of_negative(double x) {
    const double shifted = x * LOG2E + TO_WHOLE, k = shifted - TO_WHOLE;
    const double series = exp_series((x - k * LN2_HIGH) - k * LN2_LOW);
    uint64_t bits;  // unsigned: what is shifted out at the top is meant to go
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double power;
    std::memcpy(&power, &bits, sizeof power);
    return series * power;
}

// exp(x) of four x <= 0, minus infinity too; what is below exp(-700) is 0. Four at once in so many words: from a loop over
// numbers the compiler makes a jump at -700, and one exp at a time.
#if defined(__GNUC__)
BAYESKIT_INLINE Quad exp_or_zero(const Quad& x) {
    typedef uint64_t Bits __attribute__((vector_size(32), aligned(8)));
    const Quad least = quad_of(-700.0), inside = x > least ? x : least;
    const Quad shifted = inside * LOG2E + TO_WHOLE, k = shifted - TO_WHOLE;
    const Quad series = exp_series<Quad>((inside - k * LN2_HIGH) - k * LN2_LOW);
    const Quad power = (Quad)(((Bits)shifted + 1023) << 52);
    return x > least ? series * power : quad_of(0.0);
}
#else
BAYESKIT_INLINE Quad exp_or_zero(Quad x) {
    for (int k = 0; k < QUAD; ++k) x.lane[k] = x.lane[k] > -700.0 ? exp_of_negative(x.lane[k]) : 0.0;
    return x;
}
#endif

}  // namespace bayeskit
