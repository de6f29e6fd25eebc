// The bits of one word: how many are set, and which is the lowest.
#pragma once
#include <cstdint>

#include "base/simd.hpp"

namespace bayeskit {

BAYESKIT_INLINE int popcount(uint64_t word) {
#if defined(__GNUC__)
    return __builtin_popcountll(word);
#else
    int n = 0;
    for (; word; word &= word - 1) ++n;
    return n;
#endif
}

BAYESKIT_INLINE int lowest_bit(uint64_t word) {
#if defined(__GNUC__)
    return __builtin_ctzll(word);
#else
    int i = 0;
    while (!(word >> i & 1)) ++i;
    return i;
#endif
}

}  // namespace bayeskit
