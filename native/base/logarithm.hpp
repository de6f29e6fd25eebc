// log without a branch or a call, so that a compiler computes several at once.
#pragma once
#include <cstdint>
#include <cstring>

#include "base/simd.hpp"

namespace bayeskit {

// log(x) for a normal x > 0 to about two units in the last place: k log(2) plus the series of 2 artanh((m - 1) / (m + 1)),
// where x = 2^k m and sqrt(1/2) <= m < sqrt(2).
BAYESKIT_INLINE double log_of_positive(double x) {
    constexpr double LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
    constexpr uint64_t ROOT_HALF = 0x3fe6a09e667f3bcdull;  // the bits of sqrt(1/2)
    uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    // The exponent as a double: its bits are put below those of 2^52, and 2^52 is taken away.
    const uint64_t shifted = bits - ROOT_HALF + (uint64_t{1023} << 52);
    const uint64_t exponent = (shifted >> 52) | 0x4330000000000000ull;
    double k;
    std::memcpy(&k, &exponent, sizeof k);
    k -= 4503599627370496.0 + 1023.0;
    bits -= (shifted & 0xfff0000000000000ull) - (uint64_t{1023} << 52);
    double m;
    std::memcpy(&m, &bits, sizeof m);
    const double f = (m - 1.0) / (m + 1.0), s = f * f;
    double p = 2.0 / 21.0;
    p = p * s + 2.0 / 19.0;
    p = p * s + 2.0 / 17.0;
    p = p * s + 2.0 / 15.0;
    p = p * s + 2.0 / 13.0;
    p = p * s + 2.0 / 11.0;
    p = p * s + 2.0 / 9.0;
    p = p * s + 2.0 / 7.0;
    p = p * s + 2.0 / 5.0;
    p = p * s + 2.0 / 3.0;
    return k * LN2_HIGH + (2.0 * f + (f * s * p + k * LN2_LOW));
}

}  // namespace bayeskit
