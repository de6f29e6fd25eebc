// exp without a branch or a call, so that a compiler computes several at once.
#pragma once
#include <cstdint>
#include <cstring>

#include "base/simd.hpp"

namespace bayeskit {

// exp(x) for -700 < x <= 0 to about one unit in the last place: 2^k times a polynomial on |r| <= log(2) / 2.
BAYESKIT_INLINE double exp_of_negative(double x) {
    constexpr double LOG2E = 1.4426950408889634, LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
    constexpr double SHIFT = 6755399441055744.0;  // 1.5 · 2^52: adding it rounds to a whole number in the low bits
    const double shifted = x * LOG2E + SHIFT;
    const double k = shifted - SHIFT;
    const double r = (x - k * LN2_HIGH) - k * LN2_LOW;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
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
    p = p * r + 1.0;
    uint64_t bits;  // unsigned: what is shifted out at the top is meant to go
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;  // the low bits of `shifted` hold k
    double power;
    std::memcpy(&power, &bits, sizeof power);
    return p * power;
}

// exp(x) for any x <= 0, minus infinity too; what is below exp(-700) is 0.
BAYESKIT_INLINE double exp_or_zero(double x) {
    const double inside = x > -700.0 ? x : -700.0;
    const double value = exp_of_negative(inside);
    return x > -700.0 ? value : 0.0;
}

}  // namespace bayeskit
